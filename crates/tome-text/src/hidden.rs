//! Hidden characters: one table of the characters that a reader does not see, or that change how the
//! text around them is displayed.

/// The effect of a hidden character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HiddenClass {
    /// Controls a terminal, including newline and tab.
    Control,
    /// Changes the order of the displayed text: bidirectional embeddings, overrides and isolates.
    Reordering,
    /// Spells ASCII that only a program reads: tag characters.
    Tag,
    /// Has no width: joiners, marks of direction, variation selectors, and what is reserved for such.
    ZeroWidth,
    /// Takes the place of a letter and is blank.
    Filler,
}

impl HiddenClass {
    /// The class of a character; `None` if it is displayed, or is white space.
    pub fn from_char(c: char) -> Option<Self> {
        Some(match c {
            _ if c.is_control() => Self::Control,
            '\0'..='\u{ac}' => return None,
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Self::Reordering,
            '\u{e0000}'..='\u{e007f}' => Self::Tag,
            '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}' => Self::Filler,
            '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{e0080}'..='\u{e0fff}' => Self::ZeroWidth,
            _ => return None,
        })
    }
}

/// Whether a character is not displayed: of any class but control characters.
pub fn is_invisible(c: char) -> bool {
    HiddenClass::from_char(c).is_some_and(|class| class != HiddenClass::Control)
}

/// Whether a character can change what is displayed around it, or is read by programs only: control
/// characters except newline and tab, reordering ones and tags.
pub fn is_display_control(c: char) -> bool {
    match HiddenClass::from_char(c) {
        Some(HiddenClass::Control) => c != '\n' && c != '\t',
        Some(HiddenClass::Reordering | HiddenClass::Tag) => true,
        Some(HiddenClass::ZeroWidth | HiddenClass::Filler) | None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranges of a class, as `first..last`.
    fn ranges(class: HiddenClass) -> String {
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for c in (0..=u32::from(char::MAX)).filter_map(char::from_u32) {
            if HiddenClass::from_char(c) == Some(class) {
                match ranges.last_mut() {
                    Some((_, last)) if *last + 1 == u32::from(c) => *last += 1,
                    _ => ranges.push((u32::from(c), u32::from(c))),
                }
            }
        }
        let ranges: Vec<String> =
            ranges.iter().map(|(first, last)| format!("{first:x}..{last:x}")).collect();
        ranges.join(" ")
    }

    #[test]
    fn every_class_has_its_characters() {
        assert_eq!(ranges(HiddenClass::Control), "0..1f 7f..9f");
        assert_eq!(ranges(HiddenClass::Reordering), "202a..202e 2066..2069");
        assert_eq!(ranges(HiddenClass::Tag), "e0000..e007f");
        assert_eq!(
            ranges(HiddenClass::ZeroWidth),
            "ad..ad 34f..34f 61c..61c 17b4..17b5 180b..180f 200b..200f 2060..2065 206a..206f \
             fe00..fe0f feff..feff fff0..fffb e0080..e0fff"
        );
        assert_eq!(ranges(HiddenClass::Filler), "115f..1160 2800..2800 3164..3164 ffa0..ffa0");
    }

    #[test]
    fn invisible_and_display_control_are_made_of_classes() {
        for c in ['\u{202e}', '\u{e0041}', '\u{200b}', '\u{2800}', '\u{fe0f}'] {
            assert!(is_invisible(c), "{c:?}");
        }
        for c in ['\u{1b}', '\r', '\u{9b}', '\u{2066}', '\u{e0041}'] {
            assert!(is_display_control(c), "{c:?}");
        }
        for c in ['a', ' ', '\n', '\t', '\u{a0}', '\u{2028}', 'é', '語'] {
            assert!(!is_invisible(c) && !is_display_control(c), "{c:?}");
        }
        for c in ['\u{200d}', '\u{3164}', '\u{e0100}'] {
            assert!(!is_display_control(c), "{c:?}");
        }
    }
}
