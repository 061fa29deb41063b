//! Notes, as they are on disk now: a hand edit counts at once.

use tome_finder::{Key, Source};
use tome_notebook::{Listed, NoteKind, Notebook};

use super::seen::{About, Scanning, allows, part_of, shown};
use super::{Hunt, Look, Page, Scan, Section, Seen, line_of, page};
use crate::EngineError;

/// Whose things are scanned.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Owner<'a> {
    /// The root of the project; empty for the coder.
    pub project: &'a str,
    /// The session; empty where there is none.
    pub session: &'a str,
}

/// The source of a note's hits.
pub(crate) fn source_of_note(kind: NoteKind) -> Source {
    match kind {
        NoteKind::Typed | NoteKind::Fact | NoteKind::Episode => Source::Note,
        NoteKind::Insight | NoteKind::Guide => Source::Insight,
        NoteKind::Overview | NoteKind::Detail => Source::Detail,
    }
}

/// The sections of all notes of a notebook. A note that cannot be read keeps none of the others from
/// being looked at.
pub(crate) fn scan_notebook(
    notebook: &Notebook,
    owner: Owner<'_>,
    hunt: Hunt<'_>,
) -> Result<Scan, EngineError> {
    let mut scanning = Scanning::new(hunt);
    for listed in notebook.list()? {
        let source = source_of_note(listed.kind);
        let about = About {
            at: listed.modified,
            project: owner.project,
            session: owner.session,
            ..About::default()
        };
        if !allows(hunt.filter, source, &about) {
            continue;
        }
        if !scanning.goes_on(usize::try_from(listed.bytes).unwrap_or(usize::MAX)) {
            break;
        }
        match notebook.read(&listed.path) {
            Ok(note) => look_at_note(&mut scanning, owner, &listed, &note.text),
            Err(error) => scanning.unread(error.to_string()),
        }
    }
    Ok(scanning.done())
}

fn look_at_note(scanning: &mut Scanning<'_>, owner: Owner<'_>, listed: &Listed, markdown: &str) {
    scanning.looked();
    let page = page(markdown);
    let note = NoteAt { owner, listed, markdown, page: &page };
    let about = note.about();
    let needle = scanning.hunt.needle;
    // A note without a text still has a name.
    let nothing = [Section { line: 1, heading: String::new(), range: 0..0 }];
    let sections = if page.sections.is_empty() { &nothing } else { page.sections.as_slice() };
    for (nth, section) in sections.iter().enumerate() {
        let text = page.text.get(section.range.clone()).unwrap_or_default();
        let title = format!("{}\n{}", listed.name, section.heading);
        let title = if nth == 0 { format!("{title}\n{about}") } else { title };
        let Some(look) = needle.look_under(&title, text) else { continue };
        // What only the name of the note says is one hit, not one of each section.
        let is_named = look.range.is_empty();
        if is_named && nth > 0 {
            continue;
        }
        scanning.found(listed.modified, look, |look| match is_named {
            true => note.named(needle, look),
            false => note.said(section, text, look),
        });
    }
}

/// A note that matches.
struct NoteAt<'a> {
    owner: Owner<'a>,
    listed: &'a Listed,
    markdown: &'a str,
    page: &'a Page<'a>,
}

impl NoteAt<'_> {
    /// What the note says of itself.
    fn about(&self) -> String {
        let said = [self.page.name.as_deref(), self.page.description.as_deref()];
        let said = said.into_iter().flatten().chain(self.page.keywords.iter().map(String::as_str));
        said.chain([self.listed.path.as_str()]).collect::<Vec<_>>().join("\n")
    }

    fn seen(&self, line: u32, heading: &str, look: Look) -> Seen {
        let name = self.listed.name.as_str();
        // A heading begins with the name of most notes.
        let title = match heading {
            "" => name.to_owned(),
            heading if heading.starts_with(name) => heading.to_owned(),
            heading => format!("{name} › {heading}"),
        };
        Seen {
            key: Key::Named(self.listed.path.clone()),
            source: source_of_note(self.listed.kind),
            at: self.listed.modified,
            line,
            project: self.owner.project.to_owned(),
            session: self.owner.session.to_owned(),
            agent: String::new(),
            kind: String::new(),
            title,
            part: part_of(&look, 0),
            look,
            snippet: String::new(),
        }
    }

    /// A hit in a section.
    fn said(&self, section: &Section, text: &str, look: Look) -> Seen {
        let snippet = shown(text, &look);
        let place = section.range.start + look.range.start;
        let part = part_of(&look, section.range.start);
        let line = line_of(self.markdown, place);
        Seen { snippet, part, ..self.seen(line, &section.heading, look) }
    }

    /// A hit in what the note says of itself: in its frontmatter or META comment where it is there,
    /// else at its first line.
    fn named(&self, needle: &super::Needle, look: Look) -> Seen {
        let heading = self.page.sections.first().map_or("", |section| section.heading.as_str());
        let mut hidden = hidden_lines(self.markdown, &self.page.text);
        let best = hidden.by_ref().filter_map(|(at, line)| Some((at, line, needle.look(line)?)));
        match best.min_by(|(.., a), (.., b)| a.cmp_score(b)) {
            Some((at, line, there)) => Seen {
                snippet: shown(line, &there),
                part: part_of(&there, at),
                ..self.seen(line_of(self.markdown, at + there.range.start), heading, look)
            },
            None => {
                let said = format!("{} {}", self.listed.name, self.listed.summary);
                Seen { snippet: shown(&said, &look), ..self.seen(1, heading, look) }
            }
        }
    }
}

/// The lines that are no text of the note, with where they begin.
fn hidden_lines<'a>(
    markdown: &'a str,
    shown: &'a str,
) -> impl Iterator<Item = (usize, &'a str)> + 'a {
    let mut at = 0;
    markdown.split_inclusive('\n').filter_map(move |line| {
        let from = at;
        at += line.len();
        let is_hidden = shown.get(from..at).is_some_and(|shown| shown.trim().is_empty());
        (is_hidden && !line.trim().is_empty()).then_some((from, line))
    })
}
