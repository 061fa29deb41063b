//! Notes with unusual frontmatter, and very many notes: other notes stay as they are, and the index
//! is correct.

use std::path::PathBuf;

use serde_json::{Value, json};
use tome_notebook::NoteType;

use super::fixture::{ToolsFixture, files_in, tools_fixture};

fn typed(name: &str, description: &str, content: &str) -> Value {
    json!({"filename": "t.md", "name": name, "description": description, "memory_type": "feedback",
           "content": content})
}

fn folder(fixture: &ToolsFixture) -> PathBuf {
    fixture.notebooks.open(&fixture.project()).unwrap().root().to_owned()
}

fn file(fixture: &ToolsFixture, path: &str) -> String {
    std::fs::read_to_string(folder(fixture).join(path)).unwrap()
}

/// The index is what a rebuild gives, and no temporary file is left.
fn check_index(fixture: &ToolsFixture) {
    let seen = fixture.call_text("memory_view", json!({}));
    let index = file(fixture, "MEMORY.md");
    std::fs::remove_file(folder(fixture).join("MEMORY.md")).unwrap();
    assert_eq!(fixture.call_text("memory_view", json!({})), seen);
    assert_eq!(file(fixture, "MEMORY.md"), index, "the index is what a rebuild gives");
    for path in files_in(&folder(fixture)).into_keys() {
        assert!(path.extension().is_none_or(|extension| extension != "tmp"), "{}", path.display());
    }
}

/// Names and descriptions with any content are preserved, on one line of the index.
#[test]
fn frontmatter_accepts_any_content() {
    let fixture = tools_fixture();
    for text in [
        "a: b: c",
        "\"quoted\" and 'quoted'",
        "---",
        "# not a heading",
        "- not a list",
        "[a](b.md) ](c) [",
        "{json: true}",
        "naïve 日本語 🦀 \u{202e}",
        "yes",
        "null",
        "1.0",
        "& anchor *alias |pipe > fold % @ `",
        "back\\slash \\n",
        "type: user",
        "trailing colon:",
        "two\nlines",
        "ends with ---\n---\n",
        "CR\r\nLF",
        "\ttab",
    ] {
        fixture.call_ok("memory_write", typed(text, text, "The body."));
        let notebook = fixture.notebooks.open(&fixture.project()).unwrap();
        let listed = notebook.list_notes().unwrap();
        let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(listed.len(), 1, "{listed:?}");
        assert_eq!(flat(&listed[0].name), flat(text), "{text:?}");
        assert_eq!(flat(&listed[0].summary), flat(text), "{text:?}");
        assert_eq!(listed[0].note_type, Some(NoteType::Feedback), "{text:?}");
        let index = file(&fixture, "MEMORY.md");
        assert_eq!(index.lines().count(), 4, "{index}");
        assert!(index.starts_with("# Memory\n\n## Feedback\n- ["), "{index}");
        let note = file(&fixture, "t.md");
        assert!(note.starts_with("---\n") && note.ends_with("---\n\nThe body.\n"), "{note}");
    }
}

#[test]
fn the_body_and_unknown_keys_are_kept() {
    let fixture = tools_fixture();
    fixture.call_ok("memory_write", typed("T", "d", "old"));
    let path = folder(&fixture).join("t.md");
    let by_hand = "---\nname: T\ndescription: d\ntype: feedback\nupdated: 2020-01-01\n\
        owner: \"me: and you\"\ntags: [a, b]\nnested:\n  deep: 1\n# a comment\n---\n\n\
        updated: 2020-01-01\nname: in the body\n---\nold\n";
    std::fs::write(&path, by_hand).unwrap();
    let update = json!({"filename": "t.md", "old_text": "---\nold", "new_text": "---\nnew"});
    fixture.call_ok("memory_update", update);
    let text = file(&fixture, "t.md");
    for kept in
        ["owner: \"me: and you\"\n", "tags: [a, b]\n", "nested:\n  deep: 1\n", "# a comment\n"]
    {
        assert!(text.contains(kept), "{kept} in {text}");
    }
    assert!(text.ends_with("---\n\nupdated: 2020-01-01\nname: in the body\n---\nnew\n"), "{text}");
    let (front, _) = text.split_once("\n---\n").unwrap();
    assert!(!front.contains("updated: 2020-01-01"), "{text}");
    fixture.call_ok("memory_write", typed("New name", "new words", "new body"));
    let text = file(&fixture, "t.md");
    for kept in ["owner: \"me: and you\"\n", "tags: [a, b]\n", "nested:\n  deep: 1\n"] {
        assert!(text.contains(kept), "{kept} in {text}");
    }
    assert!(text.contains("name: New name\n") && text.ends_with("---\n\nnew body\n"), "{text}");

    // Windows line endings and a byte-order mark.
    let crlf =
        "\u{feff}---\r\nname: Win\r\ndescription: dows\r\ntype: user\r\n---\r\n\r\none\r\ntwo\r\n";
    std::fs::write(&path, crlf).unwrap();
    let notebook = fixture.notebooks.open(&fixture.project()).unwrap();
    let listed = notebook.list_notes().unwrap();
    assert_eq!((listed[0].name.as_str(), listed[0].note_type), ("Win", Some(NoteType::User)));
    let update = json!({"filename": "t.md", "old_text": "one\ntwo", "new_text": "1\n2"});
    fixture.call_ok("memory_update", update);
    let text = file(&fixture, "t.md");
    assert!(
        text.ends_with("\r\n\r\n1\r\n2\r\n") && !text.replace("\r\n", "").contains('\n'),
        "{text:?}"
    );
}

#[test]
fn broken_frontmatter_affects_no_other_note() {
    let fixture = tools_fixture();
    fixture.call_ok("memory_write", typed("Good", "a good one", "x"));
    let folder = folder(&fixture);
    for (name, text) in [
        ("b1.md", "---\nname: never closed\n"),
        ("b2.md", "---\n: : :\n\t- [\n---\nbody\n"),
        ("b3.md", "---\ntype: nonsense\nname: odd type\n---\nbody\n"),
        ("b4.md", ""),
        ("b5.md", "---"),
        ("b6.md", "---\n---\n"),
        ("b7.md", "\u{feff}"),
        ("b8.md", "---\nname: [unclosed\ndescription: {\ntype: user feedback\n---\n"),
        ("b9.md", "no frontmatter\n---\nname: x\n---\n"),
    ] {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let index = fixture.call_text("memory_view", json!({}));
    let (feedback, other) = index.split_once("\n## Other\n").unwrap();
    assert!(feedback.contains("- [Good](t.md) - a good one\n"), "{index}");
    assert_eq!(other.lines().count(), 9, "{index}");
    assert!(other.contains("- [b4](b4.md) - b4\n"), "{index}");
    for n in 1..=9 {
        assert!(other.contains(&format!("(b{n}.md)")), "{index}");
        let path = format!("b{n}.md");
        fixture.call_ok("memory_append", json!({"path": path, "entry": "added"}));
        assert!(file(&fixture, &path).ends_with("added\n"));
    }
    check_index(&fixture);
}

#[test]
fn five_hundred_notes_do_not_flood_a_prompt() {
    let fixture = tools_fixture();
    fixture.call_ok("memory_write", typed("Newest", "to be kept", "x"));
    let folder = folder(&fixture);
    for n in 0..499 {
        let text =
            format!("---\nname: Note {n}\ndescription: {}\ntype: user\n---\nx\n", "d".repeat(20));
        std::fs::write(folder.join(format!("n{n:03}.md")), text).unwrap();
    }
    let update = json!({"filename": "t.md", "old_text": "x", "new_text": "y"});
    fixture.call_ok("memory_update", update);
    let view = fixture.call_text("memory_view", json!({}));
    let shown = view.lines().filter(|line| line.starts_with("- ")).count();
    assert!(view.lines().count() <= 200 && view.len() <= 16 * 1024, "{}", view.lines().count());
    let omitted = format!("({} older entries omitted", 500 - shown);
    assert!(view.contains(&omitted), "{}", view.lines().last().unwrap());
    assert!(view.contains("(t.md)"), "the newest is kept");
    assert_eq!(file(&fixture, "MEMORY.md").matches("\n- [").count(), 500, "the file has all");
    let listed = fixture.call_text("memory_list", json!({}));
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 500);
}
