//! Results and their order.

use super::*;

#[test]
fn a_word_is_found_in_any_form_and_case() {
    let fixture = Fixture::new();
    let words = fixture.make();
    words
        .write(put(
            vec![
                event(1, "The parser fails on nested quotes"),
                event(2, "Привет, ФАЙЛЫ не найдены"),
                event(3, "Café crème, naïve façade"),
                event(4, "我们使用Rust编写解析器"),
                event(5, "ﬁle ｆｕｌｌｗｉｄｔｈ"),
            ],
            "5",
        ))
        .unwrap();
    assert_eq!(words.cursor(), "5");
    assert_eq!(words.entry_count(), 5);
    for (text, seq) in [
        ("PARSERS failing", 1),
        ("файлы", 2),
        ("cafe CREME", 3),
        ("façade", 3),
        ("rust", 4),
        ("解析", 4),
        ("析", 4),
        ("file", 5),
        ("fullwidth", 5),
    ] {
        assert_eq!(seqs(&words, text), vec![seq], "{text}");
    }
    assert!(ask(&words, "nothing like it").is_empty());
}

#[test]
fn identifiers_paths_hashes_and_versions_are_found_in_every_spelling() {
    let fixture = Fixture::new();
    let words = fixture.make();
    words
        .write(put(
            vec![
                event(1, "see parseHttpHeader in the client"),
                event(2, "edited crates/tome/src/daemon/reading.rs:45 today"),
                event(3, "commit 3f9a2b1c4d5e6f708192a3b4c5d6e7f801234567 broke it"),
                event(4, "error[E0308]: mismatched types"),
                event(5, "released v1.2.3-rc1 of the server"),
                event(6, "read C:\\Users\\me\\notes.txt"),
                event(7, "ERR_CONN_RESET while fetching"),
                event(8, "written in C++ once"),
                event(9, "header http parse, in any order"),
                event(10, "some javascript"),
                event(11, "on YouTube"),
            ],
            "",
        ))
        .unwrap();
    for (text, seq) in [
        ("parse_http_header", 1),
        ("src/daemon/reading.rs", 2),
        ("daemon/reading.rs", 2),
        ("reading.rs", 2),
        ("3f9a2b1", 3),
        ("3f9a2b1c", 3),
        ("3f9a2b1c4d", 3),
        ("E0308", 4),
        ("1.2.3", 5),
        ("v1.2.3", 5),
        ("1.2.3-rc1", 5),
        ("users/me/notes.txt", 6),
        ("ErrConnReset", 7),
        ("c++", 8),
        ("JavaScript", 10),
        ("youtube", 11),
    ] {
        assert_eq!(seqs(&words, text).first(), Some(&seq), "{text}");
    }
}

#[test]
fn stop_words_count_only_in_a_query_without_other_words() {
    let fixture = Fixture::new();
    let words = fixture.make();
    words.write(put(vec![event(1, "to be or not to be"), event(2, "the parser")], "")).unwrap();
    assert_eq!(seqs(&words, "to be or not to be"), [1]);
    assert_eq!(seqs(&words, "is it to be the parser"), [2]);
}

#[test]
fn a_common_word_in_a_title_is_still_common() {
    let fixture = Fixture::new();
    let words = fixture.make();
    let mut entries: Vec<IndexEntry> =
        (1..=50).map(|seq| event(seq, "run the test again")).collect();
    entries.push(IndexEntry { title: "test".into(), ..note("n", "something else entirely") });
    entries.push(event(99, "a test of the flux capacitor"));
    words.write(put(entries, "")).unwrap();
    assert_eq!(seqs(&words, "test flux").first(), Some(&99));
}

#[test]
fn titles_and_keywords_are_found() {
    let fixture = Fixture::new();
    let words = fixture.make();
    let entry =
        IndexEntry { title: "Lexer day".into(), keywords: "tokens".into(), ..note("n", "nothing") };
    words.write(put(vec![entry], "")).unwrap();
    for text in ["lexers", "token", "nothing"] {
        assert_eq!(keys(&ask(&words, text)), [EntryKey::Named("n".into())], "{text}");
    }
}

#[test]
fn ties_are_sorted_by_source_key_and_range() {
    let fixture = Fixture::new();
    let words = fixture.make();
    for seq in [7, 3, 9, 1] {
        words.write(put(vec![event(seq, "same text")], "")).unwrap();
    }
    words.write(put(vec![note("b", "same text"), note("a", "same text")], "")).unwrap();
    let all = keys(&ask(&words, "same"));
    let named = |name: &str| EntryKey::Named(name.into());
    let expected = [
        EntryKey::Event(1),
        EntryKey::Event(3),
        EntryKey::Event(7),
        EntryKey::Event(9),
        named("a"),
        named("b"),
    ];
    assert_eq!(all, expected);
    let two = words.search(&Bm25Query { text: "same".into() }, &EntryFilter::default(), 2).unwrap();
    assert_eq!(keys(&two), [EntryKey::Event(1), EntryKey::Event(3)]);
}

#[test]
fn hostile_texts_and_queries_do_not_fail() {
    let fixture = Fixture::new();
    let words = fixture.make();
    let texts = [
        "x".repeat(1 << 20),
        "\0".repeat(1 << 18),
        format!("a{}", "\u{301}".repeat(1 << 16)),
        format!("д{}", "\u{301}".repeat(1 << 16)),
        "aB".repeat(1 << 16),
        "a.".repeat(1 << 16),
        "1.".repeat(1 << 16),
        "/".repeat(1 << 16),
        "_".repeat(1 << 16),
        "'".repeat(1 << 16),
        "漢".repeat(1 << 16),
        "\u{fdfa}".repeat(1 << 10),
        "😀👨‍👩‍👧".repeat(1 << 10),
        String::new(),
    ];
    let entries = texts.iter().zip(1..).map(|(text, seq)| event(seq, text)).collect();
    words.write(put(entries, "")).unwrap();
    for text in &texts {
        ask(&words, text);
    }
    for text in [".* [a-z]+ (", "?!", "the", "\"", "AND OR NOT", "text:foo", "~", "\u{ffff}"] {
        ask(&words, text);
    }
    let many: String = (0..30_000).map(|number| format!("w{number} ")).collect();
    ask(&words, &many);
    assert!(
        words
            .search(&Bm25Query { text: "x".into() }, &EntryFilter::default(), 0)
            .unwrap()
            .is_empty()
    );
    let all = words
        .search(&Bm25Query { text: "漢".into() }, &EntryFilter::default(), usize::MAX)
        .unwrap();
    assert_eq!(all.len(), 1);
}

#[test]
fn rarer_terms_score_more() {
    let fixture = Fixture::new();
    let words = fixture.make();
    words
        .write(put(vec![event(1, "common rare"), event(2, "common"), event(3, "common")], ""))
        .unwrap();
    let idf = |term| words.idf(term).unwrap();
    assert!(idf("absent") > idf("rare") && idf("rare") > idf("common") && idf("common") > 0.0);
    let query = Bm25Query { text: "rare common".into() };
    let found = words.search(&query, &EntryFilter::default(), 10).unwrap();
    assert_eq!(found.len(), 3);
    assert_eq!(found[0].key, EntryKey::Event(1));
}

#[test]
fn a_score_is_the_sum_of_its_terms() {
    let fixture = Fixture::new();
    let words = fixture.make();
    let texts = ["alpha beta beta gamma", "alpha", "beta src/main.rs", "fooBar alpha"];
    words
        .write(put(texts.iter().zip(1..).map(|(text, seq)| event(seq, text)).collect(), ""))
        .unwrap();
    words.write(put(vec![IndexEntry { title: "alpha".into(), ..note("n", "alpha") }], "")).unwrap();
    let terms = ["alpha", "beta", "src/main.rs", "missing"];
    let ask = |text: &str| {
        words.search(&Bm25Query { text: text.into() }, &EntryFilter::default(), 10).unwrap()
    };
    let found = ask(&terms.join(" "));
    assert_eq!(found.len(), 5);
    for found in found {
        let alone = terms.iter().flat_map(|term| ask(term)).filter(|one| one.key == found.key);
        let sum: f32 = alone.map(|one| one.score).sum();
        assert!((sum - found.score).abs() < 1e-3, "{found:?}");
    }
    assert_eq!(ask("beta")[0].key, EntryKey::Event(1));
}

#[test]
fn the_top_hits_do_not_depend_on_the_limit() {
    let fixture = Fixture::new();
    let words = fixture.make();
    // Enough for several windows, and for the minimum score to skip clauses.
    let mut chance = 12_345_u64;
    let mut next = || {
        chance =
            chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        chance >> 33
    };
    let mut entries = Vec::new();
    for seq in 0..9_000 {
        let count = 1 + next() % 6;
        // Some words are in nearly every entry, some in few.
        let text: Vec<String> =
            (0..count).map(|_| format!("w{}", (next() % 40).pow(2) / 60)).collect();
        let session = format!("s{}", next() % 5);
        entries.push(IndexEntry { session, ..event(seq, &text.join(" ")) });
    }
    for some in entries.chunks(4_300) {
        words.write(put(some.to_vec(), "")).unwrap();
    }
    let one_session = EntryFilter { session: Some("s3".into()), ..EntryFilter::default() };
    for text in ["w0", "w0 w1", "w0 w3 w25", "w25 w9 w0 w1 w2", "w12 missing", "w0 w0 w7"] {
        let query = Bm25Query { text: text.into() };
        for filter in [&EntryFilter::default(), &one_session] {
            let all = words.search(&query, filter, usize::MAX).unwrap();
            assert!(all.len() > 100, "{text}");
            for limit in [1, 7, 50] {
                let few = words.search(&query, filter, limit).unwrap();
                assert_eq!(few, all[..limit], "{text} {limit}");
            }
        }
    }
}
