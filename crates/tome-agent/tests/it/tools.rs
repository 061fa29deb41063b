//! Which tools a toolbox offers and runs.

use tome_agent::model::{CancelToken, ToolCall};
use tome_agent::{FnTool, Memory, MemoryToolSet, MemoryTools, Toolbox};

use crate::fixture::Fixture;

#[test]
fn tool_sets_contain_the_tools_of_their_names() {
    let fixture = Fixture::new();
    let memory = fixture.open("s1");
    let names = |set: MemoryToolSet| {
        let offered = Toolbox::new(set).definitions(&memory);
        offered.into_iter().map(|tool| tool.name).collect::<Vec<_>>()
    };
    let reflection = ["memory_read", "memory_write", "memory_append", "memory_patch"];
    let mut sorted = names(MemoryToolSet::Reflection);
    sorted.sort();
    let mut wanted = reflection.map(str::to_owned).to_vec();
    wanted.sort();
    assert_eq!(sorted, wanted);
    assert_eq!(names(MemoryToolSet::None), Vec::<String>::new());
    let all = names(MemoryToolSet::Full);
    assert_eq!(all.len() + 1, memory.tools().len());
    let reading = names(MemoryToolSet::ReadOnly);
    for writes in ["memory_write", "memory_delete", "coder_memory_store", "memory_patch"] {
        assert!(
            all.iter().any(|name| name == writes) && !reading.iter().any(|name| name == writes)
        );
    }
    assert!(reading.iter().any(|name| name == "recall_memory"));
}

#[test]
fn a_tool_outside_the_set_is_not_run() {
    let fixture = Fixture::new();
    let memory = fixture.open("s1");
    let call = |name: &str, arguments: &str| {
        let (id, name, arguments) = ("1".to_owned(), name.to_owned(), arguments.to_owned());
        let call = ToolCall { id, name, arguments };
        Toolbox::new(MemoryToolSet::ReadOnly)
            .run_call(&memory, &call, &CancelToken::default())
            .result
    };
    assert!(call("memory_write", r#"{"path":"a.md","content":"x"}"#).failed);
    assert_eq!(memory.notes_index(100).unwrap(), None);
    assert!(!call("memory_list", "").failed);
    assert!(call("memory_read", r#"{"path":"../../etc/passwd"}"#).failed);
}

#[test]
fn a_custom_tool_replaces_one_with_the_same_name() {
    let fixture = Fixture::new();
    let memory = fixture.open("s1");
    let own = |text: &'static str| {
        FnTool::new("memory_list", text, serde_json::json!({}), move |_: &_| Ok(text.to_owned()))
    };
    let tools = Toolbox::new(MemoryToolSet::Full).with_tool(own("a")).with_tool(own("b"));
    let offered = tools.definitions(&memory);
    assert_eq!(offered.iter().filter(|tool| tool.name == "memory_list").count(), 1);
    let call = ToolCall { id: "1".into(), name: "memory_list".into(), arguments: "{}".into() };
    assert_eq!(tools.run_call(&memory, &call, &CancelToken::default()).result.text, "b");
}
