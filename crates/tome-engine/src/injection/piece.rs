//! A piece of an injected text: some blocks in order of their worth, and how they are cut to a room.
//!
//! What fits is kept from the front; what is cut is said, with how to get it. A piece never takes
//! more than it is given, whatever its blocks hold.

use super::room::Left;
use crate::quote;

/// A longer line is no line: it is cut, and that is said.
const LINE_CHARS_MAX: usize = 600;

/// One part of an injected text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// What it is called, for its heading and for saying that it was left out.
    pub name: &'static str,
    /// Said below the heading; may be empty.
    pub about: String,
    /// The most wanted first.
    pub blocks: Vec<Block>,
    /// What one block and several are called: `note`, `notes`.
    pub noun: (&'static str, &'static str),
    /// How to get what was left out.
    pub rest: &'static str,
    /// Where it comes from, if that is outside.
    pub quoted: Option<String>,
    /// The part of the room that it is sure of, in hundredths.
    pub share: u64,
}

/// What is kept together as far as that is possible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// Its first line.
    pub head: String,
    /// The others.
    pub lines: Vec<String>,
    /// How to get the rest of it.
    pub rest: String,
}

impl Block {
    /// A block of one line.
    pub(super) fn line(text: &str) -> Self {
        Self { head: clipped(text), lines: Vec::new(), rest: String::new() }
    }

    /// A block of a heading and a text below it.
    pub(super) fn text(head: &str, text: &str, rest: String) -> Self {
        let text = quote::neutralize(text);
        let lines = text.trim_matches('\n').lines().map(clipped).collect();
        Self { head: clipped(head), lines, rest }
    }

    fn whole(&self) -> Vec<String> {
        std::iter::once(&self.head).chain(&self.lines).cloned().collect()
    }
}

/// A line that cannot close a mark and is not too long.
fn clipped(text: &str) -> String {
    let text = quote::neutralize(text).replace('\n', " ");
    let kept = tome_text::first_chars(&text, LINE_CHARS_MAX);
    if kept.len() < text.len() { format!("{kept}… [line cut]") } else { text }
}

/// What became of a piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fitted {
    pub lines: Vec<String>,
    /// Of the room it was given.
    pub left: Left,
    /// Blocks that are not there, or not whole.
    pub cut: usize,
}

impl Piece {
    /// As much of it as there is room for.
    pub(super) fn fit(&self, room: Left) -> Fitted {
        let nothing = Fitted { lines: Vec::new(), left: room, cut: self.blocks.len() };
        if self.blocks.is_empty() {
            return nothing;
        }
        let (above, below) = self.around();
        let mut left = room;
        if !left.take(&above) || !left.take(&below) {
            return nothing;
        }
        let all: Vec<String> = self.blocks.iter().flat_map(Block::whole).collect();
        let mut whole = left;
        if whole.take(&all) {
            let lines = above.into_iter().chain(all).chain(below).collect();
            return Fitted { lines, left: whole, cut: 0 };
        }
        // The room for saying what was cut is set aside for the longest way of saying it.
        let (mut kept, count) = (Vec::new(), self.blocks.len());
        let mut rest = left;
        if !rest.take(&[self.left_out(count)]) {
            return nothing;
        }
        let mut taken = 0;
        for block in &self.blocks {
            let lines = block.whole();
            if rest.take(&lines) {
                kept.extend(lines);
                taken += 1;
                continue;
            }
            kept.extend(beginning(block, &mut rest));
            break;
        }
        let notice = self.left_out(count - taken);
        let lines: Vec<String> =
            above.into_iter().chain(kept).chain([notice]).chain(below).collect();
        let mut left = room;
        match left.take(&lines) {
            true => Fitted { lines, left, cut: count - taken },
            false => nothing,
        }
    }

    /// The lines that stand around the blocks.
    fn around(&self) -> (Vec<String>, Vec<String>) {
        let mut above = vec![String::new(), format!("## {}", self.name)];
        if !self.about.is_empty() {
            above.push(clipped(&self.about));
        }
        let Some(from) = &self.quoted else { return (above, Vec::new()) };
        let [open, close] = quote::fence_lines(from);
        above.push(open);
        (above, vec![close])
    }

    fn left_out(&self, count: usize) -> String {
        let (one, many) = self.noun;
        let noun = if count == 1 { one } else { many };
        format!("[{count} {noun} left out or cut: {}]", self.rest)
    }
}

/// The beginning of a block that does not fit whole; nothing where not even its first lines do.
fn beginning(block: &Block, room: &mut Left) -> Vec<String> {
    let notice = |cut: usize| {
        let lines = if cut == 1 { "line" } else { "lines" };
        format!("[{cut} more {lines}: {}]", block.rest)
    };
    let mut left = *room;
    if block.lines.is_empty()
        || !left.take(&[notice(block.lines.len())])
        || !left.take(&[&block.head])
    {
        return Vec::new();
    }
    let fitting = block.lines.iter().take_while(|line| left.take(&[line])).count();
    if fitting == 0 {
        return Vec::new();
    }
    let mut lines = vec![block.head.clone()];
    lines.extend(block.lines.iter().take(fitting).cloned());
    lines.push(notice(block.lines.len() - fitting));
    // The notice was set aside at its longest.
    room.take(&lines);
    lines
}
