//! Where notebooks are stored.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use tome_home::{HomeError, NotebookOwner, project_folder_name};
use tome_model::Scope;
use tome_notebook::{Actor, Author};

use crate::tools::scene::{Scene, files_in, scene};

fn session(scene: &Scene, id: &str) -> NotebookOwner {
    NotebookOwner {
        scope: Scope::Session,
        cwd: scene.caller.cwd.clone(),
        session: Some(id.to_owned()),
    }
}

fn project_folder(scene: &Scene) -> PathBuf {
    scene.home.join("projects").join(project_folder_name(scene.repo.to_str().unwrap()))
}

fn root(scene: &Scene, whose: &NotebookOwner) -> PathBuf {
    scene.notebooks.open(whose).unwrap().root().to_path_buf()
}

fn person() -> Author {
    Author { who: Actor::Person, tool: "test".into() }
}

#[test]
fn every_scope_has_its_folder() {
    let scene = scene();
    let project = project_folder(&scene);
    assert_eq!(root(&scene, &scene.project()), project.join("memory"));
    assert_eq!(
        root(&scene, &session(&scene, "s-1.2")),
        project.join("sessions/s-1.2/working-memory")
    );
    assert_eq!(
        root(&scene, &session(&scene, "../../x")),
        project.join("sessions/~%2E%2E%2F%2E%2E%2Fx/working-memory")
    );
    let coder = NotebookOwner { scope: Scope::Coder, cwd: None, session: None };
    assert_eq!(root(&scene, &coder), scene.home.join("coder"));
    assert!(!scene.home.exists(), "reading creates nothing");
    let notebook = scene.notebooks.open(&scene.project()).unwrap();
    notebook.write_note(&person(), "a.md", "\0", None, None).unwrap_err();
    notebook.patch_note(&person(), "a.md", &[], None).unwrap_err();
    notebook.write_note(&person(), "facts/a.md", &"x".repeat(99_999), None, None).unwrap_err();
    notebook.write_note(&person(), "a.md", "x", None, Some("0123456789ab")).unwrap_err();
    assert!(!scene.home.exists(), "a rejected write creates nothing");
    notebook.write_note(&person(), "a.md", "x", None, None).unwrap();
    assert!(project.join("project.toml").is_file());
    assert_eq!(root(&scene, &scene.project()), project.join("memory"));
}

#[test]
fn subfolders_and_worktrees_share_the_notebook_in_the_repository() {
    let scene = scene();
    let memory = scene.repo.join(".memory");
    std::fs::create_dir_all(scene.repo.join("src/deep")).unwrap();
    std::fs::create_dir(&memory).unwrap();
    let tree = scene.top().join("hotfix");
    let git = scene.repo.join(".git/worktrees/hotfix");
    std::fs::create_dir_all(&git).unwrap();
    std::fs::create_dir(&tree).unwrap();
    for folder in ["objects", "refs"] {
        std::fs::create_dir_all(scene.repo.join(".git").join(folder)).unwrap();
    }
    std::fs::write(git.join("commondir"), "../..\n").unwrap();
    std::fs::write(git.join("gitdir"), format!("{}\n", tree.join(".git").display())).unwrap();
    std::fs::write(tree.join(".git"), format!("gitdir: {}\n", git.display())).unwrap();
    for cwd in [scene.repo.clone(), scene.repo.join("src/deep"), tree] {
        let whose =
            NotebookOwner { cwd: Some(cwd.to_str().unwrap().to_owned()), ..scene.project() };
        assert_eq!(root(&scene, &whose), memory);
    }
}

#[test]
fn a_repository_gets_only_markdown_files() {
    let scene = scene();
    let memory = scene.repo.join(".memory");
    std::fs::create_dir(&memory).unwrap();
    scene.call_text("memory_write", json!({"path": "facts/user.md", "content": "one"}));
    scene.call_text("memory_write", json!({"path": "facts/user.md", "content": "two"}));
    scene.call_text("memory_delete", json!({"path": "facts/user.md"}));
    scene.call_text("memory_write", json!({"path": "a.md", "content": "three"}));
    for (path, content) in files_in(&memory) {
        assert!(content.is_none() || path.extension().is_some_and(|end| end == "md"), "{path:?}");
    }
    assert!(project_folder(&scene).join("memory/.history").is_dir());
    let notebook = scene.notebooks.open(&scene.project()).unwrap();
    assert_eq!(notebook.read_history(Some("facts/user.md")).unwrap().len(), 3);
}

#[test]
fn notes_that_come_with_a_repository_are_used() {
    let scene = scene();
    let memory = scene.repo.join(".memory");
    std::fs::create_dir_all(memory.join("old")).unwrap();
    std::fs::write(memory.join("a.md"), "one\n").unwrap();
    std::fs::write(memory.join("old/b.md"), "two\n").unwrap();
    assert_eq!(scene.note_text("a.md"), "one\n");
    scene.call_text("memory_list", json!({}));
    let missing = json!({"path": "c.md", "old_str": "x", "new_str": "y"});
    scene.call_rejected("memory_patch", missing, tome_engine::ToolFailure::NotFound);
    assert!(!scene.home.exists(), "reading and rejecting create nothing");
    scene.call_text("memory", json!({"command": "delete", "path": "/memories/old"}));
    assert!(project_folder(&scene).join("project.toml").is_file());
    assert!(!memory.join("old").exists());
    scene.call_text("memory_patch", json!({"path": "a.md", "old_str": "one", "new_str": "1"}));
    assert_eq!(std::fs::read_to_string(memory.join("a.md")).unwrap(), "1\n");
}

#[test]
fn creating_or_removing_the_repository_folder_takes_effect_at_once() {
    let scene = scene();
    let memory = scene.repo.join(".memory");
    scene.call_text("memory_write", json!({"path": "a.md", "content": "at home"}));
    std::fs::create_dir(&memory).unwrap();
    assert_eq!(scene.call_text("memory_list", json!({})), "[]");
    std::fs::write(memory.join("b.md"), "in the repository\n").unwrap();
    assert_eq!(scene.note_text("b.md"), "in the repository\n");
    assert_eq!(scene.notebooks.open_notebooks().len(), 1, "the one in the home is not in use");
    std::fs::remove_dir_all(&memory).unwrap();
    assert!(scene.note_text("a.md").starts_with("at home"));
}

#[cfg(unix)]
#[test]
fn a_memory_folder_that_is_a_link_or_file_is_rejected() {
    let scene = scene();
    let memory = scene.repo.join(".memory");
    let elsewhere = scene.top().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &memory).unwrap();
    for what in ["a symbolic link", "a file"] {
        for tool in ["memory_list", "memory_write"] {
            let arguments = match tool {
                "memory_list" => json!({}),
                _ => json!({"path": "a.md", "content": "x"}),
            };
            let message = scene.call_rejected(tool, arguments, tome_engine::ToolFailure::Failed);
            assert!(message.contains(".memory") && message.contains(what), "{message}");
        }
        let refused = scene.notebooks.move_into_repository(scene.repo.to_str().unwrap());
        assert!(refused.is_err());
        std::fs::remove_file(&memory).unwrap();
        std::fs::write(&memory, "x").unwrap();
    }
    assert!(files_in(&elsewhere).is_empty() && !scene.home.exists());
}

#[test]
fn errors_name_the_missing_argument() {
    let scene = scene();
    let open_error = |whose: &NotebookOwner| match scene.notebooks.open(whose) {
        Ok(_) => panic!("opened {whose:?}"),
        Err(error) => error.to_string(),
    };
    let nowhere = NotebookOwner { cwd: None, ..scene.project() };
    assert!(open_error(&nowhere).starts_with("cwd is missing"));
    let relative = NotebookOwner { cwd: Some("repo".into()), ..scene.project() };
    assert_eq!(open_error(&relative), "cwd \"repo\" is not an absolute path");
    let sessionless = NotebookOwner { session: None, ..session(&scene, "") };
    assert!(open_error(&sessionless).starts_with("session_id is missing"));
    assert_eq!(open_error(&session(&scene, "")), "session_id is missing");
    assert!(open_error(&session(&scene, "a\nb")).contains("without control characters"));
    assert!(!scene.home.exists());
}

#[test]
fn notes_move_into_the_repository() {
    let scene = scene();
    scene.call_text("memory_write", json!({"path": "a.md", "content": "one"}));
    scene.call_text("memory_write", json!({"path": "facts/user.md", "content": "two"}));
    scene.call_text("memory_write", json!({"path": "same.md", "content": "same"}));
    scene.call_text("memory_write", json!({"path": "other.md", "content": "mine"}));
    let home = project_folder(&scene).join("memory");
    std::fs::write(home.join("latin.md"), b"caf\xe9\n").unwrap();
    let (a, same) = (scene.note_text("a.md"), scene.note_text("same.md"));
    let memory = scene.repo.join(".memory");
    let cwd = scene.repo.to_str().unwrap();
    // As after an interrupted move, with another note of the same name.
    std::fs::create_dir(&memory).unwrap();
    std::fs::write(memory.join("same.md"), &same).unwrap();
    std::fs::write(memory.join("other.md"), "theirs\n").unwrap();
    let moved = scene.notebooks.move_into_repository(cwd).unwrap();
    assert_eq!(moved.folder, memory);
    assert!(!moved.created);
    assert_eq!(moved.moved, ["a.md", "facts/user.md", "same.md"]);
    assert_eq!(moved.kept_back, ["latin.md", "other.md"]);
    assert_eq!(scene.note_text("a.md"), a);
    assert_eq!(scene.note_text("other.md"), "theirs\n");
    assert!(home.join("other.md").is_file() && !home.join("a.md").exists());
    let again = scene.notebooks.move_into_repository(cwd).unwrap();
    assert!(again.moved.is_empty());
    assert_eq!(again.kept_back, ["latin.md", "other.md"]);
    let notebook = scene.notebooks.open(&scene.project()).unwrap();
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
    let scene = scene();
    let moved = scene.notebooks.move_into_repository(scene.repo.to_str().unwrap()).unwrap();
    assert!(moved.created && moved.moved.is_empty());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = moved.folder.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o700, 0o700);
        assert_eq!(mode & 0o022, 0);
    }
    let gone = scene.notebooks.move_into_repository("/nowhere/at/all");
    assert!(matches!(gone, Err(HomeError::File { .. })));
}

#[test]
fn only_a_few_notebooks_stay_open() {
    let scene = scene();
    let held = scene.notebooks.open(&session(&scene, "held")).unwrap();
    for number in 0..40 {
        scene.notebooks.open(&session(&scene, &format!("s{number}"))).unwrap();
    }
    let open = scene.notebooks.open_notebooks();
    assert_eq!(open.len(), 16);
    assert!(open.iter().any(|one| Arc::ptr_eq(one, &held)), "a notebook in use stays open");
    let last = root(&scene, &session(&scene, "s39"));
    assert!(open.iter().any(|one| one.root() == last));
    drop(open);
    let again = scene.notebooks.open(&session(&scene, "held")).unwrap();
    assert!(Arc::ptr_eq(&again, &held));
    assert_eq!(scene.notebooks.close_idle(1_000_000), 0);
    assert_eq!(scene.notebooks.close_idle(0), 15);
    assert_eq!(scene.notebooks.open_notebooks().len(), 1);
    held.write_note(&person(), "detail/a.md", "x", None, None).unwrap();
    assert!(Path::new(held.root()).join("detail/a.md").is_file());
}
