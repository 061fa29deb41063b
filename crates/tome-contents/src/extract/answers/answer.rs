//! The conclusion of an agent's final answer: the sentence that states the result, and the question that it
//! leaves to the user.

use tome_text::count_words;

use crate::extract::answers::answer_score::AnswerScorer;
use crate::extract::answers::caveat::join_caveat;
use crate::extract::answers::direct_answer::answers_shortly;
use crate::extract::answers::informative::{
    is_check_report, is_empty_phrase, is_generic_sentence, is_shouted, reports_end,
};
use crate::extract::answers::preamble::{
    is_preamble, only_counts, points_ahead, tells_own_reading, tells_pause, tells_remains,
    tells_status,
};
use crate::extract::answers::statement::{AnswerSentence, end_lead, lists_work, read_statement};
use crate::extract::answers::unfinished::{
    instructs, is_fragment, is_parenthetical, looks_ahead, offers_option,
};
use crate::extract::answers::verdict::{find_fixed_row, find_verdicts, is_review_result};
use crate::extract::language::cues::{is_announcement, is_filler};
use crate::extract::language::prose::{MessageParts, ProseSentence, SentenceShape};
use crate::extract::language::terms::has_name;
use crate::extract::language::text::{begins_with_any, strip_any_prefix, strip_label, to_lower};

/// A sentence beside a preamble with a lower score is no better.
const BESIDE_PREAMBLE_MIN: i32 = 170;
/// A sentence below this adds nothing to the best one.
const SECOND_SCORE_MIN: i32 = 200;

/// Finds the sentence that states the conclusion of an answer to a prompt, with the list that it
/// introduces.
pub(crate) fn find_conclusion<'a>(
    parts: &MessageParts<'a>,
    prompt: &str,
    after_work: bool,
) -> Option<AnswerSentence<'a>> {
    // "Fix items 1, 2 and 5" means nothing without the list above it.
    let verdict = find_verdicts(parts).filter(|verdict| !counts_only(&verdict.text));
    // "Short answer: you can" says too little, and the result of a review is told to those who asked for one.
    let verdict = verdict.filter(|found| match is_review_result(&found.text) {
        true => to_lower(prompt).contains("review"),
        false => !is_generic_sentence(&found.text),
    });
    // Severe findings weigh more than what passed beside them.
    let verdict = verdict.filter(|found| !is_harmless(&found.text) || !has_severe_finding(parts));
    if let Some(conclusion) = verdict.or_else(|| find_fixed_row(parts)) {
        return Some(conclusion);
    }
    let scorer = AnswerScorer::new(parts, prompt, after_work);
    let mut best: Option<(usize, AnswerSentence<'a>)> = None;
    let mut second: Option<(usize, AnswerSentence<'a>)> = None;
    // A sentence before the answer is the result only if nothing better stands beside it.
    let mut preamble: Option<(usize, AnswerSentence<'a>)> = None;
    for (index, sentence) in parts.sentences.iter().enumerate() {
        if !may_conclude(sentence) {
            continue;
        }
        let (mut statement, has_list) = read_statement(parts, index, sentence);
        if asks_in_items(&statement) {
            continue;
        }
        statement.score = scorer.score(index, sentence, &statement, has_list);
        statement.is_item = !has_list && sentence.shape == SentenceShape::Item;
        let beats = |other: &Option<(usize, AnswerSentence<'a>)>| {
            other.as_ref().is_none_or(|(_, other)| statement.score > other.score)
        };
        if is_label(sentence) && !has_list {
            continue;
        }
        let is_beside = match has_list {
            true => tells_own_reading(&statement.lead),
            false => {
                is_preamble(&statement.text)
                    || only_counts(&statement.text)
                    || tells_pause(&statement.text)
                    || after_work && tells_remains(&statement.text)
                    || is_followed_by_pointer(parts, index)
            }
        };
        if is_beside {
            if beats(&preamble) {
                preamble = Some((index, statement));
            }
        } else if beats(&best) {
            second = best.replace((index, statement));
        } else if beats(&second) {
            second = Some((index, statement));
        }
    }
    let (index, mut best) = match (best, preamble) {
        (Some((index, best)), Some((other, preamble))) => {
            if best.score < BESIDE_PREAMBLE_MIN {
                (other, preamble)
            } else {
                let score = best.score.max(preamble.score);
                (index, AnswerSentence { score, ..best })
            }
        }
        (best, preamble) => best.or(preamble)?,
    };
    let is_direct =
        parts.sentences.get(index).is_some_and(|sentence| scorer.answers_question(sentence));
    if is_direct {
        best = join_reason(parts, index, best);
    }
    if let Some(list) = find_whole_list(parts, index, &best) {
        return Some(list);
    }
    if let Some(both) = join_solution(parts, &best) {
        return Some(both);
    }
    let best = join_referent(parts, index, best);
    let best = match index > 0 && !is_direct {
        true => join_report(parts, best, prompt.contains(['?', '？'])),
        false => best,
    };
    let best = match second {
        Some((other, second)) if !is_direct => join_second(best, &second, index < other),
        _ => best,
    };
    Some(join_caveat(parts, best))
}

/// Whether a statement lists questions to the user: "Left for you: who reviews it?; commit now?"
fn asks_in_items(statement: &AnswerSentence<'_>) -> bool {
    let asking = statement.items.iter().filter(|item| item.text.trim_end().ends_with(['?', '？']));
    asking.count() * 2 > statement.items.len()
}

/// Joins a short sentence with the second-best one: "Installed. The countdown now reads the date from
/// the message."
fn join_second<'a>(
    best: AnswerSentence<'a>,
    second: &AnswerSentence<'a>,
    is_first: bool,
) -> AnswerSentence<'a> {
    const SHORT_COLUMNS: usize = 60;
    const BOTH_COLUMNS: usize = 240;
    let columns = |text: &str| {
        text.chars().count() + text.chars().filter(|c| tome_text::is_han_or_kana(*c)).count()
    };
    let is_short = best.items.is_empty() && !best.is_item && columns(&best.text) < SHORT_COLUMNS;
    let fits = columns(&best.text) + columns(&second.text) <= BOTH_COLUMNS;
    let repeats = best.raws.iter().any(|raw| second.raws.contains(raw));
    if !is_short || !fits || repeats || second.is_item || second.score < SECOND_SCORE_MIN {
        return best;
    }
    let (one, other) = if is_first { (&best, second) } else { (second, &best) };
    let text = match one.text.strip_suffix([':', '：']) {
        // The other sentence is not what the colon leads to.
        Some(lead) => format!("{lead}… {}", other.text),
        None if one.text.ends_with(['.', '!', '。', '！']) => {
            format!("{} {}", one.text, other.text)
        }
        None if one.text.ends_with(tome_text::is_han_or_kana) => {
            format!("{}。 {}", one.text, other.text)
        }
        None => format!("{}. {}", one.text, other.text),
    };
    let text = text.strip_suffix([':', '：']).map_or(text.clone(), |lead| format!("{lead}…"));
    let raws = one.raws.iter().chain(&other.raws).copied().collect();
    AnswerSentence { raws, lead: text.clone(), text, ..best }
}

/// Appends the sentence that follows a short direct answer: "Keep it. Two tests depend on it."
fn join_reason<'a>(
    parts: &MessageParts<'a>,
    index: usize,
    best: AnswerSentence<'a>,
) -> AnswerSentence<'a> {
    const SHORT_CHARS: usize = 60;
    const BOTH_CHARS: usize = 200;
    let next = parts.sentences.get(index + 1).filter(|next| {
        next.shape == SentenceShape::Running && may_conclude(next) && !is_preamble(&next.plain)
    });
    let chars = best.text.chars().count();
    let fits = |next: &&ProseSentence<'_>| {
        chars < SHORT_CHARS && chars + next.plain.chars().count() <= BOTH_CHARS
    };
    match next.filter(fits) {
        Some(next) if best.items.is_empty() => {
            let mut raws = best.raws.clone();
            raws.push(next.raw);
            let stop = if best.text.ends_with(['.', '!', '。', '！']) { "" } else { "." };
            let text = format!("{}{stop} {}", best.text, end_lead(&next.plain));
            AnswerSentence { raws, lead: text.clone(), text, ..best }
        }
        _ => best,
    }
}

/// Puts the sentence before one that refers to it by a pronoun: "The cache has no limit. That fills the disk."
fn join_referent<'a>(
    parts: &MessageParts<'a>,
    index: usize,
    best: AnswerSentence<'a>,
) -> AnswerSentence<'a> {
    const BOTH_CHARS: usize = 240;
    const POINTERS: &[&str] =
        &["it", "it's", "its", "that", "that's", "this", "they", "those", "these"];
    let leans = begins_with_any(&best.text, POINTERS) && !has_name(&best.lead) && !best.is_item;
    let before = index.checked_sub(1).and_then(|before| parts.sentences.get(before));
    let before = before.filter(|one| {
        let text = &one.plain;
        one.shape == SentenceShape::Running
            && !one.is_aside
            && !text.ends_with(['?', '？', ':', '：'])
            && !is_announcement(text)
            && !points_ahead(text)
            && !is_filler(text)
            && !is_agreement(text)
            && !is_preamble(text)
            && !is_empty_phrase(text)
            && text.chars().count() + best.text.chars().count() < BOTH_CHARS
    });
    let Some(before) = before.filter(|_| leans) else { return best };
    let mut raws = vec![before.raw];
    raws.extend(best.raws);
    let join = |text: &str| format!("{} {text}", before.plain);
    AnswerSentence { raws, text: join(&best.text), lead: join(&best.lead), ..best }
}

/// The list whose item is the best sentence, if a sentence introduces it: one item is not the whole.
fn find_whole_list<'a>(
    parts: &MessageParts<'a>,
    index: usize,
    best: &AnswerSentence<'a>,
) -> Option<AnswerSentence<'a>> {
    let sentences = parts.sentences.get(..index).filter(|_| best.is_item)?;
    let lead = sentences.iter().rposition(|sentence| sentence.shape != SentenceShape::Item)?;
    let sentence = parts.sentences.get(lead)?;
    let (list, has_list) = read_statement(parts, lead, sentence);
    let is_introduced =
        has_list && sentence.shape == SentenceShape::Running && !is_filler(&list.lead);
    is_introduced.then_some(AnswerSentence { score: best.score, ..list })
}

/// Appends the labelled solution to the labelled cause. Without space for both, the solution is the result.
fn join_solution<'a>(
    parts: &MessageParts<'a>,
    cause: &AnswerSentence<'a>,
) -> Option<AnswerSentence<'a>> {
    #[rustfmt::skip]
    const CAUSES: &[&str] = &[
        "root cause", "the root cause", "cause", "the cause", "problem", "the problem", "the issue", "the bug",
        "raíz del problema", "causa", "el problema", "problème", "le problème", "o problema", "原因", "根本原因",
    ];
    #[rustfmt::skip]
    const SOLUTIONS: &[&str] = &[
        "fix", "the fix", "solution", "the solution", "fixed", "solución", "solução", "correction", "解决方案", "修复",
    ];
    const CAUSE_CHARS_MAX: usize = 120;
    let fixes = |sentence: &ProseSentence<'a>| {
        strip_label(&sentence.plain, SOLUTIONS).is_some_and(|fix| !fix.is_empty())
    };
    let cause_at = cause.raws.first().map(|raw| raw.as_ptr())?;
    let mut later = parts.sentences.iter().enumerate();
    let (index, fix) = later.find(|(_, one)| one.raw.as_ptr() > cause_at && fixes(one))?;
    if strip_label(&cause.text, CAUSES).is_none() || !cause.items.is_empty() {
        return None;
    }
    let (solution, _) = read_statement(parts, index, fix);
    let is_whole = !solution.items.is_empty() || !solution.lead.ends_with([':', '：']);
    if cause.text.chars().count() > CAUSE_CHARS_MAX && is_whole {
        return Some(AnswerSentence { score: cause.score, ..solution });
    }
    let mut raws = cause.raws.clone();
    raws.push(fix.raw);
    let text = format!("{} {}", cause.text, fix.plain);
    Some(AnswerSentence { raws, lead: text.clone(), text, ..cause.clone() })
}

/// Puts the verdict that begins an answer before the more informative sentence: "Both comments posted.",
/// "No, it has no tests.", and to a question "Partly.", "Keep both."
fn join_report<'a>(
    parts: &MessageParts<'a>,
    best: AnswerSentence<'a>,
    is_asked: bool,
) -> AnswerSentence<'a> {
    const VERDICT_WORDS_MAX: usize = 12;
    const DIRECT_WORDS_MAX: usize = 5;
    const STATUS_WORDS_MAX: usize = 5;
    let Some(first) = parts.sentences.first() else { return best };
    let text = &first.plain;
    let is_verdict = first.shape == SentenceShape::Running
        && count_words(text) <= VERDICT_WORDS_MAX
        && (reports_end(text) && !is_empty_phrase(text)
            || answers_shortly(text)
            || is_asked && count_words(text) <= DIRECT_WORDS_MAX && !is_pleasantry(text))
        && !is_check_report(text)
        && !(tells_status(text) && count_words(text) > STATUS_WORDS_MAX)
        && !is_announcement(text)
        && !points_ahead(text)
        && !looks_ahead(text)
        && !is_fragment(text)
        && !text.ends_with([':', '：', '?', '？']);
    let is_told = best.raws.contains(&first.raw) || answers_shortly(&best.text);
    if !is_verdict || best.is_item || is_told || best.text.starts_with(text.as_str()) {
        return best;
    }
    let mut raws = vec![first.raw];
    raws.extend(best.raws);
    let join = |text: &str| format!("{} {text}", first.plain);
    AnswerSentence { raws, text: join(&best.text), lead: join(&best.lead), ..best }
}

/// Whether a short sentence at the beginning of an answer is about the question, or only leads to the answer.
fn is_pleasantry(text: &str) -> bool {
    #[rustfmt::skip]
    const STARTS: &[&str] = &[
        "good", "great", "got it", "sure", "of course", "certainly", "absolutely", "i see", "understood", "sorry",
        "you're right", "you are right", "fair", "thanks", "thank you", "done", "fixed", "ok", "okay", "let me", "i'll",
        "here", "hi", "hello", "nice", "perfect", "excellent", "right", "alright", "makes sense", "interesting", "hmm",
        "short answer", "it depends", "now", "two", "three", "a few", "some", "looking", "checking",
    ];
    begins_with_any(text, STARTS) || is_filler(text) || is_empty_phrase(text)
}

/// The first informative sentence of an answer, for answers without a conclusion. An empty phrase
/// ("All done.") only if there is nothing else.
pub(crate) fn find_statement<'a>(
    parts: &MessageParts<'a>,
    after_work: bool,
) -> Option<AnswerSentence<'a>> {
    let (mut check, mut work, mut item, mut phrase) = (None, None, None, None);
    for (index, sentence) in parts.sentences.iter().enumerate().filter(|(_, one)| !one.is_aside) {
        let (found, has_list) = read_statement(parts, index, sentence);
        let text = &found.lead;
        if sentence.shape == SentenceShape::Heading {
            work = work.or(Some(found).filter(|found| has_list && lists_work(&found.lead)));
            continue;
        }
        let says = (count_words(text) >= 2 || !text.is_ascii())
            && text.chars().any(char::is_alphanumeric)
            && !text.ends_with(['?', '？'])
            && (has_list || !text.ends_with([':', '：']))
            && !is_announcement(text)
            && !points_ahead(text)
            && !is_fragment(text)
            && !is_parenthetical(text)
            && !offers_option(text)
            && !looks_ahead(text)
            && !(after_work && instructs(text))
            && !is_filler(text);
        match says {
            true if sentence.shape == SentenceShape::Item => item = item.or(Some(found)),
            true if !has_list && (is_empty_phrase(text) || is_preamble(text)) => {
                phrase = phrase.or(Some(found));
            }
            true if has_list || !is_check_report(text) => return Some(found),
            true => check = check.or(Some(found)),
            false => {}
        }
    }
    // After work, the changed files are more informative than one detail.
    work.or(check).or(item.filter(|_| !after_work)).or(phrase)
}

/// Whether a sentence can be a conclusion. A question, an announcement and a possibility are none,
/// and an item below another one is a detail of it.
fn may_conclude(sentence: &ProseSentence<'_>) -> bool {
    let text = &sentence.plain;
    let is_detail = sentence.shape == SentenceShape::Item && sentence.indent > 1;
    !sentence.is_aside
        && !is_detail
        && text.chars().any(char::is_alphanumeric)
        && !text.ends_with(['?', '？'])
        && !is_announcement(text)
        && !is_fragment(text)
        && !looks_ahead(text)
        && !is_diff_line(sentence.raw)
        && !is_shouted(text)
        && !is_numbered_question(text)
        && !is_agreement(text)
        && !is_parenthetical(text)
        && !offers_option(text)
        && !(sentence.shape == SentenceShape::Heading && names_document(text))
        && !leads_to_list(text)
        && !points_ahead(text)
        && !reports_step(text)
}

/// Whether a heading is a name with capital letters, and no statement: "Cache Invalidation Issues".
fn is_label(sentence: &ProseSentence<'_>) -> bool {
    const WORDS_MIN: usize = 3;
    const SMALL_CHARS_MAX: usize = 4;
    let words =
        || sentence.plain.split_whitespace().filter(|word| word.starts_with(char::is_alphabetic));
    let is_capital = |word: &str| {
        word.starts_with(char::is_uppercase) || word.chars().count() <= SMALL_CHARS_MAX
    };
    sentence.shape == SentenceShape::Heading
        && words().count() >= WORDS_MIN
        && words().all(is_capital)
        && !sentence.plain.ends_with(['.', '!', '。'])
}

/// Whether the next sentence points from this one to the text below: "The leak is old. Here it is."
fn is_followed_by_pointer(parts: &MessageParts<'_>, index: usize) -> bool {
    const POINTERS: &[&str] = &["here it is", "here they are"];
    parts.sentences.get(index + 1).is_some_and(|next| begins_with_any(&next.plain, POINTERS))
}

/// Whether a line is one of a diff: `-# Heading`, `+- item`.
fn is_diff_line(raw: &str) -> bool {
    ["-#", "+#", "-- ", "+- ", "-* ", "+* ", "@@"]
        .iter()
        .any(|mark| raw.trim_start().starts_with(mark))
}

/// Whether a sentence only agrees with the user, or admits a mistake.
fn is_agreement(text: &str) -> bool {
    #[rustfmt::skip]
    const STARTS: &[&str] = &[
        "understood", "you're right", "you are right", "you were right", "you're absolutely right", "my mistake",
        "good catch", "great catch", "fair point", "good point", "great point", "apologies", "sorry",
        "acknowledged", "that's the piece", "that's a better", "that's a good", "that's a great", "i apologize", "my bad",
    ];
    const REST_WORDS_MAX: usize = 8;
    strip_any_prefix(text, STARTS).is_some_and(|rest| {
        // "You're right, the migration ran twice" states the problem.
        let said = rest.split_once([',', '—', '–', '-', '.']).map_or("", |(_, said)| said);
        rest.starts_with([',', '.', '!', ' ', '—', '–']) && count_words(said) <= REST_WORDS_MAX
    })
}

/// Whether a heading is that of a document: "Root Cause Report: …", "Plan — …".
fn names_document(text: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: [&str; 10] = [
        "report", "plan", "summary", "analysis", "overview", "review", "comparison", "research", "memo", "proposal",
    ];
    let lower = to_lower(text);
    let name = lower.split([':', '—', '–']).next().unwrap_or_default();
    let last = name.split(|c: char| !c.is_alphanumeric()).rfind(|word| !word.is_empty());
    last.is_some_and(|word| WORDS.contains(&word))
}

/// Whether a sentence announces the text below it: "Analysis is done – here's the landscape".
fn leads_to_list(text: &str) -> bool {
    let lower = to_lower(text).replace('’', "'");
    !text.contains(": ")
        && [" here's ", " here are ", " here is "].iter().any(|mark| lower.contains(mark))
}

/// Whether a sentence reports a step that has a fact of its own: a commit, a push.
fn reports_step(text: &str) -> bool {
    const WORDS_MAX: usize = 9;
    #[rustfmt::skip]
    const STARTS: &[&str] = &[
        "committed as", "committed on", "committed in", "amended into", "amended as", "pushed to", "pushed as",
        "pulled latest", "rebased onto", "committed and pushed", "written to", "report written to", "plan written to",
        "saved to", "report saved to",
    ];
    count_words(text) <= WORDS_MAX && begins_with_any(text, STARTS)
}

/// Whether a text is the heading of a question to the user: `Question 2: Error status`.
fn is_numbered_question(text: &str) -> bool {
    let rest = strip_any_prefix(text, &["question", "frage", "pregunta", "вопрос"]);
    rest.is_some_and(|rest| rest.trim_start().starts_with(|c: char| c.is_ascii_digit()))
}

/// Whether a verdict reports no findings.
fn is_harmless(text: &str) -> bool {
    let lower = to_lower(text);
    ["pass", "none", "no issues", "no action"].iter().any(|word| lower.contains(word))
}

/// Whether an answer lists findings of high severity.
fn has_severe_finding(parts: &MessageParts<'_>) -> bool {
    const SEVERE: &[&str] =
        &["critical:", "high:", "blocker:", "severe:", "critical —", "p0", "p1"];
    parts.sentences.iter().any(|sentence| {
        let lower = to_lower(&sentence.plain);
        SEVERE.iter().any(|start| lower.starts_with(start))
    })
}

/// Whether a sentence refers to things by their numbers: "Fix items 1, 2 and 5".
fn counts_only(text: &str) -> bool {
    let numbers = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_digit()));
    numbers.count() >= 3
}

/// Finds the question that an answer ends with: the longest among its last sentences.
pub(crate) fn find_closing_question<'a>(parts: &MessageParts<'a>) -> Option<AnswerSentence<'a>> {
    const LAST: usize = 3;
    // The title of a source asks nothing.
    let is_link = |raw: &str| {
        raw.trim_start_matches(['-', '*', '•', ' ']).starts_with('[') && raw.contains("](")
    };
    let last = parts.sentences.last()?;
    if !last.plain.ends_with(['?', '？']) || is_link(last.raw) {
        return None;
    }
    let from = parts.sentences.len().saturating_sub(LAST);
    parts
        .sentences
        .iter()
        .skip(from)
        .filter(|sentence| !is_link(sentence.raw))
        .map(|sentence| (sentence.raw, sentence.plain.clone()))
        .filter(|(_, text)| text.ends_with(['?', '？']) && count_words(text) >= 4)
        .map(|(raw, text)| AnswerSentence {
            raws: vec![raw],
            items: Vec::new(),
            score: i32::try_from(count_words(&text)).unwrap_or(0),
            lead: text.clone(),
            text,
            is_item: false,
            has_caveat: false,
        })
        .max_by_key(|sentence| sentence.score)
}
