//! The list of sessions, at four widths.

use expect_test::expect;

use super::*;

/// 2026-11-15T09:30:00Z.
const NOW: u64 = 1_794_735_000_000;

fn session(id: &str, hours: u64, agent: &str, branch: &str, title: &str) -> v1::Session {
    v1::Session {
        id: format!("{id}-2fa1-44cc"),
        short_id: id.to_owned(),
        agent: agent.to_owned(),
        project: "/home/dev/app".to_owned(),
        branch: branch.to_owned(),
        title: title.to_owned(),
        last_at_ms: NOW - hours * 3_600_000,
        prompts: hours + 1,
        ..v1::Session::default()
    }
}

fn found() -> v1::ListSessionsResponse {
    let sessions = vec![
        session(
            "419f42f0",
            2,
            "claude-code",
            "feature/unicode-identifiers",
            "Accept unicode identifiers in the lexer and in the parser, with tests",
        ),
        session("0198c3f2-aa", 50, "codex", "", "Fix the \u{1b}[31mbuild"),
        session(
            "ses_52a1",
            9_000,
            "opencode",
            "main",
            "漢字 in titles take two columns each, which the table knows",
        ),
    ];
    v1::ListSessionsResponse { sessions, total: 45, ..v1::ListSessionsResponse::default() }
}

fn shown(width: usize, is_wide: bool) -> String {
    let mut out = Vec::new();
    print_list(&mut out, &Screen::for_test(NOW, width), &found(), is_wide).unwrap();
    let text = String::from_utf8(out).unwrap().replace(DIM, "").replace(RESET, "");
    for line in text.lines() {
        assert!(tome_terminal::display_width(line) <= width, "{width}: {line}");
    }
    text
}

#[test]
fn linked_worktrees_are_listed_where_there_is_space() {
    let mut found = found();
    found.sessions.truncate(2);
    found.sessions[0].worktree = "/home/dev/app-hotfix".to_owned();
    let list = |width| {
        let mut out = Vec::new();
        print_list(&mut out, &Screen::for_test(NOW, width), &found, false).unwrap();
        String::from_utf8(out).unwrap().replace(DIM, "").replace(RESET, "")
    };
    assert!(!list(60).contains("worktree"));
    expect![[r#"
          when     session      agent        branch             worktree    title                                          turns
          2 h ago  419f42f0     claude-code  feature/unicode-…  app-hotfix  Accept unicode identifiers in the lexer and…       3
          Nov 13   0198c3f2-aa  codex                                       Fix the �[31mbuild                                51
          … 43 earlier sessions; -n 4 lists more

        tome show 419f42f0 opens its page, tome read 419f42f0 the conversation
    "#]].assert_eq(&list(120));
}

#[test]
fn the_rest_of_a_long_list_can_be_reached() {
    assert_eq!(suggest_more(20, 45), "-n 40 lists more");
    assert_eq!(suggest_more(20, 40), "-n 0 lists all");
    assert_eq!(suggest_more(640, 1_000), "-n 0 lists all");
    assert_eq!(suggest_more(640, 2_500), "-n 0 lists 1,000");
    assert_eq!(suggest_more(1_000, 2_500), "--until lists those before a time");
}

#[test]
fn the_list_fits_every_width() {
    expect![[r#"
          when         session      title                      turns
          2 h ago      419f42f0     Accept unicode identifie…      3
          Nov 13       0198c3f2-aa  Fix the �[31mbuild            51
          Nov 5, 2025  ses_52a1     漢字 in titles take two…   9,001
          … 42 earlier sessions; -n 6 lists more

        tome show 419f42f0 opens its page, tome read 419f42f0 the
        conversation
    "#]]
    .assert_eq(&shown(60, false));
    expect![[r#"
          when         session      title                                          turns
          2 h ago      419f42f0     Accept unicode identifiers in the lexer and…       3
          Nov 13       0198c3f2-aa  Fix the �[31mbuild                                51
          Nov 5, 2025  ses_52a1     漢字 in titles take two columns each, which…   9,001
          … 42 earlier sessions; -n 6 lists more

        tome show 419f42f0 opens its page, tome read 419f42f0 the conversation
    "#]]
    .assert_eq(&shown(80, false));
    expect![[r#"
          when         session      project  agent        title                                        turns
          2 h ago      419f42f0     app      claude-code  Accept unicode identifiers in the lexer an…      3
          Nov 13       0198c3f2-aa  app      codex        Fix the �[31mbuild                              51
          Nov 5, 2025  ses_52a1     app      opencode     漢字 in titles take two columns each, whic…  9,001
          … 42 earlier sessions; -n 6 lists more

        tome show 419f42f0 opens its page, tome read 419f42f0 the conversation
    "#]].assert_eq(&shown(100, true));
    expect![[r#"
          when         session      project  agent        branch                       title                                                                  turns
          2 h ago      419f42f0     app      claude-code  feature/unicode-identifiers  Accept unicode identifiers in the lexer and in the parser, with tests      3
          Nov 13       0198c3f2-aa  app      codex                                     Fix the �[31mbuild                                                        51
          Nov 5, 2025  ses_52a1     app      opencode     main                         漢字 in titles take two columns each, which the table knows            9,001
          … 42 earlier sessions; -n 6 lists more

        tome show 419f42f0 opens its page, tome read 419f42f0 the conversation
    "#]].assert_eq(&shown(160, true));
}
