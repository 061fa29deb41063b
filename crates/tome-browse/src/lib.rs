//! The full-screen browser: a list that is searched while the user types, a preview beside it, and a
//! walk through the contents.
//!
//! [`Browser`] is a state machine: [`Browser::update`] takes a key or an answer and returns the
//! [`Effect`]s it asks for, [`draw`] shows it on a frame. [`run`] connects both to a terminal. Lists
//! and previews come from a [`BrowseSource`] on threads of their own, so that no key waits for them.
//!
//! Recorded text is untrusted: everything that is drawn passes through `text.rs`.

mod contents;
mod event_loop;
mod filters;
mod item;
mod keys;
mod layout;
mod line_editor;
mod list;
mod mailbox;
mod preview;
mod source;
mod state;
#[cfg(test)]
mod test_items;
mod text;
mod view;

pub use event_loop::{BrowseActions, run};
pub use filters::{Filters, ProjectRange, ScopeFilter, SpeakerFilter, TimeFilter};
pub use item::{ContentsPage, Item, ItemTarget, ListKind, ListPage, NotebookScope, ResumeCommand};
pub use source::{BrowseAnswer, BrowseSource, ListQuery, Request, RequestKind};
pub use state::{BrowseExit, Browser, BrowserSetup, Effect, Input};
pub use view::draw;
