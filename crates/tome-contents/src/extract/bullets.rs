//! Builds the bullets of a segment from parts of its messages and actions, in fixed phrases.

use tome_model::Event;
use tome_text::{count_words, truncate_words};

use super::ask::Ask;
use super::clause::capitalised;
use super::cues::{Cue, announces};
use super::deeds::{changed, commands, committed, looked};
use super::story::{Said, Story, Who, alike, gist};
use super::text::{excerpt, output_texts};
use super::trouble::{failure_in, message};
use crate::{Evidence, SummaryBullet, Support};

pub(super) const BULLETS_MAX: usize = 5;
const BULLETS_WANTED: usize = 3;
pub(super) const BULLET_CHARS_MAX: usize = 160;
/// Excerpts that support one bullet.
pub(super) const EVIDENCE_MAX: usize = 3;

/// Groups of bullets, in the order in which they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Asked,
    Explained,
    Changed,
    Ran,
    Committed,
    Ended,
}

/// A bullet that may be chosen.
#[derive(Debug)]
pub(super) struct Candidate {
    /// Sort key: the group, then the event's index.
    order: (Part, usize),
    priority: i32,
    text: String,
    evidence: Vec<Evidence>,
}

impl Candidate {
    pub(super) fn new(
        order: (Part, usize),
        priority: i32,
        text: &str,
        evidence: Vec<Evidence>,
    ) -> Self {
        Self { order, priority, text: truncate_words(text, BULLET_CHARS_MAX), evidence }
    }
}

pub(super) fn evidence(event: usize, raw: &str) -> Evidence {
    Evidence { event, excerpt: excerpt(raw) }
}

/// Builds the bullets of a segment, in reading order.
pub(super) fn bullets(story: &Story<'_>, events: &[Event]) -> Vec<SummaryBullet> {
    let mut found = Vec::new();
    let main = story.main_ask(events.len()).filter(|ask| ask.weight > 0 && !ask.text.is_empty());
    let chat = story.is_chat() && story.asks.iter().filter(|ask| ask.weight > 1).count() >= 2;
    if chat {
        talked(story, &mut found);
    } else {
        asked(story, main, &mut found);
        found.extend(ended(story));
    }
    explained(story, main, &mut found);
    found.extend(changed(story));
    found.extend(commands(story));
    found.extend(committed(story));
    let mut kept = choose(found);
    if kept.len() < BULLETS_WANTED {
        fill(story, main, &mut kept);
    }
    if kept.is_empty() {
        kept.extend(reported(events));
    }
    // Reading is worth a bullet only if nothing was done or explained.
    if kept.iter().all(|one| one.order.0 == Part::Asked) && kept.len() < 2 {
        kept.extend(
            looked(story)
                .map(|(text, support)| Candidate::new((Part::Changed, 0), 1, &text, support)),
        );
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
fn choose(mut found: Vec<Candidate>) -> Vec<Candidate> {
    found.sort_by(|a, b| b.priority.cmp(&a.priority).then(a.order.cmp(&b.order)));
    let mut kept: Vec<Candidate> = Vec::new();
    for one in found {
        if kept.len() < BULLETS_MAX && !repeats(&one.text, &kept) {
            kept.push(one);
        }
    }
    kept
}

fn repeats(text: &str, kept: &[Candidate]) -> bool {
    let about = gist(body(text));
    kept.iter().any(|other| {
        body(&other.text) == body(text) || alike(&about, &gist(body(&other.text))) >= 80
    })
}

/// Removes the fixed label, such as `Asked: `.
pub(super) fn body(text: &str) -> &str {
    #[rustfmt::skip]
    const WORDS: &[&str] = &[
        "Said: ",
        "Pasted: ", "Asked: ", "Also asked: ", "Decided: ", "Found: ", "Ended: ", "Answered: ",
        "Committed: ", "A subagent reported: ", "Left open: ", "Reported: ",
    ];
    WORDS.iter().find_map(|word| text.strip_prefix(word)).unwrap_or(text)
}

fn asked(story: &Story<'_>, main: Option<&Ask<'_>>, found: &mut Vec<Candidate>) {
    let Some(main) = main else { return };
    let mut support = vec![evidence(main.event, main.raw)];
    let word = if main.pasted { "Pasted: " } else { "Asked: " };
    let mut text = format!("{word}{}", capitalised(&main.text));
    if let Some((raw, wish)) = main.wish.as_ref().filter(|_| main.text.chars().count() < 110) {
        let ends = text.ends_with(['.', '!', '?', '。', '！', '？', ':', '：']);
        text = format!("{text}{} {}", if ends { "" } else { "." }, capitalised(wish));
        support.push(evidence(main.event, raw));
    }
    if let Some(trouble) = main.trouble.filter(|line| *line != main.raw) {
        let said = message(trouble);
        if text.chars().count() < 100 && alike(&gist(&said), &gist(&main.text)) < 60 {
            text = format!(
                "{} ({})",
                text.trim_end_matches([':', '：', '.', ' ']),
                truncate_words(&said, 80)
            );
            support.push(evidence(main.event, trouble));
        }
    }
    found.push(Candidate::new(
        (Part::Asked, 0),
        if main.weight > 2 { 20 } else { 2 },
        &text,
        support,
    ));
    let others: Vec<&Ask<'_>> = story
        .asks
        .iter()
        .filter(|ask| {
            ask.event != main.event
                && ask.weight >= 4
                && ask.weight * 2 >= main.weight
                && alike(&gist(&ask.text), &gist(&main.text)) < 60
        })
        .take(2)
        .collect();
    if let Some(first) = others.first() {
        let each = 150 / others.len();
        let texts: Vec<String> = others
            .iter()
            .map(|ask| truncate_words(ask.text.trim_end_matches(['.', '。', ':']), each))
            .collect();
        let support =
            others.iter().map(|ask| evidence(ask.event, ask.raw)).take(EVIDENCE_MAX).collect();
        let order = (Part::Asked, first.event.max(1));
        found.push(Candidate::new(
            order,
            11,
            &format!("Also asked: {}", texts.join(" · ")),
            support,
        ));
    }
}

/// Adds questions with their answers, for a segment in which nothing was changed.
fn talked(story: &Story<'_>, found: &mut Vec<Candidate>) {
    for (place, ask) in story.asks.iter().enumerate().filter(|(_, ask)| ask.weight > 1) {
        let end = story.asks.get(place + 1).map_or(usize::MAX, |next| next.event);
        let reply = story
            .said
            .iter()
            .filter(|said| said.who != Who::Person && said.event > ask.event && said.event < end);
        let short = reply.clone().next().filter(|said| said.place == 0 && !said.filler);
        let answer = best_of(reply.filter(|said| said.worth() > 0), answers).or(short);
        let question = truncate_words(
            ask.text.trim_end_matches(['.', '。', ':', '：']),
            if answer.is_some() { 70 } else { 150 },
        );
        let word = if ask.requests { "Asked: " } else { "Said: " };
        let mut support = vec![evidence(ask.event, ask.raw)];
        let text = match answer {
            Some(answer) => {
                support.push(evidence(answer.event, answer.raw));
                format!("{word}{} — {}", capitalised(&question), answer.text)
            }
            None => format!("{word}{}", capitalised(&question)),
        };
        let weight = i32::try_from(ask.weight).unwrap_or(10).min(10);
        found.push(Candidate::new(
            (Part::Asked, ask.event),
            8 + weight + i32::from(answer.is_some()) * 3,
            &text,
            support,
        ));
    }
}

/// Prefers the first sentences of an answer.
fn answers(said: &Said<'_>) -> i32 {
    said.worth() + if said.place == 0 { 5 } else { 0 } + if said.place <= 2 { 2 } else { 0 }
}

fn best_of<'s, 'a: 's>(
    said: impl Iterator<Item = &'s Said<'a>>,
    score: impl Fn(&Said<'a>) -> i32,
) -> Option<&'s Said<'a>> {
    let mut best: Option<(i32, &'s Said<'a>)> = None;
    for one in said {
        let scored = score(one);
        if best.is_none_or(|(so_far, _)| scored > so_far) {
            best = Some((scored, one));
        }
    }
    best.map(|(_, one)| one)
}

/// Adds the cause that was found and the decision that was made.
fn explained(story: &Story<'_>, main: Option<&Ask<'_>>, found: &mut Vec<Candidate>) {
    for (cue, word) in [(Cue::Cause, "Found: "), (Cue::Decision, "Decided: ")] {
        let fits = |said: &&Said<'_>| {
            said.cue.is_some_and(|(of, sure)| {
                of == cue && sure >= if said.who == Who::Person { 4 } else { 3 }
            }) && main.is_none_or(|ask| ask.raw != said.raw)
                && !(cue == Cue::Cause && said.who == Who::Person)
                && !said.filler
                && count_words(&said.text) >= 6
                && said.worth() > 6
        };
        if let Some(said) = best_of(story.said.iter().filter(fits), Said::worth) {
            let sure = said.cue.map_or(0, |(_, sure)| i32::try_from(sure).unwrap_or(0));
            // "Instead of" alone may only describe: such a sentence gets no label.
            let word = if sure > 3 { word } else { "" };
            let text = format!("{word}{}", told(&said.text));
            let order = (Part::Explained, said.event);
            found.push(Candidate::new(
                order,
                8 + sure,
                &text,
                vec![evidence(said.event, said.raw)],
            ));
        }
    }
}

/// Renders a sentence on its own: without the conjunction that ties it to the previous one and the
/// colon that ties it to the next.
fn told(text: &str) -> String {
    #[rustfmt::skip]
    const TIES: [&str; 10] = [
        "Because ", "So ", "And ", "But ", "Yes, ", "Yes — ", "Actually, ", "Interesting - ",
        "Interesting — ", "Then ",
    ];
    let text = TIES.iter().find_map(|word| text.strip_prefix(word)).unwrap_or(text);
    capitalised(text.trim_end_matches([':', '：', ' ']))
}

/// Builds the outcome: the conclusion of the last turn, or of an earlier one if the last has none.
fn ended(story: &Story<'_>) -> Option<Candidate> {
    let mut messages: Vec<usize> =
        story.said.iter().filter(|said| said.who == Who::Agent).map(|said| said.event).collect();
    messages.dedup();
    let last = *messages.last()?;
    let final_words = |event: usize| {
        story.said.iter().filter(move |said| {
            said.event == event && said.closes && !said.filler && count_words(&said.text) >= 3
        })
    };
    // The last message may be small talk after the work, so earlier turns count too.
    let recent = messages.iter().rev().take(4).flat_map(|event| final_words(*event));
    let best = recent
        .filter(|said| conclusion(said) > 4 && !matches!(said.cue, Some((Cue::Cause, 3..))))
        .map(|said| (conclusion(said) + if said.event == last { 4 } else { 0 }, said))
        .reduce(|best, one| if one.0 > best.0 { one } else { best })
        .map(|(_, said)| said);
    best.map(|said| concluded(said, last)).or_else(|| left_open(story, last))
}

fn concluded(said: &Said<'_>, last: usize) -> Candidate {
    let support = vec![evidence(said.event, said.raw)];
    let outcome = matches!(said.cue, Some((Cue::Outcome, _)));
    if !said.last_words && said.event == last && !outcome {
        // If the work was cut off, this sentence is not its outcome.
        return Candidate::new((Part::Explained, said.event), 8, &told(&said.text), support);
    }
    let priority = if count_words(&said.text) < 6 { 6 } else { 13 };
    Candidate::new(
        (Part::Ended, said.event),
        priority,
        &format!("Ended: {}", told(&said.text)),
        support,
    )
}

/// Builds a bullet from the question that the last message ends with, if there is no conclusion.
fn left_open(story: &Story<'_>, last: usize) -> Option<Candidate> {
    let asks = |said: &&Said<'_>| {
        said.event == last
            && said.text.ends_with(['?', '？'])
            && count_words(&said.text) >= 4
            && !announces(&said.text)
    };
    let question = story.said.iter().rev().find(asks)?;
    let support = vec![evidence(last, question.raw)];
    Some(Candidate::new((Part::Ended, last), 9, &format!("Left open: {}", question.text), support))
}

/// Scores how well a sentence states the outcome of a turn.
fn conclusion(said: &Said<'_>) -> i32 {
    let outcome = match said.cue {
        Some((Cue::Outcome, sure)) => i32::try_from(sure).unwrap_or(0),
        _ => 0,
    };
    let explains = match said.cue {
        Some((Cue::Cause, sure)) => i32::try_from(sure).unwrap_or(0) * 2,
        _ => 0,
    };
    let place = [4, 2, 2].get(said.place).copied().unwrap_or(0);
    said.worth() + outcome + place + if said.after_work { 5 } else { 0 } - explains
}

/// Builds a bullet from a failure line in the output, for segments without messages and actions.
fn reported(events: &[Event]) -> Option<Candidate> {
    let lines = events.iter().enumerate().flat_map(|(at, event)| {
        output_texts(event)
            .into_iter()
            .filter_map(move |text| failure_in(text).map(|(line, sure)| (sure, at, line)))
    });
    let (_, at, line) = lines.reduce(|best, one| if one.0 > best.0 { one } else { best })?;
    Some(Candidate::new(
        (Part::Explained, at),
        1,
        &format!("Reported: {}", message(line)),
        vec![evidence(at, line)],
    ))
}

/// Adds the best remaining statements until there are enough bullets.
fn fill(story: &Story<'_>, main: Option<&Ask<'_>>, kept: &mut Vec<Candidate>) {
    let mut others: Vec<&Said<'_>> = story
        .said
        .iter()
        .filter(|said| said.worth() > 3 && main.is_none_or(|ask| ask.raw != said.raw))
        .collect();
    others.sort_by(|a, b| b.worth().cmp(&a.worth()).then(a.event.cmp(&b.event)));
    for said in others {
        if kept.len() >= BULLETS_WANTED {
            return;
        }
        let word = if said.who == Who::Subagent { "A subagent reported: " } else { "" };
        let one = Candidate::new(
            (Part::Explained, said.event),
            1,
            &format!("{word}{}", told(&said.text)),
            vec![evidence(said.event, said.raw)],
        );
        if !repeats(&one.text, kept) {
            kept.push(one);
        }
    }
}
