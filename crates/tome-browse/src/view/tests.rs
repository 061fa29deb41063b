//! The screens: lists, contents, help and questions, at four widths, with colors and without.

use expect_test::{Expect, expect};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;
use ratatui::style::{Color, Modifier};

use super::*;
use crate::item::{Item, ListKind, ListPage};
use crate::source::{Answer, Request};
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

fn answer(request: &Request) -> Answer {
    use crate::source::RequestKind as Kind;
    match &request.kind {
        Kind::List(query) if query.words.is_empty() => {
            Answer::List(ListPage { items: sessions(), has_more: true, ..ListPage::default() })
        }
        Kind::List(query) if query.words == "nosuch" => {
            Answer::List(ListPage { kind: ListKind::Hits, ..ListPage::default() })
        }
        Kind::List(_) => Answer::List(ListPage {
            kind: ListKind::Hits,
            items: vec![hit("#12"), note(), hit("#40")],
            has_more: false,
            notice: "indexing 230 events".to_owned(),
        }),
        Kind::Contents { node, .. } if node.is_empty() => {
            Answer::Contents(contents_page("", None, &["toc:year:2026", "toc:year:2025"]))
        }
        Kind::Contents { node, .. } => Answer::Contents(contents_page(
            node,
            Some(""),
            &["toc:month:2026-11", "toc:month:2026-10"],
        )),
        Kind::Preview { item, .. } => match item.target {
            crate::item::ItemTarget::Session(_) => Answer::Preview(PAGE.to_owned()),
            _ => Answer::Preview(item.card.clone()),
        },
        Kind::Resume(_) => Answer::Resume(resume_command()),
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
fn the_latest_sessions_at_four_widths() {
    check(
        &browser(60, 16, "", ""),
        &expect![[r#"
            ❯ type to search                                 3+ sessions
            app  any agent  anytime  anything  anyone
            ❯ 2 h ago      claude-code  Accept unicode identifiers in t…
              Nov 13       codex        Fix the build
              Nov 5, 2025  claude-code  漢字 in titles take two columns…


            ────────────────────────────────────────────────────────────
             Accept unicode identifiers
             claude-code · on feature/unicode

               1  09:30  Please make the lexer accept unicode
               identifiers.
                       → Fixed: identifiers in `lexer.rs` follow the
                       XID rules now.                           3 more
            Enter reads · Tab list and filters · Esc leaves · ↑↓ choose
        "#]],
    );
    check(
        &browser(80, 24, "", ""),
        &expect![[r#"
            ❯ type to search                                                     3+ sessions
            app  any agent  anytime  anything  anyone
            ❯ 2 h ago      claude-code  Accept unicode identifiers in the lexer and in the…
              Nov 13       codex        Fix the build
              Nov 5, 2025  claude-code  漢字 in titles take two columns each






            ────────────────────────────────────────────────────────────────────────────────
             Accept unicode identifiers
             claude-code · on feature/unicode

               1  09:30  Please make the lexer accept unicode identifiers.
                       → Fixed: identifiers in `lexer.rs` follow the XID rules now.

             Commits
               • 469cb2e Accept unicode identifiers



            Enter reads · Tab list and filters · Esc leaves · ↑↓ choose · Shift-↑↓ scroll
        "#]],
    );
    check(
        &browser(100, 16, "", "\tp"),
        &expect![[r#"
            ❯ type to search                                                                         3+ sessions
            p all projects  a any agent  w anytime  s anything  u anyone
            ❯ 2 h ago      Accept unicode identifiers in… │ Accept unicode identifiers
              Nov 13       Fix the build                  │ claude-code · on feature/unicode
              Nov 5, 2025  漢字 in titles take two column…│
                                                          │   1  09:30  Please make the lexer accept unicode
                                                          │   identifiers.
                                                          │           → Fixed: identifiers in `lexer.rs` follow
                                                          │           the XID rules now.
                                                          │
                                                          │ Commits
                                                          │   • 469cb2e Accept unicode identifiers
                                                          │
                                                          │
                                                          │
            Enter reads · ? help · q leaves · / search · r resume · e edit · t contents · y copy
        "#]],
    );
    check(
        &browser(160, 16, "", "\t"),
        &expect![[r#"
            ❯ type to search                                                                                                                                     3+ sessions
            p app  a any agent  w anytime  s anything  u anyone
            ❯ 2 h ago      claude-code  Accept unicode identifiers in the lexer and… │ Accept unicode identifiers
              Nov 13       codex        Fix the build                                │ claude-code · on feature/unicode
              Nov 5, 2025  claude-code  漢字 in titles take two columns each         │
                                                                                     │   1  09:30  Please make the lexer accept unicode identifiers.
                                                                                     │           → Fixed: identifiers in `lexer.rs` follow the XID rules now.
                                                                                     │
                                                                                     │ Commits
                                                                                     │   • 469cb2e Accept unicode identifiers
                                                                                     │
                                                                                     │
                                                                                     │
                                                                                     │
                                                                                     │
            Enter reads · ? help · q leaves · / search · r resume · e edit · t contents · y copy
        "#]],
    );
}

#[test]
fn hits_at_four_widths() {
    check(
        &browser(60, 16, "lexer", ""),
        &expect![[r#"
            ❯ lexer                                               3 hits
            app  any agent  anytime  anything  anyone
            ❯ Nov 14  user  Please make the lexer accept unicode identi…
              Nov 14  note  lexer: identifiers follow the XID rules
              Nov 14  user  Please make the lexer accept unicode identi…


            ────────────────────────────────────────────────────────────
             #12  Nov 14, 09:31 · user

             Please make the lexer accept unicode identifiers.

             answered #17: Identifiers in `lexer.rs` now follow the
             XID rules.

            Enter reads · Tab list and filters       indexing 230 events
        "#]],
    );
    check(
        &browser(80, 24, "lexer", "\tj"),
        &expect![[r#"
            ❯ lexer                                                                   3 hits
            p app  a any agent  w anytime  s anything  u anyone
              Nov 14  user  Please make the lexer accept unicode identifiers.
            ❯ Nov 14  note  lexer: identifiers follow the XID rules
              Nov 14  user  Please make the lexer accept unicode identifiers.






            ────────────────────────────────────────────────────────────────────────────────











            Enter reads · ? help · q leaves · / search · r resume        indexing 230 events
        "#]],
    );
    check(
        &browser(100, 14, "lexer", ""),
        &expect![[r#"
            ❯ lexer                                                                                       3 hits
            app  any agent  anytime  anything  anyone
            ❯ Nov 14  user  Please make the lexer accept… │ #12  Nov 14, 09:31 · user
              Nov 14  note  lexer: identifiers follow the…│
              Nov 14  user  Please make the lexer accept… │ Please make the lexer accept unicode identifiers.
                                                          │
                                                          │ answered #17: Identifiers in `lexer.rs` now follow
                                                          │ the XID rules.
                                                          │
                                                          │
                                                          │
                                                          │
                                                          │
            Enter reads · Tab list and filters · Esc leaves · ↑↓ choose · Shift-↑↓ scroll    indexing 230 events
        "#]],
    );
    check(
        &browser(160, 14, "lexer", "\twa"),
        &expect![[r#"
            ❯ lexer                                                                                                                                                   3 hits
            p app  a claude-code  w today  s anything  u anyone
            ❯ Nov 14  user  Please make the lexer accept unicode identifiers.        │ #12  Nov 14, 09:31 · user
              Nov 14  note  lexer: identifiers follow the XID rules                  │
              Nov 14  user  Please make the lexer accept unicode identifiers.        │ Please make the lexer accept unicode identifiers.
                                                                                     │
                                                                                     │ answered #17: Identifiers in `lexer.rs` now follow the XID rules.
                                                                                     │
                                                                                     │
                                                                                     │
                                                                                     │
                                                                                     │
                                                                                     │
            Enter reads · ? help · q leaves · / search · r resume · e edit · t contents · y copy                                                         indexing 230 events
        "#]],
    );
}

#[test]
fn the_contents_at_four_widths() {
    check(
        &browser(60, 12, "", "\tt"),
        &expect![[r#"
            Contents  all years
            p app
            ❯ 2026  804 events  Unicode identifiers
              2025  804 events  Unicode identifiers


            ────────────────────────────────────────────────────────────
               Nov 14, 09:31 · user

             Please make the lexer accept unicode identifiers.
                                                                2 more
            → opens · ← up · t back · ? help · q leaves · r resume
        "#]],
    );
    check(
        &browser(80, 12, "", "\tt\n"),
        &expect![[r#"
            Contents  2026
            p app
            ❯ 2026-11  804 events  Unicode identifiers
              2026-10  804 events  Unicode identifiers


            ────────────────────────────────────────────────────────────────────────────────
               Nov 14, 09:31 · user

             Please make the lexer accept unicode identifiers.
                                                                                    1 more
            → opens · ← up · t back · ? help · q leaves · r resume
        "#]],
    );
    check(
        &browser(100, 12, "", "\tt"),
        &expect![[r#"
            Contents  all years
            p app
            ❯ 2026  Unicode identifiers                   │   Nov 14, 09:31 · user
              2025  Unicode identifiers                   │
                                                          │ Please make the lexer accept unicode identifiers.
                                                          │
                                                          │ answered #17: Identifiers in `lexer.rs` now follow
                                                          │ the XID rules.
                                                          │
                                                          │
                                                          │
            → opens · ← up · t back · ? help · q leaves · r resume
        "#]],
    );
    check(
        &browser(160, 12, "", "\tt\n"),
        &expect![[r#"
            Contents  2026
            p app
            ❯ 2026-11  804 events  Unicode identifiers                               │   Nov 14, 09:31 · user
              2026-10  804 events  Unicode identifiers                               │
                                                                                     │ Please make the lexer accept unicode identifiers.
                                                                                     │
                                                                                     │ answered #17: Identifiers in `lexer.rs` now follow the XID rules.
                                                                                     │
                                                                                     │
                                                                                     │
                                                                                     │
            → opens · ← up · t back · ? help · q leaves · r resume
        "#]],
    );
}

#[test]
fn the_help_and_the_question_at_four_widths() {
    check(
        &browser(60, 20, "", "\t?"),
        &expect![[r#"
            ❯ type to search                                 3+ sessions
            p ┌ Keys ────────────────────────────────────────────────┐
            ❯ │ type            search; Tab: to the list and back    │t…
              │ ↑ ↓  PgUp PgDn  choose; in the list also j k g G     │
              │ Shift-↑↓  J K   scroll the preview                   │s…
              │ Enter           read it, at the cited place          │
              │ Esc  q  Ctrl-C  leave                                │
              │                 in the list (or with Alt):           │
              │ r               resume the session in its agent      │
            ──│ e               edit the note in your editor         │──
             A│ t               contents: → opens, ← goes up         │
             c│ y               copy the citation for `tome show`    │
              │ p               this project or all                  │
              │ a               agent                                │
              │ w               when: today, 7 days, 30 days         │
              │ s               sessions, notes, lessons, contents   │
              │ u               user, agent or tools                 │
              │ /               search                               │
             C└──────────────────────────────────────────────────────┘
            Enter reads · ? help · q leaves · / search · r resume
        "#]],
    );
    check(
        &browser(80, 24, "", "\t?"),
        &expect![[r#"
            ❯ type to search                                                     3+ sessions
            p app  a any agent  w anytime  s anything  u anyone
            ❯ 2 h ago      claude-code  Accept unicode identifiers in the lexer and in the…
              N┌ Keys ──────────────────────────────────────────────────────────────────┐
              N│ type            search; Tab: to the list and back                      │
               │ ↑ ↓  PgUp PgDn  choose; in the list also j k g G                       │
               │ Shift-↑↓  J K   scroll the preview                                     │
               │ Enter           read it, at the cited place                            │
               │ Esc  q  Ctrl-C  leave                                                  │
               │                 in the list (or with Alt):                             │
               │ r               resume the session in its agent                        │
            ───│ e               edit the note in your editor                           │───
             Ac│ t               contents: → opens, ← goes up                           │
             cl│ y               copy the citation for `tome show`                      │
               │ p               this project or all                                    │
               │ a               agent                                                  │
               │ w               when: today, 7 days, 30 days                           │
               │ s               sessions, notes, lessons, contents                     │
             Co│ u               user, agent or tools                                   │
               │ /               search                                                 │
               └────────────────────────────────────────────────────────────────────────┘


            Enter reads · ? help · q leaves · / search · r resume · e edit · t contents
        "#]],
    );
    check(
        &browser(60, 14, "", "\tr"),
        &expect![[r#"
            ❯ type to search                                 3+ sessions
            p app  a any agent  w anytime  s anything  u anyone
            ❯ 2 h ago      claude-code  Accept unicode identifiers in t…
              ┌ Resume ──────────────────────────────────────────────┐
              │ Accept unicode identifiers in the lexer              │s…
              │ folder   /home/dev/app                               │
            ──│ command  claude --resume                             │──
             A│          419f42f0-2fa1-44cc-8b4d-babf59901513        │
             c│                                                      │
              │ Enter runs it · p prints it · Esc goes back          │
              └──────────────────────────────────────────────────────┘
               identifiers.
                       → Fixed: identifiers in `lexer.rs` follo 4 more
            Enter reads · ? help · q leaves · / search · r resume
        "#]],
    );
    check(
        &browser(100, 14, "", "\tr"),
        &expect![[r#"
            ❯ type to search                                                                         3+ sessions
            p app  a any agent  w anytime  s anything  u anyone
            ❯ 2 h ago      Accept unicode identifiers in… │ Accept unicode identifiers
              Nov 13     ┌ Resume ────────────────────────────────────────────────────────────────┐
              Nov 5, 2025│ Accept unicode identifiers in the lexer                                │
                         │ folder   /home/dev/app                                                 │t unicode
                         │ command  claude --resume 419f42f0-2fa1-44cc-8b4d-babf59901513          │
                         │                                                                        │r.rs` follow
                         │ Enter runs it · p prints it · Esc goes back                            │
                         └────────────────────────────────────────────────────────────────────────┘
                                                          │ Commits
                                                          │   • 469cb2e Accept unicode identifiers
                                                          │
            Enter reads · ? help · q leaves · / search · r resume · e edit · t contents · y copy
        "#]],
    );
    check(
        &browser(160, 14, "", "\tr"),
        &expect![[r#"
            ❯ type to search                                                                                                                                     3+ sessions
            p app  a any agent  w anytime  s anything  u anyone
            ❯ 2 h ago      claude-code  Accept unicode identifiers in the lexer and… │ Accept unicode identifiers
              Nov 13       codex        Fix the build  ┌ Resume ────────────────────────────────────────────────────────────────┐
              Nov 5, 2025  claude-code  漢字 in titles │ Accept unicode identifiers in the lexer                                │
                                                       │ folder   /home/dev/app                                                 │nicode identifiers.
                                                       │ command  claude --resume 419f42f0-2fa1-44cc-8b4d-babf59901513          │s` follow the XID rules now.
                                                       │                                                                        │
                                                       │ Enter runs it · p prints it · Esc goes back                            │
                                                       └────────────────────────────────────────────────────────────────────────┘
                                                                                     │
                                                                                     │
                                                                                     │
            Enter reads · ? help · q leaves · / search · r resume · e edit · t contents · y copy
        "#]],
    );
}

#[test]
fn nothing_found_and_a_screen_that_is_too_small() {
    check(
        &browser(60, 12, "nosuch", ""),
        &expect![[r#"
            ❯ nosuch
            app  any agent  anytime  anything  anyone
              nothing relevant
              p in the list searches all projects


            ────────────────────────────────────────────────────────────




            Enter reads · Tab list and filters · Esc leaves · ↑↓ choose
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
            place: text(),
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
                    browser.update(Input::Answer(request, Ok(Answer::Resume(command))));
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
