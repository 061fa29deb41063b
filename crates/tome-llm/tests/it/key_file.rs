//! Key files: only those readable by their owner alone are accepted.
#![cfg(unix)]

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use tome_llm::ApiKey;

fn written(path: &Path, text: &[u8], mode: u32) {
    #[expect(clippy::disallowed_methods, reason = "a test's own file")]
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_private_key_file_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    for mode in [0o600, 0o400] {
        written(&path, b"sk-123\n", mode);
        assert_eq!(ApiKey::from_file(&path).unwrap(), ApiKey::new("sk-123").unwrap());
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn key_files_accessible_to_others_are_rejected_without_showing_the_key() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let refused = |path: &Path, why: &str| {
        let message = ApiKey::from_file(path).unwrap_err().to_string();
        assert!(
            message.contains(why) && message.contains(&path.display().to_string()),
            "{message}"
        );
        assert!(!message.contains("sk-123"), "{message}");
    };
    for mode in [0o640, 0o604, 0o644, 0o620, 0o660, 0o610] {
        let path = at(&format!("mode-{mode:o}"));
        written(&path, b"sk-123", mode);
        refused(&path, &format!("chmod 600 {}", path.display()));
    }
    written(&at("good"), b"sk-123", 0o600);
    symlink(at("good"), at("link")).unwrap();
    refused(&at("link"), "use the path of the file itself");
    refused(&at("missing"), "cannot be read");
    refused(folder.path(), "is not a regular file");
    let pipe = at("pipe");
    let made = std::process::Command::new("mkfifo").args(["-m", "600"]).arg(&pipe).status();
    assert!(made.unwrap().success());
    refused(&pipe, "is not a regular file");
    for (name, text) in [("empty", &b"\n"[..]), ("two", b"sk-123\nsk-456"), ("bytes", b"\xff\xfe")]
    {
        written(&at(name), text, 0o600);
        refused(&at(name), "key");
    }
    written(&at("long"), &[b'k'; 5_000], 0o600);
    refused(&at("long"), "more than a key");
}
