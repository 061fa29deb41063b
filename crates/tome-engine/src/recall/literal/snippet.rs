//! A part of a text that shows a match: short, on one line, made of whole words where it can be.

use std::ops::Range;

use tome_model::floor_boundary;

/// What stands where the text goes on.
const MORE: &str = "…";

/// Of the room that a match leaves, so much (of five parts) goes before it.
const BEFORE_OF_FIVE: usize = 2;

/// A cut moves at most so far to keep characters together that belong together.
const CLINGING_MAX: usize = 16;

/// A word that is cut short shows something if it is longer than this; a shorter one is left out.
const LONG_WORD_CHARS: usize = 40;

/// With less room than this there is none for marks.
const MARKED_CHARS_MIN: usize = 8;

/// The line that a byte is on, from 1.
pub(crate) fn line_of(text: &str, byte: usize) -> u32 {
    let before = text.as_bytes().get(..byte.min(text.len())).unwrap_or_default();
    let lines = memchr::memchr_iter(b'\n', before).count();
    u32::try_from(lines).unwrap_or(u32::MAX - 1) + 1
}

/// A part of the text of at most so many characters, with the match in it and white space folded. Of
/// a match that is longer, the beginning. `…` at an end says that the text goes on there.
pub(crate) fn snippet(text: &str, place: &Range<usize>, chars_max: usize) -> String {
    let mut whole: Vec<char> =
        squeezed(text.trim().chars()).take(chars_max.saturating_add(1)).collect();
    if whole.len() <= chars_max || chars_max < MARKED_CHARS_MIN {
        whole.truncate(chars_max);
        return whole.into_iter().collect();
    }
    let (before, matched, after) = parted(text, place);
    // Both ends may need a mark.
    let room = chars_max.saturating_sub(2);
    let mut core: Vec<char> = squeezed(matched.chars()).take(room + 1).collect();
    let is_long = core.len() > room;
    if is_long {
        keep_together(&mut core, Way::On, room);
    }
    let left = room.saturating_sub(core.len());
    let mut head: Vec<char> = squeezed(before.chars().rev()).take(left + 1).collect();
    let after = if is_long { "" } else { after };
    let mut tail: Vec<char> = squeezed(after.chars()).take(left + 1).collect();
    let for_head = (left * BEFORE_OF_FIVE / 5).max(left.saturating_sub(tail.len()));
    let more_before = shorten(&mut head, Way::Back, for_head);
    let more_after = shorten(&mut tail, Way::On, left.saturating_sub(head.len())) || is_long;

    head.reverse();
    let shown: String = head.iter().chain(&core).chain(&tail).collect();
    let mark = |more: bool| if more { MORE } else { "" };
    format!("{}{}{}", mark(more_before), shown.trim(), mark(more_after))
}

/// What is before a match, the match, and what is behind it. White space at its ends belongs to what
/// is around it; a match of nothing else is where the next word begins.
fn parted<'a>(text: &'a str, place: &Range<usize>) -> (&'a str, &'a str, &'a str) {
    let start = floor_boundary(text, place.start);
    let end = floor_boundary(text, place.end.max(start));
    let matched = text.get(start..end).unwrap_or_default();
    let rest = text.get(start..).unwrap_or_default();
    let start = start + (rest.len() - rest.trim_start().len());
    let end = start + matched.trim().len();
    let part = |range: Range<usize>| text.get(range).unwrap_or_default();
    (part(0..start).trim_start(), part(start..end), part(end..text.len()).trim_end())
}

/// White space folded to single spaces.
fn squeezed(chars: impl Iterator<Item = char>) -> impl Iterator<Item = char> {
    let mut was_space = false;
    chars.filter_map(move |c| {
        let is_space = c.is_whitespace();
        let skipped = is_space && was_space;
        was_space = is_space;
        (!skipped).then_some(if is_space { ' ' } else { c })
    })
}

/// Which way characters lead from the match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Back,
    On,
}

/// Cuts what leads away from the match, between words if it can, and says whether it did.
fn shorten(away: &mut Vec<char>, way: Way, room: usize) -> bool {
    if away.len() <= room {
        return false;
    }
    let beyond = away.get(room).is_some_and(|c| c.is_whitespace());
    let last_space = away.iter().take(room).rposition(|c| c.is_whitespace());
    match last_space {
        _ if beyond => away.truncate(room),
        // A script without spaces, or one long word: to give all of it up would show nothing.
        Some(at) if at * 2 >= room || room - at <= LONG_WORD_CHARS => away.truncate(at),
        _ => keep_together(away, way, room),
    }
    true
}

/// Cuts where no character clings to the one before it.
fn keep_together(chars: &mut Vec<char>, way: Way, room: usize) {
    let splits = |at: usize| {
        let inner = at.checked_sub(1).and_then(|inner| chars.get(inner)).copied();
        let (left, right) = match way {
            Way::On => (inner, chars.get(at).copied()),
            Way::Back => (chars.get(at).copied(), inner),
        };
        left == Some(JOINER) || right.is_some_and(clings)
    };
    let whole = (room.saturating_sub(CLINGING_MAX)..=room).rev().find(|at| !splits(*at));
    chars.truncate(whole.filter(|at| *at > 0).unwrap_or(room));
}

/// Joins the parts of one emoji.
const JOINER: char = '\u{200d}';

/// Whether a character is drawn with the one before it: combining marks, variation selectors, skin
/// tones, joiners.
pub(super) fn clings(c: char) -> bool {
    if c < '\u{300}' {
        return false;
    }
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}' | '\u{5bf}'..='\u{5c7}'
        | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6dc}'
        | '\u{6df}'..='\u{6e4}' | '\u{900}'..='\u{903}' | '\u{93a}'..='\u{93c}' | '\u{93e}'..='\u{94f}'
        | '\u{981}'..='\u{983}' | '\u{9bc}'..='\u{9cd}' | '\u{a3c}'..='\u{a4d}' | '\u{abc}'..='\u{acd}'
        | '\u{b3c}'..='\u{b4d}' | '\u{bbe}'..='\u{bcd}' | '\u{c3e}'..='\u{c4d}' | '\u{cbc}'..='\u{ccd}'
        | '\u{d3b}'..='\u{d4d}' | '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}'
        | '\u{eb1}' | '\u{eb4}'..='\u{ebc}' | '\u{ec8}'..='\u{ece}' | '\u{f71}'..='\u{f84}'
        | '\u{102b}'..='\u{103e}' | '\u{1160}'..='\u{11ff}' | '\u{17b4}'..='\u{17d3}'
        | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{200d}' | '\u{20d0}'..='\u{20ff}'
        | '\u{302a}'..='\u{302f}' | '\u{3099}' | '\u{309a}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{fe20}'..='\u{fe2f}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0020}'..='\u{e007f}'
        | '\u{e0100}'..='\u{e01ef}')
}
