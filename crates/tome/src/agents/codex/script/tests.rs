use serde_json::json;

use super::*;

fn calls(source: &str) -> Vec<(String, Value)> {
    let script = parse_script(source).unwrap_or_default();
    script.calls.into_iter().map(|call| (call.name, call.input)).collect()
}

fn commands(source: &str) -> Vec<String> {
    let command = |input: &Value| input["cmd"].as_str().unwrap_or_default().to_owned();
    calls(source).iter().map(|(_, input)| command(input)).collect()
}

fn unread(source: &str) -> usize {
    parse_script(source).map_or(usize::MAX, |script| script.unread_calls)
}

#[test]
fn a_call_with_literal_arguments_is_read() {
    let source = r#"// @exec: {"yield_time_ms": 1000}
const r = await tools.exec_command({"cmd":"cargo test -- 'a b'\n","workdir":"/app","yield_time_ms":10000});
text(r.output); if (r.session_id) text(`SESSION=${r.session_id}`);
"#;
    let input = json!({"cmd": "cargo test -- 'a b'\n", "workdir": "/app", "yield_time_ms": 10000});
    assert_eq!(calls(source), [("exec_command".to_owned(), input)]);
    assert_eq!(unread(source), 0);
    let other = "text(await tools.mcp__tracker__find({q: 'commas', all: true, max: -2.5}))";
    let input = json!({"q": "commas", "all": true, "max": -2.5});
    assert_eq!(calls(other), [("mcp__tracker__find".to_owned(), input)]);
    assert_eq!(calls("await tools['get_time']()"), [("get_time".to_owned(), json!({}))]);
}

#[test]
fn constants_templates_and_joined_texts_are_evaluated() {
    let patch = "*** Begin Patch\n*** Add File: a.txt\n+\"x\" ${y}\n*** End Patch";
    for source in [
        "const patch = \"*** Begin Patch\\n*** Add File: a.txt\\n+\\\"x\\\" ${y}\\n*** End Patch\";\ntext(await tools.apply_patch(patch));",
        "await tools.apply_patch(`*** Begin Patch\n*** Add File: a.txt\n+\"x\" \\${y}\n*** End Patch`)",
        "const p = ['*** Begin Patch', '*** Add File: a.txt', '+\"x\" ${y}', '*** End Patch'].join('\\n')\nawait tools.apply_patch(p)",
        "const body = '+\"x\" ${y}\\n';\nawait tools.apply_patch('*** Begin Patch\\n*** Add File: a.txt\\n' + body + '*** End Patch')",
    ] {
        assert_eq!(calls(source), [("apply_patch".to_owned(), json!(patch))], "{source}");
    }
    let source = "const dir = '/app', port = 80;
        const common = {workdir: dir, yield_time_ms: 1000};
        await tools.exec_command({...common, cmd: `curl ${dir}:${port}`})";
    let input = json!({"workdir": "/app", "yield_time_ms": 1000, "cmd": "curl /app:80"});
    assert_eq!(calls(source), [("exec_command".to_owned(), input)]);
    assert_eq!(
        commands(r"const cmd = String.raw`grep '\d' \u0041`; await tools.exec_command({cmd})"),
        [r"grep '\d' \u0041"],
    );
    assert_eq!(
        commands(
            r"await tools.exec_command({cmd: '\x41\u00e9\u{1f600}\ud83d\ude00\0\
b'})"
        ),
        ["Aé😀😀\0b"],
    );
}

#[test]
fn several_calls_are_read_in_order_with_their_prints() {
    let source = "const all = await Promise.all([
        tools.exec_command({cmd: 'a'}), tools.exec_command({cmd: 'b'})]);
        for (const one of all) { text(one.output); }";
    assert_eq!(commands(source), ["a", "b"]);
    assert_eq!(parse_script(source).unwrap().prints, None);
    let source = "let r = await tools.exec_command({cmd: 'a'}); text(`a=${r.output}`);
        r = await tools.exec_command({cmd: 'b'}); text(r.output);
        text((await tools.exec_command({cmd: 'c'})).output);";
    assert_eq!(commands(source), ["a", "b", "c"]);
    assert_eq!(parse_script(source).unwrap().prints, Some(vec![1, 2, 3]));
}

#[test]
fn a_call_that_may_not_run_is_not_read() {
    for source in [
        "if (await ok()) await tools.exec_command({cmd: 'a'});",
        "if (await ok()) { await tools.exec_command({cmd: 'a'}) }",
        "await ok() && tools.exec_command({cmd: 'a'})",
        "await (x ? tools.exec_command({cmd: 'a'}) : 0)",
        "for (const x of xs) { await tools.exec_command({cmd: 'a'}); }",
        "while (true) await tools.exec_command({cmd: 'a'});",
        "const run = async () => { await tools.exec_command({cmd: 'a'}); }",
        "async function run() { await tools.exec_command({cmd: 'a'}) }",
        "await Promise.all(xs.map(x => tools.exec_command({cmd: 'a'})))",
        "if (await done()) exit();\nawait tools.exec_command({cmd: 'a'});",
        "try { await tools.exec_command({cmd: 'a'}) } catch (e) { text(e) }",
        "try { text(await load()) } catch { await tools.exec_command({cmd: 'a'}) }",
        "await tools.exec_command({cmd: r.output})",
        "let cmd = 'a'; cmd += 'b'; await tools.exec_command({cmd})",
        "const o = {cmd: 'a'}; o.cmd = 'b'; await tools.exec_command(o)",
        "const p = 'a'\n.replace('a', 'b'); await tools.exec_command({cmd: p})",
        "const t = tools; await t.exec_command({cmd: 'a'})",
        "await tools[name]({cmd: 'a'})",
        "tools.exec_command({cmd: 'a'})",
        "// tools.exec_command({cmd: 'a'})\nawait 1",
        "text(\"await tools.exec_command({cmd: 'a'})\"); await 1",
        "await tools.exec_command({cmd: 'a'",
        "ls tools && echo 'it",
        "",
    ] {
        assert_eq!(commands(source), [""; 0], "{source}");
    }
    let source = "const r = await tools.exec_command({cmd: 'a'});
        if (r.session_id) { text(await tools.write_stdin({session_id: r.session_id})); }
        if (r.exit_code) { await tools.exec_command({cmd: 'b'}); }
        const n = 4 / 2 / 1, re = /[/'\"`]/g; text(r.output.replace(/\"/g, ''));
        await tools.exec_command({cmd: 'c'});";
    assert_eq!(commands(source), ["a", "c"]);
    let script = parse_script(source).unwrap();
    assert_eq!((script.unread_calls, script.unread_polls), (1, 1));
}

#[test]
fn a_script_that_goes_on_after_an_error_is_recognized() {
    let catches = |rest: &str| {
        let source = format!("await tools.apply_patch('p'){rest}");
        parse_script(&source).unwrap().catches_errors
    };
    assert!(!catches("; text('done')"));
    assert!(catches(".catch(text)"));
    assert!(catches(".then(text, text)"));
}

#[test]
fn an_outline_omits_the_arguments_of_calls() {
    let patch = "*** Begin Patch\n*** Delete File: src/lexer.rs\n*** End Patch";
    let source = format!("const patch = {};\nawait tools.apply_patch(patch);", json!(patch));
    let outline = outline_script(&source, &[&json!({"command": patch})]);
    assert_eq!(outline, "const patch = …;\nawait tools.apply_patch(patch);");
    let source = format!("await tools.apply_patch(`{patch}`); text('{}')", "é".repeat(40));
    let outline = outline_script(&source, &[&json!(patch)]);
    assert_eq!(outline, format!("await tools.apply_patch(`…`); text('{}')", "é".repeat(40)));
}

#[test]
fn hostile_scripts_are_cheap() {
    let call = "await tools.exec_command({cmd: a});";
    let doubling: String = (0..200).fold("let a = 'x';".to_owned(), |script, n| {
        let (before, name) = (if n == 0 { "a".to_owned() } else { format!("a{n}") }, n + 1);
        format!("{script}const a{name} = [{before}, {before}].join({before});")
    });
    for source in [
        format!("{doubling} await tools.exec_command({{cmd: a200}});"),
        format!("const a = {}1{};{call}", "[".repeat(20_000), "]".repeat(20_000)),
        format!("const a = {}'x'{};{call}", "`${".repeat(5_000), "}`".repeat(5_000)),
        format!("{}{call}", "=/[".repeat(15_000)),
        format!("{call}{}", "(".repeat(100_000)),
        format!("{call}{}", "`".repeat(100_001)),
        format!("const a = '{}';{call}", "x".repeat(3_000_000)),
        "await tools.x(".repeat(20_000),
    ] {
        assert!(commands(&source).iter().all(|command| command.len() < 3_000_000));
    }
    let many = format!("const a = 'ls'; {}", call.repeat(1_000));
    let script = parse_script(&many).unwrap();
    assert_eq!((script.calls.len(), script.unread_calls), (CALLS_MAX, 1_000 - CALLS_MAX));
}
