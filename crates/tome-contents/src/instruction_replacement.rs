//! Decides whether a later instruction replaces an earlier one: both are about the same, and the later one repeats,
//! changes or lifts it.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use tome_text::{content_words, stem};

use crate::extract::lifts_rule;

/// An instruction, read to be compared with others.
#[derive(Debug)]
pub(crate) struct ComparedInstruction {
    /// Stems of the words that say what it is about.
    pub(crate) stems: BTreeSet<String>,
    /// All of its words in lower case, in order.
    words: Vec<String>,
    /// The stems that it rules out: "… over spaces", "not npm".
    excluded: BTreeSet<String>,
    /// Whether it lifts a rule.
    lifts: bool,
    /// Whether it permits what may have been forbidden.
    permits: bool,
    /// Whether it says that it changes what was said before.
    changes: bool,
}

impl ComparedInstruction {
    pub(crate) fn read(text: &str) -> Self {
        const PERMITS: [&str; 6] =
            ["you may", "you can", "it's fine to", "it is fine to", "it's ok to", "it's okay to"];
        const CHANGES: [&str; 8] = [
            "actually",
            "instead",
            "no longer",
            "any more",
            "anymore",
            "from now on",
            "as of now",
            "ab jetzt",
        ];
        let lower = text.to_lowercase().replace('’', "'");
        let words: Vec<String> = lower
            .split(|c: char| !c.is_alphanumeric() && c != '\'')
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect();
        let has = |phrases: &[&str]| phrases.iter().any(|phrase| lower.contains(phrase));
        Self {
            stems: subject_stems(text),
            excluded: find_excluded(&lower),
            lifts: lifts_rule(text) || has(&["forget what i said", "forget the rule"]),
            permits: has(&PERMITS),
            changes: has(&CHANGES),
            words,
        }
    }

    /// Whether it replaces an earlier instruction.
    pub(crate) fn replaces(&self, earlier: &Self) -> bool {
        let shared: BTreeSet<&String> = self.stems.intersection(&earlier.stems).collect();
        let only_own: Vec<&String> = self.stems.difference(&earlier.stems).collect();
        let only_earlier: Vec<&String> = earlier.stems.difference(&self.stems).collect();
        let smaller = self.stems.len().min(earlier.stems.len());
        if self.changes_language(earlier) || self.rules_out(earlier) {
            return true;
        }
        if self.lifts || self.permits && forbids(&earlier.words) {
            return !shared.is_empty()
                && shared.len() * 2 >= smaller
                && (shared.len() >= 2 || smaller == 1);
        }
        let opposes =
            only_own.iter().any(|own| only_earlier.iter().any(|other| are_opposites(own, other)));
        // A word that the other lacks makes another subject: the build folder, the build logs.
        let differs = !only_own.is_empty() && !only_earlier.is_empty();
        if smaller == 0 || differs && !opposes && !self.changes {
            return false;
        }
        let covers = match (opposes, differs) {
            (true, _) => shared.len() * 2 >= smaller,
            (false, true) => shared.len() >= 3 && shared.len() * 4 >= smaller * 3,
            (false, false) => {
                shared.len() >= 2 && shared.len() * 4 >= smaller * 3
                    || only_own.is_empty() && only_earlier.is_empty()
            }
        };
        covers && (shared.len() >= 3 || opposes || only_own.is_empty() && only_earlier.is_empty())
    }

    /// Whether both name the language to write in, and another one each.
    fn changes_language(&self, earlier: &Self) -> bool {
        #[rustfmt::skip]
        const LANGUAGES: [&str; 24] = [
            "english", "german", "french", "spanish", "italian", "portuguese", "russian", "chinese", "japanese", "korean",
            "turkish", "dutch", "polish", "englisch", "deutsch", "französisch", "español", "inglés", "français", "anglais",
            "русский", "английском", "русском", "日本語",
        ];
        const TASKS: [&str; 12] = [
            "answer", "reply", "respond", "write", "comment", "comments", "speak", "talk",
            "antworte", "schreibe", "responde", "réponds",
        ];
        let find = |words: &[String], list: &[&str]| {
            words.iter().find(|word| list.contains(&word.as_str())).cloned()
        };
        let own = find(&self.words, &LANGUAGES);
        let other = find(&earlier.words, &LANGUAGES);
        let is_task = |words: &[String]| find(words, &TASKS);
        own.is_some()
            && other.is_some()
            && own != other
            && is_task(&self.words).is_some()
            && is_task(&self.words) == is_task(&earlier.words)
    }

    /// Whether it rules out what the earlier one asks for: "use pnpm, not npm" after "always use npm".
    fn rules_out(&self, earlier: &Self) -> bool {
        let wanted = earlier.stems.difference(&earlier.excluded);
        let is_out = |word: &String| self.excluded.contains(word);
        let (out, all) =
            wanted.fold((0, 0), |(out, all), word| (out + usize::from(is_out(word)), all + 1));
        out > 0 && out * 2 >= all
    }
}

/// The stems after words that rule something out.
fn find_excluded(lower: &str) -> BTreeSet<String> {
    const MARKS: [&str; 5] = [", not ", " over ", " instead of ", " rather than ", " and not "];
    let at = MARKS.iter().filter_map(|mark| Some(lower.find(mark)? + mark.len())).min();
    let rest = at.and_then(|at| lower.get(at..)).unwrap_or_default();
    let rest = rest.split([',', '.', ';']).next().unwrap_or_default();
    subject_stems(rest)
}

/// Whether an instruction forbids something.
fn forbids(words: &[String]) -> bool {
    const WORDS: [&str; 7] = ["never", "don't", "dont", "not", "no", "stop", "avoid"];
    words.iter().any(|word| WORDS.contains(&word.as_str()))
}

/// Whether two stems are alternatives of which one choice leaves one.
fn are_opposites(one: &str, other: &str) -> bool {
    let group = |stem: &str| OPPOSITES.get(stem).copied();
    one != other && group(one).is_some_and(|own| group(other) == Some(own))
}

/// The stems of alternatives, with the number of their group.
static OPPOSITES: LazyLock<HashMap<String, usize>> = LazyLock::new(|| {
    #[rustfmt::skip]
    const GROUPS: [&[&str]; 12] = [
        &["tabs", "spaces"], &["short", "long", "detailed"], &["light", "dark"], &["single", "double"],
        &["camelcase", "snake", "kebab"], &["squash", "rebase", "merge"], &["npm", "pnpm", "yarn", "bun"],
        &["upper", "lower", "uppercase", "lowercase"], &["before", "after"], &["brief", "verbose"],
        &["small", "large", "big"], &["ascending", "descending"],
    ];
    let groups = GROUPS.iter().enumerate();
    groups
        .flat_map(|(group, words)| words.iter().map(move |word| (stem(word).into_owned(), group)))
        .collect()
});

/// The stems of the words that say what an instruction is about: its content words, without those
/// that most instructions have.
pub(crate) fn subject_stems(text: &str) -> BTreeSet<String> {
    #[rustfmt::skip]
    const FILLER_WORDS: [&str; 32] = [
        "always", "never", "please", "prefer", "include", "make", "sure", "ask", "asking", "answer",
        "want", "like", "use", "remember", "whenever", "when", "about", "provide", "give", "keep",
        "need", "help", "can", "would", "may", "now", "actually", "forget", "said", "anymore", "instead", "longer",
    ];
    content_words(text)
        .filter(|word| !FILLER_WORDS.contains(&word.as_str()))
        .map(|word| stem(&word).into_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaces(later: &str, earlier: &str) -> bool {
        ComparedInstruction::read(later).replaces(&ComparedInstruction::read(earlier))
    }

    #[test]
    fn a_changed_or_lifted_instruction_is_replaced() {
        for (earlier, later) in [
            ("Never release on Monday.", "From now on you may release on Monday."),
            ("Always answer in French.", "From now on answer in Spanish."),
            ("I prefer tabs over spaces.", "Actually I prefer spaces over tabs."),
            ("I prefer short test names", "Actually, I prefer long test names with a verb"),
            (
                "Please don't edit anything in lib/vendor",
                "Forget what I said about lib/vendor, you may edit it",
            ),
            ("Always add checksums to release notes.", "You don't need to add checksums any more."),
            ("Always use npm.", "From now on use pnpm, not npm."),
            ("Keep functions under 40 lines.", "Keep functions under 60 lines."),
            (
                "Always run the linter before a commit",
                "Always run the linter before a commit and a push",
            ),
        ] {
            assert!(replaces(later, earlier), "{earlier} / {later}");
        }
    }

    #[test]
    fn instructions_about_other_things_stay() {
        for (earlier, later) in [
            (
                "Never store the raw exports in the bucket.",
                "Never store the raw backups in the bucket.",
            ),
            (
                "Always write smoke tests for new export code.",
                "Always write load tests for new export code.",
            ),
            ("Never release on Monday.", "You may restart the worker on Friday."),
            ("Always answer in French.", "Write the changelog in Spanish."),
            ("Use tabs in makefiles.", "Never use abbreviations in names."),
        ] {
            assert!(!replaces(later, earlier), "{earlier} / {later}");
        }
    }
}
