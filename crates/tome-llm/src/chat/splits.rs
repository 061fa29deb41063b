//! However a stream is split into chunks, the reply and the stream events are the same.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;

use super::anthropic::Messages;
use super::openai::Chunks;
use super::{Draft, Flow, Intake, Reader};
use crate::http::{Endpoint, Http};
use crate::{Heard, ModelFailure, Reply, Talk};

/// A stream with comments, CRLF, data over two lines, thinking, multi-byte characters and two calls,
/// one of them without arguments.
fn anthropic() -> String {
    let events = [
        json!({"type": "message_start", "message": {"usage": {
            "input_tokens": 7, "cache_read_input_tokens": 90, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "thinking", "thinking": ""}}),
        json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "thinking_delta", "thinking": "hm"}}),
        json!({"type": "content_block_start", "index": 1,
            "content_block": {"type": "text", "text": ""}}),
        json!({"type": "ping"}),
        json!({"type": "content_block_delta", "index": 1,
            "delta": {"type": "text_delta", "text": "記憶 und\n"}}),
        json!({"type": "content_block_delta", "index": 1,
            "delta": {"type": "text_delta", "text": "Gedächtnis"}}),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "content_block_start", "index": 2,
            "content_block": {"type": "tool_use", "id": "toolu_1", "name": "recall", "input": {}}}),
        json!({"type": "content_block_delta", "index": 2,
            "delta": {"type": "input_json_delta", "partial_json": "{\"query\": \"pars"}}),
        json!({"type": "content_block_delta", "index": 2,
            "delta": {"type": "input_json_delta", "partial_json": "er\"}"}}),
        json!({"type": "content_block_start", "index": 3,
            "content_block": {"type": "tool_use", "id": "toolu_2", "name": "list", "input": {}}}),
        json!({"type": "content_block_stop", "index": 3}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"},
            "usage": {"output_tokens": 33}}),
    ];
    let mut stream = ": hello\r\n\r\n".to_owned();
    for event in events {
        let kind = event["type"].as_str().unwrap_or("");
        stream.push_str(&format!("event: {kind}\r\ndata: {event}\r\n\r\n"));
    }
    stream + "event: message_stop\r\ndata: {\r\ndata: \"type\": \"message_stop\"}\r\n\r\n"
}

fn openai() -> String {
    let delta = |delta: serde_json::Value| json!({"choices": [{"index": 0, "delta": delta}]});
    let chunks = [
        delta(json!({"role": "assistant", "content": ""})),
        delta(json!({"reasoning_content": "hm"})),
        delta(json!({"content": "記憶 und\n"})),
        delta(json!({"content": "Gedächtnis"})),
        delta(json!({"tool_calls": [{"index": 0, "id": "toolu_1", "type": "function",
            "function": {"name": "recall", "arguments": ""}}]})),
        delta(json!({"tool_calls": [{"index": 1, "id": "toolu_2",
            "function": {"name": "list", "arguments": ""}}]})),
        delta(
            json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\"query\": \"pars"}}]}),
        ),
        delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": "er\"}"}}]})),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
        json!({"choices": [], "usage": {"prompt_tokens": 97, "completion_tokens": 33,
            "prompt_tokens_details": {"cached_tokens": 90}}}),
    ];
    let mut stream = ": hello\n\n".to_owned();
    for chunk in chunks {
        stream.push_str(&format!("data:{chunk}\n\n"));
    }
    stream + "data: [DONE]\n\n"
}

fn read(mut reader: impl Reader, pieces: &[&[u8]]) -> Result<(Reply, String), ModelFailure> {
    let endpoint = Endpoint {
        base_url: "http://127.0.0.1:1".to_owned(),
        key: None,
        timeout: Duration::from_secs(1),
        proxy: None,
    };
    let http = Http::new(&endpoint, "/")?;
    let mut said = String::new();
    let mut heard = |piece: Heard<'_>| match piece {
        Heard::Text(text) => said.push_str(text),
        Heard::Call { name } => said.push_str(&format!("[{name}]")),
        Heard::Again => said.push_str("[again]"),
    };
    let mut draft = Draft::new(&mut heard);
    let mut intake = Intake::Fresh;
    let mut flow = Flow::More;
    for piece in pieces {
        if flow == Flow::More {
            flow = intake.take(piece, &mut reader, &mut draft)?;
        }
    }
    if flow == Flow::More {
        intake.end(&http, &mut reader, &mut draft)?;
    }
    let reply = reader.reply(&Talk::default(), draft)?;
    Ok((reply, said))
}

fn cut(stream: &[u8], cuts: &[usize]) -> Vec<Vec<u8>> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut % (stream.len() + 1)).collect();
    places.extend([0, stream.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| stream[pair[0]..pair[1]].to_vec()).collect()
}

#[test]
fn both_protocols_say_the_same() {
    let (reply, said) = read(Messages::default(), &[anthropic().as_bytes()]).unwrap();
    assert_eq!(said, "記憶 und\nGedächtnis[recall][list]");
    assert_eq!(reply.text(), "記憶 und\nGedächtnis");
    let calls: Vec<_> = reply.calls().map(|c| (c.id.as_str(), c.arguments.as_str())).collect();
    assert_eq!(calls, [("toolu_1", "{\"query\": \"parser\"}"), ("toolu_2", "{}")]);
    assert_eq!((reply.usage.input, reply.usage.cache_read, reply.usage.output), (7, 90, 33));
    assert_eq!(read(Chunks::default(), &[openai().as_bytes()]).unwrap(), (reply, said));
}

proptest! {
    #[test]
    fn properties_of_any_cut(cuts in prop::collection::vec(any::<usize>(), 0..40)) {
        let whole = read(Messages::default(), &[anthropic().as_bytes()]).unwrap();
        for (stream, is_anthropic) in [(anthropic(), true), (openai(), false)] {
            let pieces = cut(stream.as_bytes(), &cuts);
            let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            let read = if is_anthropic {
                read(Messages::default(), &pieces)
            } else {
                read(Chunks::default(), &pieces)
            };
            prop_assert_eq!(read.unwrap(), whole.clone());
        }
    }

    /// A truncated stream is a reply only if the stop reason had arrived.
    #[test]
    fn properties_of_any_early_end(at in any::<usize>()) {
        let stream = anthropic();
        let at = at % (stream.len() + 1);
        let end = stream.find("\"stop_reason\"").unwrap();
        let read = read(Messages::default(), &[&stream.as_bytes()[..at]]);
        if at < end {
            let failure = read.unwrap_err();
            prop_assert!(
                matches!(failure, ModelFailure::BrokenOff { .. } | ModelFailure::Malformed { .. }),
                "{:?}", failure
            );
        } else if let Ok((reply, _)) = read {
            prop_assert_eq!(reply.calls().count(), 2);
        }
    }

    #[test]
    fn properties_of_noise(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        // Any input gives a reply or a failure, never a panic.
        let _ = read(Messages::default(), &[&bytes]);
        let _ = read(Chunks::default(), &[&bytes]);
    }
}
