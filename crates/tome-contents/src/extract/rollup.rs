//! Summarizes a period from its child nodes: main themes, most important bullets, and keywords by
//! weight. Linear in the number of children.

use std::collections::{BTreeMap, BTreeSet};

use tome_model::{Level, Node};
use tome_text::truncate_words;

use super::bullets::{BULLET_CHARS_MAX, BULLETS_MAX, strip_label};
use super::digest::{content_terms, overlap_percent};
use super::keywords::KEYWORDS_MAX;
use crate::{RollupInput, Summary, SummaryBullet, Support};

/// Themes named in a title.
const THEMES_MAX: usize = 3;
/// Only the heaviest themes are compared pairwise; a year has few that matter.
const COMPARED_MAX: usize = 40;
const TITLE_CHARS_MAX: usize = 120;
/// Percentage of shared terms at which two themes are merged.
const SAME_THEME_PERCENT: usize = 60;

/// A topic of a child, from its title.
#[derive(Debug)]
struct PeriodTheme<'a> {
    text: &'a str,
    about: BTreeSet<String>,
    weight: u64,
    child: usize,
    /// All children with this theme, this one included.
    children: BTreeSet<usize>,
}

/// Summarizes a period.
pub(super) fn summarize_period(input: &RollupInput<'_>) -> Summary {
    if let [only] = input.children {
        return copy_summary(only);
    }
    let keywords = collect_keywords(input.children);
    let themes = collect_themes(input.children);
    let bullets = match input.level {
        Level::Day => choose_day_bullets(input.children, &themes, &keywords),
        _ => choose_period_bullets(input.children, &keywords),
    };
    Summary { title: render_title(&themes, input), bullets, keywords: top_keywords(&keywords) }
}

/// Copies the summary of an only child.
fn copy_summary(only: &Node) -> Summary {
    let bullets = only.bullets.iter().take(BULLETS_MAX).enumerate();
    Summary {
        title: only.title.clone(),
        bullets: bullets
            .map(|(place, bullet)| SummaryBullet {
                text: bullet.text.clone(),
                support: Support::Bullets(vec![(0, place)]),
            })
            .collect(),
        keywords: only.keywords.iter().take(KEYWORDS_MAX).cloned().collect(),
    }
}

/// Weighs a child by its size and its outcomes.
fn weigh_node(node: &Node) -> u64 {
    let outcomes: u64 = node
        .bullets
        .iter()
        .map(|bullet| u64::try_from(bullet_importance(&bullet.text)).unwrap_or(0))
        .sum();
    10 + node.events.min(400) + (node.tokens / 100).min(400) + outcomes * 4
}

/// Importance of a bullet by its label: decisions and outcomes outlast requests.
fn bullet_importance(text: &str) -> i64 {
    if text.starts_with("Decided: ") {
        6
    } else if text.starts_with("Found: ") || text.starts_with("Ended: ") {
        5
    } else if text.starts_with("Committed: ") {
        4
    } else if text.starts_with("Changed ") || text.starts_with("Created ") || text.starts_with('`')
    {
        3
    } else if text.starts_with("Also asked: ") || text.starts_with("Left open: ") {
        0
    } else {
        2
    }
}

/// Maps lowercase keywords to their weight, the index of the first child that has them, and their
/// spelling.
fn collect_keywords(children: &[Node]) -> BTreeMap<String, (u64, usize, String)> {
    let mut found: BTreeMap<String, (u64, usize, String)> = BTreeMap::new();
    for (at, child) in children.iter().enumerate() {
        let heavy = weigh_node(child);
        for (place, word) in child.keywords.iter().take(KEYWORDS_MAX).enumerate() {
            let share = heavy * u64::try_from(KEYWORDS_MAX + 3 - place).unwrap_or(1);
            let entry = found.entry(word.to_lowercase()).or_insert_with(|| (0, at, word.clone()));
            entry.0 += share;
        }
    }
    found
}

fn top_keywords(keywords: &BTreeMap<String, (u64, usize, String)>) -> Vec<String> {
    let mut ranked: Vec<&(u64, usize, String)> = keywords.values().collect();
    ranked.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)).then_with(|| a.2.cmp(&b.2)));
    ranked.into_iter().take(KEYWORDS_MAX).map(|(.., word)| word.clone()).collect()
}

/// Collects the themes of the children, merges near-duplicates, and sorts by weight.
fn collect_themes(children: &[Node]) -> Vec<PeriodTheme<'_>> {
    let mut all: Vec<PeriodTheme<'_>> = Vec::new();
    for (at, child) in children.iter().enumerate() {
        let heavy = weigh_node(child);
        // A period's title lists its themes, heaviest first.
        for (place, part) in child.title.split("; ").take(THEMES_MAX).enumerate() {
            let share = heavy / (u64::try_from(place).unwrap_or(0) + 1);
            let text = part.trim();
            if is_action_title(text) {
                add_to_previous_theme(&mut all, children, at, share);
            } else if !text.is_empty() && !is_idle_title(text) {
                let about = content_terms(text);
                all.push(PeriodTheme {
                    text,
                    about,
                    weight: share,
                    child: at,
                    children: BTreeSet::from([at]),
                });
            }
        }
    }
    all.sort_by(|a, b| b.weight.cmp(&a.weight).then(a.child.cmp(&b.child)));
    let mut merged: Vec<PeriodTheme<'_>> = Vec::new();
    for theme in all {
        let room = merged.len() < COMPARED_MAX;
        match merged.iter_mut().find(|other| {
            other.text == theme.text
                || overlap_percent(&other.about, &theme.about) >= SAME_THEME_PERCENT
        }) {
            Some(other) => {
                other.weight += theme.weight;
                other.children.extend(theme.children);
            }
            None if room => merged.push(theme),
            None => {}
        }
    }
    for theme in &mut merged {
        // A title that names little ("Investigate 3 and 7") is hardly a theme.
        theme.weight =
            theme.weight * (u64::try_from(theme.about.len().min(5)).unwrap_or(0) + 1) / 6;
    }
    merged.sort_by(|a, b| b.weight.cmp(&a.weight).then(a.child.cmp(&b.child)));
    merged
}

/// Adds the weight of a segment that only has actions to the preceding theme of its session;
/// without one it becomes a theme of its own.
fn add_to_previous_theme<'a>(
    all: &mut Vec<PeriodTheme<'a>>,
    children: &'a [Node],
    at: usize,
    share: u64,
) {
    let Some(child) = children.get(at) else { return };
    let before = all.iter_mut().rev().take(COMPARED_MAX).find(|theme| {
        children.get(theme.child).is_some_and(|other| {
            other.sessions == child.sessions
                || other.keywords.iter().filter(|word| child.keywords.contains(word)).count() >= 2
        })
    });
    match before {
        Some(theme) => {
            theme.weight += share;
            theme.children.insert(at);
        }
        None => all.push(PeriodTheme {
            text: child.title.split("; ").next().unwrap_or_default(),
            about: content_terms(&child.title),
            weight: share / 3,
            child: at,
            children: BTreeSet::from([at]),
        }),
    }
}

/// Titles made from actions, because no request was found.
fn is_action_title(title: &str) -> bool {
    ["Changed ", "Created ", "Deleted ", "Read ", "Ran ", "Used "]
        .iter()
        .any(|start| title.starts_with(start))
        || title.ends_with(" passed")
        || title.ends_with(" failed")
}

/// Titles of segments in which nothing happened.
fn is_idle_title(title: &str) -> bool {
    ["Session opened", "Session closed", "Context compacted", "Nothing said"]
        .iter()
        .any(|start| title.starts_with(start))
}

fn render_title(themes: &[PeriodTheme<'_>], input: &RollupInput<'_>) -> String {
    let Some(first) = themes.first() else {
        let said =
            input.children.iter().map(|child| child.title.trim()).find(|title| !title.is_empty());
        return said.unwrap_or("Nothing said").to_owned();
    };
    // Themes far lighter than the first are left out.
    let main: Vec<&str> = themes
        .iter()
        .filter(|theme| theme.weight * 5 >= first.weight)
        .take(THEMES_MAX)
        .map(|theme| theme.text)
        .collect();
    let each = match main.len() {
        1 => TITLE_CHARS_MAX,
        2 => 58,
        _ => 44,
    };
    main.iter().map(|text| truncate_words(text, each)).collect::<Vec<_>>().join("; ")
}

/// Chooses the bullets of a day: the result of each main theme, in order of time.
fn choose_day_bullets(
    children: &[Node],
    themes: &[PeriodTheme<'_>],
    keywords: &BTreeMap<String, (u64, usize, String)>,
) -> Vec<SummaryBullet> {
    let mut taken: Vec<ChosenBullet> = Vec::new();
    for theme in themes.iter().take(BULLETS_MAX) {
        let candidates = theme.children.iter().flat_map(|at| list_bullets(children, *at));
        if let Some(one) = best_bullet(candidates, keywords, &taken) {
            // With a single theme, the day's title names it already.
            let alone = themes.len() == 1;
            let text = if alone { one.text } else { compose_bullet(theme.text, &one.text) };
            taken.push(ChosenBullet { text, ..one });
        }
    }
    while taken.len() < 3 {
        let all = (0..children.len()).flat_map(|at| list_bullets(children, at));
        match best_bullet(all, keywords, &taken) {
            Some(one) if themes.len() == 1 => taken.push(one),
            Some(one) => taken.push(add_context(one, children)),
            None => break,
        }
    }
    finish_bullets(taken)
}

/// Renders `title: outcome`, or only the outcome if it repeats the title.
fn compose_bullet(title: &str, bullet: &str) -> String {
    let said = strip_label(bullet);
    if overlap_percent(&content_terms(title), &content_terms(said)) >= 50
        || bullet.starts_with("Asked: ")
        || bullet.starts_with("Said: ")
    {
        return truncate_words(&super::clause::capitalize(said), BULLET_CHARS_MAX);
    }
    let title = truncate_words(title.trim_end_matches(['?', '？', '.']), 56);
    truncate_words(&format!("{title}: {said}"), BULLET_CHARS_MAX)
}

/// Chooses the bullets of a week, month or year: the most important, at most two per child.
fn choose_period_bullets(
    children: &[Node],
    keywords: &BTreeMap<String, (u64, usize, String)>,
) -> Vec<SummaryBullet> {
    let mut order: Vec<usize> = (0..children.len()).collect();
    order
        .sort_by_cached_key(|at| (std::cmp::Reverse(children.get(*at).map_or(0, weigh_node)), *at));
    let mut taken: Vec<ChosenBullet> = Vec::new();
    for _round in 0..2 {
        for at in order.iter().take(COMPARED_MAX) {
            if taken.len() >= BULLETS_MAX {
                break;
            }
            if let Some(one) = best_bullet(list_bullets(children, *at), keywords, &taken) {
                taken.push(add_context(one, children));
            }
        }
    }
    finish_bullets(taken)
}

/// Prefixes a segment's bullet with its title, which it needs to be understood. A day of several
/// segments has done so already.
fn add_context(one: ChosenBullet, children: &[Node]) -> ChosenBullet {
    let Some(child) = children.get(one.at.0) else { return one };
    let title = child.title.as_str();
    let bare = strip_label(&one.text).len() < one.text.len()
        || ["`", "Changed ", "Created "].iter().any(|start| one.text.starts_with(start));
    let whole =
        title.is_empty() || title.contains("; ") || is_action_title(title) || is_idle_title(title);
    if whole || !(bare || child.children.len() <= 1) {
        return one;
    }
    ChosenBullet { text: compose_bullet(title, &one.text), ..one }
}

/// A chosen bullet and its (child, bullet) indexes.
#[derive(Debug)]
struct ChosenBullet {
    at: (usize, usize),
    text: String,
    about: BTreeSet<String>,
}

fn list_bullets(children: &[Node], at: usize) -> impl Iterator<Item = (usize, usize, &str)> {
    let bullets = children.get(at).map(|child| child.bullets.as_slice()).unwrap_or_default();
    bullets
        .iter()
        .take(BULLETS_MAX)
        .enumerate()
        .map(move |(place, bullet)| (at, place, bullet.text.as_str()))
}

/// Returns the best bullet that is neither taken nor similar to a taken one.
fn best_bullet<'a>(
    candidates: impl Iterator<Item = (usize, usize, &'a str)>,
    keywords: &BTreeMap<String, (u64, usize, String)>,
    taken: &[ChosenBullet],
) -> Option<ChosenBullet> {
    let heaviest = keywords.values().map(|(weight, ..)| *weight).max().unwrap_or(1).max(1);
    let mut best: Option<(i64, ChosenBullet)> = None;
    for (at, place, text) in candidates {
        let about = content_terms(text);
        let central: u64 = about
            .iter()
            .filter_map(|word| keywords.get(word))
            .map(|(weight, ..)| weight * 4 / heaviest)
            .sum();
        let score = bullet_importance(text) * 3
            + i64::try_from(central.min(8)).unwrap_or(0)
            + i64::try_from(about.len().min(12) / 2).unwrap_or(0)
            - if about.len() < 4 { 8 } else { 0 };
        // Prefer another theme to more of the same.
        let again = taken
            .iter()
            .any(|one| find_theme(&one.text).is_some_and(|theme| text.starts_with(theme)));
        let score = score - if again { 8 } else { 0 };
        let new = !taken.iter().any(|one| {
            one.at == (at, place) || overlap_percent(&one.about, &about) >= SAME_THEME_PERCENT
        });
        if new && best.as_ref().is_none_or(|(so_far, _)| score > *so_far) {
            best = Some((score, ChosenBullet { at: (at, place), text: text.to_owned(), about }));
        }
    }
    best.map(|(_, one)| one)
}

/// Returns the title that a composed bullet begins with.
fn find_theme(text: &str) -> Option<&str> {
    text.split_once(": ").map(|(theme, _)| theme).filter(|theme| theme.chars().count() >= 8)
}

fn finish_bullets(mut taken: Vec<ChosenBullet>) -> Vec<SummaryBullet> {
    taken.sort_by_key(|one| one.at);
    taken
        .into_iter()
        .map(|one| SummaryBullet {
            text: truncate_words(&one.text, BULLET_CHARS_MAX),
            support: Support::Bullets(vec![one.at]),
        })
        .collect()
}
