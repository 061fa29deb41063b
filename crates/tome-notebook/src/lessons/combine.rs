//! Combines two lessons into one that has every sentence and every tag of both.

use tome_text::{finish_sentence, normalize_sentence};

use super::entry::{LessonEntry, PREVIOUS_LABEL, RECONSOLIDATED_TAG, Remark, is_block_line};
use super::limits::SENTENCES_MAX;
use super::sentence::{join_paragraphs, join_texts, normalized_sentences, split_sentences};

/// How a previous approach records its outcome tag, as normalized by `normalize_sentence`.
const OUTCOME_NOTE_PREFIX: &str = "it was tagged #";

/// Where to put the sentences of the other entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MergeTarget {
    /// Into the content while it fits, then into a remark.
    Content,
    Remark,
}

/// The label of a remark added on a day.
pub(super) fn update_label(today: &str) -> String {
    let day: String = today.chars().filter(|c| c.is_ascii_digit() || *c == '-').take(10).collect();
    format!("Updated [{day}]")
}

/// Adds the sentences and tags of another entry that this one does not have yet.
pub(super) fn merge_into(
    entry: &mut LessonEntry,
    other: &LessonEntry,
    into: MergeTarget,
    label: &str,
) {
    let mut known = entry.normalized_sentences();
    let mut new = |text: &str| -> Vec<String> {
        let fresh = |sentence: &String| known.insert(normalize_sentence(sentence));
        split_sentences(text).into_iter().filter(fresh).collect()
    };
    let mut surplus = new(&other.title);
    surplus.extend(new(&other.description));
    if is_prose_paragraph(&other.content) {
        for sentence in new(&other.content) {
            let longer =
                (into == MergeTarget::Content).then(|| append_sentence(&entry.content, &sentence));
            match longer.flatten() {
                Some(content) => entry.content = content,
                None => surplus.push(sentence),
            }
        }
    }
    for text in join_paragraphs(&surplus) {
        entry.add_remark(Remark::new(label, text));
    }
    if !is_prose_paragraph(&other.content) && other.content != entry.content {
        entry.add_remark(Remark::new(label, other.content.clone()));
    }
    other.remarks.iter().for_each(|remark| entry.add_remark(with_label(remark, label)));
    other.tags.iter().for_each(|tag| entry.add_tag(tag));
}

/// Replaces an entry with a lesson that contradicts it, keeping the old text as a remark.
pub(super) fn replace_entry(entry: &mut LessonEntry, by: &LessonEntry, today: &str) {
    let old = std::mem::take(entry);
    *entry = LessonEntry { remarks: Vec::new(), tags: by.tags.clone(), ..by.clone() };
    entry.add_remark(Remark::new(update_label(today), "This replaces the previous approach."));
    let links = by.remarks.iter().cloned();
    links.for_each(|remark| entry.add_remark(remark));
    entry.remarks.extend(previous_remarks(&old, by));
    // The old remarks follow the text they refer to, in their order.
    let below: Vec<_> = old.remarks.into_iter().filter(|r| !entry.remarks.contains(r)).collect();
    entry.remarks.extend(below);
    // An approach that is adopted again is no longer a previous one.
    let current = entry.normalized_sentences();
    let again = |remark: &Remark| {
        let mut sentences = normalized_sentences(&remark.text).into_iter();
        remark.has_label(PREVIOUS_LABEL)
            && sentences.all(|s| current.contains(&s) || s.starts_with(OUTCOME_NOTE_PREFIX))
    };
    entry.remarks.retain(|remark| !again(remark));
    let outcomes = ["success", "failure"];
    let kept = old.tags.iter().filter(|tag| !outcomes.contains(&tag.as_str()));
    kept.for_each(|tag| entry.add_tag(tag));
    entry.add_tag(RECONSOLIDATED_TAG);
}

/// Converts an entry into remarks of the entry that replaces it.
fn previous_remarks(old: &LessonEntry, by: &LessonEntry) -> Vec<Remark> {
    let mut pieces = Vec::new();
    if normalize_sentence(&old.title) != normalize_sentence(&by.title) {
        pieces.push(old.title.clone());
    }
    pieces.extend(split_sentences(&old.description));
    if is_prose_paragraph(&old.content) {
        pieces.extend(split_sentences(&old.content));
    }
    if let Some(outcome) = old.outcome().filter(|_| old.outcome() != by.outcome()) {
        pieces.push(format!("It was tagged #{}.", outcome.tag()));
    }
    let mut texts = join_paragraphs(&pieces);
    if !is_prose_paragraph(&old.content) {
        texts.push(old.content.clone());
    }
    texts.into_iter().map(|text| Remark::new(PREVIOUS_LABEL, text)).collect()
}

/// Labels an unlabelled paragraph: in another entry it would read as part of the text above.
fn with_label(remark: &Remark, label: &str) -> Remark {
    let label = if remark.label.is_empty() { label } else { &remark.label };
    Remark::new(label, remark.text.clone())
}

/// Appends a sentence to the content; `None` if it does not fit.
fn append_sentence(content: &str, sentence: &str) -> Option<String> {
    if content.is_empty() {
        return Some(finish_sentence(sentence));
    }
    if !is_prose_paragraph(content) || split_sentences(content).len() >= SENTENCES_MAX {
        return None;
    }
    join_texts(&finish_sentence(content), &finish_sentence(sentence))
}

/// Whether a text is one paragraph of prose, so that its sentences can be moved individually.
fn is_prose_paragraph(text: &str) -> bool {
    !text.lines().any(|line| line.trim().is_empty() || is_block_line(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(title: &str, content: &str, tags: &[&str]) -> LessonEntry {
        LessonEntry {
            title: title.into(),
            description: format!("About {title}."),
            content: content.into(),
            remarks: Vec::new(),
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        }
    }

    #[test]
    fn merging_fills_the_content_and_keeps_the_rest_as_remarks() {
        let mut one = entry("T", "A one. B two. C three. D four.", &["rust", "success"]);
        let other = entry("T", "B two. E five. F six. G seven.", &["success", "async"]);
        merge_into(&mut one, &other, MergeTarget::Content, &update_label("2026-11-15"));
        assert_eq!(one.content, "A one. B two. C three. D four. E five.");
        assert_eq!(one.remarks, [Remark::new("Updated [2026-11-15]", "F six. G seven.")]);
        assert_eq!(one.tags, ["rust", "success", "async"]);
        let before = one.clone();
        merge_into(&mut one, &other, MergeTarget::Content, &update_label("2026-11-16"));
        assert_eq!(one, before);
    }

    #[test]
    fn updating_keeps_the_content() {
        let mut one = entry("T", "A one. B two. C three.", &["success"]);
        let other = entry("U", "C three. D four.", &["success"]);
        merge_into(&mut one, &other, MergeTarget::Remark, &update_label("2026-11-15"));
        assert_eq!(one.content, "A one. B two. C three.");
        assert_eq!(one.remarks, [Remark::new("Updated [2026-11-15]", "U. About U. D four.")]);
    }

    #[test]
    fn replacing_keeps_the_old_text_and_is_reversible() {
        let mut one = entry("Always T", "A one. B two. C three.", &["rust", "success"]);
        let first = one.clone();
        let other = entry("Never T", "D four. E five. F six.", &["failure"]);
        replace_entry(&mut one, &other, "2026-11-15");
        assert_eq!((one.title.as_str(), one.content.as_str()), ("Never T", other.content.as_str()));
        assert_eq!(one.tags, ["failure", "rust", "reconsolidated"]);
        let kept =
            &one.remarks.iter().find(|remark| remark.has_label(PREVIOUS_LABEL)).unwrap().text;
        assert_eq!(
            kept,
            "Always T. About Always T. A one. B two. C three. It was tagged #success."
        );
        for _ in 0..5 {
            replace_entry(&mut one, &first, "2026-11-15");
            replace_entry(&mut one, &other, "2026-11-15");
        }
        assert!(one.render().len() < 1_000, "{}", one.render());
    }
}
