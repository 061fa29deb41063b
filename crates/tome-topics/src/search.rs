//! Finds topics by words, by time, and by what several moments have in common.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tome_model::Millis;
use tome_text::{StopClass, is_stop_word, stem, subwords};

use crate::builder::{Topic, TopicMap, sort_by_importance};
use crate::group::Group;
use crate::named::TopicKind;
use crate::record::SegmentRecord;

impl TopicMap {
    /// Topics that have the words of a query in their names, labels or titles: those with most of
    /// the words first, groups before single things, then by importance.
    pub fn search(&self, query: &str, topics_max: usize) -> Vec<Topic> {
        let wanted = query_words(query);
        if wanted.is_empty() {
            return Vec::new();
        }
        let mut found: Vec<(usize, Topic)> = Vec::new();
        for group in &self.groups {
            let titles = self.segments_at(&group.segments).map(|segment| segment.title.as_str());
            let terms = group.terms.iter().map(String::as_str);
            let matched = count_matches(&wanted, titles.chain(terms));
            if matched > 0 {
                found.push((matched, self.group_topic(group)));
            }
        }
        for topic in &self.named {
            let matched = count_matches(&wanted, std::iter::once(topic.name.as_str()));
            // A symbol or command that occurred once is not a topic by itself.
            let is_passing = matches!(topic.kind, TopicKind::Symbol | TopicKind::Command)
                && topic.segments.len() < 2;
            if matched > 0 && !is_passing {
                found.push((matched, self.named_topic(topic)));
            }
        }
        found.sort_by(|a, b| {
            let is_single = |topic: &Topic| topic.kind != TopicKind::Group;
            (b.0.cmp(&a.0))
                .then_with(|| is_single(&a.1).cmp(&is_single(&b.1)))
                .then_with(|| b.1.activity.importance().cmp(&a.1.activity.importance()))
                .then_with(|| a.1.id.cmp(&b.1.id))
        });
        let most = found.first().map_or(0, |best| best.0);
        // With all words found somewhere, topics with fewer of them only distract.
        found.retain(|one| one.0 == most || most < wanted.len());
        found.into_iter().take(topics_max).map(|(_, topic)| topic).collect()
    }
}

impl TopicMap {
    /// The most important groups that were worked on since a time, in more than one session or on more
    /// than one day.
    pub fn recent_groups(&self, since: Millis, groups_max: usize) -> Vec<Topic> {
        let is_recent = |group: &&Group| {
            self.segments_at(&group.segments).any(|segment| segment.last_at >= since)
        };
        let mut topics: Vec<Topic> =
            self.groups.iter().filter(is_recent).map(|group| self.group_topic(group)).collect();
        topics.retain(|topic| topic.activity.sessions.max(topic.activity.days) >= 2);
        sort_by_importance(&mut topics);
        topics.truncate(groups_max);
        topics
    }

    /// The group to which most of these moments of sessions belong, and at least two.
    pub fn shared_group<'a>(
        &self,
        moments: impl Iterator<Item = (&'a str, Millis)>,
    ) -> Option<Topic> {
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for (session, at) in moments {
            let is_it = |segment: &Arc<SegmentRecord>| {
                segment.session.as_str() == session
                    && (segment.first_at..=segment.last_at).contains(&at)
            };
            let Some(index) = self.segments.iter().position(is_it) else { continue };
            let group =
                self.groups.iter().position(|group| group.segments.binary_search(&index).is_ok());
            if let Some(group) = group {
                *counts.entry(group).or_insert(0) += 1;
            }
        }
        let best = counts.into_iter().filter(|(_, hits)| *hits >= 2);
        let (group, _) = best.max_by_key(|(group, hits)| (*hits, std::cmp::Reverse(*group)))?;
        self.groups.get(group).map(|group| self.group_topic(group))
    }
}

/// The stems of a query that are looked up. Unlike [`tome_text::content_stems`] they include short
/// words, because a query may be a short name, and stop words if there are no others.
fn query_words(query: &str) -> BTreeSet<String> {
    let all = split_words(query);
    let telling: BTreeSet<String> =
        all.iter().filter(|word| !is_stop_word(word, StopClass::FUNCTION)).cloned().collect();
    if telling.is_empty() { all } else { telling }
}

fn split_words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| stem(&word.to_lowercase()).into_owned()).collect()
}

/// The number of wanted words in some texts: whole words, or the beginning of longer ones.
fn count_matches<'a>(wanted: &BTreeSet<String>, texts: impl Iterator<Item = &'a str>) -> usize {
    let mut words: BTreeSet<String> = BTreeSet::new();
    for text in texts {
        words.extend(split_words(text));
        // `parsePayload` is also `parse` and `payload`.
        words.extend(subwords(text).flat_map(split_words));
    }
    let begins = |wanted: &str| {
        wanted.chars().count() >= 4
            && words.range(wanted.to_owned()..).next().is_some_and(|word| word.starts_with(wanted))
    };
    wanted.iter().filter(|word| words.contains(*word) || begins(word)).count()
}
