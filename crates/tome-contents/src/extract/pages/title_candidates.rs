//! Chooses a title from the conversation: a request of the user, or the conclusion of an answer.
//!
//! The weights are those of a conditional logit model: for 250 sessions and parts of sessions in 140 public
//! projects, readers marked the texts that a stranger would accept as the title of the work. With projects
//! held out, the best one is acceptable in 43 of 100 that have neither a plan, a pull request nor a commit.

use std::collections::BTreeSet;

use tome_model::{FactKind, FileAction};
use tome_text::count_words;

use crate::Evidence;
use crate::extract::answers::informative::{
    begins_with_pronoun, is_check_report, is_generic_sentence, is_shouted, names_subject, says_what,
};
use crate::extract::answers::run_in::counts_finished;
use crate::extract::answers::statement::{AnswerSentence, SURE};
use crate::extract::answers::verdict::strip_verdict;
use crate::extract::commands::failures::score_failure;
use crate::extract::facts::draft_fact::{DraftFact, build_evidence};
use crate::extract::facts::segment_facts::DOUBTFUL_WEIGHT;
use crate::extract::language::clause::{is_main_clause, shorten_to_title};
use crate::extract::language::cues::is_filler;
use crate::extract::language::matter::names_matter;
use crate::extract::language::pasted::looks_pasted;
use crate::extract::language::reply::{is_outburst, leans_on_conversation};
use crate::extract::language::similarity::TermSet;
use crate::extract::language::terms::{base_name, has_name};
use crate::extract::language::text::{begins_with_any, to_lower};
use crate::extract::pages::title_text::{
    addresses_user, build_title, is_part, is_report, skip_connective, skip_long_lead,
    strip_report_word, strip_subject, strip_summary_label,
};
use crate::extract::pages::title_weight::{FROM_RESULT, weigh_conversation};
use crate::extract::turns::reaction::Reaction;
use crate::extract::turns::reference::{refers_by_number, refers_without_naming};
use crate::extract::turns::request::{UserRequest, is_source_code, reports_trouble};
use crate::extract::turns::turn::Turn;

/// Sentences of a prompt whose words are compared.
const SENTENCES_MAX: usize = 30;
/// A prompt with more sentences describes its work at length.
const LONG_PROMPT_SENTENCES: usize = 6;
/// Turns that a text is compared with: each text with each turn, and a session may have thousands.
const COMPARED_TURNS_MAX: usize = 200;
/// A text with fewer terms does not name a subject.
const TERMS_MIN: usize = 3;
/// Other turns that a text has to name for full marks.
const NAMED_TURNS_MAX: usize = 6;
/// A conclusion with this much more than a sure one has full marks.
const CONCLUSION_SCORE_RANGE: i32 = 400;
/// Failure score of a line that certainly reports a failure.
const ERROR_SCORE_MIN: u32 = 6;
/// The quality of a title without a flaw.
const QUALITY_MAX: u32 = 9;
/// The least quality of a title that names a subject.
const SUBJECT_QUALITY_MIN: u32 = 5;

/// The terms of each turn: of its prompt, of its conclusion and of the names of the files it changed.
pub(crate) struct TurnTerms(Vec<BTreeSet<String>>);

/// How many terms of a text occur in the turns.
pub(crate) struct TermOverlap {
    /// Terms of the text.
    pub(crate) terms: usize,
    /// Its terms in the turns, counted for each turn.
    pub(crate) shared: usize,
    /// Number of turns that have any of its terms.
    pub(crate) turns: usize,
}

impl TurnTerms {
    pub(crate) fn new(turns: &[Turn<'_>]) -> Self {
        let read = |turn: &Turn<'_>| {
            let mut terms: BTreeSet<String> = BTreeSet::new();
            let mut add = |text: &str| terms.extend(TermSet::from_text(text).into_terms());
            let sentences = turn.prompt_parts.sentences.iter().take(SENTENCES_MAX);
            sentences.for_each(|sentence| add(&sentence.plain));
            turn.conclusion.iter().for_each(|(_, found)| add(&found.text));
            for file in changed_by(turn) {
                add(&base_name(file).replace(['_', '-'], " "));
            }
            terms
        };
        Self(turns.iter().take(COMPARED_TURNS_MAX).map(read).collect())
    }

    /// Compares a text with all turns, or all but its own.
    pub(crate) fn compare(&self, text: &str, own: Option<usize>) -> TermOverlap {
        let terms: Vec<String> = TermSet::from_text(text).into_terms().collect();
        let others = self.0.iter().enumerate().filter(|(at, _)| Some(*at) != own);
        let (mut shared, mut turns) = (0, 0);
        for (_, known) in others {
            let count = terms.iter().filter(|term| known.contains(*term)).count();
            shared += count;
            turns += usize::from(count > 0);
        }
        TermOverlap { terms: terms.len(), shared, turns }
    }
}

impl TurnTerms {
    /// Number of these terms that any of the turns has.
    pub(crate) fn count_known(&self, terms: &[String]) -> usize {
        terms.iter().filter(|term| self.0.iter().any(|known| known.contains(*term))).count()
    }
}

fn changed_by<'t>(turn: &'t Turn<'_>) -> impl Iterator<Item = &'t str> {
    turn.files.iter().filter(|file| file.action != FileAction::Read).map(|file| file.path)
}

/// The source of a title.
enum CandidateSource<'t, 'a> {
    /// A request, and whether it is the first one of several.
    Request(&'t UserRequest<'a>, bool),
    Conclusion(&'t AnswerSentence<'a>),
}

/// A text that may be the title of a segment.
struct TitleCandidate<'t, 'a> {
    source: CandidateSource<'t, 'a>,
    turn: &'t Turn<'a>,
    text: String,
    terms: usize,
    /// Percentages of the segment: of its events, of its changes, of its other turns that have a term of
    /// the text, and of the terms that they have. All are 0 if it has one turn only.
    work_share: i32,
    edit_share: i32,
    named_share: i32,
    term_share: i32,
}

/// Chooses the request or conclusion that best describes a segment.
pub(crate) fn title_from_conversation(turns: &[Turn<'_>], terms: &TurnTerms) -> Option<DraftFact> {
    let segment = SegmentSize {
        turns: turns.len(),
        events: turns.iter().map(|turn| turn.events.len()).sum(),
        edits: turns.iter().map(|turn| changed_by(turn).count()).sum(),
    };
    let first = turns.iter().position(|turn| turn.request.is_some());
    let several = turns.iter().filter(|turn| turn.request.is_some()).count() > 1;
    let mut best: Option<((bool, i32), u32, TitleCandidate<'_, '_>)> = None;
    for (at, turn) in turns.iter().enumerate() {
        let is_first = several && first == Some(at);
        let request = turn
            .request
            .as_ref()
            .and_then(|request| read_request(request, is_first, turn.begins_session));
        for (source, text) in request.into_iter().chain(read_conclusion(turn)) {
            let overlap = terms.compare(&text, Some(at));
            let title = TitleCandidate::new(source, turn, text, &overlap, segment);
            // Of a session that begins with "Get an overview", another request names the work.
            let quality = title.rate();
            let score = (quality >= SUBJECT_QUALITY_MIN, title.score());
            if best.as_ref().is_none_or(|(most, ..)| score > *most) {
                best = Some((score, quality, title));
            }
        }
    }
    let (_, quality, title) = best?;
    build_title(&title.text, weigh_conversation(quality), title.evidence())
}

#[derive(Clone, Copy)]
struct SegmentSize {
    turns: usize,
    events: usize,
    edits: usize,
}

fn read_request<'t, 'a>(
    request: &'t UserRequest<'a>,
    is_first: bool,
    begins_session: bool,
) -> Option<(CandidateSource<'t, 'a>, String)> {
    // "Go on" names no subject, and neither does a command without its arguments.
    const CONTINUE: [&str; 6] = ["继续", "繼續", "続けて", "続き", "계속", "$arguments"];
    const COMMANDS: &[&str] = &["git push", "git pull", "git commit", "git add", "git status"];
    // The prompts that `/init` stands for, which begin a session about something else.
    const STOCK: &[&str] = &[
        "generate a file named agents.md that serves as a contributor guide",
        "please analyze this codebase and create a claude.md",
        "analyze this codebase and create a claude.md",
    ];
    let says = request.weight > 0
        && !begins_with_any(&request.text, STOCK)
        && !is_shouted(&request.text)
        && !is_source_code(&request.text)
        && !CONTINUE.contains(&to_lower(request.text.trim()).as_ref())
        && !begins_with_any(&request.text, COMMANDS)
        && !looks_pasted(&request.text)
        && !is_outburst(&request.text)
        && (begins_session || request.is_order || !leans_on_conversation(&request.text));
    let is_error = !request.is_asked && score_failure(&request.text) >= ERROR_SCORE_MIN;
    if request.pasted || is_error || !says || refers_by_number(&request.text) {
        return None;
    }
    // The user speaks to the agent; a title speaks to a reader.
    let clause = skip_connective(skip_long_lead(&request.text));
    let text = shorten_to_title(clause).replace(" your ", " the ");
    // A remark of the user is a claim; only the answer shows whether it is true.
    let is_report = !request.is_order && is_report(clause) && reports_trouble(clause);
    let text = if is_report { format!("Reported: {text}") } else { text };
    Some((CandidateSource::Request(request, is_first), text))
}

/// The result of the turn with the most work, where nothing better names a segment. Only a result that is shown.
pub(crate) fn title_from_result(turns: &[Turn<'_>], facts: &[DraftFact]) -> Option<DraftFact> {
    let is_told = |at: usize| {
        facts.iter().any(|fact| {
            fact.kind == FactKind::Outcome && fact.weight > DOUBTFUL_WEIGHT && fact.event == at
        })
    };
    let results = turns.iter().filter_map(|turn| {
        let (at, found) = turn.conclusion.as_ref().filter(|(at, _)| is_told(*at))?;
        let text = shorten_to_title(strip_subject(strip_summary_label(strip_verdict(&found.lead))));
        let says = says_what(&text)
            && !counts_finished(&found.lead)
            && !is_generic_sentence(&text)
            && is_main_clause(&text)
            && count_words(&text) >= 4
            && names_matter(&text)
            && !text.ends_with(['…', ':', '：'])
            && !begins_with_pronoun(&text)
            && !addresses_user(&text)
            && !is_part(&text)
            && !looks_pasted(&text)
            && TermSet::from_text(&text).len() > TERMS_MIN;
        says.then_some((turn.events.len(), *at, found, text))
    });
    let (_, at, found, text) = results.max_by_key(|(work, ..)| *work)?;
    let raws = found.raws.iter().map(|raw| build_evidence(at, raw));
    build_title(&text, FROM_RESULT, raws.collect())
}

/// The conclusion of a turn that changed something, if it reports what was done. Any other may be found wrong
/// later, or is a detail.
fn read_conclusion<'t, 'a>(turn: &'t Turn<'a>) -> Option<(CandidateSource<'t, 'a>, String)> {
    let (_, found) = turn.conclusion.as_ref().filter(|_| !turn.is_overturned)?;
    let is_list = count_words(&found.lead) <= 2 && found.raws.len() > 1;
    let statement = if is_list { &found.text } else { &found.lead };
    let text = strip_report_word(strip_summary_label(strip_verdict(statement)));
    let text = shorten_to_title(strip_subject(text));
    // "What the fix changed" is the heading of an explanation.
    let is_heading = begins_with_any(&text, &["what", "how", "why"]);
    let says = says_what(&text)
        && !is_heading
        && (found.items.is_empty() || !counts_finished(&found.lead))
        && tells_work(&text)
        && is_main_clause(&text)
        && !text.ends_with('…')
        && !addresses_user(&text)
        && !is_part(&text)
        && (!is_check_report(&text) || names_subject(&text));
    let changes = changed_by(turn).next().is_some();
    (says && changes).then_some((CandidateSource::Conclusion(found), text))
}

/// Whether a sentence reports finished work, and not a failure.
fn tells_work(text: &str) -> bool {
    #[rustfmt::skip]
    const DONE: &[&str] = &[
        "added", "fixed", "changed", "updated", "removed", "renamed", "created", "replaced", "implemented", "moved",
        "switched", "reverted", "refactored", "now", "built", "migrated", "introduced", "converted", "wired",
        "extended", "split", "rewrote", "rewritten", "redesigned", "complete", "completed",
    ];
    const WIDE: [&str; 5] = ["已", "完成", "しました", "완료", "추가"];
    const FAILED: &[&str] =
        &["fails", "failed", "failing", "attempted", "tried", "cannot", "isn't", "error"];
    let lower = to_lower(text);
    let has = |list: &[&str]| {
        lower.split(|c: char| !c.is_alphanumeric() && c != '\'').any(|word| list.contains(&word))
    };
    (has(DONE) || WIDE.iter().any(|mark| text.contains(mark))) && !has(FAILED)
}

/// Whether a sentence only supposes something, or says what its author does not want.
fn supposes(text: &str) -> bool {
    begins_with_any(text, &["i think", "i guess", "maybe", "perhaps", "i don't", "i dont"])
}

impl<'t, 'a> TitleCandidate<'t, 'a> {
    fn new(
        source: CandidateSource<'t, 'a>,
        turn: &'t Turn<'a>,
        text: String,
        overlap: &TermOverlap,
        segment: SegmentSize,
    ) -> Self {
        let percent = |part: usize, whole: usize| {
            let share = (part * 100).checked_div(whole).filter(|_| segment.turns > 1);
            share.map_or(0, |share| i32::try_from(share.min(100)).unwrap_or(100))
        };
        let others = segment.turns.min(COMPARED_TURNS_MAX).saturating_sub(1);
        Self {
            work_share: percent(turn.events.len(), segment.events),
            edit_share: percent(changed_by(turn).count(), segment.edits),
            named_share: percent(overlap.turns, others),
            term_share: percent(overlap.shared, overlap.terms * others.min(NAMED_TURNS_MAX)),
            terms: overlap.terms,
            source,
            turn,
            text,
        }
    }

    fn evidence(&self) -> Vec<Evidence> {
        match (&self.source, &self.turn.conclusion) {
            (CandidateSource::Request(request, _), _) => {
                vec![build_evidence(request.event, request.raw)]
            }
            (CandidateSource::Conclusion(found), Some((at, _))) => {
                found.raws.iter().map(|raw| build_evidence(*at, raw)).collect()
            }
            (CandidateSource::Conclusion(_), None) => Vec::new(),
        }
    }

    fn score(&self) -> i32 {
        let when = |holds: bool, weight: i32| if holds { weight } else { 0 };
        let of_source = match &self.source {
            CandidateSource::Request(request, is_first) => self.score_request(request, *is_first),
            CandidateSource::Conclusion(found) => {
                let sure = (found.score - SURE).clamp(0, CONCLUSION_SCORE_RANGE);
                35 + sure * 39 / CONCLUSION_SCORE_RANGE
            }
        };
        let length = match count_words(&self.text) {
            0..=3 => -62,
            4..=5 => -18,
            _ => 0,
        };
        let shares = self.named_share * 112
            + self.work_share * 91
            + self.term_share * 53
            + self.edit_share * 40;
        of_source
            + length
            + shares / 100
            + when(self.terms < TERMS_MIN, -90)
            + when(begins_with_pronoun(&self.text), -12)
            + when(self.text.ends_with('…'), -13)
            + when(!is_main_clause(&self.text), -9)
            + when(is_filler(&self.text), -7)
            + when(has_name(&self.text), 10)
    }

    fn score_request(&self, request: &UserRequest<'_>, is_first: bool) -> i32 {
        let when = |holds: bool, weight: i32| if holds { weight } else { 0 };
        let weight = i32::try_from(request.weight.min(9)).unwrap_or(9) * 46 / 9;
        weight - 35
            + when(self.turn.begins_session, 62)
            + when(is_first, 69)
            + when(request.is_asked, 19)
            + when(request.is_order, 31)
            + when(is_report(&request.text), 21)
            + when(self.text.ends_with(['?', '？']), 11)
            + when(self.turn.prompt_parts.sentences.len() > LONG_PROMPT_SENTENCES, 30)
            + when(refers_without_naming(&request.text), -21)
            + when(self.turn.reaction != Reaction::None, -23)
            + when(!is_main_clause(&request.text), -18)
    }

    /// Rates how well the text stands by itself, up to [`QUALITY_MAX`]. The score compares the titles of one
    /// segment only; this is for choosing among those of several.
    fn rate(&self) -> u32 {
        let mut flaws = 0;
        flaws += if self.terms < TERMS_MIN { 4 } else { 0 };
        flaws += if count_words(&self.text) < 4 { 3 } else { 0 };
        flaws += if names_matter(&self.text) { 0 } else { 5 };
        flaws += if begins_with_pronoun(&self.text) || supposes(&self.text) { 2 } else { 0 };
        flaws += u32::from(self.text.ends_with('…')) + u32::from(!is_main_clause(&self.text));
        flaws += match &self.source {
            CandidateSource::Request(request, _) => {
                let refers = if refers_without_naming(&request.text) { 2 } else { 0 };
                let is_remark = !request.is_asked && !self.turn.begins_session;
                refers + u32::from(!request.is_sure) + u32::from(is_remark)
            }
            // A conclusion may describe only a detail of the work.
            CandidateSource::Conclusion(_) => 1,
        };
        QUALITY_MAX.saturating_sub(flaws)
    }
}
