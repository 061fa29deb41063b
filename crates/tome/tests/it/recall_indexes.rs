//! Indexes are accelerators: deleted, damaged or behind, results stay available, and a rebuilt
//! index gives the same results.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tome_testkit::{SeededRng, World, eventually, pause};

use crate::scene::{MORNING_MS, line_with, world};

const WORDS: [&str; 12] = [
    "lexer", "parser", "cache", "socket", "retry", "token", "ledger", "segment", "journal",
    "index", "timeout", "snapshot",
];

/// Sixty turns in three sessions, each with its own identifier, and a note.
fn remembered() -> World {
    let world = world();
    let turn = |n: usize| {
        let (one, other) = (WORDS[n % 12], WORDS[(n * 5 + 3) % 12]);
        line_with(&json!({
            "id": format!("e{n}"), "at": MORNING_MS + n as u64 * 60_000,
            "session_id": format!("s{}", n % 3),
            "kind": if n.is_multiple_of(2) { "user_message" } else { "assistant_message" },
            "text": format!("The {one} of build {n} waits for the {other}, see check_{one}_{n} in src/{other}.rs."),
        }))
    };
    world.ingest(&(0..60).map(turn).collect::<String>());
    let note = json!({"path": "facts/project.md", "content": "# Facts\n\nThe journal is kept for ninety days.\n"});
    let wrote = world.tome(&["tool", "memory_write", &note.to_string(), "--project", "/app"]);
    assert_eq!(wrote.code, 0, "{}", wrote.stderr);
    world
}

pub fn recall(world: &World, query: &str) -> Value {
    let ran = world.tome(&["recall", query, "--project", "/app", "--limit", "10", "--json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{query}");
    ran.json()
}

/// Returns the result once every index has read everything.
fn settled(world: &World, query: &str) -> Value {
    eventually("the indexes", || {
        let answer = recall(world, query);
        (answer["tier"] == "fused" && answer["behind"] == 0).then_some(answer)
    })
}

pub fn finder(world: &World) -> PathBuf {
    let projects = fs::read_dir(world.home().join("projects")).unwrap();
    let app = projects.flatten().find(|entry| entry.file_name().to_string_lossy().contains("app"));
    app.unwrap().path().join("finder")
}

/// The hits of a result with their scores and names.
pub fn listed(answer: &Value) -> Vec<[&Value; 4]> {
    let hits = answer["hits"].as_array().unwrap().iter();
    hits.map(|hit| ["citation", "text", "score", "also"].map(|field| &hit[field])).collect()
}

/// Deletes a folder even while files are being written to it.
pub fn delete(folder: &Path) {
    eventually("a folder to go", || match fs::remove_dir_all(folder) {
        Err(failed) if failed.kind() != std::io::ErrorKind::NotFound => None,
        _ => Some(()),
    });
}

fn first(answer: &Value) -> &Value {
    &answer["hits"][0]
}

#[test]
fn a_deleted_index_is_rebuilt_and_gives_the_same_results() {
    let world = remembered();
    let queries =
        ["check_cache_26", "which build waits for the journal", "ninety days", "the retry"];
    let before: Vec<Value> = queries.iter().map(|query| settled(&world, query)).collect();
    let folders = ["bm25", "vectors", "bm25/events", "vectors/pages", ""];
    for folder in folders {
        delete(&finder(&world).join(folder));
        // Found at once, in whatever tier.
        let found = recall(&world, "check_cache_26");
        assert!(
            first(&found)["text"].as_str().unwrap().contains("check_cache_26"),
            "{folder}: {found}"
        );
        for (query, before) in queries.iter().zip(&before) {
            assert_eq!(listed(&settled(&world, query)), listed(before), "{folder}: {query}");
        }
    }
}

/// Folders of the indexes to delete, up to all of them.
const FOLDERS: [&str; 8] =
    ["bm25", "vectors", "bm25/events", "bm25/pages", "vectors/events", "vectors/pages", "", "bm25"];

#[test]
fn text_without_spaces_is_found_in_every_tier() {
    let world = world();
    let said = [
        "我们把缓存的过期时间改成了三十分钟。",
        "登录页面的按钮颜色是深蓝色。",
        "部署脚本需要先运行数据库迁移。",
        "缓存服务器放在上海机房。",
        "下周二发布新版本。",
    ];
    let line = |(n, text): (u64, &&str)| {
        let at = MORNING_MS + n * 60_000;
        line_with(&json!({"id": format!("zh{n}"), "at": at, "text": text}))
    };
    world.ingest(&(0..).zip(&said).map(line).collect::<String>());
    let question = "请问缓存的过期时间现在是多少呢？";
    settled(&world, question);
    for tier in ["literal", "bm25", "fused"] {
        let args = ["recall", question, "--project", "/app", "--tier", tier, "--json"];
        let answer = world.tome(&args).json();
        assert_eq!(first(&answer)["text"], said[0], "{tier}: {answer}");
    }
    let foreign =
        ["recall", "恐龙化石属于哪个年代？", "--project", "/app", "--tier", "bm25", "--json"];
    assert_eq!(world.tome(&foreign).json()["hits"], json!([]));
}

#[test]
fn indexes_deleted_at_any_moment_lose_no_result() {
    let world = remembered();
    let queries = ["check_cache_26", "ninety days", "check_timeout_10", "check_journal_56"];
    let before: Vec<Value> = queries.iter().map(|query| settled(&world, query)).collect();
    let mut chance = SeededRng::from_seed(20_261_115);
    for round in 0..24 {
        // During a query, a rebuild, or an ingest.
        if chance.one_in(4) {
            let id = format!("r{round}");
            let at = MORNING_MS + 120 * 60_000 + round;
            let said = json!({"id": id, "at": at, "session_id": "later", "text": format!("comet {round}")});
            world.ingest(&line_with(&said));
        }
        let folder = FOLDERS[usize::try_from(chance.in_range(0, 8)).unwrap()];
        let finder = finder(&world).join(folder);
        let asked = queries[usize::try_from(chance.in_range(0, 4)).unwrap()];
        let found = std::thread::scope(|scope| {
            let wait = std::time::Duration::from_micros(chance.in_range(0, 60_000));
            scope.spawn(move || {
                pause(wait);
                // The daemon may be writing at this moment and leave half of it.
                let _ = fs::remove_dir_all(finder);
            });
            recall(&world, asked)
        });
        let wanted = if asked == "ninety days" { "ninety days" } else { asked };
        let text = first(&found)["text"].as_str().unwrap_or_default();
        assert!(text.contains(wanted), "round {round}, {folder:?}: {found}");
        assert_eq!(found["unread"], json!([]), "round {round}, {folder:?}: {found}");
    }
    for (query, before) in queries.iter().zip(&before).take(2) {
        let again = settled(&world, query);
        assert_eq!(listed(&again)[0][..2], listed(before)[0][..2], "{query}");
    }
}

#[test]
fn files_truncated_or_changed_under_the_daemon_are_survived() {
    let world = remembered();
    let before = settled(&world, "check_cache_26");
    let daemon = world.daemon_pid();
    for round in 0..4 {
        for file in files_below(&finder(&world)) {
            let length = fs::metadata(&file).unwrap().len();
            let file = fs::OpenOptions::new().write(true).open(&file).unwrap();
            file.set_len(length / 4 * round).unwrap();
        }
        let found = recall(&world, "check_cache_26");
        let text = first(&found)["text"].as_str().unwrap();
        assert!(text.contains("check_cache_26"), "{round}: {found}");
        assert_eq!(listed(&settled(&world, "check_cache_26")), listed(&before), "{round}");
    }
    assert_eq!(world.daemon_pid(), daemon);
    // A changed byte is detected before results come from it.
    for ending in ["idx", "term", "fast", "fieldnorm", "signs-1", "levels-1", "log-1"] {
        assert_eq!(world.tome(&["stop"]).code, 0);
        for file in files_below(&finder(&world)) {
            if file.to_string_lossy().ends_with(ending) {
                let mut bytes = fs::read(&file).unwrap();
                let middle = bytes.len() / 2;
                bytes[middle] ^= 0x20;
                fs::write(&file, bytes).unwrap();
            }
        }
        assert_eq!(listed(&settled(&world, "check_cache_26")), listed(&before), "{ending}");
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
fn an_unfilled_overview_is_not_a_hit() {
    let world = remembered();
    settled(&world, "the retry");
    let sources = |query: &str| {
        let found = settled(&world, query);
        let hits = found["hits"].as_array().unwrap().iter();
        hits.filter(|hit| hit["source"] == "detail")
            .map(|hit| hit["citation"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(sources("what nobody has answered yet"), [] as [&str; 0]);
    let overview = finder(&world).with_file_name("sessions").join("s1/working-memory/overview.md");
    let text = fs::read_to_string(&overview).unwrap();
    let filled =
        text.replace("## Pending Issues\n", "## Pending Issues\nThe heron has not answered yet.\n");
    assert_ne!(text, filled);
    fs::write(&overview, filled).unwrap();
    assert_eq!(sources("the heron answered"), ["sessions/s1/overview.md#L13"]);
    assert_eq!(sources("the goal at the moment"), [] as [&str; 0]);
}

#[test]
fn files_that_are_not_an_index_are_replaced() {
    let world = remembered();
    let before = settled(&world, "check_cache_26");
    let spoil: [(&str, &[u8]); 3] = [
        ("bm25/events/meta.json", b"{"),
        ("vectors/events/head", b"\0\xff"),
        ("bm25/pages/meta.json", b""),
    ];
    for (file, bytes) in spoil {
        assert_eq!(world.tome(&["stop"]).code, 0);
        fs::write(finder(&world).join(file), bytes).unwrap();
        fs::write(finder(&world).join("somebody-elses.txt"), "hello").unwrap();
        assert_eq!(listed(&settled(&world, "check_cache_26")), listed(&before), "{file}");
    }
}

#[test]
fn a_killed_daemon_leaves_everything_searchable() {
    let world = remembered();
    for round in 0..3 {
        let text = format!("The comet {round} passes at dawn.");
        let at = MORNING_MS + 90 * 60_000 + round;
        world.ingest(&line_with(&json!({"id": format!("k{round}"), "at": at, "text": text})));
        world.kill_daemon();
        let found = recall(&world, &format!("comet {round}"));
        assert!(first(&found)["text"].as_str().unwrap().contains("comet"), "{found}");
        let found = settled(&world, "comet dawn");
        let comets = found["hits"].as_array().unwrap().iter();
        let comets = comets.filter(|hit| hit["text"].as_str().unwrap().contains("comet"));
        assert!(comets.count() as u64 > round, "{found}");
    }
}

#[test]
fn manual_edits_and_foreign_lines_are_found_at_once() {
    let world = remembered();
    settled(&world, "the retry");
    let folder = finder(&world).with_file_name("memory").join("facts/project.md");
    fs::write(&folder, "# Facts\n\nThe heron nests in March.\n").unwrap();
    let found = recall(&world, "heron");
    assert_eq!(first(&found)["citation"], "memory/facts/project.md#L3", "{found}");
    let gone = recall(&world, "ninety days");
    let texts = gone["hits"].as_array().unwrap().iter().map(|hit| hit["text"].as_str().unwrap());
    assert!(texts.into_iter().all(|text| !text.contains("ninety days")), "{gone}");
    let copy = finder(&world).with_file_name("sessions").join("s1/messages.jsonl");
    let mut lines = fs::read_to_string(&copy).unwrap();
    lines.push_str("{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a \\\"quoted\\\" walrus\"}]}\n{\"torn\":");
    fs::write(&copy, lines).unwrap();
    let asked = ["recall", "quoted walrus", "--project", "/app", "--session", "s1", "--json"];
    let found = world.tome(&asked).json();
    assert_eq!(first(&found)["citation"], "messages.jsonl#L21", "{found}");
    let shown = world.tome(&["show", "messages.jsonl#L21", "--session", "s1", "--project", "/app"]);
    assert!(shown.stdout.contains("walrus"), "{}{}", shown.stdout, shown.stderr);
}
