//! Which tools of the supported agents act on files, and which fields of their input name the file.

use tome_model::truncate_to;

/// Fields of a tool's input that hold the path of a file.
pub const PATH_FIELDS: [&str; 6] =
    ["file_path", "filePath", "path", "absolute_path", "notebook_path", "target_file"];

/// No tool has a longer name.
const NAME_BYTES_MAX: usize = 200;

/// A kind of tool that acts on files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileTool {
    /// Changes a part of a file.
    Edit,
    /// Writes a whole file.
    Write,
    /// Views, creates or edits a file, by the field `command`.
    Editor,
    /// Applies a patch.
    Patch,
    /// Deletes a file.
    Delete,
    /// Reads a file.
    Read,
}

impl FileTool {
    /// Finds a tool by its [`tool_base_name`].
    pub fn from_name(name: &str) -> Option<Self> {
        #[rustfmt::skip]
        let tool = match name {
            "edit" | "multiedit" | "multi_edit" | "notebookedit" | "replace" | "str_replace"
            | "edit_file" | "insert_edit_into_file" | "replace_string_in_file" | "insert"
            | "smart_edit" => Self::Edit,
            "write" | "write_file" | "write_to_file" | "create" | "create_file" => Self::Write,
            "str_replace_editor" | "str_replace_based_edit_tool" => Self::Editor,
            "apply_patch" | "patch" | "applypatch" => Self::Patch,
            "delete_file" | "delete" => Self::Delete,
            "read" | "view" | "read_file" | "read_many_files" | "notebookread" => Self::Read,
            _ => return None,
        };
        Some(tool)
    }
}

/// The name of a tool in lowercase, without the prefix of its server: `mcp__github__create_file`.
pub fn tool_base_name(name: &str) -> String {
    let base = name.rsplit("__").next().unwrap_or(name);
    truncate_to(base, NAME_BYTES_MAX).to_lowercase()
}
