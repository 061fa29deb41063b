//! A list of items with a chosen one.

use crate::item::Item;

/// Items of the first page, and the most that a list holds.
pub(crate) const PAGE_ITEMS: usize = 30;
pub(crate) const ITEMS_MAX: usize = 480;

/// Items, the chosen one, and the first one shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ItemList {
    pub(crate) items: Vec<Item>,
    pub(crate) chosen: usize,
    pub(crate) first_shown: usize,
    pub(crate) has_more: bool,
}

impl ItemList {
    pub(crate) fn chosen_item(&self) -> Option<&Item> {
        self.items.get(self.chosen)
    }

    /// Moves the choice by some items.
    pub(crate) fn move_by(&mut self, step: isize, rows: usize) {
        let index = self.chosen.saturating_add_signed(step);
        self.choose(index, rows);
    }

    /// Chooses an item, and shows it.
    pub(crate) fn choose(&mut self, index: usize, rows: usize) {
        self.chosen = index.min(self.items.len().saturating_sub(1));
        let last_first = self.chosen;
        let first = (self.chosen + 1).saturating_sub(rows.max(1));
        self.first_shown = self.first_shown.clamp(first, last_first);
    }

    /// Replaces the items. If they begin as before, the choice stays.
    pub(crate) fn replace(&mut self, items: Vec<Item>, has_more: bool, rows: usize) {
        let same = |(one, other): (&Item, &Item)| one.target == other.target;
        let is_longer = items.len() >= self.items.len() && self.items.iter().zip(&items).all(same);
        let kept = if is_longer { self.chosen } else { 0 };
        self.items = items;
        self.has_more = has_more;
        if kept == 0 {
            self.first_shown = 0;
        }
        self.choose(kept, rows);
    }

    /// Whether the choice is near the end of a list that has more.
    pub(crate) fn wants_more(&self) -> bool {
        self.has_more && self.items.len() < ITEMS_MAX && self.chosen + 5 >= self.items.len()
    }
}
