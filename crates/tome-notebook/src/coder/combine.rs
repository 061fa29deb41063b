//! Combines two insights into one that has every sentence and every tag of both.

use tome_text::{finish_sentence, normalize_sentence};

use super::entry::{Entry, PREVIOUS, RECONSOLIDATED, Remark, stands_alone};
use super::limits::SENTENCES_MAX;
use super::sentence::{joined, normals, paragraphs, sentences};

/// How a previous approach records its outcome tag, as normalized by `normalize_sentence`.
const WAS_TAGGED: &str = "it was tagged #";

/// Where to put the sentences of the other entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Into {
    /// Into the content while there is room, then into a remark.
    Content,
    Remark,
}

/// The label of a remark added on a day.
pub(super) fn updated_on(today: &str) -> String {
    let day: String = today.chars().filter(|c| c.is_ascii_digit() || *c == '-').take(10).collect();
    format!("Updated [{day}]")
}

/// Adds the sentences and tags of another entry that this one does not have yet.
pub(super) fn absorb(entry: &mut Entry, other: &Entry, into: Into, label: &str) {
    let mut known = entry.sentences();
    let mut new = |text: &str| -> Vec<String> {
        let fresh = |sentence: &String| known.insert(normalize_sentence(sentence));
        sentences(text).into_iter().filter(fresh).collect()
    };
    let mut surplus = new(&other.title);
    surplus.extend(new(&other.description));
    if is_plain(&other.content) {
        for sentence in new(&other.content) {
            let room = (into == Into::Content).then(|| with_sentence(&entry.content, &sentence));
            match room.flatten() {
                Some(content) => entry.content = content,
                None => surplus.push(sentence),
            }
        }
    }
    for text in paragraphs(&surplus) {
        entry.remark(Remark::new(label, text));
    }
    if !is_plain(&other.content) && other.content != entry.content {
        entry.remark(Remark::new(label, other.content.clone()));
    }
    other.remarks.iter().for_each(|remark| entry.remark(named(remark, label)));
    other.tags.iter().for_each(|tag| entry.tag(tag));
}

/// Replaces an entry with an insight that contradicts it, keeping the old text as a remark.
pub(super) fn replace(entry: &mut Entry, by: &Entry, today: &str) {
    let old = std::mem::take(entry);
    *entry = Entry { remarks: Vec::new(), tags: by.tags.clone(), ..by.clone() };
    entry.remark(Remark::new(updated_on(today), "This replaces the previous approach."));
    let links = by.remarks.iter().cloned();
    links.for_each(|remark| entry.remark(remark));
    entry.remarks.extend(previous(&old, by));
    // The old remarks follow the text they refer to, in their order.
    let below: Vec<_> = old.remarks.into_iter().filter(|r| !entry.remarks.contains(r)).collect();
    entry.remarks.extend(below);
    // An approach that is adopted again is no longer a previous one.
    let current = entry.sentences();
    let again = |remark: &Remark| {
        let mut said = normals(&remark.text).into_iter();
        remark.is(PREVIOUS) && said.all(|s| current.contains(&s) || s.starts_with(WAS_TAGGED))
    };
    entry.remarks.retain(|remark| !again(remark));
    let outcomes = ["success", "failure"];
    let kept = old.tags.iter().filter(|tag| !outcomes.contains(&tag.as_str()));
    kept.for_each(|tag| entry.tag(tag));
    entry.tag(RECONSOLIDATED);
}

/// Converts an entry into remarks of the entry that replaces it.
fn previous(old: &Entry, by: &Entry) -> Vec<Remark> {
    let mut pieces = Vec::new();
    if normalize_sentence(&old.title) != normalize_sentence(&by.title) {
        pieces.push(old.title.clone());
    }
    pieces.extend(sentences(&old.description));
    if is_plain(&old.content) {
        pieces.extend(sentences(&old.content));
    }
    if let Some(outcome) = old.outcome().filter(|_| old.outcome() != by.outcome()) {
        pieces.push(format!("It was tagged #{}.", outcome.tag()));
    }
    let mut texts = paragraphs(&pieces);
    if !is_plain(&old.content) {
        texts.push(old.content.clone());
    }
    texts.into_iter().map(|text| Remark::new(PREVIOUS, text)).collect()
}

/// Labels an unlabelled paragraph: in another entry it would read as part of the text above.
fn named(remark: &Remark, label: &str) -> Remark {
    let label = if remark.label.is_empty() { label } else { &remark.label };
    Remark::new(label, remark.text.clone())
}

/// Appends a sentence to the content; `None` if there is no room.
fn with_sentence(content: &str, sentence: &str) -> Option<String> {
    if content.is_empty() {
        return Some(finish_sentence(sentence));
    }
    if !is_plain(content) || sentences(content).len() >= SENTENCES_MAX {
        return None;
    }
    joined(&finish_sentence(content), &finish_sentence(sentence))
}

/// Whether a text is one paragraph of prose, so that its sentences can be moved individually.
fn is_plain(text: &str) -> bool {
    !text.lines().any(|line| line.trim().is_empty() || stands_alone(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(title: &str, content: &str, tags: &[&str]) -> Entry {
        Entry {
            title: title.into(),
            description: format!("About {title}."),
            content: content.into(),
            remarks: Vec::new(),
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        }
    }

    #[test]
    fn merging_fills_the_content_and_keeps_the_rest_beside_it() {
        let mut one = entry("T", "A one. B two. C three. D four.", &["rust", "success"]);
        let other = entry("T", "B two. E five. F six. G seven.", &["success", "async"]);
        absorb(&mut one, &other, Into::Content, &updated_on("2026-11-15"));
        assert_eq!(one.content, "A one. B two. C three. D four. E five.");
        assert_eq!(one.remarks, [Remark::new("Updated [2026-11-15]", "F six. G seven.")]);
        assert_eq!(one.tags, ["rust", "success", "async"]);
        let before = one.clone();
        absorb(&mut one, &other, Into::Content, &updated_on("2026-11-16"));
        assert_eq!(one, before);
    }

    #[test]
    fn updating_leaves_the_content_as_it_is() {
        let mut one = entry("T", "A one. B two. C three.", &["success"]);
        let other = entry("U", "C three. D four.", &["success"]);
        absorb(&mut one, &other, Into::Remark, &updated_on("2026-11-15"));
        assert_eq!(one.content, "A one. B two. C three.");
        assert_eq!(one.remarks, [Remark::new("Updated [2026-11-15]", "U. About U. D four.")]);
    }

    #[test]
    fn replacing_keeps_what_was_there_and_can_be_turned_back() {
        let mut one = entry("Always T", "A one. B two. C three.", &["rust", "success"]);
        let first = one.clone();
        let other = entry("Never T", "D four. E five. F six.", &["failure"]);
        replace(&mut one, &other, "2026-11-15");
        assert_eq!((one.title.as_str(), one.content.as_str()), ("Never T", other.content.as_str()));
        assert_eq!(one.tags, ["failure", "rust", "reconsolidated"]);
        let kept = &one.remarks.iter().find(|remark| remark.is(PREVIOUS)).unwrap().text;
        assert_eq!(
            kept,
            "Always T. About Always T. A one. B two. C three. It was tagged #success."
        );
        for _ in 0..5 {
            replace(&mut one, &first, "2026-11-15");
            replace(&mut one, &other, "2026-11-15");
        }
        assert!(one.text().len() < 1_000, "{}", one.text());
    }
}
