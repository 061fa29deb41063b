//! A report of two projects.

use expect_test::expect;

use super::*;

/// 2026-11-15T09:30:00Z.
const NOW: u64 = 1_794_735_000_000;

fn fact(kind: &str, text: &str, number: u64) -> v1::SessionFact {
    v1::SessionFact {
        kind: kind.to_owned(),
        text: text.to_owned(),
        number,
        at_ms: NOW - DAY_MS,
        ..v1::SessionFact::default()
    }
}

fn session(project: &str, branch: &str, title: &str, facts: Vec<v1::SessionFact>) -> v1::Session {
    v1::Session {
        short_id: "419f42f0".to_owned(),
        project: project.to_owned(),
        branch: branch.to_owned(),
        title: title.to_owned(),
        facts,
        ..v1::Session::default()
    }
}

fn period() -> WorkPeriod {
    let lexer = vec![
        fact("pull_request", "PR #12: Unicode", 9),
        fact("pull_request", "Opened PR #13: Emoji", 10),
        fact("commit", "Accept unicode identifiers", 12),
        fact("decision", "Use unicode-ident, because it has no dependencies", 7),
        fact("open", "Should emoji be accepted?", 14),
    ];
    let emoji = vec![fact("commit", "Accept emoji", 22), fact("open", "The docs are missing", 24)];
    let unicode = v1::Session {
        conclusion: "Identifiers follow the XID rules now".to_owned(),
        ..session("/home/dev/app", "feature/unicode", "Unicode identifiers", lexer)
    };
    WorkPeriod {
        name: "last week".to_owned(),
        from: Millis(NOW - 7 * DAY_MS),
        to: Millis(NOW),
        sessions: vec![
            unicode,
            session("/home/dev/app", "feature/unicode", "Emoji", emoji),
            session("/home/dev/site", "", "Write the \u{1b}[31mfront page", Vec::new()),
        ],
        total: 3,
    }
}

#[test]
fn a_report_is_by_project_and_branch() {
    let screen = Screen::for_test(NOW, 80);
    expect![[r#"
        # Report: Nov 8 – Nov 15, 2026

        3 sessions, 2 commits, 1 pull request opened, 1 decision in 2 projects; looked at PR #12.

        ## app

        ### feature/unicode

        - **Unicode identifiers**: Identifiers follow the XID rules now (session 419f42f0)
        - **Emoji** (session 419f42f0)

        **Commits**

        - Accept unicode identifiers (#12)
        - Accept emoji (#22)

        **Pull requests**

        - PR #12: Unicode (#9)
        - Opened PR #13: Emoji (#10)

        **Decisions**

        - Use unicode-ident, because it has no dependencies (#7)

        **Open**

        - The docs are missing (#24)

        ## site

        - **Write the �[31mfront page** (session 419f42f0)
    "#]]
    .assert_eq(&render_report(&screen, &period(), true));
    let empty = WorkPeriod { sessions: Vec::new(), total: 0, ..period() };
    expect![[r#"
        # Report: Nov 8 – Nov 15, 2026

        Nothing recorded.
    "#]]
    .assert_eq(&render_report(&screen, &empty, false));
}

#[test]
fn a_standup_is_short() {
    let screen = Screen::for_test(NOW, 80);
    let today = WorkPeriod { sessions: Vec::new(), total: 0, from: Millis(NOW), ..period() };
    let old =
        v1::SessionFact { at_ms: NOW - 40 * DAY_MS, ..fact("open", "Who reviews the parser?", 3) };
    let mut recent = period().sessions;
    recent.reverse();
    recent.push(session("/home/dev/app", "feature/old", "Parser", vec![old]));
    let open = find_open_ends(&recent);
    expect![[r#"
        **Yesterday (Sun, Nov 8)**
        - app: **Unicode identifiers**: Identifiers follow the XID rules now [1 commit]
        - app: **Emoji** [1 commit]
        - site: **Write the �[31mfront page**

        **Today**
        - nothing recorded

        **Open**
        - The docs are missing
        - Should emoji be accepted?
        - Who reviews the parser? (Oct 6)
    "#]]
    .assert_eq(&render_standup(&screen, (Some(&period()), None), &today, &open, false));
}
