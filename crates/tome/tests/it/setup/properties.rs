//! Property tests with random configs: installing keeps all content, installing again changes
//! nothing, and undo restores every byte.

use proptest::prelude::*;
use serde_json::{Map, Value};

use super::{done, file, five, read, write};

/// A writing style: indentation, line ends, comments, trailing commas.
#[derive(Debug, Clone)]
struct Hand {
    indent: &'static str,
    newline: &'static str,
    comments: bool,
    trailing: bool,
    ends: bool,
}

fn hand() -> impl Strategy<Value = Hand> {
    let indent = prop::sample::select(vec!["", " ", "  ", "    ", "\t"]);
    let newline = prop::sample::select(vec!["\n", "\r\n", " ", ""]);
    (indent, newline, any::<[bool; 3]>()).prop_map(|(indent, newline, flags)| {
        let [comments, trailing, ends] = flags;
        // A line comment needs a line end.
        let comments = comments && newline.contains('\n');
        Hand { indent, newline, comments, trailing, ends }
    })
}

fn word() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "hooks",
        "mcpServers",
        "mcp",
        "tome",
        "Stop",
        "model",
        "a b",
        "ключ",
        "//",
        "/*",
        "\"q\"",
        "",
    ])
    .prop_map(str::to_owned)
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[ -~é,:{}\\[\\]]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let members = prop::collection::vec((word(), inner.clone()), 0..4);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            members.prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Settings of an agent: hooks and servers of others, and more.
fn settings() -> impl Strategy<Value = Value> {
    let handler = prop_oneof![
        Just(serde_json::json!({"type": "command", "command": "other --x"})),
        Just(serde_json::json!({"type": "prompt", "prompt": "tome hook codex"})),
    ];
    let group = prop::collection::vec(handler, 0..3)
        .prop_map(|hooks| serde_json::json!({"matcher": "Bash", "hooks": hooks}));
    let event = prop::sample::select(vec!["SessionStart", "Stop", "PreToolUse", "AfterTool", "X"]);
    let events = prop::collection::vec((event, prop::collection::vec(group, 0..3)), 0..4);
    let hooks = prop::option::of(events.prop_map(|events| {
        events.into_iter().map(|(event, groups)| (event.to_owned(), groups.into())).collect()
    }));
    let servers = prop::collection::vec(("[a-z]{1,5}", value()), 0..3);
    let servers = prop::option::of(servers.prop_map(|servers| {
        let others = servers.into_iter().filter(|(name, _)| name != "tome");
        others.collect::<Map<String, Value>>()
    }));
    let rest = prop::collection::vec(("[a-z]{1,4}|ключ|a\"b", value()), 0..4);
    (hooks, servers, rest).prop_map(|(hooks, servers, rest)| {
        let reserved = ["hooks", "mcpServers", "mcp"];
        let mut all: Map<String, Value> =
            rest.into_iter().filter(|(name, _)| !reserved.contains(&name.as_str())).collect();
        all.extend(hooks.map(|hooks: Map<String, Value>| ("hooks".to_owned(), hooks.into())));
        all.extend(servers.map(|servers| ("mcpServers".to_owned(), servers.into())));
        Value::Object(all)
    })
}

/// Renders a value in a style.
fn written(value: &Value, hand: &Hand) -> String {
    let mut text = if hand.comments { format!("// top{}", hand.newline) } else { String::new() };
    put(&mut text, value, hand, 0);
    if hand.ends {
        text += hand.newline;
    }
    text
}

fn put(text: &mut String, value: &Value, hand: &Hand, depth: usize) {
    let line = |depth: usize| format!("{}{}", hand.newline, hand.indent.repeat(depth));
    let (open, close, members): (_, _, Vec<(String, &Value)>) = match value {
        Value::Object(members) => {
            let named = |name: &String| Value::String(name.clone()).to_string() + ": ";
            ('{', '}', members.iter().map(|(name, value)| (named(name), value)).collect())
        }
        Value::Array(elements) => {
            ('[', ']', elements.iter().map(|value| (String::new(), value)).collect())
        }
        leaf => return text.push_str(&leaf.to_string()),
    };
    text.push(open);
    let count = members.len();
    for (at, (name, value)) in members.into_iter().enumerate() {
        *text += &line(depth + 1);
        if hand.comments && at % 2 == 1 {
            *text += "/* , } */ ";
        }
        *text += &name;
        put(text, value, hand, depth + 1);
        if at + 1 < count || hand.trailing {
            text.push(',');
        }
        if hand.comments && at % 2 == 0 {
            *text += " // a, b }";
        }
    }
    if count > 0 {
        *text += &line(depth);
    }
    text.push(close);
}

/// TOML in a person's style.
fn toml_text() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "model = \"x\"   # why",
        "[tui]\ntheme = 'dark'",
        "[mcp_servers.other]\ncommand = \"x\"\nargs = [ \"a\", # b\n  \"c\" ]",
        "[mcp_servers.\"quoted name\"]\nurl = \"u\"",
        "[[profiles]]\nname = \"p\"",
        "[projects.\"/a/b\"]\ntrust_level = \"trusted\"",
        "# a comment",
        "",
    ]);
    (prop::collection::hash_set(line, 0..7), any::<[bool; 3]>()).prop_map(|(lines, flags)| {
        // Bare keys precede the first table.
        let mut lines: Vec<&str> = lines.into_iter().collect();
        lines.sort_by_key(|line| (line.starts_with('['), *line));
        let [windows, ends, inline] = flags;
        let has_servers = lines.iter().any(|line| line.starts_with("[mcp_servers"));
        let mut text = lines.join("\n");
        if inline && !has_servers {
            text = format!("mcp_servers = {{ a = {{ command = \"b\" }} }}\n{text}");
        }
        if ends {
            text.push('\n');
        }
        if windows { text.replace('\n', "\r\n") } else { text }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, ..ProptestConfig::default() })]

    #[test]
    fn properties_setup_and_undo_keep_all_content(
        claude in settings(),
        gemini in settings(),
        hands in (hand(), hand()),
        toml in toml_text(),
        bom in any::<bool>(),
    ) {
        let world = five();
        let bom = if bom { "\u{feff}" } else { "" };
        let texts = [
            (".claude/settings.json", format!("{bom}{}", written(&claude, &hands.0))),
            (".gemini/settings.json", written(&gemini, &hands.1)),
            (".codex/config.toml", toml),
        ];
        for (path, text) in &texts {
            write(&world, path, text);
        }
        done(&world, &[]);
        let wired: Vec<String> = texts.iter().map(|(path, _)| read(&world, path)).collect();
        for ((path, before), after) in texts.iter().zip(&wired) {
            prop_assert_ne!(before, after, "{}", path);
            // Everything is still there, in its order.
            let mut rest = after.chars();
            let kept = before.chars().filter(|c| !c.is_whitespace());
            let is_kept = kept.into_iter().all(|c| rest.any(|other| other == c));
            prop_assert!(is_kept, "{}: {} became {}", path, before, after);
        }
        prop_assert_eq!(&done(&world, &[])["applied"], false);
        done(&world, &["--undo"]);
        for (path, before) in &texts {
            prop_assert_eq!(std::fs::read(file(&world, path)).unwrap(), before.as_bytes(), "{}", path);
        }
    }
}
