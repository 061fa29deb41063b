//! Recalls insights: the three best in full, or none if nothing is relevant.
//!
//! A keyword's weight depends on how few insights contain it and on the field: title, then tags,
//! description, content. Insights that cover too little of the query are dropped.

use std::collections::BTreeSet;

use super::ask;
use super::entry::Entry;
use super::limits::{FILES_READ_MAX, RELEVANT_FROM, SAME_ABOVE};
use super::place::{self, Known};
use super::similar::Profile;
use super::terms::Terms;
use super::{Ask, InsightKind, Recalled, RecalledInsight, Tree};
use crate::limits::RECALLED_MAX;

/// The searched fields: name, weight for ranking, and weight for the relevance threshold.
const FIELDS: [(&str, f64, f64); 4] =
    [("title", 4.0, 1.5), ("tags", 3.0, 1.25), ("description", 2.0, 1.1), ("content", 1.0, 1.0)];
/// Share of a multi-word keyword that must match.
const KEYWORD_SHARE_MIN: f64 = 0.5;

/// Answers a query. Read-only.
pub(crate) fn recall(tree: &Tree, ask: &Ask) -> Result<Recalled, String> {
    let question = ask.question.as_deref().unwrap_or_default();
    let picked = if ask.kinds.is_empty() { ask::kinds(question) } else { ordered(&ask.kinds) };
    let all: Vec<Candidate> = InsightKind::ALL
        .into_iter()
        .filter(|kind| ask.kinds.is_empty() || picked.contains(kind))
        .flat_map(|kind| place::entries(tree, kind).into_iter().map(move |known| (kind, known)))
        .map(Candidate::of)
        .collect();
    let counted = |keyword: &str| {
        let needles = Terms::needles(keyword);
        all.iter().filter(|candidate| candidate.best_field(&needles).is_some()).count()
    };
    let keywords = ask::keywords(ask, counted)?;
    let found = search(&all, &keywords, &picked);
    // The types may have been guessed wrong: widen the search before giving up.
    let widened = found.hits.is_empty() && picked.len() < 3 && ask.kinds.is_empty();
    let wide = widened.then(|| search(&all, &keywords, &InsightKind::ALL));
    let mut hints = Vec::new();
    let (kinds, found) = match wide {
        Some(wide) => {
            if !wide.hits.is_empty() {
                hints.push(format!("nothing in {}, so all types were searched", named(&picked)));
            }
            (InsightKind::ALL.to_vec(), wide)
        }
        None => (picked, found),
    };
    hints.extend(advice(&found, &keywords, &kinds));
    let insights = found.hits.iter().take(RECALLED_MAX).map(Hit::insight).collect();
    let files_read = found.files.len();
    Ok(Recalled { keywords, kinds, insights, files_read, hints })
}

/// An entry prepared for search.
struct Candidate {
    kind: InsightKind,
    known: Known,
    /// Terms per field, in the order of [`FIELDS`].
    fields: [Terms; 4],
}

impl Candidate {
    fn of((kind, known): (InsightKind, Known)) -> Self {
        let Entry { title, description, content, remarks, tags } = &known.entry;
        let remarks: Vec<_> = remarks.iter().map(|remark| remark.text.as_str()).collect();
        let rest = format!("{content}\n{}", remarks.join("\n"));
        let fields = [title, &tags.join(" "), description, &rest].map(|text| Terms::searched(text));
        Self { kind, known, fields }
    }

    /// The field with the best weighted match of a keyword, and the matched share of the keyword.
    fn best_field(&self, needles: &[Terms; 2]) -> Option<(usize, f64)> {
        let share = |field: &Terms| {
            let share = |needle: &Terms| needle.shared(field) as f64 / needle.len().max(1) as f64;
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

struct Found<'a> {
    /// Candidates above the relevance threshold, best first.
    hits: Vec<Hit<'a>>,
    /// Files with a keyword match.
    files: BTreeSet<&'a str>,
}

struct Hit<'a> {
    candidate: &'a Candidate,
    score: f64,
    /// Matched keywords with their fields.
    matched: Vec<(&'a str, &'static str)>,
    keywords: usize,
}

fn search<'a>(all: &'a [Candidate], keywords: &'a [String], kinds: &[InsightKind]) -> Found<'a> {
    let searched = || all.iter().filter(|candidate| kinds.contains(&candidate.kind));
    let total = searched().count() as f64;
    let needles: Vec<_> = keywords
        .iter()
        .map(|keyword| {
            let needles = Terms::needles(keyword);
            let having = searched().filter(|one| one.best_field(&needles).is_some()).count();
            // A keyword that no insight contains gets the highest weight.
            let rarity = (1.0 + total / (having as f64).max(0.5)).ln();
            (keyword.as_str(), needles, rarity)
        })
        .collect();
    let asked: f64 = needles.iter().map(|(_, _, rarity)| rarity).sum();
    let mut found = Found { hits: Vec::new(), files: BTreeSet::new() };
    for candidate in searched() {
        let mut hit = Hit { candidate, score: 0.0, matched: Vec::new(), keywords: keywords.len() };
        let mut spoken_of = 0.0;
        for (keyword, needles, rarity) in &needles {
            let Some((field, share)) = candidate.best_field(needles) else { continue };
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
        if !hit.matched.is_empty() && spoken_of >= RELEVANT_FROM * asked && !by_chance {
            found.hits.push(hit);
        }
    }
    // Stable: ties keep the order of file and line.
    found.hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    found
}

impl Hit<'_> {
    fn insight(&self) -> RecalledInsight {
        let Known { path, line, raw, entry, .. } = &self.candidate.known;
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
fn advice(found: &Found, keywords: &[String], kinds: &[InsightKind]) -> Vec<String> {
    if found.hits.is_empty() {
        let said = if keywords.is_empty() { "those".to_owned() } else { keywords.join(", ") };
        let where_else = if kinds.len() < 3 {
            format!("search all types: only {} was searched", named(kinds))
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
    if files > FILES_READ_MAX {
        hints.push(format!(
            "the answer is spread over {files} files: run `tome coder tidy` to reorganise them"
        ));
    }
    let profiles: Vec<_> = found
        .hits
        .iter()
        .take(2 * RECALLED_MAX)
        .map(|hit| (hit.candidate.kind, Profile::of(&hit.candidate.known.entry)))
        .collect();
    let same = profiles.iter().enumerate().any(|(at, (kind, profile))| {
        let others = profiles.iter().skip(at + 1).filter(|(other, _)| other == kind);
        others.into_iter().any(|(_, other)| profile.similarity(other) > SAME_ABOVE)
    });
    if same {
        hints.push("some of these say the same: run `tome coder tidy` to merge them".to_owned());
    }
    hints
}

fn ordered(kinds: &[InsightKind]) -> Vec<InsightKind> {
    InsightKind::ALL.into_iter().filter(|kind| kinds.contains(kind)).collect()
}

fn named(kinds: &[InsightKind]) -> String {
    kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(" and ")
}
