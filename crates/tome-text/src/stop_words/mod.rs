//! Stop words: one table of words that say little by themselves, each with its classes.
//!
//! Which words to ignore depends on the purpose: `test` is a poor title for a coding session but a
//! fine search term; `die` is a German article and an English verb. Callers therefore choose
//! classes instead of keeping lists of their own.

mod table;

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::BitOr;
use std::sync::LazyLock;

/// A class of stop words, or several of them combined with `|`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopClass(u8);

impl StopClass {
    /// English function words: articles, pronouns, prepositions, auxiliaries, question words. The
    /// only class that searches ignore.
    pub const FUNCTION: Self = Self(1);
    /// Function words of German, French, Spanish and Russian; some are content words in English.
    pub const FOREIGN: Self = Self(1 << 1);
    /// Words of nearly every coding session (`fix`, `file`, `error`), useless as titles or
    /// keywords.
    pub const COMMON: Self = Self(1 << 2);
    /// Words of nearly every note (`use`, `new`, `summary`).
    pub const GENERIC: Self = Self(1 << 3);
    /// Words of prompts that only agree or urge: `yes, please continue`.
    pub const SMALL_TALK: Self = Self(1 << 4);
    /// Words of a question about past experience that do not name its subject: `lessons`.
    pub const ASKING: Self = Self(1 << 5);
    /// Words that cannot end a title, because another has to follow.
    pub const DANGLING: Self = Self(1 << 6);
    /// Words for activity without its subject: `worked`, `discussed`.
    pub const ACTIVITY: Self = Self(1 << 7);

    /// Combines classes in constants; elsewhere use `|`.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOr for StopClass {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.with(other)
    }
}

/// Whether a lowercase, unstemmed word is in one of the classes.
pub fn is_stop_word(word: &str, classes: StopClass) -> bool {
    CLASSES.get(word).is_some_and(|own| own & classes.0 != 0)
}

/// The table, hashed: most words of a text are looked up, and most are not in it.
static CLASSES: LazyLock<HashMap<&str, u8, BuildHasherDefault<WordHasher>>> =
    LazyLock::new(|| table::WORDS.iter().copied().collect());

/// FNV-1a, which is quick for short words. The table is fixed, so no input can fill a bucket.
#[derive(Default)]
struct WordHasher(u64);

impl Hasher for WordHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        // The map uses both the high and the low bits.
        self.0 ^ (self.0 >> 29)
    }
}

/// Chinese question words, longest first: removing them in this order leaves the subject.
#[rustfmt::skip]
pub const CHINESE_QUESTION_WORDS: &[&str] = &[
    "为什么", "怎么办", "怎么样", "是什么", "有什么", "什么", "如何", "怎么", "怎样", "哪些", "上次", "我们",
    "你们", "可以", "应该", "这个", "那个", "时候", "步骤", "原则", "发生", "经历", "的", "了", "吗", "呢",
    "是", "在", "我", "你", "有", "和", "与", "或", "请", "把", "被", "会", "要",
];

/// Han characters with a grammatical function; no term begins or ends with one.
const HAN_PARTICLES: &str = "的了是在我你他她它们这那有和与就不也都要会能可以把被让给对从到为吗呢吧啊很再还没请帮用个下上中里后前时着过得地来去说看做想该如果但因所及或其之于并等一二三两些什么怎样哪万条次号件种";

/// Whether a Han character is grammatical rather than part of a term.
pub fn is_han_particle(c: char) -> bool {
    HAN_PARTICLES.contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_every_word_has_a_class() {
        assert!(table::WORDS.is_sorted_by(|(a, _), (b, _)| a < b));
        assert!(table::WORDS.iter().all(|(word, own)| *own != 0 && *word == word.to_lowercase()));
        assert!(CHINESE_QUESTION_WORDS.is_sorted_by_key(|word| usize::MAX - word.len()));
    }

    #[test]
    fn stop_words_match_only_their_classes() {
        use StopClass as C;
        for (word, ignored, kept) in [
            ("the", C::FUNCTION | C::DANGLING, C::COMMON | C::ASKING),
            ("don't", C::FUNCTION, C::COMMON),
            ("dont", C::FUNCTION, C::COMMON),
            ("die", C::FOREIGN, C::FUNCTION | C::GENERIC),
            ("test", C::COMMON, C::FUNCTION | C::GENERIC | C::SMALL_TALK),
            ("using", C::GENERIC, C::FUNCTION),
            ("please", C::SMALL_TALK | C::ASKING, C::FUNCTION),
            ("lessons", C::ASKING, C::FUNCTION | C::COMMON),
            ("worked", C::ACTIVITY, C::FUNCTION),
            ("问题", C::COMMON, C::FUNCTION),
        ] {
            assert!(is_stop_word(word, ignored), "{word}");
            assert!(!is_stop_word(word, kept), "{word}");
        }
        let all = StopClass(u8::MAX);
        for word in ["", "parser", "id", "tokio", "Ada", "会議"] {
            assert!(!is_stop_word(word, all), "{word}");
        }
    }
}
