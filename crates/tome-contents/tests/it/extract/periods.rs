//! Summaries of days, weeks, months and years.

use expect_test::expect;
use proptest::prelude::*;
use serde_json::json;
use tome_contents::{Evidence, Extractive, RollupInput, Summarizer, Summary, Support};
use tome_model::{Bullet, EventId, Fact, GripId, Level, Millis, Node, SessionId, Work};

use super::samples::{lines_of, names};
use super::{events, summarize};

/// A stored node with this summary; grips are derived from the excerpts.
pub(crate) fn node(summary: &Summary, session: &str, events: u64) -> Node {
    let is_segment = |support: &Support| matches!(support, Support::Excerpts(_));
    let grips = |support: &Support| match support {
        Support::Excerpts(excerpts) => excerpts.iter().map(grip_of).collect(),
        Support::Grips(grips) => grips.clone(),
        Support::Bullets(_) => Vec::new(),
    };
    let bullets = summary.bullets.iter().map(|bullet| Bullet {
        text: bullet.text.clone(),
        grips: grips(&bullet.support),
        unsupported: false,
    });
    let work = summary.work.iter().map(|work| Work {
        branch: work.branch.clone(),
        sessions: if work.facts.iter().any(|fact| is_segment(&fact.support)) {
            vec![SessionId::parse(session).unwrap()]
        } else {
            work.sessions.clone()
        },
        turns: work.turns,
        commits: work.commits,
        weight: work.weight,
        facts: work
            .facts
            .iter()
            .filter_map(|fact| {
                let grips = grips(&fact.support);
                Fact::new(fact.kind, fact.text.clone(), fact.at, fact.weight, grips)
            })
            .collect(),
    });
    Node {
        id: serde_json::from_value(json!("toc:day:2026-03-02")).unwrap(),
        version: 1,
        open: false,
        title: summary.title.clone(),
        bullets: bullets.collect(),
        keywords: summary.keywords.clone(),
        children: Vec::new(),
        first_at: Millis(0),
        last_at: Millis(0),
        events,
        tokens: events * 90,
        agents: Vec::new(),
        sessions: vec![SessionId::parse(session).unwrap()],
        session_count: 1,
        source: None,
        summarizer: "extractive".to_owned(),
        made_at: Millis(0),
        work: work.collect(),
    }
}

fn grip_of(evidence: &Evidence) -> GripId {
    let event = EventId::parse(&format!("e{}", evidence.event)).unwrap();
    GripId::from_excerpt(Millis(0), &event, &evidence.excerpt)
}

fn sample(name: &str) -> Node {
    let events = events(&lines_of(name));
    node(&summarize(&events), name, events.len() as u64)
}

fn rollup(level: Level, children: &[Node]) -> Summary {
    let summary =
        Extractive.summarize_period(&RollupInput { level, period: "then", children }).unwrap();
    check(&summary, children);
    summary
}

fn check(summary: &Summary, children: &[Node]) {
    assert!(
        !summary.title.trim().is_empty() && summary.title.chars().count() <= 140,
        "{:?}",
        summary.title
    );
    assert!(summary.bullets.len() <= 12 && summary.keywords.len() <= 7);
    for bullet in &summary.bullets {
        assert!(bullet.text.chars().count() <= 320, "{:?}", bullet.text);
        let Support::Grips(grips) = &bullet.support else { panic!("a period has grips") };
        assert!(!grips.is_empty(), "{:?}", bullet.text);
        for grip in grips {
            assert!(children.iter().any(|child| child.grips().any(|known| known == grip)));
        }
    }
}

/// The page as read: titles and bullets, without grips.
fn page(summary: &Summary) -> String {
    let mut out = format!("# {}\n", summary.title);
    summary.bullets.iter().for_each(|bullet| out += &format!("- {}\n", bullet.text));
    out + &format!("[{}]\n", summary.keywords.join(", "))
}

#[test]
fn a_day_of_one_segment_has_its_title() {
    let only = sample("rust-bug-hunt");
    let summary = rollup(Level::Day, std::slice::from_ref(&only));
    assert_eq!(summary.title, only.title);
    assert_eq!(summary.keywords, only.keywords);
}

#[test]
fn a_day_of_two_sessions_names_both_themes() {
    let summary = rollup(Level::Day, &[sample("rust-bug-hunt"), sample("python-refactor")]);
    expect![[r#"
        # Lexer: slice identifiers at character boundaries; Get rid of the global `settings` object in ledgerly
        - The lexer panics on identifiers that start with a non-ASCII letter, e.g. `größe` → `Lexer::ident` now slices at the byte offset that `ident_end` returns instead of adding one per character, so identifiers such as `größe` lex without a panic.
        - Decided: Let's leave normalisation to the resolver.
        - Get rid of the global `settings` object in ledgerly → There are 37 imports of the global. Two options: Dependency injection; Context variable: keep the import, but back it with a `contextvars.ContextVar`
        - Go with option 1, a frozen dataclass passed in, because hidden state is exactly what bit us → `Importer` and `Matcher` now take a frozen `Settings`; tests get it from a fixture and nothing is monkeypatched any more.
        - Decided: Let's go with option 1, a frozen dataclass passed in, because hidden state is exactly what bit us.
        [lexer.rs, unicode_ident.rs, identifiers, größe, matcher.py, config.py, E0308]
    "#]].assert_eq(&page(&summary));
}

#[test]
fn segments_of_one_session_become_one_theme() {
    let all = events(&lines_of("go-ci-failure"));
    let piece =
        |part: &[tome_model::Event]| node(&summarize(part), "go-ci-failure", part.len() as u64);
    let summary =
        rollup(Level::Day, &[piece(&all[..4]), piece(&all[4..10]), sample("trivial-questions")]);
    expect![[r#"
        # Is there a shortcut in vim to jump to the matching bracket?; CI is red on main since last night, locally it's green
        - CI is red on main since last night, locally it's green
        - How do I undo the last commit but keep the changes? → Use `git reset --soft HEAD~1`: the commit is gone, the changes stay staged.
        - What's the difference between String and &str in rust? → `String` owns its text on the heap and can grow; `&str` borrows a view of text that somebody else owns.
        - Is there a shortcut in vim to jump to the matching bracket? → Yes: `%` jumps between matching brackets.
        [broker_test.go, String, broker.go, str, matching, text, shortcut]
    "#]].assert_eq(&page(&summary));
}

#[test]
fn weeks_and_years_keep_the_main_themes() {
    let names = names();
    let samples: Vec<Node> = names.iter().map(|name| sample(name)).collect();
    let level = |level, children: &[Node], size: usize| -> Vec<Node> {
        let over = |chunk: &[Node]| {
            node(&rollup(level, chunk), "many", chunk.iter().map(|one| one.events).sum())
        };
        children.chunks(size).map(over).collect()
    };
    let days = level(Level::Day, &samples, 2);
    let weeks = level(Level::Week, &days, 4);
    let months = level(Level::Month, &weeks, 1);
    expect![[r#"
        # Get rid of the global `settings` object in ledgerly; 订单导出接口在数据量大的时候会超时
        - Go with option 1, a frozen dataclass passed in, because hidden state is exactly what bit us → `Importer` and `Matcher` now take a frozen `Settings`; tests get it from a fixture and nothing is monkeypatched any more.
        - CI is red on main since last night, locally it's green → `reconnect` now takes `b.mu` before it replaces the connection, which removes the data race, and the backoff is capped at 2s and driven by a fake clock in the test, so it no longer depends on how slow the CI runner is.
        - 订单导出接口在数据量大的时候会超时，帮我看看怎么回事 → 问题在于 `ExportService.export` 对每个订单单独查询一次用户，20 万条订单就是 20 万次查询，典型的 N+1 查询。
        - タイムゾーンが原因だと思うのですが、調べて直してもらえますか？ → テスト環境のタイムゾーンが UTC のため、`toLocal` では実行環境に依存してしまいます。
        - Der Upload von großen Bildern bricht ab, Fehler 413 kommt vom nginx → Das Limit steht jetzt auf 20 MB (`client_max_body_size 20m` in `deploy/nginx.conf`), die Konfiguration ist gültig.
        - I'm in the middle of rebasing feature/tiles onto main and got stuck on conflicts, please resolve them → `TileError` from main won in `cache.rs` and `mod.rs`, eviction by size from the branch is kept, and `TileError` gained an `Io` variant because the branch reads tiles with `?`. (and 2 more pieces of work)
        [流式导出, broker_test.go, タイムゾーン, 订单, cache.rs, slo_report.py, nginx.conf]
    "#]].assert_eq(&page(&rollup(Level::Week, &days[..4])));
    expect![[r#"
        # Lexer: slice identifiers at character boundaries; Celery: вызывать django.setup до поиска задач
        - Monday, March 2, 2026 (1 session): Get rid of the global `settings` object in ledgerly; 订单导出接口在数据量大的时候会超时; Der Upload von großen Bildern bricht ab, Fehler 413 kommt vom nginx
        - Monday, March 2, 2026 (1 session): Lexer: slice identifiers at character boundaries; Celery: вызывать django.setup до поиска задач; Sessions live in Postgres now
        [lexer.rs, 流式导出, session_store.go, broker_test.go, unicode_ident.rs, タイムゾーン, useSavedItems.ts]
    "#]].assert_eq(&page(&rollup(Level::Year, &months)));
}

#[test]
fn an_idle_period_has_a_title_but_no_bullets() {
    let idle = Summary {
        title: "Session opened, nothing asked yet".to_owned(),
        bullets: Vec::new(),
        keywords: Vec::new(),
        work: Vec::new(),
    };
    let idle = node(&idle, "s", 1);
    expect![[r#"
        # Session opened, nothing asked yet
        []
    "#]]
    .assert_eq(&page(&rollup(Level::Day, &[idle.clone(), idle])));
    expect![[r#"
        # Nothing said
        []
    "#]]
    .assert_eq(&page(&rollup(Level::Day, &[])));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_rollup_of_arbitrary_nodes_is_valid_and_deterministic(
        parts in proptest::collection::vec(("\\PC{0,120}", proptest::collection::vec("\\PC{0,200}", 0..7), proptest::collection::vec("\\PC{1,20}", 0..8), 0u64..100_000), 0..14),
        level in proptest::sample::select(&[Level::Day, Level::Week, Level::Month, Level::Year][..]),
    ) {
        let children: Vec<Node> = parts.into_iter().map(|(title, bullets, keywords, events)| {
            let bullets = bullets.into_iter().map(|text| tome_contents::SummaryBullet { text, support: Support::Excerpts(Vec::new()) }).collect();
            node(&Summary { title, bullets, keywords, work: Vec::new() }, "s", events)
        }).collect();
        // A single child is copied, however long it is.
        prop_assume!(children.len() != 1);
        let summary = Extractive.summarize_period(&RollupInput { level, period: "then", children: &children }).unwrap();
        check(&summary, &children);
        let again = Extractive.summarize_period(&RollupInput { level, period: "then", children: &children }).unwrap();
        prop_assert_eq!(summary, again);
    }
}
