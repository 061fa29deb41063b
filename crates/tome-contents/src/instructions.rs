//! Standing instructions and preferences of the user: "always …", "never …", "from now on …", "I
//! prefer …". A projection of a store's events, kept in one small file beside the indexes.
//!
//! The file holds the number of the last event that was read. While nothing is found it is written
//! only now and then, so after a crash some events are read again.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use tome_home::{HomeError, Projection, Store, layout, write_atomic};
use tome_model::{EventId, Millis, SessionId};
use tome_text::truncate_words;

use crate::extract::{find_instructions, is_prompt};
use crate::instruction_replacement::{ComparedInstruction, subject_stems};

/// The name of the projection.
pub const INSTRUCTIONS_PROJECTION: &str = "instructions";
const FILE: &str = "instructions.json";
/// Raised when other sentences are recognized; the file is then made again.
const FORMAT: u32 = 7;
const BATCH_MAX: usize = 200;
/// New events that are read while something else waits.
const READ_AT_HAND_MAX: u64 = 500;
/// Events after which the file is written although nothing was found.
const UNSAVED_MAX: u64 = 2_000;
/// Instructions kept per store, the latest.
const KEPT_MAX: usize = 500;
const TEXT_CHARS_MAX: usize = 300;
/// Texts found that must have a word before it counts as their subject.
const FOUND_TEXTS_MIN: usize = 2;

/// A standing instruction or preference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instruction {
    /// Number of the event that says it; `tome show` opens it.
    pub number: u64,
    /// Its id.
    pub event: EventId,
    /// When it was said.
    pub at: Millis,
    /// The session in which the user gave it.
    pub session: SessionId,
    /// The root of the project.
    pub project: String,
    /// Verbatim: the sentence.
    pub text: String,
}

/// An instruction, and whether a later one on the same subject replaced it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedInstruction {
    /// The instruction.
    pub instruction: Instruction,
    /// Number of the event that replaced it.
    pub replaced_by: Option<u64>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct InstructionFile {
    format: u32,
    /// Number of the last event that was read.
    cursor: u64,
    instructions: Vec<Instruction>,
    #[serde(skip)]
    saved_cursor: u64,
    /// Whether instructions were added since it was written.
    #[serde(skip)]
    is_changed: bool,
    /// Those of each project as they are listed, until one is added: each question asks for them.
    #[serde(skip)]
    listed: HashMap<String, Vec<ListedInstruction>>,
}

/// The instructions in every store of a home.
#[derive(Debug, Default)]
pub struct Instructions {
    files: Mutex<HashMap<PathBuf, InstructionFile>>,
}

impl Instructions {
    /// Lists the instructions of a project, the latest first. Reads the events that have just come.
    pub fn list(&self, store: &Store, project: &str) -> Result<Vec<ListedInstruction>, HomeError> {
        self.read_new(store, &|| false)?;
        self.list_read(store, project)
    }

    /// The same while something else waits: after an import, without the events that are still to be read.
    pub fn list_at_hand(
        &self,
        store: &Store,
        project: &str,
    ) -> Result<Vec<ListedInstruction>, HomeError> {
        if store.last_seq().saturating_sub(self.cursor(store)) <= READ_AT_HAND_MAX {
            self.read_new(store, &|| false)?;
        }
        self.list_read(store, project)
    }

    /// Lists those in the events that were read.
    fn list_read(&self, store: &Store, project: &str) -> Result<Vec<ListedInstruction>, HomeError> {
        let mut files = self.lock();
        let Some(file) = files.get_mut(store.path()) else { return Ok(Vec::new()) };
        if let Some(listed) = file.listed.get(project) {
            return Ok(listed.clone());
        }
        let of_project = file.instructions.iter().filter(|one| one.project == project);
        let mut found: Vec<Instruction> = of_project.cloned().collect();
        found.sort_by_key(|one| std::cmp::Reverse((one.at, one.number)));
        let listed = mark_replaced(&found);
        if !listed.is_empty() {
            file.listed.insert(project.to_owned(), listed.clone());
        }
        Ok(listed)
    }

    /// Reads the new events, a batch at a time, so that a list need not wait for all of them.
    fn read_new(&self, store: &Store, stop: &dyn Fn() -> bool) -> Result<(), HomeError> {
        while !stop() && self.read_batch(store)? {
            std::thread::yield_now();
        }
        Ok(())
    }

    /// Reads the next events; returns whether there may be more.
    fn read_batch(&self, store: &Store) -> Result<bool, HomeError> {
        let path = file_path(store.path());
        let mut files = self.lock();
        let file = files.entry(store.path().to_owned()).or_insert_with(|| load_file(&path));
        // A store that was made again begins with smaller numbers.
        if file.cursor > store.last_seq() {
            *file = InstructionFile { format: FORMAT, ..InstructionFile::default() };
        }
        let entries = store.read_outbox(file.cursor, BATCH_MAX)?;
        let count_before = file.instructions.len();
        for entry in &entries {
            let Some(event) = store.event_at(&entry.position)? else { continue };
            if !is_prompt(&event) {
                continue;
            }
            for text in find_instructions(&event.text) {
                let text = strip_speaker(&text);
                file.instructions.push(Instruction {
                    number: entry.seq,
                    event: event.id.clone(),
                    at: event.at,
                    session: event.session.clone(),
                    project: event.project.clone(),
                    text: truncate_words(text, TEXT_CHARS_MAX),
                });
            }
        }
        file.cursor = entries.last().map_or(file.cursor, |entry| entry.seq);
        let surplus = file.instructions.len().saturating_sub(KEPT_MAX);
        file.instructions.drain(..surplus);
        if file.instructions.len() != count_before || surplus > 0 {
            file.listed.clear();
            file.is_changed = true;
        }
        let is_last = entries.len() < BATCH_MAX;
        if is_last && file.is_changed || file.cursor > file.saved_cursor + UNSAVED_MAX {
            save_file(&path, file)?;
            (file.saved_cursor, file.is_changed) = (file.cursor, false);
        }
        Ok(!is_last)
    }

    /// Number of the last event that was read.
    fn cursor(&self, store: &Store) -> u64 {
        let path = file_path(store.path());
        self.lock().entry(store.path().to_owned()).or_insert_with(|| load_file(&path)).cursor
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, InstructionFile>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Projection for Instructions {
    fn name(&self) -> &'static str {
        INSTRUCTIONS_PROJECTION
    }

    fn is_behind(&self, store: &Store) -> Result<bool, HomeError> {
        Ok(self.cursor(store) != store.last_seq())
    }

    fn catch_up(&self, store: &Store, stop: &dyn Fn() -> bool) -> Result<(), HomeError> {
        self.read_new(store, stop)
    }

    fn rebuild(&self, store: &Store) -> Result<(), HomeError> {
        let empty = InstructionFile { format: FORMAT, ..InstructionFile::default() };
        self.lock().insert(store.path().to_owned(), empty);
        self.read_new(store, &|| false)
    }
}

/// Ranks instructions by the words that they share with a text, best first; without the replaced
/// ones and those that share none.
pub fn rank_instructions<'a>(
    all: &'a [ListedInstruction],
    text: &str,
) -> Vec<&'a ListedInstruction> {
    rate_instructions(all, text).into_iter().map(|(_, one)| one).collect()
}

/// The instructions that concern a search made for another reason, best first: orders that share a word
/// with the query or several with what was `found`, and preferences that share two with the query. An
/// order that says when it applies ("when I ask about …") is told by the words of that condition: one in the
/// query, or in two of the texts found. A word that many texts have, such as "file", does not suffice alone.
pub fn find_concerned<'a>(
    all: &'a [ListedInstruction],
    query: &str,
    found: &[&str],
) -> Vec<&'a ListedInstruction> {
    let query_words = subject_stems(query);
    let found: Vec<BTreeSet<String>> = found.iter().map(|text| subject_stems(text)).collect();
    let found_min = found.len().min(FOUND_TEXTS_MIN);
    let is_found =
        |word: &String| found.iter().filter(|text| text.contains(word)).count() >= found_min.max(1);
    let mut concerned: Vec<(usize, &ListedInstruction)> = Vec::new();
    for listed in all.iter().filter(|one| one.replaced_by.is_none()) {
        let text = &listed.instruction.text;
        let words = subject_stems(text);
        let in_query: Vec<&String> = words.intersection(&query_words).collect();
        let in_found: Vec<&String> = words.iter().filter(|word| is_found(word)).collect();
        let tells = |shared: &[&String]| shared.iter().any(|word| is_telling(word));
        let condition = find_condition(text).map(subject_stems).filter(|stems| !stems.is_empty());
        let concerns = match condition {
            Some(condition) => {
                let mut shared = in_query.iter().chain(&in_found);
                shared.any(|word| condition.contains(*word) && is_telling(word))
            }
            None => {
                let by_query = in_query.len() >= 2 || is_order(text) && tells(&in_query);
                by_query || is_order(text) && in_found.len() >= 3 && tells(&in_found)
            }
        };
        if concerns {
            concerned.push((3 * in_query.len() + in_found.len(), listed));
        }
    }
    concerned.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
    concerned.into_iter().map(|(_, listed)| listed).collect()
}

fn is_telling(stem: &str) -> bool {
    !COMMON_STEMS.contains(&stem)
}

fn is_order(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default().to_lowercase();
    matches!(first.as_str(), "always" | "never" | "from" | "whenever" | "please" | "don't" | "do")
}

/// The part of an instruction that says when it applies.
fn find_condition(text: &str) -> Option<&str> {
    let lower = text.to_lowercase();
    let marks = ["when i ", "whenever i ", "every time i ", "each time i "];
    let at = marks.iter().filter_map(|mark| find_at_word(&lower, mark)).min()?;
    // Lowercase letters of some scripts have another length.
    let condition = text.get(at..).filter(|_| lower.len() == text.len())?;
    Some(condition.split_once(", ").map_or(condition, |(condition, _)| condition))
}

/// Where a phrase begins a word.
fn find_at_word(text: &str, phrase: &str) -> Option<usize> {
    let starts_word =
        |at: usize| !text.get(..at).is_some_and(|before| before.ends_with(char::is_alphanumeric));
    text.match_indices(phrase).map(|(at, _)| at).find(|at| starts_word(*at))
}

/// Stems that say little about the subject of a text.
#[rustfmt::skip]
const COMMON_STEMS: [&str; 36] = [
    "file", "code", "chang", "function", "project", "exampl", "data", "line", "name", "time", "work",
    "thing", "user", "app", "api", "type", "valu", "larg", "small", "number", "error", "new", "folder",
    "text", "word", "list", "page", "question", "problem", "way", "start", "run", "show", "set", "get",
    "add",
];

/// Instructions that hold, with the number of words that they share with a text, best first.
fn rate_instructions<'a>(
    all: &'a [ListedInstruction],
    text: &str,
) -> Vec<(usize, &'a ListedInstruction)> {
    let text_words = subject_stems(text);
    let mut found: Vec<(usize, &ListedInstruction)> = all
        .iter()
        .filter(|one| one.replaced_by.is_none())
        .map(|one| (subject_stems(&one.instruction.text).intersection(&text_words).count(), one))
        .filter(|(shared, _)| *shared > 0)
        .collect();
    found.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
    found
}

/// Marks the instructions that a later one on the same subject replaces. `all` is sorted, the latest
/// first.
fn mark_replaced(all: &[Instruction]) -> Vec<ListedInstruction> {
    let read: Vec<ComparedInstruction> =
        all.iter().map(|one| ComparedInstruction::read(&one.text)).collect();
    let mut listed: Vec<ListedInstruction> = Vec::with_capacity(all.len());
    for (index, (instruction, own)) in all.iter().zip(&read).enumerate() {
        let mut later = all.iter().zip(&read).take(index);
        let later = later.find(|(_, other)| other.replaces(own));
        listed.push(ListedInstruction {
            instruction: instruction.clone(),
            replaced_by: later.map(|(later, _)| later.number),
        });
    }
    listed
}

/// Removes the speaker from a line of a chat that was stored as text.
fn strip_speaker(text: &str) -> &str {
    ["user:", "User:", "human:", "Human:"]
        .iter()
        .find_map(|speaker| text.strip_prefix(speaker))
        .map_or(text, str::trim_start)
}

fn file_path(store: &Path) -> PathBuf {
    layout::index_dir(store).join(FILE)
}

/// Reads the file; an unreadable one is made again.
fn load_file(path: &Path) -> InstructionFile {
    let read = std::fs::read(path).ok();
    let file = read.and_then(|bytes| serde_json::from_slice::<InstructionFile>(&bytes).ok());
    let file = file.filter(|file| file.format == FORMAT);
    let file = file.unwrap_or(InstructionFile { format: FORMAT, ..InstructionFile::default() });
    InstructionFile { saved_cursor: file.cursor, ..file }
}

fn save_file(path: &Path, file: &InstructionFile) -> Result<(), HomeError> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(HomeError::file("create", folder))?;
    }
    let bytes = serde_json::to_vec(file).unwrap_or_default();
    write_atomic(path, &bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(texts: &[&str]) -> Vec<ListedInstruction> {
        let instruction = |(number, text): (u64, &&str)| ListedInstruction {
            instruction: Instruction {
                number,
                event: EventId::parse(&format!("e{number}")).unwrap(),
                at: Millis(number),
                session: SessionId::parse("s1").unwrap(),
                project: "/app".to_owned(),
                text: (*text).to_owned(),
            },
            replaced_by: None,
        };
        (1..).zip(texts).map(instruction).collect()
    }

    #[test]
    fn an_order_concerns_a_search_by_its_query_or_by_what_was_found() {
        let all = listed(&[
            "Always format dates as DD.MM.YYYY when I ask about appointments.",
            "Never push to main without a review.",
            "I prefer tabs over spaces in makefiles.",
        ]);
        let numbers = |query: &str, found: &[&str]| -> Vec<u64> {
            let concerned = find_concerned(&all, query, found);
            concerned.iter().map(|one| one.instruction.number).collect()
        };
        assert_eq!(numbers("dentist", &["The appointment is on 4 May."]), [1]);
        assert_eq!(numbers("dentist", &["It hurts."]), [] as [u64; 0]);
        // One of several texts found has the word; and a word outside of the condition says nothing.
        assert_eq!(
            numbers("dentist", &["The appointment is on 4 May.", "It hurts."]),
            [] as [u64; 0]
        );
        assert_eq!(numbers("format the disk", &[]), [] as [u64; 0]);
        assert_eq!(numbers("next appointment", &[]), [1]);
        assert_eq!(numbers("when to push", &[]), [2]);
        // One word in common is chance, if the order does not say when it applies.
        assert_eq!(numbers("release", &["A review of the book."]), [] as [u64; 0]);
        assert_eq!(numbers("tabs or spaces", &[]), [3]);
        assert_eq!(numbers("browser tabs", &[]), [] as [u64; 0]);

        // Nor is a word that every text has.
        let all = listed(&[
            "From now on use spaces for indentation in Go files",
            "Don't add emojis to commit messages",
        ]);
        let numbers = |query: &str| -> Vec<u64> {
            let concerned = find_concerned(&all, query, &["Large files are read in one piece."]);
            concerned.iter().map(|one| one.instruction.number).collect()
        };
        assert_eq!(numbers("why does the importer crash on large files"), [] as [u64; 0]);
        assert_eq!(numbers("indentation of the template"), [1]);
        assert_eq!(numbers("emojis"), [2]);
    }

    #[test]
    fn the_speaker_is_no_part_of_an_instruction() {
        assert_eq!(strip_speaker("user: Always use tabs."), "Always use tabs.");
        assert_eq!(strip_speaker("Users: always greet them."), "Users: always greet them.");
    }
}
