//! Seals a draft before it is stored: redacts secrets and private parts and caps the size.
//!
//! Pure functions: no files, clock or randomness. They run in the hook before the spool and in the
//! daemon before the ledger, so sealing is idempotent. `tome_redact` finds what to remove.
//!
//! An overlong text keeps its head and tail, joined by `tome_model::cut_mark`. Each end is redacted
//! together with a margin beyond the kept part, so that a secret across the cut is either seen
//! whole or dropped. Secrets are searched in these two windows only, private tags in the whole
//! text.

use std::borrow::Cow;

use serde_json::{Map, Value};
use tome_model::{Draft, Tool, cut_mark, json_len, limits};
use tome_redact::{
    RedactionCut, Redactor, apply_cuts, find_mark_around, prints_secret, redact_printed,
    redact_printed_text, rewrite_json,
};

/// Longer than any secret: a PEM key of 16,384 bits fits.
const MARGIN: usize = 16 * 1024;
/// The smallest cap that leaves space for the cut mark.
const TEXT_BYTES_MIN: usize = 64;
/// Strings inside JSON, and whole JSON values, are never capped below this; beyond that the value
/// becomes text.
const LEAF_BYTES_MIN: usize = 256;
/// The `meta` key that counts the bytes cut.
const CUT_BYTES: &str = "cut_bytes";

/// Redacts drafts and caps their size.
#[derive(Debug)]
pub struct Sealer {
    redactor: Redactor,
    text_bytes_max: usize,
}

impl Sealer {
    /// Creates a sealer that caps event text, tool input and tool output at `text_bytes_max` bytes
    /// each (at least 64, or 256 for JSON, to leave space for the cut mark).
    pub fn new(redactor: Redactor, text_bytes_max: usize) -> Self {
        Self { redactor, text_bytes_max: text_bytes_max.max(TEXT_BYTES_MIN) }
    }

    /// Cuts secrets from a text, and nothing else.
    pub fn redact(&self, text: &str) -> String {
        self.redactor.redact(text).into_owned()
    }

    /// Seals a draft. Agent, session, folder and time stay as they are: they identify it.
    pub fn seal(&self, draft: Draft) -> Draft {
        let mut cut_bytes = 0;
        let draft = redact_output(draft);
        let text = self.seal_text(draft.text, self.text_bytes_max, &mut cut_bytes);
        let tool = draft.tool.map(|tool| Tool {
            input: self.seal_json(&tool.input, self.text_bytes_max, &mut cut_bytes),
            output: self.seal_json(&tool.output, self.text_bytes_max, &mut cut_bytes),
            name: self.redactor.redact(&tool.name).into_owned(),
        });
        let meta = self.seal_meta(draft.meta, cut_bytes);
        Draft { text, tool, meta, ..draft }
    }

    fn seal_meta(&self, mut meta: Map<String, Value>, mut cut_bytes: usize) -> Map<String, Value> {
        // Exempt from the cap: it is written after everything has been cut.
        let before = match meta.remove(CUT_BYTES) {
            Some(Value::Number(before)) => before.as_u64().unwrap_or(0),
            Some(other) => {
                meta.insert(CUT_BYTES.to_owned(), other);
                0
            }
            None => 0,
        };
        let budget = limits::META_BYTES_MAX - TEXT_BYTES_MIN;
        let mut meta = match self.seal_json(&Value::Object(meta), budget, &mut cut_bytes) {
            Value::Object(meta) => meta,
            // Too many small values: it had to become text.
            other => Map::from_iter([("meta".to_owned(), other)]),
        };
        let total = before.saturating_add(cut_bytes as u64);
        if total > 0 {
            meta.insert(CUT_BYTES.to_owned(), total.into());
        }
        meta
    }

    /// Seals every string of a JSON value and caps its length as text.
    fn seal_json(&self, value: &Value, bytes_max: usize, cut_bytes: &mut usize) -> Value {
        let bytes_max = bytes_max.max(LEAF_BYTES_MIN);
        let (whole, whole_cut) = self.seal_leaves(value, bytes_max);
        if json_len(&whole) <= bytes_max {
            *cut_bytes += whole_cut;
            return whole;
        }
        // Each attempt starts from the original value, so that every mark counts all bytes cut
        // there.
        let mut leaf_max = bytes_max / 2;
        while leaf_max >= LEAF_BYTES_MIN && min_json_len(&whole) <= bytes_max {
            let (sealed, cut) = self.seal_leaves(value, leaf_max);
            if json_len(&sealed) <= bytes_max {
                *cut_bytes += cut;
                return sealed;
            }
            leaf_max /= 4;
        }
        *cut_bytes += whole_cut;
        // Escaping quotes can double the length, so only half the cap is available.
        let budget = (bytes_max / 2).saturating_sub(16).max(TEXT_BYTES_MIN);
        Value::String(self.seal_text(whole.to_string(), budget, cut_bytes))
    }

    fn seal_leaves(&self, value: &Value, bytes_max: usize) -> (Value, usize) {
        let mut cut_bytes = 0;
        let sealed =
            rewrite_json(value, &mut |text| self.seal_str(text, bytes_max, &mut cut_bytes));
        (sealed, cut_bytes)
    }

    fn seal_text(&self, text: String, bytes_max: usize, cut_bytes: &mut usize) -> String {
        match self.seal_str(&text, bytes_max, cut_bytes) {
            Cow::Borrowed(_) => text,
            Cow::Owned(sealed) => sealed,
        }
    }

    fn seal_str<'t>(&self, text: &'t str, bytes_max: usize, cut_bytes: &mut usize) -> Cow<'t, str> {
        if text.len() > bytes_max + 2 * MARGIN {
            return Cow::Owned(self.seal_windows(text, bytes_max, cut_bytes));
        }
        let cuts = self.redactor.find_cuts(text);
        if cuts.is_empty() && text.len() <= bytes_max {
            return Cow::Borrowed(text);
        }
        let redacted = apply_cuts(text, &cuts);
        if redacted.len() <= bytes_max {
            return Cow::Owned(redacted);
        }
        let head = RedactedWindow::new(text, cuts.clone(), 0, text.len());
        let tail = RedactedWindow::new(text, cuts, 0, text.len());
        Cow::Owned(self.join_ends(&head, &tail, text.len(), bytes_max, cut_bytes))
    }

    /// Seals only the two ends of a text.
    fn seal_windows(&self, text: &str, bytes_max: usize, cut_bytes: &mut usize) -> String {
        let reach = bytes_max / 2 + MARGIN;
        let head = tome_model::truncate_to(text, reach);
        let tail_start = text.ceil_char_boundary(text.len() - reach);
        let tail = slice_or_empty(text, tail_start, text.len());
        let kept_max = head.len() - MARGIN;
        let head_cuts = self.redactor.find_window_cuts(text, 0..head.len());
        let head = RedactedWindow::new(head, head_cuts, 0, kept_max);
        let tail_cuts = self.redactor.find_window_cuts(text, tail_start..text.len());
        let tail = RedactedWindow::new(tail, tail_cuts, MARGIN, tail.len());
        self.join_ends(&head, &tail, text.len(), bytes_max, cut_bytes)
    }

    /// Joins head and tail. Redacts again, because the cut may expose a secret (half a call looks
    /// like a word); if the result is too long, keeps less.
    fn join_ends(
        &self,
        head: &RedactedWindow<'_, '_>,
        tail: &RedactedWindow<'_, '_>,
        text_len: usize,
        bytes_max: usize,
        cut_bytes: &mut usize,
    ) -> String {
        let mut budget = bytes_max.saturating_sub(cut_mark(text_len).len());
        loop {
            let (head, head_bytes) = head.take_head(budget.div_ceil(2));
            let (tail, tail_bytes) = tail.take_tail(budget / 2);
            let cut = text_len - head_bytes - tail_bytes;
            let joined = format!("{head}{}{tail}", cut_mark(cut));
            let sealed = self.redactor.redact(&joined);
            if sealed.len() <= bytes_max || budget == 0 {
                *cut_bytes += cut;
                return sealed.into_owned();
            }
            budget = budget.saturating_sub((sealed.len() - bytes_max).max(budget / 8 + 1));
        }
    }
}

/// Cuts what a command printed, if it prints secrets.
fn redact_output(mut draft: Draft) -> Draft {
    if let Some(tool) = draft.tool.as_mut().filter(|tool| prints_secret(&tool.input)) {
        tool.output = redact_printed(&tool.output);
        draft.text = redact_printed_text(&draft.text).into_owned();
    }
    draft
}

/// A text with its cuts, of which `from..to` may be kept.
struct RedactedWindow<'t, 'r> {
    text: &'t str,
    cuts: Vec<RedactionCut<'r>>,
    from: usize,
    to: usize,
}

impl<'t, 'r> RedactedWindow<'t, 'r> {
    fn new(text: &'t str, cuts: Vec<RedactionCut<'r>>, from: usize, to: usize) -> Self {
        Self { text, cuts, from, to }
    }

    /// Returns the start of the redacted text, at most `bytes_max` long, and how many source bytes
    /// it covers. Never ends inside a mark.
    fn take_head(&self, bytes_max: usize) -> (String, usize) {
        let mut out = String::new();
        let mut at = self.from;
        for cut in &self.cuts {
            let budget = bytes_max - out.len();
            let plain = cut.start.saturating_sub(at);
            if cut.start >= self.to || plain + cut.mark.len() > budget {
                break;
            }
            out.push_str(slice_or_empty(self.text, at, cut.start));
            cut.mark.push_to(&mut out);
            at = cut.end.min(self.to);
        }
        let next_cut = self.cuts.iter().find(|cut| cut.start >= at);
        let stop = next_cut.map_or(self.to, |cut| cut.start.min(self.to));
        let end = self.text.floor_char_boundary(stop.min(at + bytes_max - out.len()));
        let end = find_mark_around(self.text, end).map_or(end, |(start, _)| start.max(at));
        out.push_str(slice_or_empty(self.text, at, end));
        (out, end)
    }

    /// Returns the end of the redacted text, at most `bytes_max` long, and how many source bytes it
    /// covers.
    fn take_tail(&self, bytes_max: usize) -> (String, usize) {
        let mut parts: Vec<String> = Vec::new();
        let mut budget = bytes_max;
        let mut at = self.to;
        for cut in self.cuts.iter().rev() {
            let plain = at.saturating_sub(cut.end);
            if cut.end <= self.from || plain + cut.mark.len() > budget {
                break;
            }
            let mut part = String::new();
            cut.mark.push_to(&mut part);
            part.push_str(slice_or_empty(self.text, cut.end, at));
            budget -= part.len();
            parts.push(part);
            at = cut.start.max(self.from);
        }
        let next_cut = self.cuts.iter().rfind(|cut| cut.end <= at);
        let stop = next_cut.map_or(self.from, |cut| cut.end.max(self.from));
        let start = self.text.ceil_char_boundary(stop.max(at.saturating_sub(budget)));
        let start = find_mark_around(self.text, start).map_or(start, |(_, end)| end.min(at));
        parts.push(slice_or_empty(self.text, start, at).to_owned());
        let out: String = parts.into_iter().rev().collect();
        (out, self.to - start)
    }
}

/// Returns the text between two positions; empty unless both are char boundaries in order.
fn slice_or_empty(text: &str, start: usize, end: usize) -> &str {
    text.get(start..end).unwrap_or_default()
}

/// The minimum length of a value if only its strings are capped.
fn min_json_len(value: &Value) -> usize {
    let items = |sum: usize, len: usize| sum + len + 1;
    match value {
        Value::String(text) => text.len().min(LEAF_BYTES_MIN) + 2,
        Value::Array(list) => list.iter().map(min_json_len).fold(2, items),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| key.len().min(LEAF_BYTES_MIN) + 3 + min_json_len(value))
            .fold(2, items),
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
    }
}

#[cfg(test)]
mod tests;
