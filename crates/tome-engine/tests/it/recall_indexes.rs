//! Indexes are accelerators: deleted, damaged or behind, results stay available, and a rebuilt
//! index gives the same results.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use tome_model::Scope;
use tome_recall::{Across, QuerySyntax, RecallAnswer, RecallQuery, Tier, Viewpoint, source_name};
use tome_testkit::{SeededRng, eventually, pause};

use crate::engine_fixture::{EngineFixture, MINUTE_MS, MORNING_MS, ROOT, listed};

const WORDS: [&str; 12] = [
    "lexer", "parser", "cache", "socket", "retry", "token", "ledger", "segment", "journal",
    "index", "timeout", "snapshot",
];

/// Sixty turns in three sessions, each with its own identifier, and a note.
fn remembered() -> EngineFixture {
    let fixture = EngineFixture::new();
    fixture.ingest((0..60).map(|n: usize| {
        let (one, other) = (WORDS[n % 12], WORDS[(n * 5 + 3) % 12]);
        json!({
            "id": format!("e{n}"), "at": MORNING_MS + n as u64 * MINUTE_MS,
            "session_id": format!("s{}", n % 3),
            "kind": if n.is_multiple_of(2) { "user_message" } else { "assistant_message" },
            "text": format!("The {one} of build {n} waits for the {other}, see check_{one}_{n} in src/{other}.rs."),
        })
    }));
    let note = "# Facts\n\nThe journal is kept for ninety days.\n";
    fixture.write_note(Scope::Project, "facts/project.md", note);
    fixture
}

fn finder(fixture: &EngineFixture) -> PathBuf {
    fixture.project().join("finder")
}

/// Deletes a folder, also while files are being written to it; some may be left.
fn delete(folder: &Path) {
    let _ = fs::remove_dir_all(folder);
}

fn first_text(answer: &RecallAnswer) -> &str {
    answer.hits.first().map_or("", |hit| hit.text.as_str())
}

#[test]
fn a_deleted_index_is_rebuilt_and_gives_the_same_results() {
    let fixture = remembered();
    let queries =
        ["check_cache_26", "which build waits for the journal", "ninety days", "the retry"]
            .map(|query| fixture.query(query));
    let before = queries.each_ref().map(|query| fixture.search_indexed(query));
    for folder in ["bm25", "vectors", "bm25/events", "vectors/pages", ""] {
        delete(&finder(&fixture).join(folder));
        // Found at once, in whatever tier.
        let found = fixture.search(&queries[0]);
        assert!(first_text(&found).contains("check_cache_26"), "{folder}: {found:#?}");
        for (query, before) in queries.iter().zip(&before) {
            let after = fixture.search_indexed(query);
            assert_eq!(listed(&after), listed(before), "{folder}: {query:?}");
        }
    }
}

#[test]
fn text_without_spaces_is_found_in_every_tier() {
    let fixture = EngineFixture::new();
    let texts = [
        "我们把缓存的过期时间改成了三十分钟。",
        "登录页面的按钮颜色是深蓝色。",
        "部署脚本需要先运行数据库迁移。",
        "缓存服务器放在上海机房。",
        "下周二发布新版本。",
    ];
    fixture.ingest((0..).zip(&texts).map(|(n, text): (u64, _)| {
        json!({"id": format!("zh{n}"), "at": MORNING_MS + n * MINUTE_MS, "text": text})
    }));
    let question = fixture.query("请问缓存的过期时间现在是多少呢？");
    fixture.search_indexed(&question);
    for tier in [Tier::Literal, Tier::Bm25, Tier::Fused] {
        let answer = fixture.search(&RecallQuery { tier: Some(tier), ..question.clone() });
        assert_eq!(first_text(&answer), texts[0], "{answer:#?}");
    }
    let foreign = fixture.query("恐龙化石属于哪个年代？");
    let answer = fixture.search(&RecallQuery { tier: Some(Tier::Bm25), ..foreign });
    assert!(answer.hits.is_empty(), "{answer:#?}");
}

/// Folders of the indexes to delete, up to all of them.
const FOLDERS: [&str; 8] =
    ["bm25", "vectors", "bm25/events", "bm25/pages", "vectors/events", "vectors/pages", "", "bm25"];

/// As long as a query and a rebuild take.
const DELETED_WITHIN_US: u64 = 60_000;

/// An index is deleted while a query reads it and while it is being rebuilt.
#[test]
fn indexes_deleted_at_any_time_lose_no_result() {
    let fixture = remembered();
    let texts = ["check_cache_26", "ninety days", "check_timeout_10", "check_journal_56"];
    let queries = texts.map(|text| fixture.query(text));
    let before = queries.each_ref().map(|query| fixture.search_indexed(query));
    let mut chance = SeededRng::from_seed(20_261_115);
    for round in 0..24 {
        if chance.one_in(4) {
            let at = MORNING_MS + 120 * MINUTE_MS + round;
            fixture.ingest([json!({
                "id": format!("r{round}"), "at": at, "session_id": "later",
                "text": format!("comet {round}"),
            })]);
        }
        let folder = FOLDERS[usize::try_from(chance.in_range(0, 8)).unwrap()];
        let n = usize::try_from(chance.in_range(0, 4)).unwrap();
        let (text, query) = (texts[n], &queries[n]);
        let moment = Duration::from_micros(chance.in_range(0, DELETED_WITHIN_US));
        let found = std::thread::scope(|scope| {
            scope.spawn(|| {
                pause(moment);
                delete(&finder(&fixture).join(folder));
            });
            // It may fail: files are deleted under it. The next round rebuilds them.
            scope.spawn(|| drop(fixture.engine.catch_up_project(ROOT)));
            fixture.search(query)
        });
        assert!(first_text(&found).contains(text), "round {round}, {folder:?}: {found:#?}");
        assert_eq!(found.unread, [] as [String; 0], "round {round}, {folder:?}");
    }
    for (query, before) in queries.iter().zip(&before).take(2) {
        let (again, before) = (&fixture.search_indexed(query).hits[0], &before.hits[0]);
        assert_eq!((&again.citation, &again.text), (&before.citation, &before.text));
    }
}

/// The files in a folder and below, except locks.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        match entry.path() {
            path if path.is_dir() => files.extend(files_below(&path)),
            path if path.extension().is_some_and(|ending| ending == "lock") => {}
            path => files.push(path),
        }
    }
    files
}

#[test]
fn files_truncated_or_changed_under_an_open_index_are_survived() {
    let mut fixture = remembered();
    let query = fixture.query("check_cache_26");
    let before = fixture.search_indexed(&query);
    for round in 0..4 {
        for file in files_below(&finder(&fixture)) {
            let length = fs::metadata(&file).unwrap().len();
            let file = fs::OpenOptions::new().write(true).open(&file).unwrap();
            file.set_len(length / 4 * round).unwrap();
        }
        let found = fixture.search(&query);
        assert!(first_text(&found).contains("check_cache_26"), "{round}: {found:#?}");
        assert_eq!(listed(&fixture.search_indexed(&query)), listed(&before), "{round}");
    }
    // A changed byte is detected before results come from it.
    for ending in ["idx", "term", "fast", "fieldnorm", "signs-1", "levels-1", "log-1"] {
        fixture = fixture.reopen(|fixture| {
            for file in files_below(&finder(fixture)) {
                if file.to_string_lossy().ends_with(ending) {
                    let mut bytes = fs::read(&file).unwrap();
                    let middle = bytes.len() / 2;
                    // An index that was replaced may not be deleted yet, its files empty.
                    if let Some(byte) = bytes.get_mut(middle) {
                        *byte ^= 0x20;
                        fs::write(&file, bytes).unwrap();
                    }
                }
            }
        });
        assert_eq!(listed(&fixture.search_indexed(&query)), listed(&before), "{ending}");
    }
}

#[test]
fn files_that_are_not_an_index_are_replaced() {
    let mut fixture = remembered();
    let query = fixture.query("check_cache_26");
    let before = fixture.search_indexed(&query);
    let spoiled: [(&str, &[u8]); 3] = [
        ("bm25/events/meta.json", b"{"),
        ("vectors/events/head", b"\0\xff"),
        ("bm25/pages/meta.json", b""),
    ];
    for (file, bytes) in spoiled {
        fixture = fixture.reopen(|fixture| {
            fs::write(finder(fixture).join(file), bytes).unwrap();
            fs::write(finder(fixture).join("somebody-elses.txt"), "hello").unwrap();
        });
        assert_eq!(listed(&fixture.search_indexed(&query)), listed(&before), "{file}");
    }
}

#[test]
fn an_unfilled_overview_is_not_a_hit() {
    let fixture = remembered();
    fixture.search_indexed(&fixture.query("the retry"));
    let details = |text: &str| {
        let found = fixture.search_indexed(&fixture.query(text));
        let hits = found.hits.into_iter().filter(|hit| source_name(hit.source) == "detail");
        hits.map(|hit| hit.citation).collect::<Vec<_>>()
    };
    assert_eq!(details("what nobody has answered yet"), [] as [&str; 0]);
    let overview = fixture.project().join("sessions/s1/working-memory/overview.md");
    let text = fs::read_to_string(&overview).unwrap();
    let filled =
        text.replace("## Pending Issues\n", "## Pending Issues\nThe heron has not answered yet.\n");
    assert_ne!(text, filled);
    fs::write(&overview, filled).unwrap();
    assert_eq!(details("the heron answered"), ["sessions/s1/overview.md#L13"]);
    assert_eq!(details("the goal at the moment"), [] as [&str; 0]);
}

#[test]
fn manual_edits_and_foreign_lines_are_found_at_once() {
    let fixture = remembered();
    fixture.search_indexed(&fixture.query("the retry"));
    let note = fixture.project().join("memory/facts/project.md");
    fs::write(&note, "# Facts\n\nThe heron nests in March.\n").unwrap();
    let found = fixture.search(&fixture.query("heron"));
    assert_eq!(found.hits[0].citation, "memory/facts/project.md#L3", "{found:#?}");
    let gone = fixture.search(&fixture.query("ninety days"));
    assert!(gone.hits.iter().all(|hit| !hit.text.contains("ninety days")), "{gone:#?}");
    let transcript = fixture.project().join("sessions/s1/messages.jsonl");
    let mut lines = fs::read_to_string(&transcript).unwrap();
    lines.push_str("{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a \\\"quoted\\\" walrus\"}]}\n{\"torn\":");
    fs::write(&transcript, lines).unwrap();
    let mut query = fixture.query("quoted walrus");
    query.filter.across = Across::Session;
    query.filter.session = Some("s1".to_owned());
    let found = fixture.search(&query);
    assert_eq!(found.hits[0].citation, "messages.jsonl#L21", "{found:#?}");
    let from = Viewpoint { project: Some(ROOT.to_owned()), session: Some("s1".to_owned()) };
    let citation = found.hits[0].citation.parse().unwrap();
    let opened = fixture.engine.recall().citations().open(&citation, &from).unwrap();
    assert!(format!("{:?}", opened.content).contains("walrus"), "{opened:?}");
}

/// The newest other projects are searched for a hint where to look; the rest is reported.
#[test]
fn only_the_most_recent_other_projects_are_searched_and_the_rest_reported() {
    let fixture = EngineFixture::new();
    fixture.ingest([
        json!({"id": "here", "text": "The lexer rejects identifiers such as café."}),
        json!({
            "id": "there", "session_id": "there", "cwd": "/other", "at": MORNING_MS + MINUTE_MS,
            "text": "The invoice printer jams on zebra labels.",
        }),
    ]);
    fixture.ingest((0..40).map(|n: u64| {
        json!({
            "id": format!("p{n}"), "session_id": format!("p{n}"), "cwd": format!("/many/{n}"),
            "at": MORNING_MS + n, "text": "Nothing to see here.",
        })
    }));
    let found = fixture.search(&fixture.query("quarterly dividends"));
    assert!(found.hits.is_empty(), "{found:#?}");
    assert!(found.unread[0].contains("other projects"), "{:?}", found.unread);
    let mut everywhere = fixture.query("zebra labels");
    everywhere.filter.across = Across::All;
    let all = fixture.search(&everywhere);
    assert_eq!(all.hits[0].project, "/other", "{all:#?}");
    assert_eq!(all.unread, [] as [String; 0]);
}

/// A query over many projects opens only the stores whose texts it reads, and still sees what was
/// edited by hand or stored since.
#[test]
fn a_query_over_all_projects_opens_few_stores_and_misses_nothing() {
    let fixture = EngineFixture::new();
    let root = |n: usize| format!("/many/{n}");
    let event = |n: usize, id: &str, text: &str| {
        json!({
            "id": format!("{id}{n}"), "session_id": format!("s{n}"), "cwd": root(n),
            "at": MORNING_MS, "text": text,
        })
    };
    fixture.ingest((0..30).map(|n| event(n, "first", &format!("The sprocket count is {n}."))));
    fixture.ingest([event(7, "printer", "The invoice printer jams on zebra labels.")]);
    for n in 0..30 {
        fixture.engine.catch_up_project(&root(n)).unwrap();
    }
    let close = || {
        eventually("the stores to close", || {
            fixture.engine.stores().close_idle(0);
            fixture.engine.stores().open_stores().is_empty().then_some(())
        });
    };
    let search = |text: &str| {
        let mut query = fixture.query(text);
        query.filter.across = Across::All;
        fixture.search(&query)
    };
    // Twice: with closed indexes, and with those that the first query left open.
    for _ in 0..2 {
        close();
        let found = search("zebra labels");
        assert_eq!(found.hits[0].project, root(7), "{found:#?}");
        assert_eq!(found.unread, [] as [String; 0]);
        let open = fixture.engine.stores().open_stores().len();
        assert!(open <= 12, "{open} stores are open");
    }
    close();
    let mut scan = fixture.query("z[aeiou]bra");
    (scan.filter.across, scan.syntax) = (Across::All, QuerySyntax::Regex);
    assert_eq!(fixture.search(&scan).hits[0].project, root(7));
    close();
    let folder = fixture.engine.stores().projects().find_folder(&root(3)).unwrap();
    let notes = folder.join("memory");
    fs::create_dir_all(&notes).unwrap();
    fs::write(notes.join("facts.md"), "# Facts\n\nThe quokka build needs node 22.\n").unwrap();
    assert_eq!(search("quokka build").hits[0].project, root(3));
    fs::write(notes.join("facts.md"), "# Facts\n\nThe wombat build needs node 24.\n").unwrap();
    assert_eq!(search("wombat build").hits[0].project, root(3));
    fixture.ingest([event(5, "later", "The okapi cache is cold.")]);
    close();
    assert_eq!(search("okapi cache").hits[0].project, root(5));
}
