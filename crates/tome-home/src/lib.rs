//! A home folder: its layout, the projects in it, their stores and notebooks.
//!
//! This crate opens and closes stores and notebooks, and keeps the number of open ones within the
//! limits of the process. Contents, indexes and tools are built on top of it.

mod damage;
mod durable;
mod error;
mod event_query;
mod folder_path;
mod git;
mod io_timeout;
pub mod layout;
mod merge_sessions;
mod notebooks;
mod pauses;
mod project;
mod project_changes;
mod project_file;
mod projection;
mod projects;
mod regular_file;
mod repair;
mod repo_notebook;
mod restore_events;
mod root_path;
mod session_index;
mod session_stats;
mod store;
mod stores;

pub use damage::Damage;
pub use durable::{sync_folder, write_atomic};
pub use error::{HomeError, explain};
pub use event_query::{EventPage, EventQuery, describe_unreadable};
pub use folder_path::{is_foreign_path, normalize_path, relative_folder};
pub use git::{GitLocation, LinkedWorktree};
pub use io_timeout::TimedCalls;
pub use layout::Home;
pub use merge_sessions::{MergedSession, MergedSessions};
pub use notebooks::{MovedNotes, NotebookOwner, Notebooks};
pub use pauses::{Pause, Pauses};
pub use project::{ProjectLocation, locate_project, project_folder_name};
pub use project_changes::{KnownProject, NoteRests, find_note_rests};
pub use project_file::project_record_extends;
pub use projection::{Projection, ProjectionReport, follow_outbox};
pub use projects::{Projects, resolve_project_root};
pub use regular_file::{FinalLink, open_regular, read_regular, read_regular_text};
pub use repair::CheckDepth;
pub use restore_events::RestoredEvents;
pub use session_index::{SessionIndex, SplitSession};
pub use session_stats::{SESSION_STATS_PROJECTION, SessionStatsProjection, catch_up_session_stats};
pub use store::Store;
pub use stores::{StoreMode, Stores};
