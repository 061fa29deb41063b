//! Catching up: versions, late events, and the cost of one more event.

use expect_test::expect;
use tome_contents::{
    ContentsQuery, Depth, catch_up_contents, list_span, rebuild_contents, verify_contents,
};
use tome_ledger::{Family, Ledger};

use super::memory::Memory;
use super::*;

fn check(ledger: &Ledger, expected: &expect_test::Expect) {
    expected.assert_eq(&shown(ledger, PROJECT));
}

#[test]
fn an_empty_ledger_has_no_contents() {
    let ledger = Memory::default().open();
    assert_eq!(catch_up(&ledger, &settings()), ContentsCatchUpReport::default());
    let rebuilt =
        rebuild_contents(&ledger, &settings(), &EchoSummarizer, &Ticking::default()).unwrap();
    assert_eq!(rebuilt, tome_contents::ContentsRebuildReport::default());
    assert_eq!(shown(&ledger, PROJECT), "");
    assert!(verify_contents(&ledger, &settings()).unwrap().is_ok());
}

#[test]
fn an_open_node_is_replaced_and_a_closed_one_gets_a_new_version() {
    let ledger = Memory::default().open();
    record_events(&ledger, "s1 2026-03-02T09:00:00Z one");
    let done = catch_up(&ledger, &settings());
    assert_eq!((done.events, done.nodes, done.removed), (1, 5, 0));
    record_events(&ledger, "s1 2026-03-02T09:01:00Z two");
    catch_up(&ledger, &settings());
    check(
        &ledger,
        &expect![[r#"
            toc:day:2026-03-02 v1 open Monday, March 2, 2026: one,two
            toc:month:2026-03 v1 open March 2026: Week 10 of 2026 (Mar 2 – 8): Monday, March 2, 2026: one,two
            toc:segment:2026-03-02 v1 open one,two
            toc:week:2026-W10 v1 open Week 10 of 2026 (Mar 2 – 8): Monday, March 2, 2026: one,two
            toc:year:2026 v1 open 2026: March 2026: Week 10 of 2026 (Mar 2 – 8): Monday, March 2, 2026: one,two
        "#]],
    );
    record_events(&ledger, "s1 2026-03-02T09:02:00Z bye");
    catch_up(&ledger, &settings());
    // Nothing new: nothing is written.
    assert_eq!(catch_up(&ledger, &settings()), ContentsCatchUpReport::default());
    // A late event after the session has closed.
    record_events(&ledger, "s1 2026-03-02T09:00:30Z late");
    catch_up(&ledger, &settings());
    check(
        &ledger,
        &expect![[r#"
            toc:day:2026-03-02 v2 closed Monday, March 2, 2026: one,late,two,bye
            toc:month:2026-03 v2 closed March 2026: Week 10 of 2026 (Mar 2 – 8): Monday, March 2, 2026: one,late,two,bye
            toc:segment:2026-03-02 v2 closed one,late,two,bye
            toc:week:2026-W10 v2 closed Week 10 of 2026 (Mar 2 – 8): Monday, March 2, 2026: one,late,two,bye
            toc:year:2026 v2 closed 2026: March 2026: Week 10 of 2026 (Mar 2 – 8): Monday, March 2, 2026: one,late,two,bye
        "#]],
    );
    let day = id("toc:day:2026-03-02");
    let versions: Vec<_> = ledger.node_versions(PROJECT, &day, 0).map(Result::unwrap).collect();
    let titles: Vec<_> = versions.iter().map(|node| node.title.as_str()).collect();
    assert_eq!(
        titles,
        ["Monday, March 2, 2026: one,two,bye", "Monday, March 2, 2026: one,late,two,bye"]
    );
    assert_eq!(ledger.node(PROJECT, &day, Some(1)).unwrap().unwrap(), versions[0]);
    assert_eq!(ledger.node(PROJECT, &day, Some(3)).unwrap(), None);
}

#[test]
fn a_late_event_reopens_only_its_periods() {
    let ledger = Memory::default().open();
    record_events(
        &ledger,
        "s1 2026-03-02T09:00:00Z parser
         s1 2026-03-02T09:10:00Z bye
         s2 2026-04-20T10:00:00Z lexer",
    );
    append(&ledger, PROJECT, {
        let mut end = draft("end2", "s2", at("2026-04-20T10:01:00Z"), "");
        end.kind = EventKind::SessionEnd;
        end
    });
    catch_up(&ledger, &settings());
    record_events(&ledger, "s3 2026-03-03T11:00:00Z unicode");
    let done = catch_up(&ledger, &settings());
    // Its segment and day are new, its week, month and year get a version; April is unchanged.
    assert_eq!((done.nodes, done.removed), (5, 0));
    let versions = |node: &str| {
        let head = ledger.node_header(PROJECT, &id(node)).unwrap().unwrap();
        (head.version, head.open, head.events)
    };
    assert_eq!(versions("toc:day:2026-03-02"), (1, false, 2));
    assert_eq!(versions("toc:day:2026-03-03"), (1, true, 1));
    assert_eq!(versions("toc:week:2026-W10"), (2, true, 3));
    assert_eq!(versions("toc:month:2026-03"), (2, true, 3));
    assert_eq!(versions("toc:month:2026-04"), (1, false, 2));
    assert_eq!(versions("toc:year:2026"), (2, true, 5));
}

#[test]
fn a_removed_segment_keeps_only_its_closed_versions() {
    let ledger = Memory::default().open();
    record_events(
        &ledger,
        "s1 2026-03-02T09:00:00Z one
         s1 2026-03-02T09:40:00Z two
         s1 2026-03-02T10:20:00Z three",
    );
    catch_up(&ledger, &settings());
    assert_eq!(latest(&ledger).len(), 3 + 4);
    // Both gaps are closed.
    record_events(
        &ledger,
        "s1 2026-03-02T09:20:00Z between
         s1 2026-03-02T10:00:00Z again",
    );
    let done = catch_up(&ledger, &settings());
    assert_eq!(done.removed, 2);
    check(
        &ledger,
        &expect![[r#"
            toc:day:2026-03-02 v1 open Monday, March 2, 2026: one,between,two,again,three
            toc:month:2026-03 v1 open March 2026: Week 10 of 2026 (Mar 2 – 8): Monday, March 2, 2026: one,between,two,again,three
            toc:segment:2026-03-02 v2 open one,between,two,again,three
            toc:segment:2026-03-02 v1 gone two around three
            toc:week:2026-W10 v1 open Week 10 of 2026 (Mar 2 – 8): Monday, March 2, 2026: one,between,two,again,three
            toc:year:2026 v1 open 2026: March 2026: Week 10 of 2026 (Mar 2 – 8): Monday, March 2, 2026: one,between,two,again,three
        "#]],
    );
    // The removed segment can still be read, with its grip, but is in no listing.
    let gone = ledger.node_headers(PROJECT, "toc:segment:", None).map(Result::unwrap);
    let gone = gone.filter(|head| head.removed).map(|head| head.id).next().unwrap();
    assert_eq!(ledger.node(PROJECT, &gone, None).unwrap(), None);
    let node = ledger.node(PROJECT, &gone, Some(1)).unwrap().unwrap();
    let grip = ledger.grip(PROJECT, &node.bullets[0].grips[0]).unwrap().unwrap();
    assert_eq!(grip.excerpt, "two");
}

#[test]
fn an_open_segment_keeps_only_the_grips_it_needs() {
    let ledger = Memory::default().open();
    for minute in 10..40 {
        record_events(&ledger, &format!("s1 2026-03-02T09:{minute}:00Z word-{minute}"));
        catch_up(&ledger, &settings());
    }
    let grips: Vec<_> = ledger.grips(PROJECT, None).map(|grip| grip.unwrap().excerpt).collect();
    assert_eq!(grips, ["word-38", "word-39"]);
}

#[test]
fn days_follow_the_time_zone_across_a_clock_change() {
    let ledger = Memory::default().open();
    let settings = ContentsSettings::in_zone(Zone::parse("Europe/Berlin").unwrap());
    // On 25 October 2026 Berlin has 25 hours.
    record_events(
        &ledger,
        "s1 2026-10-24T21:59:00Z saturday
         s1 2026-10-24T22:00:00Z sunday-begins
         s1 2026-10-25T22:59:00Z sunday-ends
         s1 2026-10-25T23:00:00Z monday",
    );
    catch_up(&ledger, &settings);
    let events = |day| ledger.node_header(PROJECT, &id(day)).unwrap().map(|head| head.events);
    let days = ["toc:day:2026-10-24", "toc:day:2026-10-25", "toc:day:2026-10-26"];
    assert_eq!(days.map(events), [Some(1), Some(2), Some(1)]);
    // It continues over midnight, so the summarizer gets the overlap.
    let monday =
        ledger.node_headers(PROJECT, "toc:segment:2026-10-26:", None).next().unwrap().unwrap();
    assert_eq!(monday.title, "monday after sunday-ends");
}

#[test]
fn extreme_events_are_processed() {
    let ledger = Memory::default().open();
    // All at one instant, in the far future, at the epoch, and five megabytes.
    for n in 0..50 {
        append(&ledger, PROJECT, draft(&format!("i{n}"), "s1", at("2026-03-02T09:00:00Z"), "x"));
    }
    append(&ledger, PROJECT, draft("future", "s1", at("9999-12-30T21:00:00Z"), "not yet"));
    append(&ledger, PROJECT, draft("past", "s1", Millis(0), "long ago"));
    let huge = "日本語のとても長い話。".repeat(160_000);
    append(&ledger, PROJECT, draft("huge", "s2", at("2026-03-02T09:00:00Z"), &huge));
    append(&ledger, PROJECT, draft("silent", "s3", at("2026-03-02T09:00:00Z"), ""));
    catch_up(&ledger, &settings());
    let years: Vec<_> =
        ledger.node_headers(PROJECT, "toc:year:", None).map(Result::unwrap).collect();
    let years: Vec<_> = years.iter().map(|head| (head.id.as_str(), head.events)).collect();
    assert_eq!(years, [("toc:year:1970", 1), ("toc:year:2026", 52), ("toc:year:9999", 1)]);
    let report = verify_contents(&ledger, &settings()).unwrap();
    assert!(report.is_ok(), "{report:?}");
}

/// A query for a week costs the same however long the history is.
#[test]
fn a_time_query_reads_only_the_nodes_in_range() {
    let reads_with = |days: u64| {
        let memory = Memory::default();
        let ledger = memory.open();
        let last = at("2026-06-10T12:00:00Z").0;
        let new = (0..days * 4).map(|n| {
            let at = Millis(last - n * 21_600_000);
            NewEvent::encode(
                draft(&format!("e{n}"), &format!("s{n}"), at, "words"),
                PROJECT.into(),
                at,
            )
        });
        ledger.append(new.collect()).unwrap();
        catch_up(&ledger, &settings());
        let zone = Zone::utc();
        let span = tome_contents::parse_time_phrase("last week", Millis(last), &zone).unwrap();
        let ask = ContentsQuery {
            project: None,
            agents: Vec::new(),
            depth: Depth::Levels(3),
            below_max: 100,
        };
        let (reads, found) =
            memory.reads_of(|| list_span(&ledger, PROJECT, &span, &zone, &ask).unwrap());
        assert_eq!(found.iter().map(|week| week.events).sum::<u64>(), 28);
        reads
    };
    let (few, many) = (reads_with(21), reads_with(300));
    assert_eq!(few, many, "reads with three weeks and with ten months of history");
}

#[test]
fn the_cost_of_one_more_event_does_not_grow_with_the_ledger() {
    let reads_after = |stored: usize| {
        let memory = Memory::default();
        let ledger = memory.open();
        let new = (0..stored).map(|n| {
            let at = Millis(at("2026-01-01T00:00:00Z").0 + n as u64 * 600_000);
            let session = format!("s{}", n / 20);
            NewEvent::encode(draft(&format!("e{n}"), &session, at, "words"), PROJECT.into(), at)
        });
        ledger.append(new.collect()).unwrap();
        catch_up(&ledger, &settings());
        let last = Millis(at("2026-01-01T00:00:00Z").0 + stored as u64 * 600_000);
        append(&ledger, PROJECT, draft("more", "s0", last, "more"));
        memory.reads_of(|| catch_up(&ledger, &settings())).0
    };
    let (few, many) = (reads_after(300), reads_after(6_000));
    assert!(many < few + 60, "{few} reads with 300 events, {many} with 6,000");
}

#[test]
fn a_failing_summarizer_changes_nothing() {
    struct Failing;
    impl Summarizer for Failing {
        fn name(&self) -> &'static str {
            "extractive"
        }
        fn summarize_segment(&self, _: &SegmentInput<'_>) -> Result<Summary, SummaryError> {
            Err(SummaryError::OverBudget)
        }
        fn summarize_period(&self, _: &RollupInput<'_>) -> Result<Summary, SummaryError> {
            Err(SummaryError::OverBudget)
        }
    }
    let ledger = Memory::default().open();
    record_events(&ledger, "s1 2026-03-02T09:00:00Z one");
    let clock = Ticking::default();
    assert!(catch_up_contents(&ledger, &settings(), &Failing, &clock).is_err());
    assert_eq!((shown(&ledger, PROJECT).as_str(), ledger.cursor("contents").unwrap()), ("", 0));
    assert_eq!(catch_up(&ledger, &settings()).events, 1);
}

#[test]
fn evidence_that_is_not_verbatim_is_rejected() {
    struct Lying;
    impl Summarizer for Lying {
        fn name(&self) -> &'static str {
            "model"
        }
        fn summarize_segment(&self, _: &SegmentInput<'_>) -> Result<Summary, SummaryError> {
            let bullet = |text: &str, excerpts: &[(usize, String)]| SummaryBullet {
                text: text.into(),
                support: Support::Excerpts(
                    excerpts
                        .iter()
                        .map(|(event, excerpt)| Evidence {
                            event: *event,
                            excerpt: excerpt.clone(),
                        })
                        .collect(),
                ),
            };
            let bullets = vec![
                bullet("made up", &[(0, "never said".into())]),
                bullet("elsewhere", &[(7, "one".into())]),
                bullet("too long", &[(0, "one".repeat(100))]),
                bullet("true", &[(0, "ne".into()), (0, "never".into())]),
            ];
            Ok(Summary {
                title: "t".repeat(9_000),
                bullets,
                keywords: Vec::new(),
                work: Vec::new(),
            })
        }
        fn summarize_period(&self, _: &RollupInput<'_>) -> Result<Summary, SummaryError> {
            Ok(Summary {
                title: String::new(),
                bullets: Vec::new(),
                keywords: Vec::new(),
                work: Vec::new(),
            })
        }
    }
    let ledger = Memory::default().open();
    record_events(&ledger, &format!("s1 2026-03-02T09:00:00Z {}", "one".repeat(30)));
    catch_up_contents(&ledger, &settings(), &Lying, &Ticking::default()).unwrap();
    let all = latest(&ledger);
    let (node, grips) = all.values().find(|(node, _)| node.source.is_some()).unwrap();
    assert_eq!(node.id.level(), Level::Segment);
    let bullets: Vec<_> = node
        .bullets
        .iter()
        .map(|one| (one.text.as_str(), one.grips.len(), one.unsupported))
        .collect();
    assert_eq!(
        bullets,
        [("made up", 0, true), ("elsewhere", 0, true), ("too long", 0, true), ("true", 1, false)]
    );
    assert_eq!(grips[0].excerpt, "ne");
    assert!(node.title.len() <= 400);
}

#[test]
fn concurrent_catch_ups_give_the_same_result_as_one() {
    let memory = Memory::default();
    let ledger = memory.open();
    let few = ContentsSettings { batch_events: 3, ..settings() };
    for n in 0..120 {
        let when = Millis(at("2026-03-02T09:00:00Z").0 + n * 900_000);
        let session = format!("s{}", n % 3);
        append(&ledger, PROJECT, draft(&format!("e{n}"), &session, when, &format!("word {n}")));
    }
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| catch_up(&ledger, &few));
        }
        let rebuild = || rebuild_contents(&ledger, &few, &EchoSummarizer, &Ticking::default());
        scope.spawn(rebuild);
    });
    assert_eq!(ledger.cursor("contents").unwrap(), 120);
    let together = latest(&ledger);
    for family in [Family::TocNodes, Family::TocLatest, Family::Grips, Family::Checkpoints] {
        memory.lose(family);
    }
    catch_up(&ledger, &few);
    assert_eq!(latest(&ledger), together);
}

/// July 31, 2026 is a Friday: the week has days of both months, and each month only its own.
#[test]
fn a_month_has_its_own_days_of_a_week_that_it_shares() {
    let ledger = Memory::default().open();
    record_events(
        &ledger,
        "s1 2026-07-31T20:00:00Z lexer
         s1 2026-08-01T10:00:00Z parser
         s2 2026-08-02T10:00:00Z printer",
    );
    catch_up(&ledger, &settings());
    let node = |name: &str| ledger.node(PROJECT, &id(name), None).unwrap().unwrap();
    let numbers = |name: &str| (node(name).events, node(name).session_count);
    assert_eq!(numbers("toc:month:2026-07"), (1, 1));
    assert_eq!(numbers("toc:month:2026-08"), (2, 2));
    assert_eq!(numbers("toc:week:2026-W31"), (3, 2));
    assert_eq!(numbers("toc:year:2026"), (3, 2));
    for month in ["toc:month:2026-07", "toc:month:2026-08"] {
        assert_eq!(node(month).children, [id("toc:week:2026-W31")]);
    }
    assert!(!node("toc:month:2026-07").title.contains("printer"));
    assert!(verify_contents(&ledger, &settings()).unwrap().is_ok());
    // A week of which a month has no event is not listed below it.
    record_events(&ledger, "s3 2026-09-01T10:00:00Z linker");
    catch_up(&ledger, &settings());
    assert_eq!(node("toc:month:2026-08").children, [id("toc:week:2026-W31")]);
    assert_eq!(node("toc:month:2026-09").children, [id("toc:week:2026-W36")]);
}
