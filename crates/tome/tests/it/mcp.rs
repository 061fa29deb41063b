//! `tome mcp` as a protocol: opening a session, invalid messages, shutdown.

use serde_json::{Value, json};
use tome_testkit::{Signal, eventually, is_alive, send_signal};

use crate::mcp_client::{McpClient, meta};
use crate::support::{daemon_up, world};

/// A call with the metadata that the newest protocol requires.
fn modern(mut params: Value) -> Value {
    params["_meta"] = meta();
    params
}

#[test]
fn initialize_opens_a_session_in_any_version() {
    let world = world();
    for (requested, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        // The newest version has no handshake, and the others are unknown.
        ("2026-07-28", "2025-11-25"),
        ("2031-01-01", "2025-11-25"),
        ("yesterday", "2025-11-25"),
    ] {
        let mut client = McpClient::start(&mut world.command(&["mcp"]));
        let answer = client.initialize(requested, "test-client");
        let told = &answer["result"];
        assert_eq!(told["protocolVersion"], agreed, "{requested}: {answer}");
        assert_eq!(told["serverInfo"]["name"], "tome");
        for part in ["tools", "resources", "prompts"] {
            assert!(told["capabilities"][part].is_object(), "{part} in {told}");
        }
        let rules = told["instructions"].as_str().unwrap();
        for tool in ["recall_memory", "memory_read", "memory_write", "memory_show"] {
            assert!(rules.contains(tool), "{tool} in {rules}");
        }
        client.notify("notifications/initialized", json!({}));
        assert!(client.tools().contains(&"recall_memory".to_owned()));
        assert_eq!(client.result("ping", json!({})), json!({}));
    }
}

#[test]
fn a_request_with_a_version_opens_a_session() {
    let world = world();
    let mut client = McpClient::start(&mut world.command(&["mcp"]));
    let told = client.result("server/discover", modern(json!({})));
    let versions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
    assert_eq!(told["supportedVersions"], json!(versions));
    assert_eq!(told["resultType"], "complete");
    assert_eq!(told["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "tome");
    assert!(told["instructions"].as_str().unwrap().contains("recall_memory"), "{told}");
    let listed = client.result("tools/list", modern(json!({})));
    assert!(listed["tools"].as_array().unwrap().len() > 4, "{listed}");
    assert_eq!(listed["resultType"], "complete");
    let note = json!({"name": "memory_write", "arguments": {"path": "a.md", "content": "one"}});
    let written = client.result("tools/call", modern(note));
    assert_eq!(written["structuredContent"]["path"], "a.md", "{written}");
    let bare = client.ask("tools/list", json!({}));
    assert_eq!(bare["error"]["code"], -32602, "it has to say its version: {bare}");
    let mut unknown = modern(json!({}));
    unknown["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2031-01-01".into();
    let unknown = client.ask("tools/list", unknown);
    assert!(unknown["error"]["data"]["supported"].is_array(), "{unknown}");
    let missing = modern(json!({"uri": "tome://note/none.md"}));
    assert_eq!(client.ask("resources/read", missing)["error"]["code"], -32602);
}

/// Claude Code and Copilot call server/discover first and still use the handshake.
#[test]
fn discover_allows_both_ways_of_opening() {
    let world = world();
    let mut client = McpClient::start(&mut world.command(&["mcp"]));
    assert!(client.ask("server/discover", json!({}))["error"]["code"].is_i64());
    client.result("server/discover", modern(json!({})));
    client.notify("notifications/cancelled", json!({"requestId": 1}));
    let answer = client.initialize("2025-11-25", "claude-code");
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    client.notify("notifications/initialized", json!({}));
    assert!(!client.tools().is_empty());
    assert_eq!(client.ask("tools/dream", json!({}))["error"]["code"], -32601);
}

#[test]
fn invalid_messages_get_errors_and_the_session_continues() {
    let world = world();
    let mut client = McpClient::start(&mut world.command(&["mcp"]));
    client.write(r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#);
    client.write(r#"{"jsonrpc": "2.0", "id": 90, "result": {}}"#);
    let early = client.ask("tools/dream", json!({}));
    assert_eq!(early["error"]["code"], -32601, "before there is a session: {early}");
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    client.initialize("2025-06-18", "test-client");

    for (line, code) in [("{\"jsonrpc\": ", -32700), ("hello", -32700), ("7", -32600)] {
        client.write(line);
        let heard = client.hear();
        assert_eq!((&heard["id"], &heard["error"]["code"]), (&Value::Null, &json!(code)), "{line}");
    }
    let several = json!([
        {"jsonrpc": "2.0", "id": "a", "method": "ping"}, 7,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": "b", "method": "tools/list"},
    ]);
    client.write(&several.to_string());
    let heard = client.hear_several();
    let ids: Vec<&Value> = heard.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids.len(), 3, "one list for all of them: {heard:?}");
    assert!([json!("a"), json!("b"), Value::Null].iter().all(|id| ids.contains(&id)), "{ids:?}");
    client.write("");
    client.write(r#"{"jsonrpc": "2.0", "method": "notifications/nobody/knows"}"#);
    client.write(&format!(
        "{{\"jsonrpc\": \"2.0\", \"id\": 7, \"x\": \"{}\"}}",
        "x".repeat(17 << 20)
    ));
    assert_eq!(client.hear()["error"]["code"], -32600, "longer than any line may be");
    for method in ["tools/dream", "completion/complete", "logging/setLevel", "tasks/list"] {
        assert_eq!(client.ask(method, json!({}))["error"]["code"], -32601, "{method}");
    }
    for (method, params) in [
        ("tools/call", json!({})),
        ("tools/call", json!({"name": "memory_list", "arguments": [1]})),
        ("tools/call", json!({"name": "memory_dream", "arguments": {}})),
        ("resources/read", json!({})),
        ("prompts/get", json!({"name": "dream"})),
        ("resources/list", json!({"cursor": "x"})),
    ] {
        let answer = client.ask(method, params.clone());
        assert_eq!(answer["error"]["code"], -32602, "{method} {params}: {answer}");
    }
    client.write(r#"{"jsonrpc": "2.0", "id": "words", "method": "ping"}"#);
    assert_eq!(client.hear(), json!({"jsonrpc": "2.0", "id": "words", "result": {}}));
}

/// No initial request of a client needs the daemon or stored data.
#[test]
fn initial_requests_are_answered_without_a_daemon() {
    let world = world();
    let mut command = world.command(&["mcp", "--toolsets", "all"]);
    command.env("TOME_DAEMON_AUTOSTART", "false");
    let mut client = McpClient::open_as(&mut command, "test-client");
    assert!(!client.tools().is_empty());
    let templates = client.result("resources/templates/list", json!({}));
    assert_eq!(templates["resourceTemplates"].as_array().unwrap().len(), 2);
    assert_eq!(client.result("prompts/list", json!({}))["prompts"].as_array().unwrap().len(), 2);
    let listed = client.result("resources/list", json!({}));
    assert_eq!(listed["resources"].as_array().unwrap().len(), 2, "{listed}");
    assert_eq!(world.daemon_pid(), None);
    let called = client.call("memory_list", json!({}));
    assert_eq!(called["isError"], true, "{called}");
    for message in
        [called["content"][0]["text"].as_str(), called["structuredContent"]["error"].as_str()]
    {
        assert!(message.unwrap().contains("the daemon is not running"), "{called}");
    }
    let read = client.ask("resources/read", json!({"uri": "tome://index"}));
    assert_eq!(read["error"]["code"], -32603, "{read}");
}

#[test]
fn the_daemon_is_started_and_restarted() {
    let world = world();
    let mut client = McpClient::open(&world, &[]);
    daemon_up(&world);
    client.call_text("memory_write", json!({"path": "a.md", "content": "one\n"}));
    for _ in 0..2 {
        let pid = world.kill_daemon().expect("a daemon");
        assert!(client.call_text("memory_read", json!({"path": "a.md"})).contains("\none\n"));
        assert_ne!(world.daemon_pid(), Some(pid));
        // The process that started a dead daemon must reap it.
        eventually("a burial", || {
            (!std::path::Path::new(&format!("/proc/{pid}")).exists()).then_some(())
        });
    }
    world.kill_daemon();
    client.call_text("memory_append", json!({"path": "a.md", "entry": "two"}));
    world.kill_daemon();
    assert!(client.call_text("memory_read", json!({"path": "a.md"})).contains("two"));
}

#[test]
fn the_server_exits_with_its_input_after_answering() {
    let world = world();
    let mut client = McpClient::open(&world, &[]);
    let written = client.request(
        "tools/call",
        json!({
            "name": "memory_write", "arguments": {"path": "a.md", "content": "one"},
        }),
    );
    client.write_last(r#"{"jsonrpc": "2.0", "id": "last", "method": "ping"}"#);
    let (status, rest, complaints) = client.close();
    assert_eq!((status.code(), complaints.as_str()), (Some(0), ""));
    for id in [json!(written), json!("last")] {
        assert!(rest.iter().any(|answer| answer["id"] == id), "{id} in {rest:?}");
    }
    // The daemon keeps running for others.
    assert!(world.daemon_pid().is_some_and(is_alive));

    for input in ["", "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\"}"] {
        let ran = world.tome_with(&["mcp"], input);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{input}");
        assert_eq!(ran.stdout.lines().count(), input.lines().count(), "{}", ran.stdout);
    }
}

#[test]
fn a_client_that_stops_reading_does_not_keep_the_server() {
    let world = world();
    let (hear, say) = std::io::pipe().unwrap();
    let mut command = world.command(&["mcp"]);
    let mut child = command.stdin(std::process::Stdio::piped()).stdout(say).spawn().unwrap();
    drop(command);
    drop(hear);
    let mut pen = child.stdin.take().unwrap();
    let ping = b"{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\"}\n";
    let ended = eventually("the server to end though its input is open", || {
        let _ = std::io::Write::write_all(&mut pen, ping);
        child.try_wait().unwrap()
    });
    assert!(ended.code().is_some(), "{ended}");
}

#[test]
fn a_cancelled_request_is_not_answered() {
    let world = world();
    let mut client = McpClient::open(&world, &["--toolsets", "all"]);
    let daemon = daemon_up(&world);
    client.call_text("memory_list", json!({}));
    send_signal(daemon, Signal::Stop);
    let call = json!({"name": "memory_list", "arguments": {}});
    let taken_back = client.request("tools/call", call.clone());
    assert_eq!(client.result("ping", json!({})), json!({}), "others are not kept waiting");
    client.notify("notifications/cancelled", json!({"requestId": taken_back, "reason": "enough"}));
    // This one waits until the server gives up on the daemon; the other began before it.
    let other = client.ask("tools/call", call);
    assert_eq!(other["result"]["isError"], true, "{other}");
    send_signal(daemon, Signal::Continue);
    client.call_text("memory_list", json!({}));
    let (_, rest, _) = client.close();
    assert!(rest.iter().all(|answer| answer["id"] != taken_back), "{rest:?}");
}

#[test]
fn many_concurrent_requests_are_answered() {
    let world = world();
    let servers: Vec<McpClient> =
        (0..8).map(|_| McpClient::start(&mut world.command(&["mcp"]))).collect();
    let writers: Vec<_> = servers
        .into_iter()
        .enumerate()
        .map(|(n, mut client)| {
            std::thread::spawn(move || {
                client.initialize("2025-11-25", "test-client");
                let calls: Vec<i64> = (0..3)
                    .map(|m| {
                        let entry = json!({"path": "all.md", "entry": format!("entry {n}-{m}.")});
                        let call = json!({"name": "memory_append", "arguments": entry});
                        client.request("tools/call", call)
                    })
                    .collect();
                for id in calls {
                    let answer = client.answer(id);
                    assert_eq!(answer["result"]["structuredContent"]["success"], true, "{answer}");
                }
            })
        })
        .collect();
    for writer in writers {
        writer.join().unwrap();
    }
    let note = world.tome(&["memory", "read", "all.md"]).stdout;
    for (n, m) in (0..8).flat_map(|n| (0..3).map(move |m| (n, m))) {
        assert_eq!(note.matches(&format!("entry {n}-{m}.")).count(), 1, "{n}-{m} in {note}");
    }
}
