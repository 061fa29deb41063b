//! Cue phrases: classifies sentences as decision, cause, outcome or mere announcement.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use tome_text::{Script, is_han_or_kana};

use crate::extract::language::orders::is_order;
use crate::extract::language::text::{begins_with_any, strip_any_prefix, to_lower};

/// The function of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cue {
    /// A choice, with a reason or an alternative.
    Decision,
    /// The cause of a problem.
    Cause,
    /// A result.
    Outcome,
}

/// (lowercase phrase, confidence).
type CuePhrases = &'static [(&'static str, u32)];

#[rustfmt::skip]
const DECISIONS: CuePhrases = &[
    ("decided", 4), ("decision", 3), ("let's go with", 5), ("lets go with", 5), ("go with", 4),
    ("going with", 4), ("instead of", 3), ("rather than", 3), ("opted", 4), ("we chose", 4),
    ("i chose", 4), ("i'd choose", 3), ("we'll use", 3), ("we will use", 3), ("let's use", 4),
    ("let's keep", 4), ("let's not", 3), ("let's try", 4), ("agreed", 3), ("so we", 2), ("i'd recommend", 3),
    ("i recommend", 3), ("the plan is", 2), ("trade-off", 3), ("tradeoff", 3), ("prefer", 2),
    ("should stay", 2), ("we keep", 3), ("we don't want", 3), ("option a", 2), ("option b", 2),
    ("stick with", 4), ("settled on", 4), ("on purpose", 2), ("by design", 2), ("决定", 4), ("改用", 4),
    ("采用", 3), ("而不是", 3), ("就用", 4), ("选择", 2), ("不再", 2), ("建议", 2), ("方案", 1), ("にします", 4),
    ("ことにし", 4), ("代わりに", 3), ("採用", 3), ("決め", 3), ("方針", 2), ("にしよう", 4), ("で行きましょう", 4),
    ("でいきましょう", 4), ("решили", 4), ("решил", 3), ("вместо", 3), ("выбрали", 4), ("остановимся", 4),
    ("будем использовать", 4), ("предлагаю", 2), ("давай", 1), ("entschieden", 4),
    ("stattdessen", 3), ("anstatt", 3), ("wir nehmen", 4), ("décidé", 4), ("au lieu de", 3),
    ("decidimos", 4), ("en lugar de", 3), ("on garde", 4), ("on utilise", 3), ("vamos usar", 4),
    ("em vez de", 3), ("usemos", 4), ("결정", 4), ("대신", 3),
];

#[rustfmt::skip]
const CAUSES: CuePhrases = &[
    ("root cause", 6), ("turns out", 5), ("turned out", 5), ("the problem is", 4),
    ("the problem was", 4), ("the real problem", 5), ("the issue is", 4), ("the issue was", 4),
    ("the cause", 4), ("caused by", 4), ("the reason", 3), ("the bug is", 5), ("the bug was", 5),
    ("this is a bug", 5), ("that was a bug", 5), ("culprit", 5), ("because", 3), ("due to", 3),
    ("happens when", 3), ("which means", 2), ("was missing", 3), ("is missing", 2),
    ("the failure", 2), ("fails because", 4), ("that's why", 3), ("never", 1), ("deadlock", 2),
    ("race", 1), ("根本原因", 6), ("原因", 4), ("因为", 3), ("由于", 3), ("问题在于", 5), ("问题出在", 5), ("导致", 3),
    ("問題は", 4), ("ためです", 3), ("ため、", 3), ("からです", 3), ("のが原因", 5), ("причина", 5),
    ("потому что", 3), ("из-за", 3), ("оказалось", 5), ("дело в", 4), ("проблема в", 4),
    ("ursache", 5), ("liegt daran", 4), ("weil", 2), ("parce que", 3), ("porque", 2), ("la cause", 4), ("le problème", 4), ("à cause de", 3),
    ("la causa", 4), ("el problema", 4), ("debido a", 3), ("a causa", 4), ("o problema", 4),
    ("devido a", 3), ("원인", 4), ("때문", 3), ("nguyên nhân", 4),
];

#[rustfmt::skip]
const OUTCOMES: CuePhrases = &[
    ("fixed", 3), ("done", 2), ("applied", 2), ("all tests pass", 4), ("tests pass", 3), ("passes", 2),
    ("all green", 3), ("green", 1), ("implemented", 3), ("added", 2), ("works", 2), ("is ready", 2),
    ("updated", 2), ("renamed", 2), ("completed", 2), ("complete", 2), ("merged", 3),
    ("deployed", 3), ("moved", 2), ("removed", 2), ("replaced", 2), ("created", 2), ("resolved", 3),
    ("now", 1), ("committed", 3), ("pushed", 2), ("clean", 1), ("no longer", 2), ("still fail", 3),
    ("blocked", 2), ("rolled back", 3), ("reverted", 3), ("summary", 1), ("修复", 3), ("完成", 3),
    ("通过", 2), ("已", 1), ("成功", 2), ("しました", 2), ("完了", 3), ("修正", 2), ("通りました", 3), ("成功", 2),
    ("готово", 3), ("исправил", 3), ("исправлено", 3), ("теперь", 1), ("добавил", 2),
    ("проходят", 3), ("проходит", 2), ("перенёс", 2), ("убрал", 2), ("fertig", 3), ("behoben", 3),
    ("erledigt", 3), ("terminé", 3), ("terminée", 3), ("corrigée", 3), ("créée", 2), ("mise à jour", 2),
    ("terminado", 3), ("completado", 3), ("implementado", 3), ("finalizado", 3), ("corrigé", 3), ("ajouté", 2), ("ajoutée", 2), ("créé", 2),
    ("supprimé", 2), ("mis à jour", 2), ("corregido", 3), ("listo", 2), ("añadido", 2), ("agregado", 2),
    ("creado", 2), ("actualizado", 2), ("eliminado", 2), ("concluído", 3), ("corrigido", 3),
    ("adicionado", 2), ("criado", 2), ("atualizado", 2), ("removido", 2), ("완료", 3), ("수정했", 3),
    ("추가했", 2), ("되었습니다", 2), ("했습니다", 2), ("hoàn thành", 3), ("đã", 1), ("已完成", 3), ("已修复", 3),
];

/// Beginnings of sentences that only agree or lead over to the next one.
#[rustfmt::skip]
const FILLERS: &[&str] = &[
    "looking at", "first,", "next,", "i can see", "i see", "now update", "now add", "now the",
    "now run", "now fix", "now check", "noted", "absolutely", "certainly", "that sounds", "sounds good", "it's great", "that's great", "that's fantastic", "it's completely", "makes sense", "that makes sense", "congratulations", "thank you", "i have all", "committed as", "you're welcome", "interesting",
    "i now have", "now i have", "i have comprehensive", "nothing", "no changes", "good", "great", "perfect", "ok", "okay", "sure", "of course",
    "you're right", "you are right", "got it", "thanks", "excellent", "understood", "alright",
    "happy to", "yes.", "wait", "hmm", "actually,", "here's", "here is", "here are", "also",
    "one question", "a few questions", "before i", "好的", "先看", "首先", "まず", "では", "次に", "それでは", "はい",
    "了解", "承知", "сейчас", "хорошо", "отлично", "понял", "итак", "gut", "jetzt",
];

/// Beginnings of sentences that announce the next step.
#[rustfmt::skip]
const PLANS: &[&str] = &[
    "let me", "now let me", "let's check", "let's see", "let's look", "now let's", "i'll",
    "now i'll", "i will", "now i", "now i'm", "next i'm", "next, i", "next i'll", "i'm going to", "i am going to", "i need to", "i should",
    "i want to", "first i", "next i", "checking", "running", "reading", "verify", "让我", "我来", "我先",
    "现在我", "接下来", "我看一下", "確認します", "見てみます", "посмотрю", "проверю", "давайте посмотрим", "запускаю",
    "смотрю", "ich schaue", "ich werde", "schauen wir", "would you like", "do you want",
    "want me to", "shall i", "should i", "feel free", "please let me know", "let me know",
    "if you want", "if you'd like", "if you like", "je vais", "laisse-moi", "voy a", "déjame", "vou",
    "deixe-me", "먼저", "이제", "using skill", "resuming", "je continue", "tôi sẽ", "我就开始", "starting",
    "continuing", "proceeding", "now for", "next up",
];

/// Verbs after "I'm" with which an agent announces its next step.
const WORKING: [&str; 8] = [
    "running",
    "checking",
    "reading",
    "verifying",
    "looking",
    "re-running",
    "rerunning",
    "inspecting",
];

/// Whether a sentence only agrees or leads over to the next one.
pub(crate) fn is_filler(plain: &str) -> bool {
    begins_with_any(plain, FILLERS) || plain.ends_with("します。") && plain.chars().count() < 24
}

/// Whether a sentence announces the next step: `Let me look`, `Now remove the import`.
pub(crate) fn is_announcement(plain: &str) -> bool {
    if begins_with_any(plain, PLANS) || ends_with_plan(plain) {
        return true;
    }
    // "I'm running it once more"
    let at_work = strip_any_prefix(plain, &["i'm", "i’m", "i am"]);
    let verb = at_work.and_then(|rest| rest.split_whitespace().next());
    if verb.is_some_and(|word| WORKING.contains(&word)) {
        return true;
    }
    let rest = strip_any_prefix(plain, &["now", "then"]);
    let next = rest.and_then(|rest| rest.split_whitespace().next());
    if next.is_some_and(|word| word.len() > 5 && word.ends_with("ing")) {
        return true;
    }
    rest.is_some_and(|rest| is_order(rest.trim_start_matches([' ', ','])))
}

/// Whether a sentence ends with the next step: "The sandbox fails, so I'm running it again."
fn ends_with_plan(plain: &str) -> bool {
    #[rustfmt::skip]
    const PHRASES: [&str; 8] = [
        ", so i'm ", ", so i’m ", ", so i'll ", ", so i’ll ", ", then i'll ", ", then i’ll ", "할게요",
        "하겠습니다",
    ];
    let lower = to_lower(plain);
    PHRASES.iter().any(|phrase| lower.contains(phrase))
}

/// A phrase, its cue and its confidence.
type CueEntry = (&'static str, Cue, u32);

/// Phrases by first character, so that a sentence is scanned once.
static CUES_BY_FIRST_CHAR: LazyLock<BTreeMap<char, Vec<CueEntry>>> = LazyLock::new(|| {
    let mut book: BTreeMap<char, Vec<CueEntry>> = BTreeMap::new();
    for (phrases, cue) in
        [(CAUSES, Cue::Cause), (DECISIONS, Cue::Decision), (OUTCOMES, Cue::Outcome)]
    {
        for (phrase, sure) in phrases {
            let entries = phrase.chars().next().map(|first| book.entry(first).or_default());
            entries.into_iter().for_each(|entries| entries.push((phrase, cue, *sure)));
        }
    }
    book
});

/// Returns a sentence's strongest cue and its confidence, if any.
pub(crate) fn find_cue(plain: &str) -> Option<(Cue, u32)> {
    let lower = to_lower(plain);
    let mut found: Vec<CueEntry> = Vec::new();
    let mut before = None;
    for (at, c) in lower.char_indices() {
        // Phrases begin at word boundaries; in scripts without spaces, anywhere.
        if is_word_start(before, c)
            && let Some(entries) = CUES_BY_FIRST_CHAR.get(&c)
        {
            let rest = lower.get(at..).unwrap_or_default();
            found.extend(entries.iter().filter(|(phrase, ..)| starts_with_phrase(rest, phrase)));
        }
        before = Some(c);
    }
    // Repetitions of a phrase count once.
    found.sort_unstable();
    found.dedup();
    let of =
        |cue| found.iter().filter(|(_, of, _)| *of == cue).map(|(.., sure)| *sure).sum::<u32>();
    let ranked = [Cue::Cause, Cue::Decision, Cue::Outcome].map(|cue| (cue, of(cue)));
    let (cue, sure) =
        ranked.into_iter().reduce(|best, one| if one.1 > best.1 { one } else { best })?;
    (sure > 0).then_some((cue, sure.min(8)))
}

fn is_word_start(before: Option<char>, c: char) -> bool {
    is_joined(c) || before.is_none_or(|before| !before.is_alphanumeric() || is_joined(before))
}

/// Whether a character belongs to a script without spaces, or one that appends endings to words.
fn is_joined(c: char) -> bool {
    is_han_or_kana(c) || Script::from_char(c) == Script::Hangul
}

/// Whether a text begins with a phrase, followed by a word boundary.
fn starts_with_phrase(text: &str, phrase: &str) -> bool {
    text.strip_prefix(phrase).is_some_and(|rest| {
        let last = phrase.chars().next_back();
        let next = rest.chars().next();
        last.is_some_and(is_joined)
            || next.is_none_or(|next| !next.is_alphanumeric() || is_joined(next))
    })
}
