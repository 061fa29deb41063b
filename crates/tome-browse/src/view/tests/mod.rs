//! The screens, with colors and without.

mod widths;

use expect_test::{Expect, expect};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;
use ratatui::style::{Color, Modifier};

use super::*;
use crate::item::{Item, ListKind, ListPage};
use crate::source::{BrowseAnswer, Request};
use crate::state::{BrowserSetup, Effect, Input};
use crate::test_items::{contents_page, hit, note, resume_command, sessions};

const PAGE: &str = "\u{1b}[1mAccept unicode identifiers\u{1b}[0m\nclaude-code · on feature/unicode\n\n  \
    1  09:30  Please make the lexer accept unicode identifiers.\n          \u{1b}[32m→\u{1b}[0m \
    Fixed: identifiers in `lexer.rs` follow the XID rules now.\n\n\u{1b}[1mCommits\u{1b}[0m\n  • \
    469cb2e Accept unicode identifiers";

/// A browser of a size, whose answers come from the closure.
fn browser(width: u16, height: u16, words: &str, keys: &str) -> Browser {
    let (browser, effects) = Browser::new(BrowserSetup {
        words: words.to_owned(),
        project: Some("app".to_owned()),
        has_colors: true,
        size: (width, height),
        ..BrowserSetup::default()
    });
    let mut browser = browser;
    answer_all(&mut browser, effects);
    for c in keys.chars() {
        let code = match c {
            '\t' => KeyCode::Tab,
            '\n' => KeyCode::Enter,
            c => KeyCode::Char(c),
        };
        let effects = browser.update(Input::Key(code.into()));
        answer_all(&mut browser, effects);
    }
    browser
}

fn answer_all(browser: &mut Browser, effects: Vec<Effect>) {
    let mut open = effects;
    while let Some(effect) = open.pop() {
        if let Effect::Request(request) = effect {
            let answer = answer(&request);
            open.extend(browser.update(Input::Answer(request, Ok(answer))));
        }
    }
}

fn answer(request: &Request) -> BrowseAnswer {
    use crate::source::RequestKind as Kind;
    match &request.kind {
        Kind::List(query) if query.words.is_empty() => BrowseAnswer::List(ListPage {
            items: sessions(),
            has_more: true,
            ..ListPage::default()
        }),
        Kind::List(query) if query.words == "nosuch" => {
            BrowseAnswer::List(ListPage { kind: ListKind::Hits, ..ListPage::default() })
        }
        Kind::List(_) => BrowseAnswer::List(ListPage {
            kind: ListKind::Hits,
            items: vec![hit("#12"), note(), hit("#40")],
            has_more: false,
            notice: "skipped: rust/no.md".to_owned(),
            is_behind: true,
        }),
        Kind::Contents { node, .. } if node.is_empty() => {
            BrowseAnswer::Contents(contents_page("", None, &["toc:year:2026", "toc:year:2025"]))
        }
        Kind::Contents { node, .. } => BrowseAnswer::Contents(contents_page(
            node,
            Some(""),
            &["toc:month:2026-11", "toc:month:2026-10"],
        )),
        Kind::Preview { item, .. } => match item.target {
            crate::item::ItemTarget::Session(_) => BrowseAnswer::Preview(PAGE.to_owned()),
            _ => BrowseAnswer::Preview(item.card.clone()),
        },
        Kind::Resume(_) => BrowseAnswer::Resume(resume_command()),
    }
}

fn rendered(browser: &Browser) -> Buffer {
    let (width, height) = browser.setup.size;
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, browser)).unwrap();
    terminal.backend().buffer().clone()
}

fn screen(browser: &Browser) -> String {
    let buffer = rendered(browser);
    let mut text = String::new();
    for y in 0..buffer.area.height {
        let mut line = String::new();
        let mut skip = 0;
        for x in 0..buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            if skip == 0 {
                line.push_str(symbol);
                skip = tome_terminal::display_width(symbol).saturating_sub(1);
            } else {
                skip -= 1;
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn check(browser: &Browser, expected: &Expect) {
    expected.assert_eq(&screen(browser));
}

#[test]
fn nothing_found_and_a_screen_that_is_too_small() {
    check(
        &browser(60, 12, "nosuch", ""),
        &expect![[r#"
            ❯ nosuch
            app  any agent  anytime  all kinds  all speakers
              nothing relevant
              p in the list searches all projects


            ────────────────────────────────────────────────────────────




            Enter read · Tab list and filters · Esc quit · ↑↓ choose
        "#]],
    );
    check(
        &browser(38, 12, "lexer", ""),
        &expect![[r#"
        too small: 40 × 10 at least











    "#]],
    );
    check(
        &browser(41, 3, "lexer", ""),
        &expect![[r#"
        too small: 40 × 10 at least


    "#]],
    );
}

#[test]
fn an_error_stays_on_the_last_line() {
    let mut browser = browser(60, 12, "lexer", "");
    let effects = browser.update(Input::Paste("x".to_owned()));
    let Some(Effect::Request(request)) = effects.into_iter().next() else { panic!() };
    let reason = "the daemon did not start: \u{1b}[2Jcannot write in /home/dev/.local/share/tome";
    browser.update(Input::Answer(request, Err(reason.to_owned())));
    let shown = screen(&browser);
    expect!["error: the daemon did not start: �[2Jcannot write in /home/…"]
        .assert_eq(shown.lines().last().unwrap());
}

/// The cells that a style makes stand out.
fn marked(buffer: &Buffer, is_marked: impl Fn(Color, Modifier) -> bool) -> String {
    let cells = buffer.content.iter().filter(|cell| is_marked(cell.bg, cell.modifier));
    cells.map(ratatui::buffer::Cell::symbol).collect()
}

#[test]
fn without_colors_the_match_and_the_choice_are_still_marked() {
    let mut plain = browser(80, 24, "lexer", "");
    let colored = rendered(&plain);
    assert!(marked(&colored, |bg, _| bg == Color::Yellow).contains("lexer"));
    plain.setup.has_colors = false;
    plain.update(Input::Resize(80, 24));
    let buffer = rendered(&plain);
    for cell in &buffer.content {
        assert_eq!((cell.fg, cell.bg), (Color::Reset, Color::Reset), "{cell:?}");
    }
    let text = |buffer: &Buffer| {
        buffer.content.iter().map(|cell| cell.symbol().to_owned()).collect::<String>()
    };
    assert_eq!(text(&buffer), text(&colored), "the same text");
    let both = Modifier::BOLD | Modifier::REVERSED;
    assert!(marked(&buffer, |_, modifier| modifier.contains(both)).contains("lexer"));
    assert!(marked(&buffer, |_, modifier| modifier.contains(Modifier::REVERSED)).starts_with('❯'));
}

#[test]
fn no_recorded_text_controls_the_terminal() {
    let hostile = "a\u{1b}]52;c;aGk=\u{7}\u{9b}2J\u{202e}\u{8}\r\n\tb";
    let mut browser = browser(100, 20, "lexer", "\t");
    let text = || hostile.to_owned();
    for item in &mut browser.hits.items {
        *item = Item {
            when: text(),
            who: text(),
            project_name: text(),
            text: text(),
            card: text(),
            citation: text(),
            ..item.clone()
        };
    }
    browser.notice = text();
    browser.setup.project = Some(text());
    browser.filters.agent = Some(text());
    browser.preview.clear();
    let mut shown = Vec::new();
    for keys in ["", "y", "p", "r"] {
        for c in keys.chars() {
            let effects = browser.update(Input::Key(KeyCode::Char(c).into()));
            for effect in effects {
                if let Effect::Request(request) = effect
                    && let crate::source::RequestKind::Resume(_) = request.kind
                {
                    let command = crate::item::ResumeCommand {
                        title: text(),
                        folder: text(),
                        command: text(),
                        ..resume_command()
                    };
                    browser.update(Input::Answer(request, Ok(BrowseAnswer::Resume(command))));
                }
            }
        }
        shown.push(rendered(&browser));
    }
    for cell in shown.iter().flat_map(|buffer| &buffer.content) {
        let is_bad = |c: char| c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c);
        assert!(!cell.symbol().contains(is_bad), "{cell:?}");
    }
}
