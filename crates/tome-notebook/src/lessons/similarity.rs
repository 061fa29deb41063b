//! Similarity and contradiction of lessons, and the decision that follows from them.

use std::collections::{BTreeSet, HashMap};
use std::slice::from_ref;

use tome_text::normalize_sentence;

use super::StoreDecision;
use super::entry::LessonEntry;
use super::limits::{RELATED_SIMILARITY, SAME_SIMILARITY, SENTENCE_SIMILARITY};
use super::sentence::split_sentences;
use super::terms::{LessonTerms, is_imperative, is_negated};

/// The title is the most concise part, but lessons with the same title may differ.
const TITLE_WEIGHT: f64 = 0.4;
const CONTENT_WEIGHT: f64 = 0.6;
/// Content similarity from which two lessons are the same regardless of their titles.
const CONTENT_ALONE_SIMILARITY: f64 = 0.9;

/// Decides how to store a lesson, given the most similar entry. Contradicting lessons are never
/// merged: the new one replaces the old, which is kept as its previous approach.
pub(super) fn decide(similarity: f64, contradicts: bool) -> StoreDecision {
    if similarity > SAME_SIMILARITY && !contradicts {
        StoreDecision::Merge
    } else if similarity >= RELATED_SIMILARITY {
        StoreDecision::Update
    } else {
        StoreDecision::Create
    }
}

/// The terms of an entry, for comparison.
#[derive(Debug, Clone)]
pub(super) struct LessonProfile {
    name: String,
    title: LessonTerms,
    /// Description and content, then each valid remark: an extended entry stays similar to the
    /// lessons it was extended with.
    paragraphs: Vec<LessonTerms>,
    all: LessonTerms,
}

impl LessonProfile {
    pub(super) fn from_entry(entry: &LessonEntry) -> Self {
        let body = LessonTerms::subject_terms(&format!("{}\n{}", entry.description, entry.content));
        let remarks = entry.remarks.iter().filter(|remark| remark.is_valid());
        let mut paragraphs = vec![body];
        paragraphs.extend(remarks.map(|remark| LessonTerms::subject_terms(&remark.text)));
        let title = LessonTerms::subject_terms(&entry.title);
        let all = paragraphs.iter().fold(title.clone(), |all, paragraph| all.union(paragraph));
        Self { name: normalize_sentence(&entry.title), title, paragraphs, all }
    }

    /// Similarity from 0 to 1, symmetric.
    pub(super) fn similarity(&self, other: &Self) -> f64 {
        let title = self.title.dice_coefficient(&other.title);
        let content = self.content_similarity(other);
        let both = TITLE_WEIGHT * title + CONTENT_WEIGHT * content;
        let alone = if content >= CONTENT_ALONE_SIMILARITY { content } else { 0.0 };
        // Two entries with one title would be confusing, so they count as related at least.
        let named = if self.has_same_title(other) { RELATED_SIMILARITY } else { 0.0 };
        both.max(alone).max(named)
    }

    /// Whether the titles are equal, ignoring case.
    pub(super) fn has_same_name(&self, other: &Self) -> bool {
        self.name == other.name
    }

    fn has_same_title(&self, other: &Self) -> bool {
        self.has_same_name(other) || (!self.title.is_empty() && self.title == other.title)
    }

    /// Whether the other has all its terms: a necessary condition for having all its sentences.
    pub(super) fn has_all_terms_in(&self, other: &Self) -> bool {
        self.all.is_subset_of(&other.all)
    }

    fn content_similarity(&self, other: &Self) -> f64 {
        let pairs =
            self.paragraphs.iter().flat_map(|a| other.paragraphs.iter().map(move |b| (a, b)));
        pairs.map(|(a, b)| a.dice_coefficient(b)).fold(0.0, f64::max)
    }
}

/// Whether two similar lessons contradict each other: their outcomes differ, or a sentence has
/// "never" where its counterpart has "always".
pub(super) fn is_contradiction(a: &LessonEntry, b: &LessonEntry) -> bool {
    if let (Some(a), Some(b)) = (a.outcome(), b.outcome())
        && a != b
    {
        return true;
    }
    let either_way =
        |a: &[String], b: &[String]| has_opposed_sentence(a, b) || has_opposed_sentence(b, a);
    either_way(from_ref(&a.title), from_ref(&b.title))
        || either_way(&split_sentences(&a.description), &split_sentences(&b.description))
        || either_way(&split_sentences(&a.content), &split_sentences(&b.content))
}

/// Whether the most similar counterpart of some sentence states the opposite: it has the same
/// terms, or similar ones with one sentence urging what the other advises against. "X does harm"
/// and "avoid X" do not contradict each other.
fn has_opposed_sentence(left: &[String], right: &[String]) -> bool {
    let known: Vec<_> =
        right.iter().map(|sentence| (LessonTerms::subject_terms(sentence), sentence)).collect();
    left.iter().any(|sentence| {
        let (terms, against) = (LessonTerms::subject_terms(sentence), is_negated(sentence));
        let compared = known.iter().map(|(known, other)| {
            let opposite = against != is_negated(other);
            let affirmed = if against { other } else { sentence };
            let has_same_terms = &terms == known && !terms.is_empty();
            let similarity = terms.dice_coefficient(known);
            (
                similarity,
                opposite
                    && (has_same_terms
                        || (similarity >= SENTENCE_SIMILARITY && is_imperative(affirmed))),
            )
        });
        // On a tie, prefer the counterpart that agrees.
        let nearest = compared.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        nearest.is_some_and(|(_, opposed)| opposed)
    })
}

/// Finds equal lessons without comparing all pairs.
///
/// A similarity above `SAME_SIMILARITY` requires titles that are more than half alike, or contents
/// that are at least `CONTENT_ALONE_SIMILARITY` alike. Either way the two share one of the rarest
/// terms of their titles or contents (prefix filtering), so only those pairs are compared.
pub(super) struct SimilarityIndex {
    counts: HashMap<u64, usize>,
    by_title: HashMap<u64, Vec<usize>>,
    by_content: HashMap<u64, Vec<usize>>,
}

impl SimilarityIndex {
    /// Creates an empty index over these profiles' term counts.
    pub(super) fn new(profiles: &[LessonProfile]) -> Self {
        let mut counts = HashMap::new();
        for term in profiles.iter().flat_map(|profile| profile.all.iter()) {
            *counts.entry(term).or_insert(0) += 1;
        }
        Self { counts, by_title: HashMap::new(), by_content: HashMap::new() }
    }

    pub(super) fn insert(&mut self, number: usize, profile: &LessonProfile) {
        for term in self.rare_title_terms(profile) {
            self.by_title.entry(term).or_default().push(number);
        }
        for term in self.rare_content_terms(profile) {
            self.by_content.entry(term).or_default().push(number);
        }
    }

    /// The added profiles that are equal to this one, in order.
    pub(super) fn find_same(
        &self,
        profile: &LessonProfile,
        all: &[LessonProfile],
    ) -> BTreeSet<usize> {
        let titles = self.rare_title_terms(profile);
        let titles: BTreeSet<usize> = collect_postings(&self.by_title, &titles).collect();
        // Comparing titles is cheap and rules out most candidates.
        let titled = titles.into_iter().filter(|other| {
            let title =
                all.get(*other).map_or(0.0, |other| profile.title.dice_coefficient(&other.title));
            TITLE_WEIGHT * title + CONTENT_WEIGHT > SAME_SIMILARITY
        });
        let contents = self.rare_content_terms(profile);
        let candidates: BTreeSet<usize> =
            titled.chain(collect_postings(&self.by_content, &contents)).collect();
        let is_same = |other: &usize| {
            all.get(*other).is_some_and(|other| profile.similarity(other) > SAME_SIMILARITY)
        };
        candidates.into_iter().filter(is_same).collect()
    }

    /// A Dice coefficient d is a Jaccard index of d / (2 - d): titles must exceed 1/3.
    fn rare_title_terms(&self, profile: &LessonProfile) -> BTreeSet<u64> {
        self.rarest_terms(&profile.title, profile.title.len().div_ceil(3)).into_iter().collect()
    }

    /// Contents must reach a Jaccard index of 9/11.
    fn rare_content_terms(&self, profile: &LessonProfile) -> BTreeSet<u64> {
        let prefix = |terms: &LessonTerms| self.rarest_terms(terms, (9 * terms.len()).div_ceil(11));
        profile.paragraphs.iter().flat_map(prefix).collect()
    }

    /// Two sets that share at least `shared` terms share one of the returned ones.
    fn rarest_terms(&self, terms: &LessonTerms, shared: usize) -> Vec<u64> {
        let mut order: Vec<u64> = terms.iter().collect();
        order.sort_by_key(|term| (self.counts.get(term).copied().unwrap_or(0), *term));
        order.truncate((terms.len() + 1).saturating_sub(shared.max(1)));
        order
    }
}

fn collect_postings<'a>(
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
        use StoreDecision::{Create, Merge, Update};
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

    fn entry(title: &str, content: &str, outcome: &str) -> LessonEntry {
        LessonEntry {
            title: title.into(),
            content: content.into(),
            tags: vec![outcome.into()],
            ..LessonEntry::default()
        }
    }

    fn similarity(a: &LessonEntry, b: &LessonEntry) -> f64 {
        LessonProfile::from_entry(a).similarity(&LessonProfile::from_entry(b))
    }

    #[test]
    fn contradictions_are_distinguished_from_agreement() {
        let content =
            "Running migrations in the deploy step locks the table. Users see errors then.";
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
            let (a, b) = (entry(a, content, outcomes[0]), entry(b, content, outcomes[1]));
            assert_eq!(is_contradiction(&a, &b), expected, "{} / {}", a.title, b.title);
            assert_eq!(is_contradiction(&b, &a), expected, "{} / {}", b.title, a.title);
        }
        let other = content.replace("locks", "never locks");
        assert!(is_contradiction(&entry("Same", content, ""), &entry("Same", &other, "")));
    }

    #[test]
    fn similarity_combines_title_and_content() {
        let a = entry("Retry with backoff", "The server drops bursts. Wait between tries.", "");
        let same =
            entry("Retrying with a backoff", "The server drops bursts. Wait between tries.", "");
        let title_only = entry("Retry with backoff", "Databases elect leaders.", "");
        let content_only = entry("Bursts hurt", "The server drops bursts. Wait between tries.", "");
        let other = entry("Name the branch", "Short names are easy to type.", "");
        assert!(similarity(&a, &same) > SAME_SIMILARITY);
        assert!((similarity(&a, &title_only) - RELATED_SIMILARITY).abs() < 1e-9);
        assert!(similarity(&a, &content_only) > SAME_SIMILARITY);
        assert!(similarity(&a, &other) < 0.1);
        let chinese = entry("避免死锁", "两个线程互相等待。按顺序加锁。", "");
        let similar = entry("避免死锁", "两个线程互相等待。请按顺序加锁。", "");
        assert!(similarity(&chinese, &similar) > SAME_SIMILARITY);
    }
}
