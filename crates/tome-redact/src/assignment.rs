//! Assignments: a name that announces a secret and the value bound to it.
//!
//! The name is kept and the value is cut. `binding` finds the separator, `value_span` the end of
//! the value, and `value` decides whether it is a secret.

use super::binding::{self, Binding};
use super::cut::{CutCertainty, RedactionCut};
use super::haystack::{Haystack, is_quote};
use super::name::{NameStrength, SecretName};
use super::randomness::is_random;
use super::value::{self, ValueContext};
use super::value_span::{self, ValueSpan, find_value};

/// Finds the secret assigned to the name around this stem.
pub(crate) fn find_assignment(hay: Haystack<'_>, stem: usize) -> Option<RedactionCut<'static>> {
    let name = SecretName::find_around(hay, stem)?;
    let (binding, start) = binding::find_binding(hay, &name)?;
    // Checked last: it is the most expensive step, and most names bind nothing.
    let strength = name.rate()?;
    if !is_plausible_binding(hay, &name, binding, strength) {
        return None;
    }
    let bound = BoundName { name, binding, strength };
    let typed = binding == Binding::Spaced && hay.slice(bound.name.end, start).starts_with(':');
    let behind = typed.then(|| binding::find_value_after_type(hay, start)).flatten();
    bound
        .find_secret_at(hay, start)
        .or_else(|| bound.find_literal_at(hay, behind?))
        .or_else(|| bound.find_secret_at(hay, value_span::find_block_scalar(hay, start)?))
}

/// Weak names count only in settings, and some names only in URLs or headers.
fn is_plausible_binding(
    hay: Haystack<'_>,
    name: &SecretName<'_>,
    binding: Binding,
    strength: NameStrength,
) -> bool {
    let parameter = matches!(hay.byte_before(name.start), b'?' | b'&');
    let lower = name.text.to_ascii_lowercase();
    if matches!(lower.as_str(), "key" | "code") {
        return parameter && binding == Binding::Tight;
    }
    if lower.ends_with("signature") {
        return parameter || lower.starts_with("x-");
    }
    if lower.contains("sessionid") || lower.contains("sessid") || lower.ends_with("sid") {
        return binding == Binding::Tight;
    }
    let stated = matches!(
        binding,
        Binding::Tight | Binding::Spaced | Binding::Keyed | Binding::Flag | Binding::Cell
    );
    strength != NameStrength::Rare || stated || binding == Binding::Listed && name.is_upper_case()
}

/// The password after `identified `: `IDENTIFIED BY 'x'`, `identified with plugin by "x"`.
pub(crate) fn find_identified_by(hay: Haystack<'_>, from: usize) -> Option<RedactionCut<'static>> {
    const PLUGIN_BYTES_MAX: usize = 64;
    let reach = hay.floor_boundary(from + PLUGIN_BYTES_MAX);
    let clause = hay.slice(from, reach).to_ascii_lowercase();
    let by = clause.find("by ").filter(|at| *at == 0 || clause.starts_with("with "))?;
    let start = hay.skip_blanks(from + by + "by ".len());
    let start = if hay.starts_with_ignore_case(start, "password ") { start + 9 } else { start };
    let value = find_value(hay, start)?;
    let text = value_span::examined_text(hay, value);
    let context = if value.quoted { ValueContext::Quoted } else { ValueContext::Bare };
    let shouted = hay.slice(from - 2, from).bytes().all(|b| !b.is_ascii_lowercase());
    // Prose quotes names with other quotes.
    let stated = shouted || value.quoted && hay.byte_before(value.start) == b'\'';
    (stated && value::is_secret(text, context, NameStrength::Certain)).then(|| {
        RedactionCut::secret(value.start, value.end, "password", CutCertainty::SecretPosition)
    })
}

/// The new value in a plan that replaces an old one (`"old" -> "new"`); the old value ends at
/// `end`.
pub(crate) fn find_replacement(hay: Haystack<'_>, end: usize) -> Option<RedactionCut<'static>> {
    let quote = hay.skip_while_within(end, 4, |b| is_quote(b) || b == b'\\');
    let arrow = hay.skip_blanks(quote);
    if quote == end || !hay.starts_with(arrow, "->") {
        return None;
    }
    let value = value_span::find_quoted(hay, hay.skip_blanks(arrow + 2))?;
    let text = value_span::examined_text(hay, value);
    value::is_secret(text, ValueContext::Quoted, NameStrength::Certain).then(|| {
        RedactionCut::secret(value.start, value.end, "password", CutCertainty::SecretPosition)
    })
}

/// A name and how its value is bound to it.
struct BoundName<'t> {
    name: SecretName<'t>,
    binding: Binding,
    strength: NameStrength,
}

impl BoundName<'_> {
    fn find_secret_at(&self, hay: Haystack<'_>, start: usize) -> Option<RedactionCut<'static>> {
        if is_closing_quote(hay, &self.name, start) {
            return None;
        }
        let value = match self.binding {
            Binding::Fallback => value_span::find_until(hay, start, b'}')?,
            Binding::Element => value_span::find_element_text(hay, &self.name, start)?,
            _ => find_value(hay, start)?,
        };
        let cut = |value: ValueSpan| {
            let kind = match self.strength {
                NameStrength::Rare => "secret",
                _ => self.name.secret_kind(),
            };
            RedactionCut::secret(
                value.start,
                value.find_real_end(hay),
                kind,
                CutCertainty::SecretPosition,
            )
        };
        let text = value_span::examined_text(hay, value);
        if self.is_plausible_value(hay, value, text)
            && value::is_secret(text, self.value_context(hay, value), self.strength)
        {
            return Some(cut(value));
        }
        let inner = value_span::find_wrapped_literal(hay, start)?;
        value::is_secret(value_span::examined_text(hay, inner), ValueContext::Quoted, self.strength)
            .then(|| cut(inner))
    }

    /// After a type annotation only a literal is a secret.
    fn find_literal_at(&self, hay: Haystack<'_>, start: usize) -> Option<RedactionCut<'static>> {
        (find_value(hay, start).is_some_and(|value| value.quoted)
            || value_span::find_wrapped_literal(hay, start).is_some())
        .then(|| self.find_secret_at(hay, start))
        .flatten()
    }

    /// Some bindings also match ordinary text; there the value itself has to look like a secret.
    fn is_plausible_value(&self, hay: Haystack<'_>, value: ValueSpan, text: &str) -> bool {
        let mixed = text.len() >= 6
            && text.bytes().any(|b| b.is_ascii_digit())
            && text.bytes().any(|b| b.is_ascii_alphabetic());
        // `sk-...` is a placeholder for the rest.
        if text.ends_with(['-', '_']) && hay.starts_with(value.end, "..") {
            return false;
        }
        match self.binding {
            Binding::Compared => value.quoted,
            Binding::Listed => {
                let certain = self.strength == NameStrength::Certain || self.name.is_upper_case();
                value.quoted && mixed && certain && !value::is_made_of_words(text)
            }
            Binding::Spoken if !is_password(&self.name) => {
                is_random(text) || text.len() == 40 && self.name.secret_kind() == "aws"
            }
            Binding::Spoken if value.quoted => mixed || self.name.is_upper_case(),
            Binding::Spoken if has_word_between(hay, &self.name, value) => mixed,
            Binding::Spoken => is_random(text) || is_netrc_login(hay, &self.name, value),
            Binding::Cell => self.strength == NameStrength::Certain,
            Binding::Flag => !is_prose(hay, value, text),
            _ => true,
        }
    }

    fn value_context(&self, hay: Haystack<'_>, value: ValueSpan) -> ValueContext {
        if value.quoted {
            return ValueContext::Quoted;
        }
        let shouted = self.name.is_upper_case();
        let argument = matches!(hay.byte_at(value.end), b',' | b')');
        let alone = hay.skip_blanks(value.end);
        let ends_line = matches!(hay.byte_at(alone), b'\n' | b'\r' | b'#' | 0);
        match self.binding {
            Binding::Tight if argument && !shouted => ValueContext::Loose,
            Binding::Tight | Binding::Flag | Binding::Fallback | Binding::Element => {
                ValueContext::Bare
            }
            Binding::Spaced | Binding::Keyed if shouted && ends_line => ValueContext::Bare,
            Binding::Spaced if ends_line && is_yaml_value(hay, &self.name, value) => {
                ValueContext::Bare
            }
            Binding::Spoken if is_netrc_login(hay, &self.name, value) => ValueContext::Bare,
            _ => ValueContext::Loose,
        }
    }
}

/// `print("password: " + x)`: the quote after the name closes the string that contains the name.
fn is_closing_quote(hay: Haystack<'_>, name: &SecretName<'_>, start: usize) -> bool {
    const LINE_BYTES_MAX: usize = 256;
    let quote = hay.byte_at(start);
    if !is_quote(quote) || is_quote(hay.byte_at(name.end)) {
        return false;
    }
    let line = hay.skip_back_while(name.start, LINE_BYTES_MAX, |b| b != b'\n');
    let opens = (line..name.start).filter(|at| {
        let apostrophe = hay.byte_before(*at).is_ascii_alphanumeric()
            && hay.byte_at(at + 1).is_ascii_alphanumeric();
        hay.byte_at(*at) == quote && hay.byte_before(*at) != b'\\' && !apostrophe
    });
    opens.count() % 2 == 1
}

fn is_password(name: &SecretName<'_>) -> bool {
    let lower = name.text.to_ascii_lowercase();
    lower.contains("pass") || lower.contains("pwd") || lower.ends_with("psk")
}

/// `the password is …`: a word separates name and value.
fn has_word_between(hay: Haystack<'_>, name: &SecretName<'_>, value: ValueSpan) -> bool {
    hay.skip_blanks(name.end) != value.start
}

/// In a `.netrc` the value follows the name after whitespace.
fn is_netrc_login(hay: Haystack<'_>, name: &SecretName<'_>, value: ValueSpan) -> bool {
    !value.quoted && !has_word_between(hay, name, value) && binding::follows_login(hay, name)
}

/// `the --password flag to`: a word followed by another lower-case word.
fn is_prose(hay: Haystack<'_>, value: ValueSpan, text: &str) -> bool {
    let next = hay.skip_blanks(value.end);
    !value.quoted
        && text.bytes().all(|b| b.is_ascii_alphabetic())
        && next > value.end
        && hay.byte_at(next).is_ascii_lowercase()
}

/// `  password: postgres` alone on its line, unless a closing bracket after it suggests source
/// code.
fn is_yaml_value(hay: Haystack<'_>, name: &SecretName<'_>, value: ValueSpan) -> bool {
    let indent = hay.skip_back_while(name.start, 64, |b| matches!(b, b' ' | b'-'));
    let next = hay.skip_while(value.end, |b| b.is_ascii_whitespace());
    let word = hay.slice(value.start, value.end);
    matches!(hay.byte_before(indent), b'\n' | 0)
        && hay.byte_at(name.end) == b':'
        && is_password(name)
        && name.text.bytes().next().is_some_and(|b| b.is_ascii_lowercase())
        && !word.starts_with(|c: char| c.is_ascii_uppercase())
        && !matches!(hay.byte_at(next), b'}' | b')' | b']')
}
