//! Scripts: one table of the characters whose words are not separated by spaces, used for tokens,
//! word counts, word boundaries and titles.

/// The script of a character, as far as text analysis distinguishes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Script {
    /// Chinese characters, and the radicals, numerals, Bopomofo and Yi syllables set among them.
    Han,
    /// Japanese syllables and their repeat marks.
    Hiragana,
    /// Japanese syllables for loan words and names.
    Katakana,
    /// Korean.
    Hangul,
    /// Thai, Lao, Burmese and Khmer.
    SoutheastAsian,
    /// Any other script, punctuation and symbols.
    Other,
}

impl Script {
    /// Returns the script of a character.
    pub fn from_char(c: char) -> Self {
        // Most text is below the table.
        if c < '\u{e00}' {
            return Self::Other;
        }
        match c {
            '\u{2e80}'..='\u{2fdf}'
            | '\u{3005}'..='\u{3007}'
            | '\u{3021}'..='\u{3029}'
            | '\u{3038}'..='\u{303b}'
            | '\u{3105}'..='\u{312f}'
            | '\u{31a0}'..='\u{31bf}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{a000}'..='\u{a48c}'
            | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{3ffff}' => Self::Han,
            '\u{3031}'..='\u{3035}' | '\u{3041}'..='\u{309f}' | '\u{1b000}'..='\u{1b16f}' => {
                Self::Hiragana
            }
            // The middle dot separates words, so it is excluded.
            '\u{30a1}'..='\u{30fa}'
            | '\u{30fc}'..='\u{30ff}'
            | '\u{31f0}'..='\u{31ff}'
            | '\u{ff66}'..='\u{ff9f}' => Self::Katakana,
            '\u{1100}'..='\u{11ff}'
            | '\u{3131}'..='\u{318e}'
            | '\u{a960}'..='\u{a97f}'
            | '\u{ac00}'..='\u{d7a3}'
            | '\u{d7b0}'..='\u{d7ff}' => Self::Hangul,
            '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' => {
                Self::SoutheastAsian
            }
            _ => Self::Other,
        }
    }
}

/// Whether spaces do not delimit words in a character's script. Includes Korean: it has spaces, but
/// attaches particles to words, so a search has to match inside them too.
pub fn is_unspaced(c: char) -> bool {
    Script::from_char(c) != Script::Other
}

/// Whether a character is Chinese or Japanese, where a sentence is a single run of characters.
pub fn is_han_or_kana(c: char) -> bool {
    matches!(Script::from_char(c), Script::Han | Script::Hiragana | Script::Katakana)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_belong_to_their_scripts() {
        for (text, script) in [
            ("漢字々〆〇㐀𠀀豈⼈ㄅꀀ", Script::Han),
            ("ひらがな〱", Script::Hiragana),
            ("カタカナーㇰｶﾅ", Script::Katakana),
            ("한글ㄱᄀ", Script::Hangul),
            ("ไทยລາວမြန်မာខ្មែរ", Script::SoutheastAsian),
            ("aZ0_éßжωअעم🦀…、。・，！ Ａ", Script::Other),
        ] {
            for c in text.chars() {
                assert_eq!(Script::from_char(c), script, "{c} {c:?}");
            }
        }
    }

    #[test]
    fn korean_is_unspaced_but_not_a_single_run() {
        assert!(is_unspaced('한') && !is_han_or_kana('한'));
        assert!(is_unspaced('ก') && !is_han_or_kana('ก'));
        assert!(is_unspaced('字') && is_han_or_kana('字'));
        assert!(!is_unspaced('a') && !is_unspaced('。'));
    }
}
