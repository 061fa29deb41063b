//! Summaries of days, weeks, months and years.

use expect_test::expect;
use proptest::prelude::*;
use serde_json::json;
use tome_contents::{Extractive, RollupInput, Summarizer, Summary, Support};
use tome_model::{Bullet, Level, Millis, Node, SessionId};

use super::samples::{lines_of, names};
use super::{events, rendered, summarize};

fn node(summary: &Summary, session: &str, events: u64) -> Node {
    let bullet =
        |text: &String| Bullet { text: text.clone(), grips: Vec::new(), unsupported: false };
    Node {
        id: serde_json::from_value(json!("toc:day:2026-03-02")).unwrap(),
        version: 1,
        open: false,
        title: summary.title.clone(),
        bullets: summary.bullets.iter().map(|one| bullet(&one.text)).collect(),
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
    }
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
    assert!(summary.bullets.len() <= 5 && summary.keywords.len() <= 7);
    for bullet in &summary.bullets {
        assert!(bullet.text.chars().count() <= 160);
        let Support::Bullets(places) = &bullet.support else { panic!("a period has bullets") };
        assert!(!places.is_empty());
        for (child, place) in places {
            assert!(children[*child].bullets.get(*place).is_some());
        }
    }
}

#[test]
fn a_day_of_one_segment_copies_its_summary() {
    let only = sample("rust-bug-hunt");
    let summary = rollup(Level::Day, std::slice::from_ref(&only));
    assert_eq!(summary.title, only.title);
    assert_eq!(summary.keywords, only.keywords);
    let texts: Vec<&str> = summary.bullets.iter().map(|bullet| bullet.text.as_str()).collect();
    assert_eq!(texts, only.bullets.iter().map(|bullet| bullet.text.as_str()).collect::<Vec<_>>());
}

#[test]
fn a_day_of_two_sessions_names_both_themes() {
    let summary = rollup(Level::Day, &[sample("rust-bug-hunt"), sample("python-refactor")]);
    expect![[r#"
        # The lexer panics on identifiers that start with a…; Get rid of the global settings object in ledgerly
        - The lexer panics on identifiers that start with a…: The root cause is that `ident_end` counts bytes while `ident` advances by one per character, so the slice…
            [(0, 1)]
        - The lexer panics on identifiers that start with a…: I added `tests/unicode_ident.rs` with umlauts, Cyrillic and a combining mark; all 42 tests pass.
            [(0, 4)]
        - Get rid of the global settings object in ledgerly: Let's go with option 1, a frozen dataclass passed in, because hidden state is exactly what bit us.
            [(1, 1)]
        [lexer.rs, unicode_ident.rs, matcher.py, identifiers, config.py, importer.py, ident_end]
    "#]].assert_eq(&rendered(&summary));
}

#[test]
fn segments_of_one_session_become_one_theme() {
    let all = events(&lines_of("go-ci-failure"));
    let piece =
        |part: &[tome_model::Event]| node(&summarize(part), "go-ci-failure", part.len() as u64);
    let summary =
        rollup(Level::Day, &[piece(&all[..4]), piece(&all[4..10]), sample("trivial-questions")]);
    expect![[r#"
        # CI is red on main since last night, locally it's green; How do I undo the last commit but keep the changes?
        - CI is red on main since last night, locally it's green: Two separate problems: `reconnect` writes `b.conn` without the mutex, and the backoff doubles from…
            [(1, 0)]
        - How do I undo the last commit but keep the changes? — Use `git reset --soft HEAD~1`: the commit is gone, the changes stay staged.
            [(2, 0)]
        - What's the difference between String and &str in rust? — `String` owns its text on the heap and can grow; `&str` borrows a view of text that somebody…
            [(2, 1)]
        [broker_test.go, broker.go, String, str, matching, text, Reproduced]
    "#]].assert_eq(&rendered(&summary));
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
        # 订单导出接口在数据量大的时候会超时; 家計簿アプリの月次集計がずれています; I'm in the middle of rebasing…
        - 订单导出接口在数据量大的时候会超时: 问题在于 `ExportService.export` 对每个订单单独查询一次用户，20 万条订单就是 20 万次查询，典型的 N+1 查询。
            [(0, 0)]
        - 订单导出接口在数据量大的时候会超时: 建议采用流式导出而不是分页：分页的 offset 越大越慢，流式导出用游标一次只取 500 条，内存占用稳定。
            [(0, 1)]
        - CI is red on main since last night, locally it's green: `reconnect` now takes `b.mu` before it replaces the connection, which removes the data race, and the…
            [(1, 2)]
        - 家計簿アプリの月次集計がずれています: テスト環境のタイムゾーンが UTC のため、`toLocal` では実行環境に依存してしまいます。
            [(2, 0)]
        - Der Upload von großen Bildern bricht ab, Fehler 413…: 中英文提示都改成了 20 MB；构建通过。
            [(3, 0)]
        [导出, monthly_summary.dart, broker_test.go, 订单, slo_report.py, cache.rs, matcher.py]
    "#]].assert_eq(&rendered(&rollup(Level::Week, &days[..4])));
    expect![[r#"
        # 订单导出接口在数据量大的时候会超时; SQLException: ORA-00060: deadlock…; 家計簿アプリの月次集計がずれています
        - 订单导出接口在数据量大的时候会超时: 问题在于 `ExportService.export` 对每个订单单独查询一次用户，20 万条订单就是 20 万次查询，典型的 N+1 查询。
            [(0, 0)]
        - 家計簿アプリの月次集計がずれています: テスト環境のタイムゾーンが UTC のため、`toLocal` では実行環境に依存してしまいます。
            [(0, 3)]
        - После обновления до Django 5.1 перестала работать…: Готово: `django.setup()` теперь вызывается явно в `courier/celery.py` перед `autodiscover_tasks`, и…
            [(1, 0)]
        - `Scheduler` now acquires the lease per month before it submits anything, so the deadlock ORA-00060 cannot come from two runs of the same month.
            [(1, 3)]
        [lexer.rs, 导出, session_store.go, monthly_summary.dart, 0042_status_enum.sql, broker_test.go, localStorage]
    "#]].assert_eq(&rendered(&rollup(Level::Year, &months)));
}

#[test]
fn an_idle_period_has_a_title_but_no_bullets() {
    let idle = Summary {
        title: "Session opened, nothing asked yet".to_owned(),
        bullets: Vec::new(),
        keywords: Vec::new(),
    };
    let idle = node(&idle, "s", 1);
    expect![[r#"
        # Session opened, nothing asked yet
        []
    "#]]
    .assert_eq(&rendered(&rollup(Level::Day, &[idle.clone(), idle])));
    expect![[r#"
        # Nothing said
        []
    "#]]
    .assert_eq(&rendered(&rollup(Level::Day, &[])));
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
            node(&Summary { title, bullets, keywords }, "s", events)
        }).collect();
        // A single child is copied, however long it is.
        prop_assume!(children.len() != 1);
        let summary = Extractive.summarize_period(&RollupInput { level, period: "then", children: &children }).unwrap();
        check(&summary, &children);
        let again = Extractive.summarize_period(&RollupInput { level, period: "then", children: &children }).unwrap();
        prop_assert_eq!(summary, again);
    }
}
