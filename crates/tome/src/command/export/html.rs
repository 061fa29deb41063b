//! An export as HTML: one file, without scripts and without anything from elsewhere.

use std::io::{Result, Write};

use tome_model::{Event, EventKind};
use tome_terminal::{one_line, replace_control_chars, summarize_event};

use crate::command::tool_text::{InputDetail, render_call_line, render_call_text};

use super::{ExportWriter, Heading, SessionHeading, side_and_time};

const STYLE: &str = "\
body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}\
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f5f5f5;padding:.6rem;border-radius:4px;font-size:.85rem}\
.said{white-space:pre-wrap;overflow-wrap:anywhere}.user{border-left:3px solid #36c;padding-left:.8rem}\
h3{font-size:1rem;margin-bottom:.2rem}time,.about{color:#666;font-weight:normal}summary{cursor:pointer}\
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}pre{background:#252525}}";

pub struct HtmlWriter;

impl ExportWriter for HtmlWriter {
    fn begin(&mut self, out: &mut dyn Write, heading: &Heading) -> Result<()> {
        let title = escape_html(&one_line(&heading.title, 200));
        writeln!(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
        // Even if a browser were tricked into it, nothing is loaded or run.
        writeln!(
            out,
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        )?;
        writeln!(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
        writeln!(out, "<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>")?;
        writeln!(out, "<h1>{title}</h1>")?;
        writeln!(out, "<p class=\"about\">Exported by Tome, {}</p>", escape_html(&heading.exported))
    }

    fn session(&mut self, out: &mut dyn Write, session: &SessionHeading) -> Result<()> {
        if !session.title.is_empty() {
            writeln!(out, "<h2>{}</h2>", escape_html(&one_line(&session.title, 200)))?;
        }
        writeln!(out, "<p class=\"about\">{}</p>", escape_html(&one_line(&session.details, 400)))
    }

    fn event(&mut self, out: &mut dyn Write, event: &Event) -> Result<()> {
        let (side, at) = side_and_time(event);
        if let Some(tool) = &event.tool {
            let line = render_call_line(event, 160).unwrap_or_default();
            let call = line.strip_prefix(&tool.name).unwrap_or(&line);
            let call = call.trim_start().trim_start_matches("$ ");
            let call = escape_html(call);
            writeln!(
                out,
                "<details><summary>{} <code>{call}</code></summary>",
                escape_html(&tool.name)
            )?;
            let text = render_call_text(event, &line, InputDetail::Whole);
            if !text.is_empty() {
                writeln!(out, "<pre>{}</pre>", escape_html(text.trim_end()))?;
            }
            return writeln!(out, "</details>");
        }
        if event.text.is_empty() {
            let about = one_line(&summarize_event(event), 160);
            return writeln!(
                out,
                "<p class=\"about\">{} {}</p>",
                escape_html(&side),
                escape_html(&about)
            );
        }
        let class = if event.kind == EventKind::UserMessage { " user" } else { "" };
        writeln!(out, "<h3>{} <time>{}</time></h3>", escape_html(&side), escape_html(&at))?;
        writeln!(out, "<div class=\"said{class}\">{}</div>", escape_html(event.text.trim_end()))
    }

    fn end(&mut self, out: &mut dyn Write) -> Result<()> {
        writeln!(out, "</body>\n</html>")
    }
}

/// Escapes a text for an element or an attribute.
fn escape_html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in replace_control_chars(text).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}
