//! Stores insights: validated, all or none.
//!
//! The most similar entry of the same type decides. An equal insight is merged (MERGE), a related
//! one is added with its date (UPDATE), a contradicting one replaces the entry and keeps it as the
//! previous approach (UPDATE), anything else becomes a new entry (CREATE). Storing the same insight
//! again changes nothing.

use tome_text::normalize_sentence;

use super::combine::{Into, absorb, replace, updated_on};
use super::entry::{Entry, RELATED};
use super::limits::{
    ALIKE_FROM, GENERALISES_FROM, HINT_TITLES_MAX, PATTERN_EPISODES_MIN, RELATED_FROM, SAME_ABOVE,
};
use super::place::{self, Known};
use super::sentence::normals;
use super::similar::{Profile, contradicts, decide};
use super::{Change, Decision, InsightDraft, InsightKind, Stored, Tree, changes, rules};

/// Stores insights. Returns the files to write and the result for each insight, or the rules they
/// violate, in which case nothing is written.
pub(crate) fn store(
    tree: &Tree,
    drafts: &[InsightDraft],
    today: &str,
) -> Result<(Vec<Change>, Vec<Stored>), Vec<String>> {
    let broken = rules::broken_by(drafts);
    if !broken.is_empty() {
        return Err(broken);
    }
    let mut work = tree.clone();
    let mut stored: Vec<Stored> =
        drafts.iter().map(|draft| keep(&mut work, draft, today)).collect();
    // A later insight of the call may have caused a file to be split.
    for (stored, draft) in stored.iter_mut().zip(drafts) {
        stored.path = path_of(&work, draft.kind, stored);
    }
    Ok((changes(tree, &work), stored))
}

/// Stores one valid insight.
fn keep(work: &mut Tree, draft: &InsightDraft, today: &str) -> Stored {
    let entry = Entry::of(draft);
    let profile = Profile::of(&entry);
    let known = place::entries(work, draft.kind);
    let profiles: Vec<Profile> = known.iter().map(|known| Profile::of(&known.entry)).collect();
    let both = || known.iter().zip(&profiles);
    if let Some((known, _)) =
        both().find(|(known, theirs)| profile.words_within(theirs) && says(&known.entry, &entry))
    {
        return there_already(known);
    }
    // An entry with the same title takes precedence: titles must stay unique.
    let rated = both()
        .filter(|(known, _)| !known.entry.opens_something())
        .map(|(known, theirs)| (known, profile.has_name_of(theirs), profile.similarity(theirs)));
    let nearest = rated
        .fold(None, |best: Option<(&Known, bool, f64)>, next| match best {
            Some(best) if (best.1, best.2) >= (next.1, next.2) => Some(best),
            _ => Some(next),
        })
        .map(|(known, _, similarity)| (known, similarity));
    let mut stored = match nearest {
        Some((known, similarity)) if similarity >= RELATED_FROM => {
            combine(work, known, &entry, similarity, today)
        }
        _ => create(work, draft, &entry, nearest),
    };
    match draft.kind {
        InsightKind::Episodic => stored.hints.extend(pattern(work, &profile, &stored)),
        InsightKind::Semantic => stored.hints.extend(link(work, &entry, &profile, &stored)),
        InsightKind::Procedural => {}
    }
    stored
}

/// Whether an entry has every sentence and every tag of another.
fn says(entry: &Entry, other: &Entry) -> bool {
    let said = entry.sentences();
    let texts = [&other.title, &other.description, &other.content];
    texts.iter().flat_map(|text| normals(text)).all(|sentence| said.contains(&sentence))
        && other.tags.iter().all(|tag| entry.has_tag(tag))
}

fn there_already(known: &Known) -> Stored {
    Stored {
        decision: Decision::Merge,
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

fn combine(work: &mut Tree, known: &Known, fresh: &Entry, similarity: f64, today: &str) -> Stored {
    let contradicts = contradicts(fresh, &known.entry);
    let decision = decide(similarity, contradicts);
    let mut entry = known.entry.clone();
    let of = &known.entry.title;
    let why = if contradicts {
        replace(&mut entry, fresh, today);
        format!(
            "it contradicts \"{of}\" (similarity {similarity:.2}), which is kept as the previous approach"
        )
    } else if decision == Decision::Merge {
        absorb(&mut entry, fresh, Into::Content, &updated_on(today));
        format!("it says the same as \"{of}\" (similarity {similarity:.2}, over {SAME_ABOVE})")
    } else {
        absorb(&mut entry, fresh, Into::Remark, &updated_on(today));
        format!(
            "it is related to \"{of}\" (similarity {similarity:.2}, {RELATED_FROM} to {SAME_ABOVE}) \
             and was added to it"
        )
    };
    let title = entry.title.clone();
    place::rewrite(work, known, entry);
    place::relieve(work, &known.path);
    Stored { decision, title, path: known.path.clone(), why, contradicts, hints: Vec::new() }
}

fn create(
    work: &mut Tree,
    draft: &InsightDraft,
    entry: &Entry,
    nearest: Option<(&Known, f64)>,
) -> Stored {
    let home = place::home(draft.kind, draft.topic.as_deref());
    // Exceeds the limits on purpose: splitting may find a topic, which a numbered file would not.
    let path = match work.get(&home) {
        Some(text) if draft.topic.is_none() => {
            let grown = super::page::Page::parse(text).with_last(&entry.text());
            let readable =
                place::entries_of(&home, &grown).last().map(|last| &last.entry) == Some(entry);
            if readable {
                work.insert(home.clone(), grown);
                home
            } else {
                place::add(work, &home, &entry.text())
            }
        }
        _ => place::add(work, &home, &entry.text()),
    };
    let moved = place::relieve(work, &path);
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
    Stored { decision: Decision::Create, title, path, why, contradicts: false, hints }
}

/// Suggests a generalization if several episodes are similar and none is linked to a principle yet.
fn pattern(work: &Tree, profile: &Profile, stored: &Stored) -> Option<String> {
    let mut titles: Vec<String> = Vec::new();
    for known in place::entries(work, InsightKind::Episodic) {
        let own = known.entry.title == stored.title;
        if own || Profile::of(&known.entry).similarity(profile) >= ALIKE_FROM {
            let linked = known.entry.remarks.iter().any(|remark| remark.is(RELATED));
            if linked && !own {
                return None;
            }
            titles.push(known.entry.title);
        }
    }
    let updated = stored.decision == Decision::Update && !stored.contradicts;
    if titles.len() + usize::from(updated) < PATTERN_EPISODES_MIN {
        return None;
    }
    Some(format!(
        "several episodes are similar ({}): if they share a principle, store a semantic \
         insight that states it and names their titles; Tome links them",
        quoted(&titles)
    ))
}

/// Links a principle with the episodes that it names or resembles.
fn link(work: &mut Tree, fresh: &Entry, profile: &Profile, stored: &Stored) -> Option<String> {
    let said = normalize_sentence(&format!("{} {}", fresh.description, fresh.content));
    let names = |title: &str| {
        let title = normalize_sentence(title);
        title.chars().count() >= 8 && said.contains(&title)
    };
    let episodes: Vec<Known> = place::entries(work, InsightKind::Episodic)
        .into_iter()
        .filter(|known| !known.entry.opens_something())
        .filter(|known| {
            names(&known.entry.title)
                || Profile::of(&known.entry).similarity(profile) >= GENERALISES_FROM
        })
        .collect();
    if episodes.len() < PATTERN_EPISODES_MIN {
        return None;
    }
    let principles = place::entries(work, InsightKind::Semantic);
    let principle = principles.iter().find(|known| known.entry.title == stored.title)?;
    let mut entry = principle.entry.clone();
    for episode in &episodes {
        entry.relate(&episode.entry.title);
        let mut back = episode.entry.clone();
        if back.relate(&stored.title) {
            place::rewrite(work, episode, back);
        }
    }
    place::rewrite(work, principle, entry);
    // Links make entries longer, so their files may need splitting.
    episodes.iter().chain([principle]).for_each(|known| drop(place::relieve(work, &known.path)));
    let titles: Vec<String> = episodes.into_iter().map(|known| known.entry.title).collect();
    Some(format!("it generalises {}; they are linked both ways", quoted(&titles)))
}

fn quoted(titles: &[String]) -> String {
    let mut named: Vec<_> =
        titles.iter().take(HINT_TITLES_MAX).map(|title| format!("\"{title}\"")).collect();
    if titles.len() > HINT_TITLES_MAX {
        named.push(format!("and {} more", titles.len() - HINT_TITLES_MAX));
    }
    named.join(", ")
}

/// The file that holds an insight after all changes.
fn path_of(work: &Tree, kind: InsightKind, stored: &Stored) -> String {
    let has = |path: &str| {
        work.get(path).is_some_and(|text| {
            place::entries_of(path, text).iter().any(|known| known.entry.title == stored.title)
        })
    };
    if has(&stored.path) {
        return stored.path.clone();
    }
    let found =
        place::entries(work, kind).into_iter().find(|known| known.entry.title == stored.title);
    found.map_or_else(|| stored.path.clone(), |known| known.path)
}
