use serde_json::json;
use tome_model::{Agent, Draft};

use super::super::transcript::RolloutReader;
use super::*;
use crate::agents::transcript_record::{
    RecordOutcome, RecordOutcomes, RecordSkipReason, TranscriptOrigin, TranscriptReader,
};

const ID: &str = "call_0000000001";
const TWO: &str = "const a = await tools.exec_command({cmd: 'make a'});\
                   const b = await tools.exec_command({cmd: 'make b'}); text(a); text(b);";

fn item(at_s: u64, payload: &Value) -> Value {
    let at = Millis(1_800_000_000_000 + at_s * 1_000).to_string();
    json!({"timestamp": at, "type": "response_item", "payload": payload})
}

fn printed(status: &str, texts: &[&str]) -> Value {
    let head = format!("Script {status}\nWall time 0.1 seconds\nOutput:\n");
    let texts = std::iter::once(head.as_str()).chain(texts.iter().copied());
    texts.map(|text| json!({"type": "input_text", "text": text})).collect()
}

/// The call of a script at second 0, and its output at second 1.
fn ran(script: &str, status: &str, texts: &[&str]) -> Vec<Value> {
    let call = json!({"type": "custom_tool_call", "call_id": ID, "name": "exec", "input": script});
    let output = json!({"type": "custom_tool_call_output", "call_id": ID,
                        "output": printed(status, texts)});
    vec![item(0, &call), item(1, &output)]
}

fn waited(at_s: u64, status: &str, texts: &[&str]) -> Vec<Value> {
    let id = format!("call_1000000{at_s:04}");
    let call = json!({"type": "function_call", "call_id": id, "name": "wait",
                      "arguments": "{\"cell_id\":\"7\"}"});
    let output = json!({"type": "function_call_output", "call_id": id,
                        "output": printed(status, texts)});
    vec![item(at_s, &call), item(at_s, &output)]
}

fn result(output: &str) -> String {
    json!({"wall_time_seconds": 1.0, "exit_code": 0, "output": output}).to_string()
}

fn read_all(records: &[Value]) -> RecordOutcomes {
    let origin = TranscriptOrigin {
        agent: Agent::parse("codex").unwrap(),
        path: "/tmp/rollout.jsonl".to_owned(),
        session: "s1".to_owned(),
        cwd: "/home/dev/app".to_owned(),
        at: Millis(0),
    };
    let mut reader = RolloutReader::new(origin, None);
    let mut steps = RecordOutcomes::new();
    for record in records {
        reader.read_record(record.as_object().unwrap().clone(), &mut steps);
    }
    reader.finish(&mut steps);
    steps
}

fn drafts(records: &[Value]) -> Vec<Draft> {
    let events = read_all(records).into_iter().filter_map(|step| match step {
        RecordOutcome::Event(draft) => Some(*draft),
        RecordOutcome::Unanswered(_) | RecordOutcome::Skipped(_) => None,
    });
    events.collect()
}

/// The calls of a script: `id name output`, the id without that of the script.
fn calls(records: &[Value]) -> Vec<String> {
    let show = |draft: Draft| {
        let id = draft.meta["tool_use_id"].as_str().unwrap().replace(ID, "");
        let tool = draft.tool.unwrap();
        let name = tool.input.get("command").and_then(Value::as_str).unwrap_or(&tool.name);
        format!("{id} {name} {}", tool.output)
    };
    drafts(records).into_iter().map(show).collect()
}

#[test]
fn a_script_that_still_runs_is_stored_when_it_has_ended() {
    for script in ["text(await tools.exec_command({cmd: 'make a'}));", TWO] {
        let mut records = ran(script, "running with cell ID 7", &["x"]);
        assert_eq!(calls(&records), [""; 0]);
        let unfinished = read_all(&records)
            .into_iter()
            .filter(|step| matches!(step, RecordOutcome::Skipped(RecordSkipReason::Unfinished)));
        assert_eq!(unfinished.count(), 1);
        records.extend(waited(2, "completed", &["y"]));
        assert!(!calls(&records).is_empty());
    }
}

#[test]
fn the_calls_of_a_script_have_other_ids_than_the_script() {
    let records = ran(TWO, "completed", &[&result("A"), &result("B")]);
    assert_eq!(calls(&records), ["#1 make a \"A\"", "#2 make b \"B\""]);
    let records = ran(TWO, "completed", &["A and B"]);
    assert_eq!(calls(&records), [" exec \"A and B\"", "#1 make a null", "#2 make b null"]);
}

#[test]
fn results_belong_to_calls_only_if_they_are_printed_in_order() {
    let (a, b) = ("tools.exec_command({cmd: 'make a'})", "tools.exec_command({cmd: 'make b'})");
    let is_shared = |script: &str| {
        let script = script.replace("@a", a).replace("@b", b);
        let calls = calls(&ran(&script, "completed", &[&result("A"), &result("B")]));
        let is_shared = calls == ["#1 make a \"A\"", "#2 make b \"B\""];
        assert!(is_shared || calls.len() == 3 && calls[0].starts_with(" exec"), "{calls:?}");
        is_shared
    };
    for script in [
        "const a = await @a; const b = await @b; text(a); text(b);",
        "const a = @a, b = @b; text(await a); text(await b);",
        "text(await @a); text(await @b);",
        "let r = await @a; text(r); r = await @b; text(r);",
        "const [a, b] = await Promise.all([@a, @b]); text(a); text(`b: ${b}`);",
        "const all = await Promise.all([@a, @b]); text(all[0]); text(all[1]);",
        "const all = await Promise.all([@a, @b]); for (const one of all) { text(one); }",
        "const all = await Promise.all([@a, @b]); all.forEach(one => text(one));",
        "const a = await @a; const b = await @b; for (const r of [a, b]) text(r);",
        "const a = await @a; text(a.output.filter(l => l)); const b = await @b; text(b);",
    ] {
        assert!(is_shared(script), "{script}");
    }
    for script in [
        "const a = await @a; const b = await @b; text(b); text(a);",
        "const a = await @a; text(await @b); text(a);",
        "await Promise.all([@a.then(text), @b.then(text)]);",
        "await Promise.all([@a.then(r => text(r)), @b.then(r => text(r))]);",
        "const [b, a] = await Promise.all([@a, @b]); text(a); text(b);",
        "const all = await Promise.all([@a, @b]); text(all[1]); text(all[0]);",
        "const all = await Promise.all([@a, @b]); for (const one of all.reverse()) text(one);",
        "const all = await Promise.all([@a, @b]); for (let i = 1; i >= 0; i--) text(all[i]);",
        "const a = await @a; const b = await @b; for (const r of [b, a]) text(r);",
        "const a = await @a; const b = await @b; const f = () => text(a); text(b); f();",
        "const show = r => { text(r); }; const a = await @a; const b = await @b; show(b); show(a);",
    ] {
        assert!(!is_shared(script), "{script}");
    }
}

#[test]
fn an_error_of_the_script_is_not_the_output_of_its_call() {
    let script = "const r = await tools.exec_command({cmd: 'make a'}); text(r.lines.length);";
    let error = "Script error:\nTypeError: r.lines is undefined";
    let records = ran(script, "failed", &[error]);
    assert_eq!(calls(&records), [format!(" exec {}", json!(error))]);
    let error = "Script error:\nexec_command failed: no such folder";
    let records = ran(script, "failed", &[error]);
    assert_eq!(calls(&records), [" make a \"exec_command failed: no such folder\""]);
    assert_eq!(drafts(&records)[0].meta["failed"], true);
}

#[test]
fn the_output_of_a_running_script_is_kept_up_to_a_limit() {
    let script = "text(await tools.exec_command({cmd: 'make a'}));";
    let part = "x".repeat(KEPT_BYTES_MAX / 4);
    let huge = "y".repeat(2 * KEPT_BYTES_MAX);
    let mut records = ran(script, "running with cell ID 7", &[&huge]);
    for at_s in 2..20 {
        records.extend(waited(at_s, "running with cell ID 7", &[&part]));
    }
    records.extend(waited(20, "completed", &[&result("end")]));
    let draft = drafts(&records).remove(0);
    assert_eq!(draft.meta["exit_code"], 0);
    let output = draft.tool.unwrap().output;
    let output = output.as_str().unwrap();
    assert!(output.starts_with("[… ") && output.ends_with("x\nend"), "{}", output.len());
    assert!(output.len() <= KEPT_BYTES_MAX + 100 && output.len() >= KEPT_BYTES_MAX / 2);
    let mut run = ScriptRun::default();
    run.add_items(vec![huge.into()]);
    run.cap_items();
    assert!(run.items_bytes <= KEPT_BYTES_MAX && run.items.len() == 1 && run.cut_bytes > 0);
}
