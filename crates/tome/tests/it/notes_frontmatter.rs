//! Hostile frontmatter and very many notes: other notes stay as they are, and the index is correct.

use serde_json::{Value, json};

use crate::acceptance::{agent, file, notebook, wire};
use crate::notes_cli::memory_json;
use crate::notes_safety::check_whole;
use crate::support::{daemon_up, world};

fn typed(name: &str, description: &str, content: &str) -> Value {
    json!({"filename": "t.md", "name": name, "description": description, "memory_type": "feedback",
           "content": content})
}

/// Names and descriptions with any content are preserved, on one line of the index.
#[test]
fn frontmatter_accepts_any_content() {
    let world = world();
    world.tome(&["start"]);
    daemon_up(&world);
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
        let answer = wire(&world, "memory_write", &typed(text, text, "The body."));
        assert!(!answer.is_error, "{text:?}: {answer:?}");
        let listed = memory_json(&world, &["list"]);
        let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(listed.len(), 1, "{listed:?}");
        assert_eq!(flat(listed[0]["name"].as_str().unwrap()), flat(text), "{text:?}");
        assert_eq!(flat(listed[0]["summary"].as_str().unwrap()), flat(text), "{text:?}");
        assert_eq!(listed[0]["type"], "feedback", "{text:?}");
        let index = file(&world, "MEMORY.md");
        assert_eq!(index.lines().count(), 4, "{index}");
        assert!(index.starts_with("# Memory\n\n## Feedback\n- ["), "{index}");
        let note = file(&world, "t.md");
        assert!(note.starts_with("---\n") && note.ends_with("---\n\nThe body.\n"), "{note}");
    }
}

#[test]
fn the_body_and_unknown_keys_are_kept() {
    let world = world();
    agent(&world, "memory_write", &typed("T", "d", "old"));
    let path = notebook(&world).join("t.md");
    let by_hand = "---\nname: T\ndescription: d\ntype: feedback\nupdated: 2020-01-01\n\
        owner: \"me: and you\"\ntags: [a, b]\nnested:\n  deep: 1\n# a comment\n---\n\n\
        updated: 2020-01-01\nname: in the body\n---\nold\n";
    std::fs::write(&path, by_hand).unwrap();
    let update = json!({"filename": "t.md", "old_text": "---\nold", "new_text": "---\nnew"});
    agent(&world, "memory_update", &update);
    let text = file(&world, "t.md");
    for kept in
        ["owner: \"me: and you\"\n", "tags: [a, b]\n", "nested:\n  deep: 1\n", "# a comment\n"]
    {
        assert!(text.contains(kept), "{kept} in {text}");
    }
    assert!(text.ends_with("---\n\nupdated: 2020-01-01\nname: in the body\n---\nnew\n"), "{text}");
    let (front, _) = text.split_once("\n---\n").unwrap();
    assert!(!front.contains("updated: 2020-01-01"), "{text}");
    agent(&world, "memory_write", &typed("New name", "new words", "new body"));
    let text = file(&world, "t.md");
    for kept in ["owner: \"me: and you\"\n", "tags: [a, b]\n", "nested:\n  deep: 1\n"] {
        assert!(text.contains(kept), "{kept} in {text}");
    }
    assert!(text.contains("name: New name\n") && text.ends_with("---\n\nnew body\n"), "{text}");

    // Windows line endings and a byte-order mark.
    let crlf =
        "\u{feff}---\r\nname: Win\r\ndescription: dows\r\ntype: user\r\n---\r\n\r\none\r\ntwo\r\n";
    std::fs::write(&path, crlf).unwrap();
    let listed = &memory_json(&world, &["list"])[0];
    assert_eq!((&listed["name"], &listed["type"]), (&json!("Win"), &json!("user")), "{listed}");
    let update = json!({"filename": "t.md", "old_text": "one\ntwo", "new_text": "1\n2"});
    agent(&world, "memory_update", &update);
    let text = file(&world, "t.md");
    assert!(
        text.ends_with("\r\n\r\n1\r\n2\r\n") && !text.replace("\r\n", "").contains('\n'),
        "{text:?}"
    );
}

#[test]
fn broken_frontmatter_affects_no_other_note() {
    let world = world();
    agent(&world, "memory_write", &typed("Good", "a good one", "x"));
    let folder = notebook(&world);
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
    let index = agent(&world, "memory_view", &json!({}));
    let (feedback, other) = index.split_once("\n## Other\n").unwrap();
    assert!(feedback.contains("- [Good](t.md) - a good one\n"), "{index}");
    assert_eq!(other.lines().count(), 9, "{index}");
    assert!(other.contains("- [b4](b4.md) - b4\n"), "{index}");
    for n in 1..=9 {
        assert!(other.contains(&format!("(b{n}.md)")), "{index}");
        let path = format!("b{n}.md");
        agent(&world, "memory_append", &json!({"path": path, "entry": "added"}));
        assert!(file(&world, &path).ends_with("added\n"));
    }
    check_whole(&world);
}

#[test]
fn five_hundred_notes_do_not_flood_a_prompt() {
    let world = world();
    agent(&world, "memory_write", &typed("Newest", "to be kept", "x"));
    let folder = notebook(&world);
    for n in 0..499 {
        let text =
            format!("---\nname: Note {n}\ndescription: {}\ntype: user\n---\nx\n", "d".repeat(20));
        std::fs::write(folder.join(format!("n{n:03}.md")), text).unwrap();
    }
    agent(&world, "memory_update", &json!({"filename": "t.md", "old_text": "x", "new_text": "y"}));
    let view = agent(&world, "memory_view", &json!({}));
    let shown = view.lines().filter(|line| line.starts_with("- ")).count();
    assert!(view.lines().count() <= 200 && view.len() <= 16 * 1024, "{}", view.lines().count());
    let omitted = format!("({} older entries omitted", 500 - shown);
    assert!(view.contains(&omitted), "{}", view.lines().last().unwrap());
    assert!(view.contains("(t.md)"), "the newest is kept");
    assert_eq!(file(&world, "MEMORY.md").matches("\n- [").count(), 500, "the file has all");
    let listed: Value = serde_json::from_str(&agent(&world, "memory_list", &json!({}))).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 500);
}
