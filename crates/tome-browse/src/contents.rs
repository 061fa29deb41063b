//! The walk through the contents: from the years down to what happened in a segment.

use crate::item::{ContentsPage, Item, ItemTarget};
use crate::list::ItemList;

/// The level of the contents that is shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ContentsWalk {
    /// The node whose children are listed; empty for the years.
    pub(crate) node: String,
    /// Its time in words; empty for the years.
    pub(crate) period: String,
    parent: Option<String>,
    pub(crate) list: ItemList,
    /// The child to choose once its parent is there.
    came_from: Option<String>,
    /// Whether to go on to the only child.
    skips_single: bool,
}

impl ContentsWalk {
    /// Begins at the years, or at a node. A single year is opened at once.
    pub(crate) fn begin(&mut self, node: &str) -> String {
        *self = Self { skips_single: node.is_empty(), ..Self::default() };
        node.to_owned()
    }

    /// The node above; `None` at the years.
    pub(crate) fn go_up(&mut self) -> Option<String> {
        let parent = self.parent.clone()?;
        self.came_from = Some(self.node.clone());
        self.skips_single = false;
        Some(parent)
    }

    /// Shows a level. Returns the node to open instead, if it is the only one.
    pub(crate) fn show(&mut self, page: ContentsPage, rows: usize) -> Option<String> {
        if let ([Item { target: ItemTarget::Node(only), .. }], true) =
            (page.items.as_slice(), self.skips_single)
        {
            self.skips_single = false;
            return Some(only.clone());
        }
        (self.node, self.period, self.parent) = (page.node, page.period, page.parent);
        let came_from = self.came_from.take().map(ItemTarget::Node);
        let index = page.items.iter().position(|item| Some(&item.target) == came_from.as_ref());
        self.list = ItemList { items: page.items, ..ItemList::default() };
        self.list.choose(index.unwrap_or(0), rows);
        None
    }
}
