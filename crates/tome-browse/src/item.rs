//! The items of a list, as the source of the browser provides them.

/// The record behind an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemTarget {
    /// A session, by its id.
    Session(String),
    /// An event of a conversation: a citation, or the id of the event.
    Event(String),
    /// A note.
    Note {
        /// The notebook that it is in.
        scope: NotebookScope,
        /// The session, for a note of one.
        session: String,
        /// Its path in the notebook.
        path: String,
        /// The line to open; 0 for the first.
        line: u32,
    },
    /// A node of the contents, by its id.
    Node(String),
    /// Nothing that can be opened.
    Nothing,
}

/// The notebook of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotebookScope {
    /// Of one session.
    Session,
    /// Of a project.
    Project,
    /// Of the user, for all projects.
    Coder,
}

/// An item of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The record.
    pub target: ItemTarget,
    /// The root of its project; empty if it belongs to none.
    pub project: String,
    /// The session that it belongs to; empty if there is none.
    pub session: String,
    /// The argument with which `tome show` opens it.
    pub citation: String,
    /// When it happened, in few characters.
    pub when: String,
    /// Who said it, or what it is.
    pub who: String,
    /// Short name of its project, for the column.
    pub project_name: String,
    /// One line that says what it is about.
    pub text: String,
    /// The preview that is known at once, in Tome's own styles.
    pub card: String,
    /// The agent; empty if unknown.
    pub agent: String,
}

/// The kind of items in a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ListKind {
    /// Sessions, the latest first.
    #[default]
    Sessions,
    /// Notes, by their paths.
    Notes,
    /// Hits, the best first.
    Hits,
}

/// A list of items.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListPage {
    /// The kind of its items.
    pub kind: ListKind,
    /// The items.
    pub items: Vec<Item>,
    /// Whether there are more than these.
    pub has_more: bool,
    /// Something to know about the answer, such as an index that is being built.
    pub notice: String,
    /// Whether an index is being built, so that the answer may soon be another one.
    pub is_behind: bool,
}

/// A level of the contents: the children of a node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContentsPage {
    /// The id of the node; empty for the years.
    pub node: String,
    /// The time that it covers, in words.
    pub period: String,
    /// The node above; `None` for the years.
    pub parent: Option<String>,
    /// Its children, the latest first; for a segment, what happened in it.
    pub items: Vec<Item>,
    /// Something to know about the answer.
    pub notice: String,
}

/// The command that continues a session in its agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResumeCommand {
    /// The id of the session.
    pub session: String,
    /// The root of its project.
    pub project: String,
    /// The title of the session.
    pub title: String,
    /// The folder to run the command in.
    pub folder: String,
    /// The command.
    pub command: String,
    /// Whether the folder exists.
    pub has_folder: bool,
}
