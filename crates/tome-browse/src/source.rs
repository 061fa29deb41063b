//! Requests of the browser and their answers.

use crate::filters::Filters;
use crate::item::{ContentsPage, Item, ListPage, ResumeCommand};

/// The list that is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListQuery {
    /// The words to search for; empty for the latest sessions.
    pub words: String,
    /// Conditions that every item meets.
    pub filters: Filters,
    /// Number of items.
    pub limit: usize,
}

/// A request. Its number grows, so that a late answer to an earlier one is recognized.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Higher than the number of every earlier request.
    pub number: u64,
    /// A list, children of a node, or a preview.
    pub kind: RequestKind,
}

/// A request without its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestKind {
    /// Sessions, notes or hits.
    List(ListQuery),
    /// The children of a node of the contents.
    Contents {
        /// The filters; only projects and agents count.
        filters: Filters,
        /// The id of the node; empty for the years.
        node: String,
    },
    /// The preview of an item.
    Preview {
        /// The item.
        item: Box<Item>,
        /// Columns of the preview.
        width: usize,
    },
    /// The command that resumes the session of an item.
    Resume(Box<Item>),
}

/// The answer to the [`RequestKind`] of the same name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrowseAnswer {
    /// Sessions, notes or hits.
    List(ListPage),
    /// A level of the contents.
    Contents(ContentsPage),
    /// A preview in Tome's own styles.
    Preview(String),
    /// The command line and its folder.
    Resume(ResumeCommand),
}

/// Answers requests. Called on threads of its own; may take its time.
pub trait BrowseSource: Send + Sync {
    /// Answers a request, or gives the reason why it cannot.
    fn answer(&self, request: &RequestKind) -> Result<BrowseAnswer, String>;
}
