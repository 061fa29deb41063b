//! Property tests of edits: other content is kept, a second edit changes nothing, and uninstalling
//! restores the original content.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::install_file::{InstallContent, McpServerEntry};
use super::{edit, json_text};

fn form() -> InstallContent {
    let group = |timeout: u32| json!({"hooks": [{"type": "command", "command": "/x/tome hook gemini", "timeout": timeout}]});
    let settings = json!({"command": "/x/tome", "args": ["mcp"]});
    InstallContent::Json {
        hooks: vec![("SessionStart", group(10)), ("Stop", group(5))],
        server: Some(McpServerEntry {
            holder: "mcpServers",
            settings: settings.as_object().cloned().unwrap(),
        }),
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i32>().prop_map(Value::from),
        "[ -~é,:{}\\[\\]\"/]{0,10}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map("[a-z\"/é]{0,4}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// An agent's settings: hooks of others and of older Tome versions, servers, and other members.
fn settings() -> impl Strategy<Value = Value> {
    let handler = prop::sample::select(vec![
        json!({"type": "command", "command": "other"}),
        json!({"type": "command", "command": "tome hook gemini"}),
        json!({"type": "command", "command": "/x/tome", "args": ["hook", "gemini"]}),
    ]);
    let group = prop::collection::vec(handler, 0..3).prop_map(|hooks| json!({"hooks": hooks}));
    let groups = prop::collection::vec(group, 0..3);
    let event = prop::sample::select(vec!["SessionStart", "Stop", "Other"]);
    let hooks = prop::option::of(prop::collection::hash_map(event, groups, 0..3));
    let server = prop::sample::select(vec![
        json!({"command": "x"}),
        json!({"command": "/old/tome", "args": ["mcp"], "env": {}}),
    ]);
    let name = prop::sample::select(vec!["other", "tome"]);
    let servers = prop::option::of(prop::collection::hash_map(name, server, 0..3));
    let rest = prop::collection::hash_map("[a-f]{1,3}", value(), 0..4);
    (hooks, servers, rest).prop_map(|(hooks, servers, rest)| {
        let mut all: Map<String, Value> = rest.into_iter().collect();
        all.extend(hooks.map(|hooks| ("hooks".to_owned(), json!(hooks))));
        all.extend(servers.map(|servers| ("mcpServers".to_owned(), json!(servers))));
        Value::Object(all)
    })
}

/// Renders it on one line or many, with comments where people put them.
fn text() -> impl Strategy<Value = (Value, String)> {
    (settings(), 0..4_u8, any::<bool>()).prop_map(|(value, style, windows)| {
        let mut text = match style {
            0 => value.to_string(),
            1 => json_text::render_spaced(&value),
            _ => serde_json::to_string_pretty(&value).unwrap(),
        };
        if style == 3 {
            let lines = text.lines().map(|line| format!("\t{line} // {{ \"a\": [, \n"));
            text = lines.collect();
        }
        if windows {
            text = text.replace('\n', "\r\n");
        }
        (value, text)
    })
}

fn parse(text: &str) -> Value {
    json_text::parse(text).unwrap().unwrap_or_default()
}

/// An edit is refused only if another server has that name.
fn is_taken(value: &Value) -> bool {
    value["mcpServers"]["tome"] == json!({"command": "x"})
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn properties_edits_are_idempotent_reversible_and_keep_other_content((value, text) in text()) {
        let form = form();
        let wired = match edit::install(&form, Some(&text)) {
            Ok(wired) => wired,
            Err(_) => {
                prop_assert!(is_taken(&value), "{}", text);
                return Ok(());
            }
        };
        prop_assert!(!is_taken(&value));
        prop_assert_eq!(&edit::install(&form, Some(&wired)).unwrap(), &wired);
        let after = parse(&wired);
        for name in value.as_object().unwrap().keys() {
            if name != "hooks" && name != "mcpServers" {
                prop_assert_eq!(&after[name], &value[name]);
            }
        }
        prop_assert_eq!(&after["mcpServers"]["tome"]["command"], "/x/tome");
        for event in ["SessionStart", "Stop"] {
            let groups = after["hooks"][event].to_string();
            prop_assert_eq!(groups.matches("tome").count(), 1, "{}", wired);
        }
        prop_assert_eq!(after["hooks"]["Other"].to_string().matches("tome").count(), 0);
        let count = |text: &str| text.matches("\"other\"").count();
        prop_assert_eq!(count(&wired), count(&text));
        let bare = edit::uninstall(&form, &wired, Some(&text)).unwrap();
        let from_text = edit::uninstall(&form, &text, Some(&text)).unwrap();
        prop_assert_eq!(pruned(parse(&bare)), pruned(parse(&from_text)));
        let left = parse(&bare);
        prop_assert_eq!(left["mcpServers"].get("tome"), None);
        prop_assert!(!left["hooks"].to_string().contains("tome"), "{}", bare);
        if !text.contains("tome") && text.contains('\n') && !text.contains("{}") && !text.contains("[]") {
            prop_assert_eq!(&bare, &text, "nothing of Tome was there before");
        }
    }
}

/// Drops empty containers: an event without hooks may lose its empty list.
fn pruned(mut value: Value) -> Value {
    if let Some(members) = value.as_object_mut() {
        for name in ["hooks", "mcpServers"] {
            if let Some(held) = members.get_mut(name).and_then(Value::as_object_mut) {
                held.retain(|_, held| *held != json!([]));
            }
        }
        members.retain(|_, member| *member != json!({}));
    }
    value
}
