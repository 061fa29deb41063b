//! Recalls insights: the three best in full, or none if nothing is relevant.
//!
//! A keyword's weight depends on how few insights contain it and on the field: title, then tags,
//! description, content. Insights that cover too little of the query are dropped.

use std::collections::BTreeSet;

use super::entry::InsightEntry;
use super::limits::{ANSWER_FILES_MAX, RELEVANCE_THRESHOLD, SAME_SIMILARITY};
use super::placement::{self, LocatedEntry};
use super::query;
use super::similarity::InsightProfile;
use super::terms::TermSet;
use super::{InsightKind, InsightQuery, InsightRecall, InsightTree, RecalledInsight};
use crate::limits::RECALLED_MAX;

/// The searched fields: name, weight for ranking, and weight for the relevance threshold.
const FIELDS: [(&str, f64, f64); 4] =
    [("title", 4.0, 1.5), ("tags", 3.0, 1.25), ("description", 2.0, 1.1), ("content", 1.0, 1.0)];
/// Share of a multi-word keyword that must match.
const KEYWORD_SHARE_MIN: f64 = 0.5;

/// Answers a query. Read-only.
pub(crate) fn recall_insights(
    tree: &InsightTree,
    ask: &InsightQuery,
) -> Result<InsightRecall, String> {
    let question = ask.question.as_deref().unwrap_or_default();
    let picked =
        if ask.kinds.is_empty() { query::guess_kinds(question) } else { sort_kinds(&ask.kinds) };
    let all: Vec<InsightCandidate> = InsightKind::ALL
        .into_iter()
        .filter(|kind| ask.kinds.is_empty() || picked.contains(kind))
        .flat_map(|kind| {
            placement::collect_entries(tree, kind).into_iter().map(move |known| (kind, known))
        })
        .map(InsightCandidate::from_entry)
        .collect();
    let counted = |keyword: &str| {
        let needles = TermSet::keyword_terms(keyword);
        all.iter().filter(|candidate| candidate.find_best_field(&needles).is_some()).count()
    };
    let keywords = query::select_keywords(ask, counted)?;
    let found = search_candidates(&all, &keywords, &picked);
    // The types may have been guessed wrong: widen the search before giving up.
    let widened = found.hits.is_empty() && picked.len() < 3 && ask.kinds.is_empty();
    let wide = widened.then(|| search_candidates(&all, &keywords, &InsightKind::ALL));
    let mut hints = Vec::new();
    let (kinds, found) = match wide {
        Some(wide) => {
            if !wide.hits.is_empty() {
                hints.push(format!(
                    "nothing in {}, so all types were searched",
                    join_kind_names(&picked)
                ));
            }
            (InsightKind::ALL.to_vec(), wide)
        }
        None => (picked, found),
    };
    hints.extend(suggest_next_steps(&found, &keywords, &kinds));
    let insights = found.hits.iter().take(RECALLED_MAX).map(InsightHit::to_recalled).collect();
    let files_read = found.files.len();
    Ok(InsightRecall { keywords, kinds, insights, files_read, hints })
}

/// An entry prepared for search.
struct InsightCandidate {
    kind: InsightKind,
    known: LocatedEntry,
    /// Terms per field, in the order of [`FIELDS`].
    fields: [TermSet; 4],
}

impl InsightCandidate {
    fn from_entry((kind, known): (InsightKind, LocatedEntry)) -> Self {
        let InsightEntry { title, description, content, remarks, tags } = &known.entry;
        let remarks: Vec<_> = remarks.iter().map(|remark| remark.text.as_str()).collect();
        let rest = format!("{content}\n{}", remarks.join("\n"));
        let fields =
            [title, &tags.join(" "), description, &rest].map(|text| TermSet::search_terms(text));
        Self { kind, known, fields }
    }

    /// The field with the best weighted match of a keyword, and the matched share of the keyword.
    fn find_best_field(&self, needles: &[TermSet; 2]) -> Option<(usize, f64)> {
        let share = |field: &TermSet| {
            let share =
                |needle: &TermSet| needle.count_shared(field) as f64 / needle.len().max(1) as f64;
            needles.iter().map(share).fold(0.0, f64::max)
        };
        let shares = self.fields.iter().map(share).enumerate();
        let worth = |(field, share): (usize, f64)| {
            FIELDS.get(field).map_or(0.0, |(_, weight, _)| weight * share)
        };
        shares
            .filter(|(_, share)| *share >= KEYWORD_SHARE_MIN)
            .max_by(|a, b| worth(*a).total_cmp(&worth(*b)).then(b.0.cmp(&a.0)))
    }
}

struct InsightMatches<'a> {
    /// Candidates above the relevance threshold, best first.
    hits: Vec<InsightHit<'a>>,
    /// Files with a keyword match.
    files: BTreeSet<&'a str>,
}

struct InsightHit<'a> {
    candidate: &'a InsightCandidate,
    score: f64,
    /// Matched keywords with their fields.
    matched: Vec<(&'a str, &'static str)>,
    keywords: usize,
}

fn search_candidates<'a>(
    all: &'a [InsightCandidate],
    keywords: &'a [String],
    kinds: &[InsightKind],
) -> InsightMatches<'a> {
    let searched = || all.iter().filter(|candidate| kinds.contains(&candidate.kind));
    let total = searched().count() as f64;
    let needles: Vec<_> = keywords
        .iter()
        .map(|keyword| {
            let needles = TermSet::keyword_terms(keyword);
            let having = searched().filter(|one| one.find_best_field(&needles).is_some()).count();
            // A keyword that no insight contains gets the highest weight.
            let rarity = (1.0 + total / (having as f64).max(0.5)).ln();
            (keyword.as_str(), needles, rarity)
        })
        .collect();
    let asked: f64 = needles.iter().map(|(_, _, rarity)| rarity).sum();
    let mut found = InsightMatches { hits: Vec::new(), files: BTreeSet::new() };
    for candidate in searched() {
        let mut hit =
            InsightHit { candidate, score: 0.0, matched: Vec::new(), keywords: keywords.len() };
        let mut spoken_of = 0.0;
        for (keyword, needles, rarity) in &needles {
            let Some((field, share)) = candidate.find_best_field(needles) else { continue };
            let Some((name, weight, bonus)) = FIELDS.get(field) else { continue };
            hit.score += rarity * share * weight;
            spoken_of += rarity * share * bonus;
            hit.matched.push((keyword, name));
        }
        if !hit.matched.is_empty() {
            found.files.insert(&candidate.known.path);
        }
        // A single match among several keywords is a coincidence, unless it is in the title or the
        // tags.
        let by_chance = hit.matched.len() == 1
            && keywords.len() > 1
            && hit.matched.iter().any(|(_, field)| matches!(*field, "content" | "description"));
        if !hit.matched.is_empty() && spoken_of >= RELEVANCE_THRESHOLD * asked && !by_chance {
            found.hits.push(hit);
        }
    }
    // Stable: ties keep the order of file and line.
    found.hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    found
}

impl InsightHit<'_> {
    fn to_recalled(&self) -> RecalledInsight {
        let LocatedEntry { path, line, raw, entry, .. } = &self.candidate.known;
        let matched: Vec<_> = self
            .matched
            .iter()
            .map(|(keyword, field)| format!("\"{keyword}\" in its {field}"))
            .collect();
        RecalledInsight {
            kind: self.candidate.kind,
            title: entry.title.clone(),
            path: path.clone(),
            line: *line,
            text: raw.clone(),
            why: format!(
                "It has {} of {} keywords: {}.",
                self.matched.len(),
                self.keywords,
                matched.join(", ")
            ),
        }
    }
}

/// Suggestions when nothing was found, or when the answer is scattered or redundant.
fn suggest_next_steps(
    found: &InsightMatches,
    keywords: &[String],
    kinds: &[InsightKind],
) -> Vec<String> {
    if found.hits.is_empty() {
        let said = if keywords.is_empty() { "those".to_owned() } else { keywords.join(", ") };
        let where_else = if kinds.len() < 3 {
            format!("search all types: only {} was searched", join_kind_names(kinds))
        } else {
            "look through README.md, which lists every file with its titles".to_owned()
        };
        return vec![
            format!("try broader or other words than {said}"),
            where_else,
            "continue without it; if you learn something non-obvious, store it with coder_memory_store"
                .to_owned(),
        ];
    }
    let mut hints = Vec::new();
    let files = found.files.len();
    if files > ANSWER_FILES_MAX {
        hints.push(format!(
            "the answer is spread over {files} files: run `tome coder tidy` to reorganise them"
        ));
    }
    let profiles: Vec<_> = found
        .hits
        .iter()
        .take(2 * RECALLED_MAX)
        .map(|hit| (hit.candidate.kind, InsightProfile::from_entry(&hit.candidate.known.entry)))
        .collect();
    let same = profiles.iter().enumerate().any(|(at, (kind, profile))| {
        let others = profiles.iter().skip(at + 1).filter(|(other, _)| other == kind);
        others.into_iter().any(|(_, other)| profile.similarity(other) > SAME_SIMILARITY)
    });
    if same {
        hints.push("some of these say the same: run `tome coder tidy` to merge them".to_owned());
    }
    hints
}

fn sort_kinds(kinds: &[InsightKind]) -> Vec<InsightKind> {
    InsightKind::ALL.into_iter().filter(|kind| kinds.contains(kind)).collect()
}

fn join_kind_names(kinds: &[InsightKind]) -> String {
    kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(" and ")
}
