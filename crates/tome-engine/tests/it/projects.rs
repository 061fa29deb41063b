//! Which project an event belongs to: repositories, worktrees, submodules, and folders that claim
//! to be one.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use tome_home::{EventQuery, locate_project};

use crate::engine_fixture::EngineFixture;

/// Records an event in a folder; returns its project.
fn project_of(fixture: &EngineFixture, cwd: &Path) -> PathBuf {
    let id = format!("in{}", cwd.display()).replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    // A session belongs to one project.
    fixture.ingest([json!({"id": id, "cwd": cwd, "session_id": cwd})]);
    let event = fixture.engine.stores().find_event(&id, None).unwrap();
    assert_eq!(event.cwd, cwd.to_str().unwrap());
    event.project.into()
}

/// The ids of the events of a project, or of all projects.
fn event_ids(fixture: &EngineFixture, project: Option<&str>) -> Vec<String> {
    let query = EventQuery {
        project: project.map(str::to_owned),
        events_max: 1_000,
        bytes_max: usize::MAX,
        ..EventQuery::default()
    };
    let page = fixture.engine.stores().query_events(&query).unwrap();
    page.events.into_iter().map(|event| event.id.as_str().to_owned()).collect()
}

/// The relevant files of a repository after `git init`.
fn bare_repository(fixture: &EngineFixture, name: &str) -> PathBuf {
    let root = fixture.folder(name);
    fixture.write(&format!("{name}/.git/HEAD"), "ref: refs/heads/main\n");
    fixture.folder(&format!("{name}/.git/objects"));
    fixture.folder(&format!("{name}/.git/refs"));
    root
}

/// A linked worktree as written by `git worktree add`.
fn worktree(fixture: &EngineFixture, main: &str, name: &str) -> PathBuf {
    let root = fixture.folder(name);
    let record = format!("{main}/.git/worktrees/{name}");
    let git_dir = fixture.folder(&record);
    fixture.write(&format!("{name}/.git"), &format!("gitdir: {}\n", git_dir.display()));
    fixture.write(&format!("{record}/commondir"), "../..\n");
    fixture.write(&format!("{record}/gitdir"), &format!("{}\n", root.join(".git").display()));
    fixture.write(&format!("{record}/HEAD"), "ref: refs/heads/other\n");
    root
}

#[test]
fn a_folder_outside_git_is_its_own_project() {
    let fixture = EngineFixture::new();
    let folder = fixture.folder("plain/inner");
    assert_eq!(project_of(&fixture, &folder), folder);
}

#[test]
fn a_subfolder_belongs_to_its_repository() {
    let fixture = EngineFixture::new();
    let root = bare_repository(&fixture, "app");
    let deep = fixture.folder("app/src/very/deep");
    assert_eq!(project_of(&fixture, &root), root);
    assert_eq!(project_of(&fixture, &deep), root);
    assert_eq!(event_ids(&fixture, root.to_str()).len(), 2);
}

#[test]
fn late_events_of_a_removed_worktree_keep_their_project() {
    let fixture = EngineFixture::new();
    let main = bare_repository(&fixture, "app");
    let linked = worktree(&fixture, "app", "app-gone");
    let inside = fixture.folder("app-gone/src");
    assert_eq!(project_of(&fixture, &linked), main);
    std::fs::remove_dir_all(&linked).unwrap();
    assert_eq!(project_of(&fixture, &inside), main);
    // Also in a process that never saw it.
    let fixture = fixture.reopen(|_| {});
    assert_eq!(project_of(&fixture, &linked.join("other")), main);
}

#[test]
fn a_submodule_is_its_own_project() {
    let fixture = EngineFixture::new();
    bare_repository(&fixture, "app");
    let submodule = fixture.folder("app/vendor/lib");
    fixture.write("app/.git/modules/lib/HEAD", "ref: refs/heads/main\n");
    fixture.write("app/vendor/lib/.git", "gitdir: ../../.git/modules/lib\n");
    assert_eq!(project_of(&fixture, &submodule), submodule);
}

#[cfg(unix)]
#[test]
fn a_symlink_resolves_to_the_same_project() {
    let fixture = EngineFixture::new();
    let root = bare_repository(&fixture, "app");
    fixture.folder("app/src");
    let link = root.with_file_name("link");
    std::os::unix::fs::symlink(&root, &link).unwrap();
    assert_eq!(project_of(&fixture, &link), root);
    assert_eq!(project_of(&fixture, &link.join("src")), root);
    let projects = fixture.engine.stores().projects();
    let named = projects.resolve_project_or_guess(link.to_str().unwrap(), None);
    assert_eq!(event_ids(&fixture, Some(&named)).len(), 2);
}

#[test]
fn paths_that_encode_to_the_same_name_stay_distinct() {
    let fixture = EngineFixture::new();
    let event = |id: &str, cwd: &str| json!({"id": id, "cwd": cwd, "session_id": cwd});
    for (id, cwd) in [("a", "/x/a-b"), ("b", "/x/a/b"), ("c", "/x-a/b"), ("d", "/x/a-b")] {
        fixture.ingest([event(id, cwd)]);
    }
    assert_eq!(event_ids(&fixture, Some("/x/a-b")), ["a", "d"]);
    assert_eq!(event_ids(&fixture, Some("/x/a/b")), ["b"]);
    assert_eq!(event_ids(&fixture, Some("/x-a/b")), ["c"]);
    let folders = |fixture: &EngineFixture| {
        std::fs::read_dir(fixture.home().join("projects")).unwrap().count()
    };
    assert_eq!(folders(&fixture), 3);
    // Also in a process that must read them from disk.
    let fixture = fixture.reopen(|_| {});
    fixture.ingest([event("e", "/x/a/b")]);
    assert_eq!(event_ids(&fixture, Some("/x/a/b")), ["b", "e"]);
    assert_eq!(folders(&fixture), 3);
}

#[test]
fn a_missing_folder_is_used_as_given() {
    let fixture = EngineFixture::new();
    for (cwd, root) in [
        ("/no/such/folder", "/no/such/folder"),
        ("/no/such/folder/", "/no/such/folder"),
        ("/no/such/../such/folder/./", "/no/such/folder"),
        ("/no/such/folder/below", "/no/such/folder/below"),
        ("C:\\code\\app", "C:\\code\\app"),
        ("/", "/"),
    ] {
        assert_eq!(project_of(&fixture, Path::new(cwd)), Path::new(root), "{cwd}");
    }
}

#[test]
fn names_that_are_difficult_for_file_systems_work() {
    let fixture = EngineFixture::new();
    for cwd in [
        format!("/{}", "long/".repeat(200)),
        format!("/{}", "ä".repeat(300)),
        "/日本語/プロジェクト".to_owned(),
        "/with space/and \"quotes\"/and\nnewline".to_owned(),
        "/..hidden/.".to_owned(),
    ] {
        let id = format!("id{}", cwd.len());
        fixture.ingest([json!({"id": id, "cwd": cwd, "session_id": id})]);
    }
    assert_eq!(event_ids(&fixture, None).len(), 5);
    let fixture = fixture.reopen(|_| {});
    assert_eq!(event_ids(&fixture, None).len(), 5);
}

/// A project's record contains what the folder's name cannot express, and no credentials.
#[test]
fn the_project_file_contains_remote_and_path_but_no_credentials() {
    let fixture = EngineFixture::new();
    let main = bare_repository(&fixture, "app");
    fixture.write(
        "app/.git/config",
        "[remote \"origin\"]\n\turl = https://me:hunter2@example.com/app.git\n",
    );
    let linked = worktree(&fixture, "app", "app-hotfix");
    project_of(&fixture, &linked);
    let mut folders = std::fs::read_dir(fixture.home().join("projects")).unwrap();
    let record = folders.next().unwrap().unwrap().path().join("project.toml");
    let record = std::fs::read_to_string(record).unwrap();
    assert!(record.contains(&format!("root = \"{}\"", main.display())), "{record}");
    assert!(record.contains(linked.to_str().unwrap()), "{record}");
    assert!(record.contains("https://example.com/app.git"), "{record}");
    assert!(!record.contains("hunter2"), "{record}");
    assert!(!main.join(".memory").exists(), "nothing is written into the repository");
}

/// Runs git, which must succeed.
fn git(fixture: &EngineFixture, folder: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.current_dir(folder).args(["-c", "protocol.file.allow=always"]);
    command.args(["-c", "user.name=a", "-c", "user.email=a@b.c"]).args(args);
    command.env("HOME", fixture.folder("person")).env("GIT_CONFIG_NOSYSTEM", "1");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn has_git() -> bool {
    Command::new("git").arg("--version").output().is_ok()
}

/// A repository with one commit.
fn git_repository(fixture: &EngineFixture, name: &str) -> PathBuf {
    let root = fixture.folder(name);
    git(fixture, &root, &["init", "-q"]);
    git(fixture, &root, &["commit", "-q", "--allow-empty", "-m", "first"]);
    root
}

/// The `.git` of a folder counts only if the repository that it names agrees.
#[cfg(unix)]
#[test]
fn a_folder_with_a_forged_worktree_record_is_its_own_project() {
    use std::os::unix::fs::symlink;
    if !has_git() {
        return;
    }
    let fixture = EngineFixture::new();
    let victim = git_repository(&fixture, "victim");
    git(&fixture, &victim, &["worktree", "add", "-q", "../real"]);
    let common = victim.join(".git");
    let record = common.join("worktrees/real");
    let at = |path: &Path| path.to_str().unwrap().to_owned();
    let claim = |name: &str, pointer: &str| {
        let folder = fixture.folder(name);
        fixture.write(&format!("{name}/.git"), &format!("gitdir: {pointer}\n"));
        folder
    };
    // A forged record that names the victim's git directory.
    let own = claim("own-record", "record");
    for (file, text) in [("commondir", at(&common)), ("gitdir", at(&own.join(".git")))] {
        fixture.write(&format!("own-record/record/{file}"), &text);
    }
    // The same in git's usual layout.
    let like = claim("like-a-worktree", "repo/worktrees/w");
    fixture.write("like-a-worktree/repo/worktrees/w/commondir", &at(&common));
    fixture.write("like-a-worktree/repo/worktrees/w/gitdir", &at(&like.join(".git")));
    // The victim's record of another worktree, directly and through links.
    claim("borrowed-record", &at(&record));
    claim("linked-record", "record");
    symlink(&record, fixture.folder("linked-record").join("record")).unwrap();
    symlink(fixture.folder("real").join(".git"), fixture.folder("linked-pointer").join(".git"))
        .unwrap();
    // The victim's git directory itself.
    claim("whole-repository", &at(&common));
    for name in [
        "own-record",
        "like-a-worktree",
        "borrowed-record",
        "linked-record",
        "linked-pointer",
        "whole-repository",
    ] {
        let folder = fixture.folder(name);
        assert_eq!(project_of(&fixture, &folder), folder, "{name}");
        // A hook looks it up itself.
        assert_eq!(locate_project(&folder).unwrap().root, folder, "{name}");
    }
    assert_eq!(event_ids(&fixture, victim.to_str()), Vec::<String>::new());
}

#[test]
fn listed_worktrees_share_the_project() {
    if !has_git() {
        return;
    }
    let fixture = EngineFixture::new();
    let main = git_repository(&fixture, "main");
    git(&fixture, &main, &["worktree", "add", "-q", "../linked"]);
    assert_eq!(project_of(&fixture, &fixture.folder("linked")), main);
    git(&fixture, &main, &["worktree", "add", "-q", "../before"]);
    git(&fixture, &main, &["worktree", "move", "../before", "../moved"]);
    assert_eq!(project_of(&fixture, &fixture.folder("moved")), main);
    // Moved by hand: git lists it again after a repair.
    git(&fixture, &main, &["worktree", "add", "-q", "../by-hand"]);
    std::fs::rename(fixture.folder("by-hand"), main.with_file_name("elsewhere")).unwrap();
    git(&fixture, &fixture.folder("elsewhere"), &["worktree", "repair"]);
    assert_eq!(project_of(&fixture, &fixture.folder("elsewhere")), main);
    // Relative paths, as with `worktree.useRelativePaths`; both may then be moved together.
    git(&fixture, &main, &["worktree", "add", "-q", "../relative"]);
    fixture.write("relative/.git", "gitdir: ../main/.git/worktrees/relative\n");
    fixture.write("main/.git/worktrees/relative/gitdir", "../../../../relative/.git\n");
    git(&fixture, &fixture.folder("relative"), &["status"]);
    assert_eq!(project_of(&fixture, &fixture.folder("relative")), main);
    // A worktree of a bare repository.
    git(&fixture, &main, &["clone", "-q", "--bare", ".", "../bare.git"]);
    let bare = fixture.folder("bare.git");
    git(&fixture, &bare, &["worktree", "add", "-q", "../of-bare"]);
    assert_eq!(project_of(&fixture, &fixture.folder("of-bare")), bare);
}

#[test]
fn submodules_and_separate_git_directories_are_projects_of_their_own() {
    if !has_git() {
        return;
    }
    let fixture = EngineFixture::new();
    let main = git_repository(&fixture, "main");
    let library = git_repository(&fixture, "library");
    let library = library.to_str().unwrap();
    git(&fixture, &main, &["submodule", "add", "-q", library, "vendor/library"]);
    let submodule = fixture.folder("main/vendor/library");
    assert_eq!(project_of(&fixture, &submodule), submodule);
    git(&fixture, &main, &["commit", "-q", "-a", "-m", "with a submodule"]);
    git(&fixture, &main, &["worktree", "add", "-q", "../linked"]);
    let linked = fixture.folder("linked");
    assert_eq!(project_of(&fixture, &linked), main);
    git(&fixture, &linked, &["submodule", "update", "-q", "--init"]);
    let in_linked = fixture.folder("linked/vendor/library");
    assert_eq!(project_of(&fixture, &in_linked), in_linked, "a submodule in a worktree");
    let separate = main.with_file_name("separate");
    let git_dir = main.with_file_name("separate.git");
    let separately =
        ["--separate-git-dir", git_dir.to_str().unwrap(), library, separate.to_str().unwrap()];
    git(&fixture, &main, &[&["clone", "-q"], separately.as_slice()].concat());
    let separate = fixture.folder("separate");
    assert_eq!(project_of(&fixture, &separate), separate);
}
