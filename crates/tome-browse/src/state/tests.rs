//! The state machine: which key does what, and which answers count.

use ratatui::crossterm::event::{KeyCode, KeyModifiers};

use super::*;
use crate::filters::{ScopeFilter, SpeakerFilter, TimeFilter};
use crate::item::{ContentsPage, ItemTarget};
use crate::test_items::{contents_page, hit, note, session, sessions};

fn browser(words: &str) -> (Browser, Vec<Effect>) {
    Browser::new(BrowserSetup {
        words: words.to_owned(),
        project: Some("app".to_owned()),
        size: (80, 24),
        ..BrowserSetup::default()
    })
}

fn press(browser: &mut Browser, code: KeyCode) -> Vec<Effect> {
    browser.update(Input::Key(code.into()))
}

fn type_text(browser: &mut Browser, text: &str) -> Vec<Effect> {
    text.chars().flat_map(|c| press(browser, KeyCode::Char(c))).collect()
}

/// The requests among some effects.
fn requests(effects: &[Effect]) -> Vec<Request> {
    let request = |effect: &Effect| match effect {
        Effect::Request(request) => Some(request.clone()),
        _ => None,
    };
    effects.iter().filter_map(request).collect()
}

fn last_request(effects: &[Effect]) -> Request {
    requests(effects).pop().expect("a request")
}

fn words(request: &Request) -> String {
    match &request.kind {
        RequestKind::List(query) => query.words.clone(),
        other => panic!("{other:?}"),
    }
}

fn answer_list(browser: &mut Browser, request: Request, items: Vec<Item>) -> Vec<Effect> {
    let page = ListPage { items, ..ListPage::default() };
    browser.update(Input::Answer(request, Ok(BrowseAnswer::List(page))))
}

/// A browser with the latest sessions, whose list has the focus.
fn listed() -> Browser {
    let (mut browser, effects) = browser("");
    answer_list(&mut browser, last_request(&effects), sessions());
    press(&mut browser, KeyCode::Tab);
    browser
}

#[test]
fn typing_searches_and_a_late_answer_is_dropped() {
    let (mut browser, effects) = browser("");
    assert_eq!(words(&last_request(&effects)), "");
    let typed = requests(&type_text(&mut browser, "lex"));
    assert_eq!(typed.iter().map(words).collect::<Vec<_>>(), ["l", "le", "lex"]);
    let [first, second, third] = typed.try_into().unwrap();
    answer_list(&mut browser, second, vec![hit("#2")]);
    assert_eq!(browser.hits.items.len(), 1, "shown until the newest answer comes");
    assert!(browser.is_searching());
    answer_list(&mut browser, first, vec![hit("#1"), hit("#3")]);
    assert_eq!(browser.hits.items[0].citation, "#2", "an older answer is dropped");
    answer_list(&mut browser, third, vec![hit("#4")]);
    assert_eq!((browser.hits.items[0].citation.as_str(), browser.is_searching()), ("#4", false));
    assert_eq!(type_text(&mut browser, " "), [], "a space alone changes nothing");
}

#[test]
fn an_error_is_shown_until_the_next_key() {
    let (mut browser, effects) = browser("");
    let request = last_request(&effects);
    browser.update(Input::Answer(request, Err("the daemon is not running".to_owned())));
    assert!(browser.message.as_ref().is_some_and(|message| message.is_error));
    assert!(!browser.is_searching());
    press(&mut browser, KeyCode::Down);
    assert_eq!(browser.message, None);
}

#[test]
fn letters_act_in_the_list_and_with_alt_in_the_search_field() {
    let mut browser = listed();
    let effects = press(&mut browser, KeyCode::Char('j'));
    assert!(matches!(last_request(&effects).kind, RequestKind::Preview { .. }));
    assert_eq!((browser.hits.chosen, browser.search.text().as_str()), (1, ""));
    let filtered = requests(&type_text(&mut browser, "pawsu"));
    assert_eq!(filtered.len(), 5);
    assert_eq!(browser.filters.range, ProjectRange::All);
    assert_eq!(browser.filters.agent.as_deref(), Some("claude-code"));
    assert_eq!(browser.filters.period, TimeFilter::Today);
    assert_eq!(browser.filters.scope, ScopeFilter::Sessions);
    assert_eq!(browser.filters.speaker, SpeakerFilter::User);
    press(&mut browser, KeyCode::Char('/'));
    type_text(&mut browser, "w");
    assert_eq!((browser.filters.period, browser.search.text().as_str()), (TimeFilter::Today, "w"));
    let alt = KeyEvent::new(KeyCode::Char('w'), KeyModifiers::ALT);
    browser.update(Input::Key(alt));
    assert_eq!((browser.filters.period, browser.search.text().as_str()), (TimeFilter::Week, "w"));
}

#[test]
fn enter_reads_and_the_note_is_edited() {
    let mut browser = listed();
    let effects = press(&mut browser, KeyCode::Enter);
    assert_eq!(effects, [Effect::Read(Box::new(sessions().remove(0)))]);
    assert_eq!(press(&mut browser, KeyCode::Char('e')), []);
    assert!(browser.message.is_some(), "a session cannot be edited");
    let request = last_request(&type_text(&mut browser, "s"));
    answer_list(&mut browser, request, vec![note()]);
    assert_eq!(press(&mut browser, KeyCode::Char('e')), [Effect::Edit(Box::new(note()))]);
    let effects = browser.update(Input::Returned { is_changed: true });
    assert!(matches!(last_request(&effects).kind, RequestKind::List(_)), "the list is read again");
    assert_eq!(press(&mut browser, KeyCode::Char('r')), [], "a note has no session");
    let copied = press(&mut browser, KeyCode::Char('y'));
    assert_eq!(copied, [Effect::Copy("memory/lexer.md".to_owned())]);
}

#[test]
fn a_session_is_resumed_after_a_question() {
    let mut browser = listed();
    let request = last_request(&press(&mut browser, KeyCode::Char('r')));
    let command = crate::test_items::resume_command();
    let answer = Ok(BrowseAnswer::Resume(command.clone()));
    browser.update(Input::Answer(request.clone(), answer.clone()));
    assert_eq!(press(&mut browser, KeyCode::Esc), [], "closes the question only");
    browser.update(Input::Answer(request, answer));
    let print = BrowseExit::Resume { command: command.clone(), run_now: false };
    assert_eq!(press(&mut browser, KeyCode::Char('p')), [Effect::Exit(print)]);
    let run = BrowseExit::Resume { command, run_now: true };
    assert_eq!(press(&mut browser, KeyCode::Enter), [Effect::Exit(run)]);
}

#[test]
fn the_contents_are_walked_down_and_up() {
    let mut browser = listed();
    let open = |browser: &mut Browser, effects: &[Effect], page: ContentsPage| {
        browser.update(Input::Answer(last_request(effects), Ok(BrowseAnswer::Contents(page))))
    };
    let node = |effects: &[Effect]| match last_request(effects).kind {
        RequestKind::Contents { node, .. } => node,
        other => panic!("{other:?}"),
    };
    let years = contents_page("", None, &["toc:year:2026"]);
    let months =
        contents_page("toc:year:2026", Some(""), &["toc:month:2026-11", "toc:month:2026-10"]);
    let effects = press(&mut browser, KeyCode::Char('t'));
    let effects = open(&mut browser, &effects, years.clone());
    assert_eq!(node(&effects), "toc:year:2026", "a single year is opened at once");
    open(&mut browser, &effects, months.clone());
    press(&mut browser, KeyCode::Down);
    let effects = press(&mut browser, KeyCode::Right);
    assert_eq!(node(&effects), "toc:month:2026-10");
    let month = contents_page("toc:month:2026-10", Some("toc:year:2026"), &["toc:week:2026-W41"]);
    open(&mut browser, &effects, month);
    let effects = press(&mut browser, KeyCode::Left);
    assert_eq!(node(&effects), "toc:year:2026");
    open(&mut browser, &effects, months);
    assert_eq!(browser.contents.list.chosen, 1, "the month that was left is chosen");
    let effects = press(&mut browser, KeyCode::Char('h'));
    open(&mut browser, &effects, years);
    assert_eq!(browser.contents.list.items.len(), 1);
    assert_eq!(press(&mut browser, KeyCode::Left), [], "there is nothing above the years");
    let effects = press(&mut browser, KeyCode::Right);
    let mut segment = contents_page("toc:segment:x", Some("toc:day:2026-10-07"), &[]);
    segment.items = vec![hit("#7"), Item { target: ItemTarget::Nothing, ..hit("") }];
    open(&mut browser, &effects, segment);
    assert_eq!(press(&mut browser, KeyCode::Enter), [Effect::Read(Box::new(hit("#7")))]);
    press(&mut browser, KeyCode::Down);
    assert_eq!(press(&mut browser, KeyCode::Enter), [], "no evidence");
    press(&mut browser, KeyCode::Esc);
    assert_eq!((browser.page, browser.list().items.len()), (Page::Search, 3));
}

#[test]
fn a_hit_in_the_contents_opens_there() {
    let mut browser = listed();
    let request = last_request(&type_text(&mut browser, "s"));
    let day = Item { target: ItemTarget::Node("toc:day:2026-11-15".to_owned()), ..hit("") };
    answer_list(&mut browser, request, vec![day]);
    let effects = press(&mut browser, KeyCode::Enter);
    assert!(matches!(
        last_request(&effects).kind,
        RequestKind::Contents { node, .. } if node == "toc:day:2026-11-15"
    ));
}

#[test]
fn more_entries_are_requested_near_the_end() {
    let (mut browser, effects) = browser("");
    let many = |count: usize| -> Vec<Item> {
        (0..count).map(|number| session(&format!("s{number}"), "Fix it")).collect()
    };
    let page = |count| ListPage { items: many(count), has_more: true, ..ListPage::default() };
    browser.update(Input::Answer(last_request(&effects), Ok(BrowseAnswer::List(page(30)))));
    let effects = press(&mut browser, KeyCode::PageDown);
    assert_eq!(requests(&effects).len(), 1, "the preview only");
    let effects: Vec<Effect> =
        (0..2).flat_map(|_| press(&mut browser, KeyCode::PageDown)).collect();
    let request = last_request(&effects);
    assert!(matches!(&request.kind, RequestKind::List(query) if query.limit == 60));
    let chosen = browser.hits.chosen;
    browser.update(Input::Answer(request, Ok(BrowseAnswer::List(page(60)))));
    assert_eq!((browser.hits.chosen, browser.hits.items.len()), (chosen, 60));
}

#[test]
fn every_way_out_leaves() {
    let quit = [Effect::Exit(BrowseExit::Quit)];
    let control_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!(browser("").0.update(Input::Key(control_c)), quit);
    assert_eq!(press(&mut browser("").0, KeyCode::Esc), quit);
    assert_eq!(press(&mut listed(), KeyCode::Esc), quit);
    assert_eq!(press(&mut listed(), KeyCode::Char('q')), quit);
    assert_eq!(browser("").0.update(Input::Stop), [Effect::Exit(BrowseExit::Stopped)]);
}

#[test]
fn a_paste_is_one_line() {
    let (mut browser, _) = browser("");
    browser.update(Input::Paste("fix\nthe\tlexer\u{1b}[2J".to_owned()));
    assert_eq!(browser.search.text(), "fix the lexer\u{fffd}[2J");
}

/// A note that was edited leaves the index for a moment.
#[test]
fn a_list_that_is_behind_is_kept_and_requested_again() {
    let mut browser = listed();
    let request = last_request(&type_text(&mut browser, "s"));
    answer_list(&mut browser, request, vec![note(), hit("#7")]);
    assert_eq!(browser.refresh_delay(), None);
    let request = last_request(&browser.update(Input::Returned { is_changed: true }));
    let behind = ListPage {
        kind: ListKind::Hits,
        notice: "skipped: rust/no.md".to_owned(),
        is_behind: true,
        ..ListPage::default()
    };
    let page = BrowseAnswer::List(behind.clone());
    browser.update(Input::Answer(request, Ok(page.clone())));
    assert_eq!((browser.hits.items.len(), browser.notice.as_str()), (2, "skipped: rust/no.md"));
    let first = browser.refresh_delay().unwrap();
    let request = last_request(&browser.update(Input::Refresh));
    assert_eq!(browser.refresh_delay(), None, "an answer is on its way");
    browser.update(Input::Answer(request, Ok(page)));
    assert!(browser.refresh_delay().unwrap() > first);
    let request = last_request(&browser.update(Input::Refresh));
    answer_list(&mut browser, request, vec![hit("#7")]);
    assert_eq!((browser.hits.items.len(), browser.notice.as_str()), (1, ""));
    assert_eq!(browser.refresh_delay(), None);
    // Another query shows what it found, complete or not.
    let request = last_request(&type_text(&mut browser, "s"));
    browser.update(Input::Answer(request, Ok(BrowseAnswer::List(behind))));
    assert_eq!(browser.hits.items.len(), 0);
}
