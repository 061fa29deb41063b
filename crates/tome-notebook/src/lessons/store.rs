//! Stores lessons: validated, all or none.
//!
//! The most similar entry of the same type decides. An equal lesson is merged (MERGE), a related
//! one is added with its date (UPDATE), a contradicting one replaces the entry and keeps it as the
//! previous approach (UPDATE), anything else becomes a new entry (CREATE). Storing the same lesson
//! again changes nothing.

use tome_text::normalize_sentence;

use super::combine::{MergeTarget, merge_into, replace_entry, update_label};
use super::entry::{LessonEntry, RELATED_LABEL};
use super::limits::{
    HINT_TITLES_MAX, PATTERN_EPISODES_MIN, PATTERN_SIMILARITY, PRINCIPLE_SIMILARITY,
    RELATED_SIMILARITY, SAME_SIMILARITY,
};
use super::placement::{self, LocatedEntry};
use super::sentence::normalized_sentences;
use super::similarity::{LessonProfile, decide, is_contradiction};
use super::{
    LessonDraft, LessonFileChange, LessonKind, LessonTree, StoreDecision, StoredLesson, diff_trees,
    rules,
};

/// Stores lessons. Returns the files to write and the result for each lesson, or the rules they
/// violate, in which case nothing is written.
pub(crate) fn store_lessons(
    tree: &LessonTree,
    drafts: &[LessonDraft],
    today: &str,
) -> Result<(Vec<LessonFileChange>, Vec<StoredLesson>), Vec<String>> {
    let broken = rules::check_drafts(drafts);
    if !broken.is_empty() {
        return Err(broken);
    }
    let mut work = tree.clone();
    let mut stored: Vec<StoredLesson> =
        drafts.iter().map(|draft| store_lesson(&mut work, draft, today)).collect();
    // A later lesson of the call may have caused a file to be split.
    for (stored, draft) in stored.iter_mut().zip(drafts) {
        stored.path = find_path(&work, draft.kind, stored);
    }
    Ok((diff_trees(tree, &work), stored))
}

fn store_lesson(work: &mut LessonTree, draft: &LessonDraft, today: &str) -> StoredLesson {
    let entry = LessonEntry::from_draft(draft);
    let profile = LessonProfile::from_entry(&entry);
    let known = placement::collect_entries(work, draft.kind);
    let profiles: Vec<LessonProfile> =
        known.iter().map(|known| LessonProfile::from_entry(&known.entry)).collect();
    let both = || known.iter().zip(&profiles);
    if let Some((known, _)) = both().find(|(known, other_profile)| {
        profile.has_all_terms_in(other_profile) && contains_all_of(&known.entry, &entry)
    }) {
        return already_stored(known);
    }
    // An entry with the same title takes precedence: titles must stay unique.
    let rated = both().filter(|(known, _)| !known.entry.has_multiline_block()).map(
        |(known, other_profile)| {
            (known, profile.has_same_name(other_profile), profile.similarity(other_profile))
        },
    );
    let nearest = rated
        .fold(None, |best: Option<(&LocatedEntry, bool, f64)>, next| match best {
            Some(best) if (best.1, best.2) >= (next.1, next.2) => Some(best),
            _ => Some(next),
        })
        .map(|(known, _, similarity)| (known, similarity));
    let mut stored = match nearest {
        Some((known, similarity)) if similarity >= RELATED_SIMILARITY => {
            combine_with_entry(work, known, &entry, similarity, today)
        }
        _ => create_entry(work, draft, &entry, nearest),
    };
    match draft.kind {
        LessonKind::Episodic => {
            stored.hints.extend(suggest_generalization(work, &profile, &stored));
        }
        LessonKind::Semantic => {
            stored.hints.extend(link_episodes(work, &entry, &profile, &stored));
        }
        LessonKind::Procedural => {}
    }
    stored
}

/// Whether an entry has every sentence and every tag of another.
fn contains_all_of(entry: &LessonEntry, other: &LessonEntry) -> bool {
    let sentences = entry.normalized_sentences();
    let texts = [&other.title, &other.description, &other.content];
    texts
        .iter()
        .flat_map(|text| normalized_sentences(text))
        .all(|sentence| sentences.contains(&sentence))
        && other.tags.iter().all(|tag| entry.has_tag(tag))
}

fn already_stored(known: &LocatedEntry) -> StoredLesson {
    StoredLesson {
        decision: StoreDecision::Merge,
        title: known.entry.title.clone(),
        path: known.path.clone(),
        why: format!(
            "already stored: \"{}\" has all its sentences and tags; nothing was changed",
            known.entry.title
        ),
        contradicts: false,
        hints: Vec::new(),
    }
}

fn combine_with_entry(
    work: &mut LessonTree,
    known: &LocatedEntry,
    fresh: &LessonEntry,
    similarity: f64,
    today: &str,
) -> StoredLesson {
    let contradicts = is_contradiction(fresh, &known.entry);
    let decision = decide(similarity, contradicts);
    let mut entry = known.entry.clone();
    let title = &known.entry.title;
    let why = if contradicts {
        replace_entry(&mut entry, fresh, today);
        format!(
            "it contradicts \"{title}\" (similarity {similarity:.2}), which is kept as the previous approach"
        )
    } else if decision == StoreDecision::Merge {
        merge_into(&mut entry, fresh, MergeTarget::Content, &update_label(today));
        format!(
            "it says the same as \"{title}\" (similarity {similarity:.2}, over {SAME_SIMILARITY})"
        )
    } else {
        merge_into(&mut entry, fresh, MergeTarget::Remark, &update_label(today));
        format!(
            "it is related to \"{title}\" (similarity {similarity:.2}, {RELATED_SIMILARITY} to {SAME_SIMILARITY}) \
             and was added to it"
        )
    };
    let title = entry.title.clone();
    placement::rewrite_entry(work, known, entry);
    placement::split_file(work, &known.path);
    StoredLesson { decision, title, path: known.path.clone(), why, contradicts, hints: Vec::new() }
}

fn create_entry(
    work: &mut LessonTree,
    draft: &LessonDraft,
    entry: &LessonEntry,
    nearest: Option<(&LocatedEntry, f64)>,
) -> StoredLesson {
    let home = placement::default_path(draft.kind, draft.topic.as_deref());
    // Exceeds the limits on purpose: splitting may find a topic, which a numbered file would not.
    let path = match work.get(&home) {
        Some(text) if draft.topic.is_none() => {
            let grown =
                super::lesson_file::LessonFile::parse(text).render_with_entry(&entry.render());
            let readable =
                placement::collect_file_entries(&home, &grown).last().map(|last| &last.entry)
                    == Some(entry);
            if readable {
                work.insert(home.clone(), grown);
                home
            } else {
                placement::add_entry(work, &home, &entry.render())
            }
        }
        _ => placement::add_entry(work, &home, &entry.render()),
    };
    let moved = placement::split_file(work, &path);
    let why = match nearest {
        Some((known, similarity)) if similarity > 0.0 => format!(
            "no insight of this type says this yet; the most similar is \"{}\" ({similarity:.2})",
            known.entry.title
        ),
        _ => "no insight of this type is similar".to_owned(),
    };
    let hints = if moved.is_empty() {
        Vec::new()
    } else {
        vec![format!("{path} exceeded its limits and was split: {}", moved.join("; "))]
    };
    let title = entry.title.clone();
    StoredLesson { decision: StoreDecision::Create, title, path, why, contradicts: false, hints }
}

/// Suggests a generalization if several episodes are similar and none is linked to a principle yet.
fn suggest_generalization(
    work: &LessonTree,
    profile: &LessonProfile,
    stored: &StoredLesson,
) -> Option<String> {
    let mut titles: Vec<String> = Vec::new();
    for known in placement::collect_entries(work, LessonKind::Episodic) {
        let own = known.entry.title == stored.title;
        if own || LessonProfile::from_entry(&known.entry).similarity(profile) >= PATTERN_SIMILARITY
        {
            let linked = known.entry.remarks.iter().any(|remark| remark.has_label(RELATED_LABEL));
            if linked && !own {
                return None;
            }
            titles.push(known.entry.title);
        }
    }
    let updated = stored.decision == StoreDecision::Update && !stored.contradicts;
    if titles.len() + usize::from(updated) < PATTERN_EPISODES_MIN {
        return None;
    }
    Some(format!(
        "several episodes are similar ({}): if they share a principle, store a semantic \
         insight that states it and names their titles; Tome links them",
        quote_titles(&titles)
    ))
}

/// Links a principle with the episodes that it names or resembles.
fn link_episodes(
    work: &mut LessonTree,
    fresh: &LessonEntry,
    profile: &LessonProfile,
    stored: &StoredLesson,
) -> Option<String> {
    let text = normalize_sentence(&format!("{} {}", fresh.description, fresh.content));
    let names = |title: &str| {
        let title = normalize_sentence(title);
        title.chars().count() >= 8 && text.contains(&title)
    };
    let episodes: Vec<LocatedEntry> = placement::collect_entries(work, LessonKind::Episodic)
        .into_iter()
        .filter(|known| !known.entry.has_multiline_block())
        .filter(|known| {
            names(&known.entry.title)
                || LessonProfile::from_entry(&known.entry).similarity(profile)
                    >= PRINCIPLE_SIMILARITY
        })
        .collect();
    if episodes.len() < PATTERN_EPISODES_MIN {
        return None;
    }
    let principles = placement::collect_entries(work, LessonKind::Semantic);
    let principle = principles.iter().find(|known| known.entry.title == stored.title)?;
    let mut entry = principle.entry.clone();
    for episode in &episodes {
        entry.add_link(&episode.entry.title);
        let mut back = episode.entry.clone();
        if back.add_link(&stored.title) {
            placement::rewrite_entry(work, episode, back);
        }
    }
    placement::rewrite_entry(work, principle, entry);
    // Links make entries longer, so their files may need splitting.
    episodes
        .iter()
        .chain([principle])
        .for_each(|known| drop(placement::split_file(work, &known.path)));
    let titles: Vec<String> = episodes.into_iter().map(|known| known.entry.title).collect();
    Some(format!("it generalizes {}; they are linked both ways", quote_titles(&titles)))
}

fn quote_titles(titles: &[String]) -> String {
    let mut named: Vec<_> =
        titles.iter().take(HINT_TITLES_MAX).map(|title| format!("\"{title}\"")).collect();
    if titles.len() > HINT_TITLES_MAX {
        named.push(format!("and {} more", titles.len() - HINT_TITLES_MAX));
    }
    named.join(", ")
}

/// The file that holds a lesson after all changes.
fn find_path(work: &LessonTree, kind: LessonKind, stored: &StoredLesson) -> String {
    let has = |path: &str| {
        work.get(path).is_some_and(|text| {
            placement::collect_file_entries(path, text)
                .iter()
                .any(|known| known.entry.title == stored.title)
        })
    };
    if has(&stored.path) {
        return stored.path.clone();
    }
    let found = placement::collect_entries(work, kind)
        .into_iter()
        .find(|known| known.entry.title == stored.title);
    found.map_or_else(|| stored.path.clone(), |known| known.path)
}
