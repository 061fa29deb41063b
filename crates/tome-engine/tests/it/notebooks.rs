//! Where notebooks are stored.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use tome_home::{HomeError, NotebookOwner, project_folder_name};
use tome_model::Scope;
use tome_notebook::{Actor, Author};

use crate::tools::fixture::{ToolsFixture, files_in, tools_fixture};

fn session(fixture: &ToolsFixture, id: &str) -> NotebookOwner {
    NotebookOwner {
        scope: Scope::Session,
        cwd: fixture.caller.cwd.clone(),
        session: Some(id.to_owned()),
    }
}

fn project_folder(fixture: &ToolsFixture) -> PathBuf {
    fixture.home.join("projects").join(project_folder_name(fixture.repo.to_str().unwrap()))
}

fn root(fixture: &ToolsFixture, whose: &NotebookOwner) -> PathBuf {
    fixture.notebooks.open(whose).unwrap().root().to_path_buf()
}

fn person() -> Author {
    Author { who: Actor::Person, tool: "test".into() }
}

#[test]
fn every_scope_has_its_folder() {
    let fixture = tools_fixture();
    let project = project_folder(&fixture);
    assert_eq!(root(&fixture, &fixture.project()), project.join("memory"));
    assert_eq!(
        root(&fixture, &session(&fixture, "s-1.2")),
        project.join("sessions/s-1.2/working-memory")
    );
    assert_eq!(
        root(&fixture, &session(&fixture, "../../x")),
        project.join("sessions/~%2E%2E%2F%2E%2E%2Fx/working-memory")
    );
    let coder = NotebookOwner { scope: Scope::Coder, cwd: None, session: None };
    assert_eq!(root(&fixture, &coder), fixture.home.join("coder"));
    assert!(!fixture.home.exists(), "reading creates nothing");
    let notebook = fixture.notebooks.open(&fixture.project()).unwrap();
    notebook.write_note(&person(), "a.md", "\0", None, None).unwrap_err();
    notebook.patch_note(&person(), "a.md", &[], None).unwrap_err();
    notebook.write_note(&person(), "facts/a.md", &"x".repeat(99_999), None, None).unwrap_err();
    notebook.write_note(&person(), "a.md", "x", None, Some("0123456789ab")).unwrap_err();
    assert!(!fixture.home.exists(), "a rejected write creates nothing");
    notebook.write_note(&person(), "a.md", "x", None, None).unwrap();
    assert!(project.join("project.toml").is_file());
    assert_eq!(root(&fixture, &fixture.project()), project.join("memory"));
}

#[test]
fn subfolders_and_worktrees_share_the_notebook_in_the_repository() {
    let fixture = tools_fixture();
    let memory = fixture.repo.join(".memory");
    std::fs::create_dir_all(fixture.repo.join("src/deep")).unwrap();
    std::fs::create_dir(&memory).unwrap();
    let tree = fixture.top().join("hotfix");
    let git = fixture.repo.join(".git/worktrees/hotfix");
    std::fs::create_dir_all(&git).unwrap();
    std::fs::create_dir(&tree).unwrap();
    for folder in ["objects", "refs"] {
        std::fs::create_dir_all(fixture.repo.join(".git").join(folder)).unwrap();
    }
    std::fs::write(git.join("commondir"), "../..\n").unwrap();
    std::fs::write(git.join("gitdir"), format!("{}\n", tree.join(".git").display())).unwrap();
    std::fs::write(tree.join(".git"), format!("gitdir: {}\n", git.display())).unwrap();
    for cwd in [fixture.repo.clone(), fixture.repo.join("src/deep"), tree] {
        let whose =
            NotebookOwner { cwd: Some(cwd.to_str().unwrap().to_owned()), ..fixture.project() };
        assert_eq!(root(&fixture, &whose), memory);
    }
}

#[test]
fn a_repository_gets_only_markdown_files() {
    let fixture = tools_fixture();
    let memory = fixture.repo.join(".memory");
    std::fs::create_dir(&memory).unwrap();
    fixture.call_text("memory_write", json!({"path": "facts/user.md", "content": "one"}));
    fixture.call_text("memory_write", json!({"path": "facts/user.md", "content": "two"}));
    fixture.call_text("memory_delete", json!({"path": "facts/user.md"}));
    fixture.call_text("memory_write", json!({"path": "a.md", "content": "three"}));
    for (path, content) in files_in(&memory) {
        assert!(content.is_none() || path.extension().is_some_and(|end| end == "md"), "{path:?}");
    }
    assert!(project_folder(&fixture).join("memory/.history").is_dir());
    let notebook = fixture.notebooks.open(&fixture.project()).unwrap();
    assert_eq!(notebook.read_history(Some("facts/user.md")).unwrap().len(), 3);
}

#[test]
fn notes_that_come_with_a_repository_are_used() {
    let fixture = tools_fixture();
    let memory = fixture.repo.join(".memory");
    std::fs::create_dir_all(memory.join("old")).unwrap();
    std::fs::write(memory.join("a.md"), "one\n").unwrap();
    std::fs::write(memory.join("old/b.md"), "two\n").unwrap();
    assert_eq!(fixture.note_text("a.md"), "one\n");
    fixture.call_text("memory_list", json!({}));
    let missing = json!({"path": "c.md", "old_str": "x", "new_str": "y"});
    fixture.call_rejected("memory_patch", missing, tome_engine::ToolFailure::NotFound);
    assert!(!fixture.home.exists(), "reading and rejecting create nothing");
    fixture.call_text("memory", json!({"command": "delete", "path": "/memories/old"}));
    assert!(project_folder(&fixture).join("project.toml").is_file());
    assert!(!memory.join("old").exists());
    fixture.call_text("memory_patch", json!({"path": "a.md", "old_str": "one", "new_str": "1"}));
    assert_eq!(std::fs::read_to_string(memory.join("a.md")).unwrap(), "1\n");
}

#[test]
fn creating_or_removing_the_repository_folder_takes_effect_at_once() {
    let fixture = tools_fixture();
    let memory = fixture.repo.join(".memory");
    fixture.call_text("memory_write", json!({"path": "a.md", "content": "at home"}));
    std::fs::create_dir(&memory).unwrap();
    assert_eq!(fixture.call_text("memory_list", json!({})), "[]");
    std::fs::write(memory.join("b.md"), "in the repository\n").unwrap();
    assert_eq!(fixture.note_text("b.md"), "in the repository\n");
    assert_eq!(fixture.notebooks.open_notebooks().len(), 1, "the one in the home is not in use");
    std::fs::remove_dir_all(&memory).unwrap();
    assert!(fixture.note_text("a.md").starts_with("at home"));
}

#[cfg(unix)]
#[test]
fn a_memory_folder_that_is_a_link_or_file_is_rejected() {
    let fixture = tools_fixture();
    let memory = fixture.repo.join(".memory");
    let elsewhere = fixture.top().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &memory).unwrap();
    for what in ["a symbolic link", "a file"] {
        for tool in ["memory_list", "memory_write"] {
            let arguments = match tool {
                "memory_list" => json!({}),
                _ => json!({"path": "a.md", "content": "x"}),
            };
            let message = fixture.call_rejected(tool, arguments, tome_engine::ToolFailure::Failed);
            assert!(message.contains(".memory") && message.contains(what), "{message}");
        }
        let refused = fixture.notebooks.move_into_repository(fixture.repo.to_str().unwrap());
        assert!(refused.is_err());
        std::fs::remove_file(&memory).unwrap();
        std::fs::write(&memory, "x").unwrap();
    }
    assert!(files_in(&elsewhere).is_empty() && !fixture.home.exists());
}

#[test]
fn errors_name_the_missing_argument() {
    let fixture = tools_fixture();
    let open_error = |whose: &NotebookOwner| match fixture.notebooks.open(whose) {
        Ok(_) => panic!("opened {whose:?}"),
        Err(error) => error.to_string(),
    };
    let nowhere = NotebookOwner { cwd: None, ..fixture.project() };
    assert!(open_error(&nowhere).starts_with("cwd is missing"));
    let relative = NotebookOwner { cwd: Some("repo".into()), ..fixture.project() };
    assert_eq!(open_error(&relative), "cwd \"repo\" is not an absolute path");
    let sessionless = NotebookOwner { session: None, ..session(&fixture, "") };
    assert!(open_error(&sessionless).starts_with("session_id is missing"));
    assert_eq!(open_error(&session(&fixture, "")), "session_id is missing");
    assert!(open_error(&session(&fixture, "a\nb")).contains("without control characters"));
    assert!(!fixture.home.exists());
}

#[test]
fn notes_move_into_the_repository() {
    let fixture = tools_fixture();
    fixture.call_text("memory_write", json!({"path": "a.md", "content": "one"}));
    fixture.call_text("memory_write", json!({"path": "facts/user.md", "content": "two"}));
    fixture.call_text("memory_write", json!({"path": "same.md", "content": "same"}));
    fixture.call_text("memory_write", json!({"path": "other.md", "content": "mine"}));
    let home = project_folder(&fixture).join("memory");
    std::fs::write(home.join("latin.md"), b"caf\xe9\n").unwrap();
    let (a, same) = (fixture.note_text("a.md"), fixture.note_text("same.md"));
    let memory = fixture.repo.join(".memory");
    let cwd = fixture.repo.to_str().unwrap();
    // As after an interrupted move, with another note of the same name.
    std::fs::create_dir(&memory).unwrap();
    std::fs::write(memory.join("same.md"), &same).unwrap();
    std::fs::write(memory.join("other.md"), "theirs\n").unwrap();
    let moved = fixture.notebooks.move_into_repository(cwd).unwrap();
    assert_eq!(moved.folder, memory);
    assert!(!moved.created);
    assert_eq!(moved.moved, ["a.md", "facts/user.md", "same.md"]);
    assert_eq!(moved.kept_back, ["latin.md", "other.md"]);
    assert_eq!(fixture.note_text("a.md"), a);
    assert_eq!(fixture.note_text("other.md"), "theirs\n");
    assert!(home.join("other.md").is_file() && !home.join("a.md").exists());
    let again = fixture.notebooks.move_into_repository(cwd).unwrap();
    assert!(again.moved.is_empty());
    assert_eq!(again.kept_back, ["latin.md", "other.md"]);
    let notebook = fixture.notebooks.open(&fixture.project()).unwrap();
    assert!(memory.join("MEMORY.md").is_file());
    assert_eq!(
        std::fs::read_to_string(memory.join("MEMORY.md")).unwrap(),
        notebook.render_index().unwrap()
    );
    let log = notebook.read_history(Some("a.md")).unwrap();
    assert_eq!(log.len(), 1, "moving a note adds no version: {log:?}");
}

#[test]
fn a_new_repository_folder_is_readable_by_others() {
    let fixture = tools_fixture();
    let moved = fixture.notebooks.move_into_repository(fixture.repo.to_str().unwrap()).unwrap();
    assert!(moved.created && moved.moved.is_empty());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = moved.folder.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o700, 0o700);
        assert_eq!(mode & 0o022, 0);
    }
    let gone = fixture.notebooks.move_into_repository("/nowhere/at/all");
    assert!(matches!(gone, Err(HomeError::File { .. })));
}

#[test]
fn only_a_few_notebooks_stay_open() {
    let fixture = tools_fixture();
    let held = fixture.notebooks.open(&session(&fixture, "held")).unwrap();
    for number in 0..40 {
        fixture.notebooks.open(&session(&fixture, &format!("s{number}"))).unwrap();
    }
    let open = fixture.notebooks.open_notebooks();
    assert_eq!(open.len(), 16);
    assert!(open.iter().any(|one| Arc::ptr_eq(one, &held)), "a notebook in use stays open");
    let last = root(&fixture, &session(&fixture, "s39"));
    assert!(open.iter().any(|one| one.root() == last));
    drop(open);
    let again = fixture.notebooks.open(&session(&fixture, "held")).unwrap();
    assert!(Arc::ptr_eq(&again, &held));
    assert_eq!(fixture.notebooks.close_idle(1_000_000), 0);
    assert_eq!(fixture.notebooks.close_idle(0), 15);
    assert_eq!(fixture.notebooks.open_notebooks().len(), 1);
    held.write_note(&person(), "detail/a.md", "x", None, None).unwrap();
    assert!(Path::new(held.root()).join("detail/a.md").is_file());
}
