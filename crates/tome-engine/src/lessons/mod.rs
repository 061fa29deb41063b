//! Recalls the coder's lessons: recall with their scope, of which the best three are returned in
//! full, or none if nothing is relevant.

mod query;

use std::collections::{BTreeSet, HashSet};

use tome_home::{HomeError, NotebookOwner, Notebooks};
use tome_model::Scope;
use tome_notebook::{LessonKind, Notebook, is_same_lesson, split_lessons};
use tome_recall::{
    Confidence, Recall, RecallFilter, RecallHit, RecallLimits, RecallQuery, RecallScope,
};
use tome_text::stemmed_terms;

/// The coder's notebook, which belongs to no project.
pub(crate) const CODER_NOTEBOOK: NotebookOwner =
    NotebookOwner { scope: Scope::Coder, cwd: None, session: None };

/// Lessons in an answer.
const LESSONS_MAX: usize = 3;
/// Lessons that are rated, more than are returned: several types may have to be searched, and the
/// answer may be spread over files.
const HITS_MAX: usize = 50;
/// Files an answer may be spread over before a hint advises tidying.
const ANSWER_FILES_MAX: usize = 5;

/// A query over the lessons.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LessonQuery {
    /// Question in natural language.
    pub question: Option<String>,
    /// Three to eight keywords, searched for instead of the question.
    pub keywords: Vec<String>,
    /// Types to search; if empty, derived from the question.
    pub kinds: Vec<LessonKind>,
}

/// The result of a recall of lessons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LessonRecall {
    /// Keywords as given, or the telling words of the question.
    pub keywords: Vec<String>,
    /// Types searched.
    pub kinds: Vec<LessonKind>,
    /// The best hits, at most three; empty if nothing is relevant.
    pub lessons: Vec<RecalledLesson>,
    /// Number of files with a relevant lesson.
    pub files: usize,
    /// Suggestions, such as tidying or rephrasing the query.
    pub hints: Vec<String>,
}

/// One recalled lesson.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecalledLesson {
    /// Type.
    pub kind: LessonKind,
    /// One line that states the lesson.
    pub title: String,
    /// File in the coder's notebook.
    pub path: String,
    /// First line of the entry, from 1.
    pub line: usize,
    /// The whole entry, verbatim.
    pub text: String,
    /// Reason for the match.
    pub why: String,
}

/// Answers a query. Read-only.
pub(crate) fn recall_lessons(
    recall: &Recall,
    notebooks: &Notebooks,
    query: &LessonQuery,
) -> Result<LessonRecall, HomeError> {
    let keywords = query::select_keywords(query)?;
    let question = query.question.as_deref().unwrap_or_default();
    let picked = match query.kinds.as_slice() {
        [] => query::guess_kinds(question),
        given => LessonKind::ALL.into_iter().filter(|kind| given.contains(kind)).collect(),
    };
    // A guess only decides between the hits in all types.
    let searched = if query.kinds.is_empty() { &LessonKind::ALL[..] } else { &picked };
    let text = if query.keywords.is_empty() { question.to_owned() } else { keywords.join(" ") };
    // A question without a telling word, such as "what is it?", is about nothing.
    let relevant = if keywords.is_empty() {
        Vec::new()
    } else {
        find_relevant(recall, notebooks, text, searched)?
    };
    let best_in = |kinds: &[LessonKind]| {
        let hits = relevant.iter().filter(|hit| kinds.contains(&hit.lesson.kind));
        hits.map(|hit| hit.confidence).max()
    };
    // The types may have been guessed wrong: another type with a better hit is searched, too.
    let is_widened = best_in(&picked) < best_in(&LessonKind::ALL);
    let (kinds, relevant) = if is_widened {
        (LessonKind::ALL.to_vec(), relevant)
    } else {
        let kinds = if relevant.is_empty() && query.kinds.is_empty() { searched } else { &picked };
        let hits = relevant.into_iter().filter(|hit| picked.contains(&hit.lesson.kind));
        (kinds.to_vec(), hits.collect())
    };
    let mut hints = Vec::new();
    if is_widened {
        let names = join_kind_names(&picked);
        hints.push(format!("no better match in {names}, so all types were searched"));
    }
    hints.extend(suggest_next_steps(&relevant, &keywords, &kinds));
    let files = count_files(&relevant);
    let lessons = relevant.into_iter().take(LESSONS_MAX).map(|hit| explain_hit(hit, &keywords));
    Ok(LessonRecall { lessons: lessons.collect(), keywords, kinds, files, hints })
}

struct RelevantLesson {
    lesson: RecalledLesson,
    confidence: Confidence,
}

/// Searches the lessons of some types. Returns those that are at least likely to be relevant, best
/// first.
fn find_relevant(
    recall: &Recall,
    notebooks: &Notebooks,
    text: String,
    kinds: &[LessonKind],
) -> Result<Vec<RelevantLesson>, HomeError> {
    let answer = recall.search(&RecallQuery {
        text,
        filter: RecallFilter {
            scope: RecallScope::Coder,
            kinds: kinds.iter().map(|kind| kind.as_str().to_owned()).collect(),
            ..RecallFilter::default()
        },
        limits: RecallLimits { hits: HITS_MAX, ..RecallLimits::default() },
        ..RecallQuery::default()
    })?;
    let notebook = notebooks.open(&CODER_NOTEBOOK)?;
    let mut lessons: Vec<RelevantLesson> = Vec::new();
    for hit in answer.hits.iter().filter(|hit| hit.confidence > Confidence::Weak) {
        let Some(lesson) = read_lesson(&notebook, hit) else { continue };
        lessons.push(RelevantLesson { lesson, confidence: hit.confidence });
    }
    Ok(lessons)
}

/// Reads the lesson of a hit; `None` if it is gone.
fn read_lesson(notebook: &Notebook, hit: &RecallHit) -> Option<RecalledLesson> {
    let path = hit.file.as_deref()?.strip_prefix("coder/")?;
    let line = usize::try_from(hit.line?).ok()?;
    let note = notebook.read_note(path).ok()?;
    let section = split_lessons(&note.text).into_iter().rfind(|section| section.line <= line)?;
    Some(RecalledLesson {
        kind: LessonKind::from_path(path)?,
        title: section.title?,
        path: path.to_owned(),
        line: section.line,
        text: note.text.get(section.range)?.to_owned(),
        why: String::new(),
    })
}

/// Adds the reason for a match: how good it is, and which of the keywords the lesson has.
fn explain_hit(hit: RelevantLesson, keywords: &[String]) -> RecalledLesson {
    let terms: HashSet<String> = stemmed_terms(&hit.lesson.text).into_iter().collect();
    let has = |keyword: &&String| {
        let stems = stemmed_terms(keyword);
        !stems.is_empty() && stems.iter().all(|stem| terms.contains(stem))
    };
    let shared: Vec<String> =
        keywords.iter().filter(has).map(|keyword| format!("\"{keyword}\"")).collect();
    let grade = if hit.confidence == Confidence::Strong { "Strong" } else { "Likely" };
    let why = if shared.is_empty() {
        format!("{grade} match: similar in meaning, in other words.")
    } else {
        format!("{grade} match: it has {}.", shared.join(", "))
    };
    RecalledLesson { why, ..hit.lesson }
}

fn count_files(found: &[RelevantLesson]) -> usize {
    found.iter().map(|hit| hit.lesson.path.as_str()).collect::<BTreeSet<_>>().len()
}

/// Suggestions when nothing was found, or when the answer is scattered or redundant.
fn suggest_next_steps(
    found: &[RelevantLesson],
    keywords: &[String],
    kinds: &[LessonKind],
) -> Vec<String> {
    if found.is_empty() {
        let tried = if keywords.is_empty() { "those".to_owned() } else { keywords.join(", ") };
        let where_else = if kinds.len() < LessonKind::ALL.len() {
            format!("search all types: only {} was searched", join_kind_names(kinds))
        } else {
            "look through README.md, which lists every file with its titles".to_owned()
        };
        return vec![
            format!("try broader or other words than {tried}"),
            where_else,
            "continue without it; if you learn something non-obvious, store it with coder_memory_store"
                .to_owned(),
        ];
    }
    let mut hints = Vec::new();
    let files = count_files(found);
    if files > ANSWER_FILES_MAX {
        hints.push(format!(
            "the answer is spread over {files} files: run `tome coder tidy` to reorganize them"
        ));
    }
    let compared: Vec<&RecalledLesson> =
        found.iter().map(|hit| &hit.lesson).take(2 * LESSONS_MAX).collect();
    let has_same = compared.iter().enumerate().any(|(at, one)| {
        let others = compared.iter().skip(at + 1).filter(|other| other.kind == one.kind);
        others.into_iter().any(|other| is_same_lesson(&one.text, &other.text))
    });
    if has_same {
        hints.push("some of these say the same: run `tome coder tidy` to merge them".to_owned());
    }
    hints
}

fn join_kind_names(kinds: &[LessonKind]) -> String {
    kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(" and ")
}
