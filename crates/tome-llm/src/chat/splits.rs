//! However a stream is split into chunks, the reply and the stream events are the same.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;

use super::anthropic::MessagesParser;
use super::openai::ChunksParser;
use super::{ReplyState, ResponseBody, ResponseBuilder, ResponseParser};
use crate::http::{HttpClient, ModelEndpoint};
use crate::{ChatRequest, ChatResponse, ModelFailure, StreamEvent};

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

fn read(
    mut reader: impl ResponseParser,
    pieces: &[&[u8]],
) -> Result<(ChatResponse, String), ModelFailure> {
    let endpoint = ModelEndpoint {
        base_url: "http://127.0.0.1:1".to_owned(),
        key: None,
        timeout: Duration::from_secs(1),
        proxy: None,
    };
    let http = HttpClient::new(&endpoint, "/")?;
    let mut streamed = String::new();
    let mut on_event = |piece: StreamEvent<'_>| match piece {
        StreamEvent::Text(text) => streamed.push_str(text),
        StreamEvent::ToolCallStart { name } => streamed.push_str(&format!("[{name}]")),
        StreamEvent::Retry => streamed.push_str("[again]"),
    };
    let mut draft = ResponseBuilder::new(&mut on_event);
    let mut intake = ResponseBody::Empty;
    let mut flow = ReplyState::More;
    for piece in pieces {
        if flow == ReplyState::More {
            flow = intake.feed(piece, &mut reader, &mut draft)?;
        }
    }
    if flow == ReplyState::More {
        intake.finish(&http, &mut reader, &mut draft)?;
    }
    let reply = reader.into_response(&ChatRequest::default(), draft)?;
    Ok((reply, streamed))
}

fn cut(stream: &[u8], cuts: &[usize]) -> Vec<Vec<u8>> {
    let mut bounds: Vec<usize> = cuts.iter().map(|cut| cut % (stream.len() + 1)).collect();
    bounds.extend([0, stream.len()]);
    bounds.sort_unstable();
    bounds.windows(2).map(|pair| stream[pair[0]..pair[1]].to_vec()).collect()
}

#[test]
fn both_protocols_yield_the_same_events() {
    let (reply, streamed) = read(MessagesParser::default(), &[anthropic().as_bytes()]).unwrap();
    assert_eq!(streamed, "記憶 und\nGedächtnis[recall][list]");
    assert_eq!(reply.text(), "記憶 und\nGedächtnis");
    let calls: Vec<_> = reply.tool_calls().map(|c| (c.id.as_str(), c.arguments.as_str())).collect();
    assert_eq!(calls, [("toolu_1", "{\"query\": \"parser\"}"), ("toolu_2", "{}")]);
    assert_eq!((reply.usage.input, reply.usage.cache_read, reply.usage.output), (7, 90, 33));
    assert_eq!(read(ChunksParser::default(), &[openai().as_bytes()]).unwrap(), (reply, streamed));
}

proptest! {
    #[test]
    fn any_split_of_the_stream_yields_the_same_events(cuts in prop::collection::vec(any::<usize>(), 0..40)) {
        let whole = read(MessagesParser::default(), &[anthropic().as_bytes()]).unwrap();
        for (stream, is_anthropic) in [(anthropic(), true), (openai(), false)] {
            let pieces = cut(stream.as_bytes(), &cuts);
            let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            let read = if is_anthropic {
                read(MessagesParser::default(), &pieces)
            } else {
                read(ChunksParser::default(), &pieces)
            };
            prop_assert_eq!(read.unwrap(), whole.clone());
        }
    }

    /// A truncated stream is a reply only if the stop reason had arrived.
    #[test]
    fn an_early_end_is_a_failure_unless_the_stop_reason_arrived(at in any::<usize>()) {
        let stream = anthropic();
        let at = at % (stream.len() + 1);
        let end = stream.find("\"stop_reason\"").unwrap();
        let read = read(MessagesParser::default(), &[&stream.as_bytes()[..at]]);
        if at < end {
            let failure = read.unwrap_err();
            prop_assert!(
                matches!(failure, ModelFailure::Interrupted { .. } | ModelFailure::Malformed { .. }),
                "{:?}", failure
            );
        } else if let Ok((reply, _)) = read {
            prop_assert_eq!(reply.tool_calls().count(), 2);
        }
    }

    #[test]
    fn noise_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        // Any input gives a reply or a failure, never a panic.
        let _ = read(MessagesParser::default(), &[&bytes]);
        let _ = read(ChunksParser::default(), &[&bytes]);
    }
}
