//! How alike two insights are, whether they contradict each other, and what to do about it.

use std::collections::{BTreeSet, HashMap};
use std::slice::from_ref;

use tome_text::normalize_sentence;

use super::Decision;
use super::entry::Entry;
use super::limits::{RELATED_FROM, SAME_ABOVE, SAME_SENTENCE_FROM};
use super::sentence::sentences;
use super::terms::{Terms, is_against, is_urging};

/// The title says most in the fewest words, but two insights with one title may differ.
const TITLE_WEIGHT: f64 = 0.4;
const CONTENT_WEIGHT: f64 = 0.6;
/// Contents this much alike are the same whatever their titles say.
const CONTENT_ALONE_FROM: f64 = 0.9;

/// What becomes of an insight, by how alike the nearest entry is. One that contradicts its
/// counterpart is never merged with it: it replaces it, and what was there is kept beside it.
pub(super) fn decide(similarity: f64, contradicts: bool) -> Decision {
    if similarity > SAME_ABOVE && !contradicts {
        Decision::Merge
    } else if similarity >= RELATED_FROM {
        Decision::Update
    } else {
        Decision::Create
    }
}

/// An entry as it is compared.
#[derive(Debug, Clone)]
pub(super) struct Profile {
    name: String,
    title: Terms,
    /// Description and content, then each remark that holds: an entry that has grown is still like
    /// what it has grown from.
    paragraphs: Vec<Terms>,
    all: Terms,
}

impl Profile {
    pub(super) fn of(entry: &Entry) -> Self {
        let said = Terms::about(&format!("{}\n{}", entry.description, entry.content));
        let remarks = entry.remarks.iter().filter(|remark| remark.holds());
        let mut paragraphs = vec![said];
        paragraphs.extend(remarks.map(|remark| Terms::about(&remark.text)));
        let title = Terms::about(&entry.title);
        let all = paragraphs.iter().fold(title.clone(), |all, paragraph| all.with(paragraph));
        Self { name: normalize_sentence(&entry.title), title, paragraphs, all }
    }

    /// From 0 to 1, the same both ways.
    pub(super) fn similarity(&self, other: &Self) -> f64 {
        let title = self.title.dice(&other.title);
        let content = self.content_similarity(other);
        let both = TITLE_WEIGHT * title + CONTENT_WEIGHT * content;
        let alone = if content >= CONTENT_ALONE_FROM { content } else { 0.0 };
        // One title for two entries would be a riddle: it is about the same thing at least.
        let named = if self.has_title_of(other) { RELATED_FROM } else { 0.0 };
        both.max(alone).max(named)
    }

    /// Whether the titles are the same, letter case aside.
    pub(super) fn has_name_of(&self, other: &Self) -> bool {
        self.name == other.name
    }

    fn has_title_of(&self, other: &Self) -> bool {
        self.has_name_of(other) || (!self.title.is_empty() && self.title == other.title)
    }

    /// Whether all words of it are in the other: the least that must be so when all its sentences are.
    pub(super) fn words_within(&self, other: &Self) -> bool {
        self.all.within(&other.all)
    }

    fn content_similarity(&self, other: &Self) -> f64 {
        let pairs =
            self.paragraphs.iter().flat_map(|a| other.paragraphs.iter().map(move |b| (a, b)));
        pairs.map(|(a, b)| a.dice(b)).fold(0.0, f64::max)
    }
}

/// Whether two insights about the same thing say opposite things: one was a success and the other
/// a failure, or a sentence says never where the other's says always.
pub(super) fn contradicts(a: &Entry, b: &Entry) -> bool {
    if let (Some(a), Some(b)) = (a.outcome(), b.outcome())
        && a != b
    {
        return true;
    }
    let either_way = |a: &[String], b: &[String]| opposed(a, b) || opposed(b, a);
    either_way(from_ref(&a.title), from_ref(&b.title))
        || either_way(&sentences(&a.description), &sentences(&b.description))
        || either_way(&sentences(&a.content), &sentences(&b.content))
}

/// Whether the nearest counterpart of some sentence says the opposite: with all the same words, or
/// about the same thing, telling to do what the other tells not to. That a thing does harm, and that it
/// is to be avoided, is no contradiction.
fn opposed(left: &[String], right: &[String]) -> bool {
    let known: Vec<_> = right.iter().map(|said| (Terms::about(said), said)).collect();
    left.iter().any(|sentence| {
        let (terms, against) = (Terms::about(sentence), is_against(sentence));
        let near = known.iter().map(|(known, said)| {
            let opposite = against != is_against(said);
            let affirmed = if against { said } else { sentence };
            let all_said = &terms == known && !terms.is_empty();
            let near = terms.dice(known);
            (near, opposite && (all_said || (near >= SAME_SENTENCE_FROM && is_urging(affirmed))))
        });
        // Of two that are equally near, the one that agrees counts.
        let nearest = near.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        nearest.is_some_and(|(_, opposed)| opposed)
    })
}

/// Finds the same insights among many without comparing each with each.
///
/// More alike than [`SAME_ABOVE`] means that the titles are more than half alike, or that the contents
/// are the same to [`CONTENT_ALONE_FROM`]. Either way two of the same share one of the rarest words of
/// their titles, or of their contents; so it is enough to look at those that do.
pub(super) struct Neighbours {
    counts: HashMap<u64, usize>,
    by_title: HashMap<u64, Vec<usize>>,
    by_content: HashMap<u64, Vec<usize>>,
}

impl Neighbours {
    /// To hold some or all of these.
    pub(super) fn among(profiles: &[Profile]) -> Self {
        let mut counts = HashMap::new();
        for term in profiles.iter().flat_map(|profile| profile.all.iter()) {
            *counts.entry(term).or_insert(0) += 1;
        }
        Self { counts, by_title: HashMap::new(), by_content: HashMap::new() }
    }

    pub(super) fn add(&mut self, number: usize, profile: &Profile) {
        for term in self.rare_in_title(profile) {
            self.by_title.entry(term).or_default().push(number);
        }
        for term in self.rare_in_content(profile) {
            self.by_content.entry(term).or_default().push(number);
        }
    }

    /// Those that were added and say the same, in order.
    pub(super) fn same_as(&self, profile: &Profile, all: &[Profile]) -> BTreeSet<usize> {
        let titles = self.rare_in_title(profile);
        let titles: BTreeSet<usize> = posted(&self.by_title, &titles).collect();
        // A look at the titles is cheap and rules out most of them.
        let titled = titles.into_iter().filter(|other| {
            let title = all.get(*other).map_or(0.0, |other| profile.title.dice(&other.title));
            TITLE_WEIGHT * title + CONTENT_WEIGHT > SAME_ABOVE
        });
        let contents = self.rare_in_content(profile);
        let near: BTreeSet<usize> = titled.chain(posted(&self.by_content, &contents)).collect();
        let is_same = |other: &usize| {
            all.get(*other).is_some_and(|other| profile.similarity(other) > SAME_ABOVE)
        };
        near.into_iter().filter(is_same).collect()
    }

    /// Dice d is Jaccard d / (2 - d): titles have to be above 1/3.
    fn rare_in_title(&self, profile: &Profile) -> BTreeSet<u64> {
        self.prefix(&profile.title, profile.title.len().div_ceil(3)).into_iter().collect()
    }

    /// And contents from 9/11.
    fn rare_in_content(&self, profile: &Profile) -> BTreeSet<u64> {
        let prefix = |terms: &Terms| self.prefix(terms, (9 * terms.len()).div_ceil(11));
        profile.paragraphs.iter().flat_map(prefix).collect()
    }

    /// Two sets that share at least `shared` terms share one of these.
    fn prefix(&self, terms: &Terms, shared: usize) -> Vec<u64> {
        let mut order: Vec<u64> = terms.iter().collect();
        order.sort_by_key(|term| (self.counts.get(term).copied().unwrap_or(0), *term));
        order.truncate((terms.len() + 1).saturating_sub(shared.max(1)));
        order
    }
}

fn posted<'a>(
    postings: &'a HashMap<u64, Vec<usize>>,
    terms: &'a BTreeSet<u64>,
) -> impl Iterator<Item = usize> + 'a {
    terms.iter().filter_map(|term| postings.get(term)).flatten().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_decision_follows_the_thresholds() {
        use Decision::{Create, Merge, Update};
        for (similarity, contradicts, decision) in [
            (1.0, false, Merge),
            (0.81, false, Merge),
            (0.8, false, Update),
            (0.7, false, Update),
            (0.6, false, Update),
            (0.59, false, Create),
            (0.0, false, Create),
            (1.0, true, Update),
            (0.8, true, Update),
            (0.6, true, Update),
            (0.59, true, Create),
        ] {
            assert_eq!(decide(similarity, contradicts), decision, "{similarity} {contradicts}");
        }
    }

    fn entry(title: &str, content: &str, outcome: &str) -> Entry {
        Entry {
            title: title.into(),
            content: content.into(),
            tags: vec![outcome.into()],
            ..Entry::default()
        }
    }

    fn similarity(a: &Entry, b: &Entry) -> f64 {
        Profile::of(a).similarity(&Profile::of(b))
    }

    #[test]
    fn contradictions_are_told_from_agreement() {
        let said = "Running migrations in the deploy step locks the table. Users see errors then.";
        for (a, b, outcomes, expected) in [
            ("Always squash commits", "Never squash commits", ["success", "success"], true),
            ("Use squash commits", "Avoid squash commits", ["success", "success"], true),
            ("Squash commits", "Do not squash commits", ["success", "success"], true),
            ("Squash commits", "Squash the commits", ["success", "success"], false),
            ("Squash commits", "Squash commits", ["success", "failure"], true),
            ("Never squash commits", "Do not squash commits", ["failure", "failure"], false),
            ("Never squash commits", "Cache the tokens", ["failure", "failure"], false),
            ("Avoid squash commits", "Squash commits hide bugs", ["failure", "failure"], false),
            ("Avoid squash commits early", "Prefer squash commits", ["failure", "failure"], true),
        ] {
            let (a, b) = (entry(a, said, outcomes[0]), entry(b, said, outcomes[1]));
            assert_eq!(contradicts(&a, &b), expected, "{} / {}", a.title, b.title);
            assert_eq!(contradicts(&b, &a), expected, "{} / {}", b.title, a.title);
        }
        let other = said.replace("locks", "never locks");
        assert!(contradicts(&entry("Same", said, ""), &entry("Same", &other, "")));
    }

    #[test]
    fn alike_is_measured_by_title_and_content() {
        let a = entry("Retry with backoff", "The server drops bursts. Wait between tries.", "");
        let same =
            entry("Retrying with a backoff", "The server drops bursts. Wait between tries.", "");
        let title_only = entry("Retry with backoff", "Databases elect leaders.", "");
        let content_only = entry("Bursts hurt", "The server drops bursts. Wait between tries.", "");
        let other = entry("Name the branch", "Short names are easy to type.", "");
        assert!(similarity(&a, &same) > SAME_ABOVE);
        assert!((similarity(&a, &title_only) - RELATED_FROM).abs() < 1e-9);
        assert!(similarity(&a, &content_only) > SAME_ABOVE);
        assert!(similarity(&a, &other) < 0.1);
        let chinese = entry("避免死锁", "两个线程互相等待。按顺序加锁。", "");
        let near = entry("避免死锁", "两个线程互相等待。请按顺序加锁。", "");
        assert!(similarity(&chinese, &near) > SAME_ABOVE);
    }
}
