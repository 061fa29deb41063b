//! Which words show frustration.

use serde_json::json;
use tome_engine::triggers::{DueInjection, TriggerEvent, TriggerSettings, TriggerState};
use tome_model::EventKind;

use super::{call, draft, event};

fn is_frustrated(words: &str) -> bool {
    let (mut state, settings) = (TriggerState::default(), TriggerSettings::default());
    let prompt = draft(1, EventKind::UserMessage, words, None, json!({}));
    state.process_event(&TriggerEvent::from_draft(&prompt), &settings);
    state.process_event(&TriggerEvent::from_draft(&call(2, "Read", json!({}))), &settings);
    let due = state.process_event(&TriggerEvent::from_draft(&event(3, "stop")), &settings);
    matches!(due, Some(DueInjection::Store { frustrated: true, .. }))
}

#[test]
fn frustrated_words_are_recognized() {
    for words in [
        "WTF, it deleted my branch",
        "what the hell is this",
        "this is garbage!",
        "You're not listening.",
        "I told you to leave the tests alone",
        "how many times do I have to say it",
        "are you stupid?",
        "that's completely useless, start over",
        "Verdammt, schon wieder alles weg",
        "so ein Mist",
        "Wie oft muss ich das noch sagen?",
        "ich habe dir doch gesagt, dass main tabu ist",
        "du hörst mir nicht zu",
        "他妈的，又坏了",
        "我说了多少遍了，不要改测试",
        "怎么又错了",
        "你在搞什么",
        "真是垃圾！",
        "c'est n'importe quoi",
        "¿cuántas veces te lo tengo que decir?",
    ] {
        assert!(is_frustrated(words), "{words}");
    }
}

#[test]
fn similar_neutral_words_do_not_count_as_frustration() {
    for words in [
        "fix the lexer",
        "the garbage collector pauses for 200 ms",
        "this is garbage data from the sensor",
        "this is a useless import, remove it",
        "how many times does this loop run?",
        "the test still fails",
        "it is wrong: expected 3, got 4",
        "stop the server before you migrate",
        "why does `shit_happens()` return 3?",
        "> wtf\nanswer this comment politely",
        "translate:\n```\nwtf, I told you\n```",
        "was soll das Makro tun?",
        "wie oft soll der Job laufen?",
        "zum ersten Mal seit Mai schlägt das fehl",
        "垃圾回收器暂停了200毫秒",
        "我操作失误了，请恢复文件",
        "这个函数没用到",
        "combien de fois cette boucle tourne-t-elle ?",
        "accepte n'importe quoi en entrée",
        "¿cuántas veces se ejecuta el bucle?",
    ] {
        assert!(!is_frustrated(words), "{words}");
    }
}
