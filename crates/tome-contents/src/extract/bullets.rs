//! Builds the bullets of a segment from parts of its messages and actions, in fixed phrases.

use tome_model::Event;
use tome_text::{count_words, truncate_words};

use super::actions::{
    build_changes_bullet, build_commands_bullet, build_commit_bullet, render_reads,
};
use super::clause::capitalize;
use super::cues::{Cue, is_announcement};
use super::digest::{SegmentDigest, Statement, StatementAuthor, content_terms, overlap_percent};
use super::failures::{find_failure_line, render_failure_message};
use super::request::UserRequest;
use super::text::{cut_excerpt, output_texts};
use crate::{Evidence, SummaryBullet, Support};

pub(super) const BULLETS_MAX: usize = 5;
const BULLETS_WANTED: usize = 3;
pub(super) const BULLET_CHARS_MAX: usize = 160;
/// Excerpts that support one bullet.
pub(super) const EVIDENCE_MAX: usize = 3;

/// Groups of bullets, in the order in which they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BulletGroup {
    Asked,
    Explained,
    Changed,
    Ran,
    Committed,
    Ended,
}

/// A bullet that may be chosen.
#[derive(Debug)]
pub(super) struct BulletCandidate {
    /// Sort key: the group, then the event's index.
    order: (BulletGroup, usize),
    priority: i32,
    text: String,
    evidence: Vec<Evidence>,
}

impl BulletCandidate {
    pub(super) fn new(
        order: (BulletGroup, usize),
        priority: i32,
        text: &str,
        evidence: Vec<Evidence>,
    ) -> Self {
        Self { order, priority, text: truncate_words(text, BULLET_CHARS_MAX), evidence }
    }
}

pub(super) fn build_evidence(event: usize, raw: &str) -> Evidence {
    Evidence { event, excerpt: cut_excerpt(raw) }
}

/// Builds the bullets of a segment, in reading order.
pub(super) fn build_bullets(story: &SegmentDigest<'_>, events: &[Event]) -> Vec<SummaryBullet> {
    let mut found = Vec::new();
    let main =
        story.main_request(events.len()).filter(|ask| ask.weight > 0 && !ask.text.is_empty());
    let chat =
        story.is_conversation() && story.requests.iter().filter(|ask| ask.weight > 1).count() >= 2;
    if chat {
        add_conversation_bullets(story, &mut found);
    } else {
        add_request_bullets(story, main, &mut found);
        found.extend(build_outcome_bullet(story));
    }
    add_explanation_bullets(story, main, &mut found);
    found.extend(build_changes_bullet(story));
    found.extend(build_commands_bullet(story));
    found.extend(build_commit_bullet(story));
    let mut kept = choose_best(found);
    if kept.len() < BULLETS_WANTED {
        add_statements(story, main, &mut kept);
    }
    if kept.is_empty() {
        kept.extend(build_failure_bullet(events));
    }
    // Reading is worth a bullet only if nothing was done or explained.
    if kept.iter().all(|one| one.order.0 == BulletGroup::Asked) && kept.len() < 2 {
        kept.extend(render_reads(story).map(|(text, support)| {
            BulletCandidate::new((BulletGroup::Changed, 0), 1, &text, support)
        }));
    }
    if kept.len() > BULLETS_WANTED {
        kept.retain(|one| one.priority > 2);
    }
    kept.retain(|one| one.text.chars().any(char::is_alphanumeric) && !one.evidence.is_empty());
    kept.sort_by_key(|one| one.order);
    kept.into_iter()
        .map(|one| SummaryBullet { text: one.text, support: Support::Excerpts(one.evidence) })
        .collect()
}

/// Chooses the best candidates, without repetitions.
fn choose_best(mut found: Vec<BulletCandidate>) -> Vec<BulletCandidate> {
    found.sort_by(|a, b| b.priority.cmp(&a.priority).then(a.order.cmp(&b.order)));
    let mut kept: Vec<BulletCandidate> = Vec::new();
    for one in found {
        if kept.len() < BULLETS_MAX && !is_repeated(&one.text, &kept) {
            kept.push(one);
        }
    }
    kept
}

fn is_repeated(text: &str, kept: &[BulletCandidate]) -> bool {
    let about = content_terms(strip_label(text));
    kept.iter().any(|other| {
        strip_label(&other.text) == strip_label(text)
            || overlap_percent(&about, &content_terms(strip_label(&other.text))) >= 80
    })
}

/// Removes the fixed label, such as `Asked: `.
pub(super) fn strip_label(text: &str) -> &str {
    #[rustfmt::skip]
    const WORDS: &[&str] = &[
        "Said: ",
        "Pasted: ", "Asked: ", "Also asked: ", "Decided: ", "Found: ", "Ended: ", "Answered: ",
        "Committed: ", "A subagent reported: ", "Left open: ", "Reported: ",
    ];
    WORDS.iter().find_map(|word| text.strip_prefix(word)).unwrap_or(text)
}

fn add_request_bullets(
    story: &SegmentDigest<'_>,
    main: Option<&UserRequest<'_>>,
    found: &mut Vec<BulletCandidate>,
) {
    let Some(main) = main else { return };
    let mut support = vec![build_evidence(main.event, main.raw)];
    let word = if main.pasted { "Pasted: " } else { "Asked: " };
    let mut text = format!("{word}{}", capitalize(&main.text));
    if let Some((raw, wish)) = main.wish.as_ref().filter(|_| main.text.chars().count() < 110) {
        let ends = text.ends_with(['.', '!', '?', '。', '！', '？', ':', '：']);
        text = format!("{text}{} {}", if ends { "" } else { "." }, capitalize(wish));
        support.push(build_evidence(main.event, raw));
    }
    if let Some(trouble) = main.failure.filter(|line| *line != main.raw) {
        let said = render_failure_message(trouble);
        if text.chars().count() < 100
            && overlap_percent(&content_terms(&said), &content_terms(&main.text)) < 60
        {
            text = format!(
                "{} ({})",
                text.trim_end_matches([':', '：', '.', ' ']),
                truncate_words(&said, 80)
            );
            support.push(build_evidence(main.event, trouble));
        }
    }
    found.push(BulletCandidate::new(
        (BulletGroup::Asked, 0),
        if main.weight > 2 { 20 } else { 2 },
        &text,
        support,
    ));
    let others: Vec<&UserRequest<'_>> = story
        .requests
        .iter()
        .filter(|ask| {
            ask.event != main.event
                && ask.weight >= 4
                && ask.weight * 2 >= main.weight
                && overlap_percent(&content_terms(&ask.text), &content_terms(&main.text)) < 60
        })
        .take(2)
        .collect();
    if let Some(first) = others.first() {
        let each = 150 / others.len();
        let texts: Vec<String> = others
            .iter()
            .map(|ask| truncate_words(ask.text.trim_end_matches(['.', '。', ':']), each))
            .collect();
        let support = others
            .iter()
            .map(|ask| build_evidence(ask.event, ask.raw))
            .take(EVIDENCE_MAX)
            .collect();
        let order = (BulletGroup::Asked, first.event.max(1));
        found.push(BulletCandidate::new(
            order,
            11,
            &format!("Also asked: {}", texts.join(" · ")),
            support,
        ));
    }
}

/// Adds questions with their answers, for a segment in which nothing was changed.
fn add_conversation_bullets(story: &SegmentDigest<'_>, found: &mut Vec<BulletCandidate>) {
    for (place, ask) in story.requests.iter().enumerate().filter(|(_, ask)| ask.weight > 1) {
        let end = story.requests.get(place + 1).map_or(usize::MAX, |next| next.event);
        let reply = story.statements.iter().filter(|said| {
            said.who != StatementAuthor::User && said.event > ask.event && said.event < end
        });
        let short = reply.clone().next().filter(|said| said.place == 0 && !said.filler);
        let answer = best_statement(reply.filter(|said| said.score() > 0), score_answer).or(short);
        let question = truncate_words(
            ask.text.trim_end_matches(['.', '。', ':', '：']),
            if answer.is_some() { 70 } else { 150 },
        );
        let word = if ask.is_request { "Asked: " } else { "Said: " };
        let mut support = vec![build_evidence(ask.event, ask.raw)];
        let text = match answer {
            Some(answer) => {
                support.push(build_evidence(answer.event, answer.raw));
                format!("{word}{} — {}", capitalize(&question), answer.text)
            }
            None => format!("{word}{}", capitalize(&question)),
        };
        let weight = i32::try_from(ask.weight).unwrap_or(10).min(10);
        found.push(BulletCandidate::new(
            (BulletGroup::Asked, ask.event),
            8 + weight + i32::from(answer.is_some()) * 3,
            &text,
            support,
        ));
    }
}

/// Prefers the first sentences of an answer.
fn score_answer(said: &Statement<'_>) -> i32 {
    said.score() + if said.place == 0 { 5 } else { 0 } + if said.place <= 2 { 2 } else { 0 }
}

fn best_statement<'s, 'a: 's>(
    said: impl Iterator<Item = &'s Statement<'a>>,
    score: impl Fn(&Statement<'a>) -> i32,
) -> Option<&'s Statement<'a>> {
    let mut best: Option<(i32, &'s Statement<'a>)> = None;
    for one in said {
        let scored = score(one);
        if best.is_none_or(|(so_far, _)| scored > so_far) {
            best = Some((scored, one));
        }
    }
    best.map(|(_, one)| one)
}

/// Adds the cause that was found and the decision that was made.
fn add_explanation_bullets(
    story: &SegmentDigest<'_>,
    main: Option<&UserRequest<'_>>,
    found: &mut Vec<BulletCandidate>,
) {
    for (cue, word) in [(Cue::Cause, "Found: "), (Cue::Decision, "Decided: ")] {
        let fits = |said: &&Statement<'_>| {
            said.cue.is_some_and(|(of, sure)| {
                of == cue && sure >= if said.who == StatementAuthor::User { 4 } else { 3 }
            }) && main.is_none_or(|ask| ask.raw != said.raw)
                && !(cue == Cue::Cause && said.who == StatementAuthor::User)
                && !said.filler
                && count_words(&said.text) >= 6
                && said.score() > 6
        };
        if let Some(said) = best_statement(story.statements.iter().filter(fits), Statement::score) {
            let sure = said.cue.map_or(0, |(_, sure)| i32::try_from(sure).unwrap_or(0));
            // "Instead of" alone may only describe: such a sentence gets no label.
            let word = if sure > 3 { word } else { "" };
            let text = format!("{word}{}", render_statement(&said.text));
            let order = (BulletGroup::Explained, said.event);
            found.push(BulletCandidate::new(
                order,
                8 + sure,
                &text,
                vec![build_evidence(said.event, said.raw)],
            ));
        }
    }
}

/// Renders a sentence on its own: without the conjunction that ties it to the previous one and the
/// colon that ties it to the next.
fn render_statement(text: &str) -> String {
    #[rustfmt::skip]
    const TIES: [&str; 10] = [
        "Because ", "So ", "And ", "But ", "Yes, ", "Yes — ", "Actually, ", "Interesting - ",
        "Interesting — ", "Then ",
    ];
    let text = TIES.iter().find_map(|word| text.strip_prefix(word)).unwrap_or(text);
    capitalize(text.trim_end_matches([':', '：', ' ']))
}

/// Builds the outcome: the conclusion of the last turn, or of an earlier one if the last has none.
fn build_outcome_bullet(story: &SegmentDigest<'_>) -> Option<BulletCandidate> {
    let mut messages: Vec<usize> = story
        .statements
        .iter()
        .filter(|said| said.who == StatementAuthor::Agent)
        .map(|said| said.event)
        .collect();
    messages.dedup();
    let last = *messages.last()?;
    let final_words = |event: usize| {
        story.statements.iter().filter(move |said| {
            said.event == event && said.closes && !said.filler && count_words(&said.text) >= 3
        })
    };
    // The last message may be small talk after the work, so earlier turns count too.
    let recent = messages.iter().rev().take(4).flat_map(|event| final_words(*event));
    let best = recent
        .filter(|said| score_conclusion(said) > 4 && !matches!(said.cue, Some((Cue::Cause, 3..))))
        .map(|said| (score_conclusion(said) + if said.event == last { 4 } else { 0 }, said))
        .reduce(|best, one| if one.0 > best.0 { one } else { best })
        .map(|(_, said)| said);
    best.map(|said| build_conclusion_bullet(said, last))
        .or_else(|| build_open_question_bullet(story, last))
}

fn build_conclusion_bullet(said: &Statement<'_>, last: usize) -> BulletCandidate {
    let support = vec![build_evidence(said.event, said.raw)];
    let outcome = matches!(said.cue, Some((Cue::Outcome, _)));
    if !said.ends_turn && said.event == last && !outcome {
        // If the work was cut off, this sentence is not its outcome.
        return BulletCandidate::new(
            (BulletGroup::Explained, said.event),
            8,
            &render_statement(&said.text),
            support,
        );
    }
    let priority = if count_words(&said.text) < 6 { 6 } else { 13 };
    BulletCandidate::new(
        (BulletGroup::Ended, said.event),
        priority,
        &format!("Ended: {}", render_statement(&said.text)),
        support,
    )
}

/// Builds a bullet from the question that the last message ends with, if there is no conclusion.
fn build_open_question_bullet(story: &SegmentDigest<'_>, last: usize) -> Option<BulletCandidate> {
    let asks = |said: &&Statement<'_>| {
        said.event == last
            && said.text.ends_with(['?', '？'])
            && count_words(&said.text) >= 4
            && !is_announcement(&said.text)
    };
    let question = story.statements.iter().rev().find(asks)?;
    let support = vec![build_evidence(last, question.raw)];
    Some(BulletCandidate::new(
        (BulletGroup::Ended, last),
        9,
        &format!("Left open: {}", question.text),
        support,
    ))
}

/// Scores how well a sentence states the outcome of a turn.
fn score_conclusion(said: &Statement<'_>) -> i32 {
    let outcome = match said.cue {
        Some((Cue::Outcome, sure)) => i32::try_from(sure).unwrap_or(0),
        _ => 0,
    };
    let explains = match said.cue {
        Some((Cue::Cause, sure)) => i32::try_from(sure).unwrap_or(0) * 2,
        _ => 0,
    };
    let place = [4, 2, 2].get(said.place).copied().unwrap_or(0);
    said.score() + outcome + place + if said.after_work { 5 } else { 0 } - explains
}

/// Builds a bullet from a failure line in the output, for segments without messages and actions.
fn build_failure_bullet(events: &[Event]) -> Option<BulletCandidate> {
    let lines = events.iter().enumerate().flat_map(|(at, event)| {
        output_texts(event)
            .into_iter()
            .filter_map(move |text| find_failure_line(text).map(|(line, sure)| (sure, at, line)))
    });
    let (_, at, line) = lines.reduce(|best, one| if one.0 > best.0 { one } else { best })?;
    Some(BulletCandidate::new(
        (BulletGroup::Explained, at),
        1,
        &format!("Reported: {}", render_failure_message(line)),
        vec![build_evidence(at, line)],
    ))
}

/// Adds the best remaining statements until there are enough bullets.
fn add_statements(
    story: &SegmentDigest<'_>,
    main: Option<&UserRequest<'_>>,
    kept: &mut Vec<BulletCandidate>,
) {
    let mut others: Vec<&Statement<'_>> = story
        .statements
        .iter()
        .filter(|said| said.score() > 3 && main.is_none_or(|ask| ask.raw != said.raw))
        .collect();
    others.sort_by(|a, b| b.score().cmp(&a.score()).then(a.event.cmp(&b.event)));
    for said in others {
        if kept.len() >= BULLETS_WANTED {
            return;
        }
        let word = if said.who == StatementAuthor::Subagent { "A subagent reported: " } else { "" };
        let one = BulletCandidate::new(
            (BulletGroup::Explained, said.event),
            1,
            &format!("{word}{}", render_statement(&said.text)),
            vec![build_evidence(said.event, said.raw)],
        );
        if !is_repeated(&one.text, kept) {
            kept.push(one);
        }
    }
}
