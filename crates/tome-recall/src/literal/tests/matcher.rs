//! Matches and their order.

use proptest::prelude::*;
use tome_text::{LineBreaks, collapse_whitespace, excerpt_around};

use super::super::{ExactMatch, Matcher, line_number};

/// The text of the best window.
fn matched_text<'t>(query: &str, text: &'t str) -> Option<&'t str> {
    Matcher::new(query).match_text(text).map(|text_match| &text[text_match.range])
}

fn score(query: &str, text: &str) -> f32 {
    Matcher::new(query).match_text(text).map_or(0.0, |text_match| text_match.score())
}

fn check_order(query: &str, texts: &[&str]) {
    let scores: Vec<f32> = texts.iter().map(|text| score(query, text)).collect();
    assert!(scores.iter().all(|score| *score > 0.0), "{query}: {scores:?}");
    assert!(scores.is_sorted_by(|a, b| a > b), "{query}: {scores:?}");
}

#[test]
fn a_query_is_matched_as_plain_text() {
    for query in [
        "foo(bar)[0].*",
        "a.b*",
        "[x]",
        "->>",
        "?.",
        "$1",
        "\\d+",
        "^",
        "x{2}",
        "(unclosed",
        "*",
        "c++",
        "=> {",
        "🦀",
    ] {
        let text = format!("before it, {query} and after");
        assert_eq!(matched_text(query, &text), Some(query));
    }
    assert_eq!(matched_text("a.b", "axb"), None);
    assert_eq!(matched_text("^", "before it"), None);
    assert_eq!(matched_text("->>", "a -> b > c"), None);
    assert_eq!(matched_text("foo(bar)[0].*", "nothing of the kind"), None);
}

#[test]
fn case_does_not_matter_in_any_script() {
    for (query, text) in [
        ("jwt", "the JWT is old"),
        ("ОШИБКА", "это ошибка сборки"),
        ("ошибка", "ОШИБКА СБОРКИ"),
        ("σύστημας", "το ΣΎΣΤΗΜΑΣ"),
        ("ΟΔΟΣ", "οδός, οδος"),
        ("istanbul", "İSTANBUL"),
        ("ısparta", "ISPARTA'da"),
        ("İzmir", "izmir"),
        ("straße", "STRAẞE"),
        ("ἀρχή", "ἈΡΧΉ"),
        ("Ⱥb", "ⱥB"),
        ("kelvin", "\u{212a}ELVIN"),
        ("don't panic", "Don’t PANIC"),
    ] {
        assert!(matched_text(query, text).is_some(), "{query} in {text}");
        assert!(text.contains(matched_text(query, text).unwrap()));
    }
    // Letters that fold to more or fewer bytes shift the text after them.
    let text = "İİİ ẞẞ Ⱥ the Token";
    assert_eq!(matched_text("token", text), Some("Token"));
}

#[test]
fn terms_count_in_any_order_and_the_phrase_comes_first() {
    assert_eq!(matched_text("JWT refresh", "please refresh the JWT now"), Some("refresh the JWT"));
    check_order(
        "JWT refresh",
        &[
            "we talked of JWT refresh",
            "a jwt\n   refreshing",
            "please refresh the JWT",
            &format!("refresh {} JWT", "of something else ".repeat(9)),
            "the JWT is here",
            "prerefreshed",
        ],
    );
    check_order(
        "fix the token refresh",
        &["so: fix the token refresh", "token refresh: fix it", "fix token", "the fix"],
    );
}

#[test]
fn long_texts_score_less_unless_the_phrase_occurs() {
    let filler = "and so on and on, of this and of that; ".repeat(200);
    check_order(
        "token rotation",
        &["a rotation of the token", &format!("a rotation of the token {filler}")],
    );
    let long = format!("token {filler} rotation {filler} the Token has a rotation {filler}");
    assert_eq!(matched_text("rotation token", &long), Some("Token has a rotation"));
    check_order(
        "token rotation",
        &[&format!("{filler} token rotation {filler}"), "rotation, token"],
    );
}

#[test]
fn white_space_is_folded() {
    let text = "one: exact\r\n\t  phrase\u{a0}here";
    let text_match = Matcher::new("exact   phrase here").match_text(text).unwrap();
    assert_eq!(
        (text_match.exact, &text[text_match.range]),
        (ExactMatch::WholeWords, "exact\r\n\t  phrase\u{a0}here")
    );
}

#[test]
fn a_quoted_phrase_must_occur() {
    assert!(matched_text("\"refresh the JWT\" now", "refresh\nthe jwt").is_some());
    assert_eq!(matched_text("\"refresh the JWT\" now", "now: the JWT refresh"), None);
    assert_eq!(matched_text("“JWT refresh”", "refresh JWT"), None);
    assert!(matched_text("«JWT refresh»", "a jwt refresh").is_some());
    // Quotes that do not delimit a phrase.
    assert!(matched_text("5\" disk", "a disk").is_some());
    assert!(matched_text("say \"hello", "hello").is_some());
    assert!(matched_text("\"\"", "a \"\" b").is_some());
}

#[test]
fn stop_words_count_only_in_a_query_without_other_words() {
    assert_eq!(matched_text("what is the token", "what is the matter"), None);
    assert_eq!(matched_text("what is the token?", "no token"), Some("token"));
    assert_eq!(matched_text("what is it", "ask what is it good for"), Some("what is it"));
    assert!(matched_text("the", "the").is_some());
    assert_eq!(matched_text("What did Caroline's sister do?", "Caroline said"), Some("Caroline"));
}

#[test]
fn a_whole_identifier_counts_more_than_its_parts() {
    check_order(
        "getUserName",
        &["call getUserName()", "oldgetusernames", "get the user name", "the user"],
    );
    check_order(
        "src/auth/token.rs",
        &["in src/auth/token.rs:12", "the auth token of src, rs", "the token"],
    );
    check_order("user", &["the user", "users", "superuser"]);
    assert_eq!(score("user", "the user"), score("user", "getUserName"));
    check_order("E0502", &["error[E0502]: borrow", "xE0502y"]);
    assert_eq!(matched_text("snake_case_name", "the case of a snake"), Some("case of a snake"));
    // Short words do not count inside longer ones.
    assert_eq!(matched_text("go test", "google"), None);
    assert_eq!(matched_text("api docs", "rapid"), None);
    assert!(matched_text("pi", "api").is_some(), "but that is the query as a whole");
}

#[test]
fn scripts_without_spaces_are_found() {
    assert_eq!(matched_text("机制", "自动压缩机制说明"), Some("机制"));
    check_order("刷新令牌", &["请刷新令牌。", "令牌需要刷新", "令牌"]);
    check_order("auto compact 机制", &["auto compact 机制", "机制: auto compact", "机制"]);
    assert_eq!(matched_text("JWT刷新", "刷新了 jwt"), Some("刷新了 jwt"));
    assert_eq!(matched_text("我", "我说"), Some("我"));
    assert!(matched_text("トークンの更新", "トークンを更新する").is_some());
    assert!(matched_text("토큰을 갱신", "토큰이 갱신되었다").is_some());
}

#[test]
fn a_heavier_term_scores_more() {
    let mut matcher = Matcher::new("borrow checker");
    assert_eq!(matcher.terms().collect::<Vec<_>>(), ["borrow", "checker"]);
    let scores = |matcher: &Matcher| {
        ["borrow it", "checker it"].map(|text| matcher.match_text(text).unwrap().score())
    };
    let [one, other] = scores(&matcher);
    assert!((one - other).abs() < 1e-3);
    matcher.set_weights(|term| if term == "checker" { 5.0 } else { 1.0 });
    let [one, other] = scores(&matcher);
    assert!(other > one * 2.0);
    for nonsense in [f32::NAN, f32::INFINITY, -1.0, 0.0] {
        matcher.set_weights(|_| nonsense);
        assert!(scores(&matcher).iter().all(|score| *score > 0.0 && score.is_finite()));
    }
}

#[test]
fn a_title_counts_a_little_less() {
    let matcher = Matcher::new("auth decision");
    let under = |title: &str, text: &str| {
        matcher.match_with_title(title, text).map(|text_match| text_match.score())
    };
    assert!(under("", "the auth decision") > under("auth", "the decision"));
    assert!(under("auth", "the decision") > under("", "the decision"));
    let text_match = matcher.match_with_title("Auth decision", "nothing").unwrap();
    assert_eq!(text_match.range, 0..0);
    assert_eq!(under("Title", "nothing"), None);
}

#[test]
fn a_regular_expression_is_matched_line_by_line() {
    let text = "first\nError: E0502 here\r\nerror: E0499";
    let matcher = Matcher::from_regex(r"error: e\d+").unwrap();
    let text_match = matcher.match_text(text).unwrap();
    assert_eq!((&text[text_match.range], text_match.occurrences), ("Error: E0502", 2));
    assert!(
        Matcher::from_regex("[^x]+$")
            .unwrap()
            .match_text(text)
            .is_some_and(|text_match| &text[text_match.range] == "first")
    );
    assert!(Matcher::from_regex("x*").unwrap().match_text("abc").is_none());
    assert!(Matcher::from_regex("").unwrap().is_empty());
    let error = Matcher::from_regex("foo(").unwrap_err().to_string();
    assert_eq!(
        error,
        "query is not a regular expression: unclosed group; omit the regex option to search for the text itself"
    );
    assert!(Matcher::from_regex(&"(a{999}){999}".repeat(3)).is_err());
    assert!(Matcher::from_regex(&"a".repeat(100_000)).is_err());
}

#[test]
fn hostile_queries_do_not_panic() {
    for query in ["", " ", "\0", "\0\0 \n", "\u{200d}"] {
        let text_match = Matcher::new(query).match_text("some text");
        assert_eq!(text_match, None, "{query:?}");
    }
    assert_eq!(matched_text("tok\0en", "the token, tok en"), Some("tok en"));
    let pasted = "word1 ".repeat(10) + &(0..30_000).map(|n| format!("w{n} ")).collect::<String>();
    assert!(pasted.len() > 100_000);
    let matcher = Matcher::new(&pasted);
    assert!(matcher.terms().count() <= 64);
    assert!(matcher.match_text("it says word1 here").is_some());
    let one = "a".repeat(100_000);
    assert!(Matcher::new(&one).match_text(&one).is_some());
    assert!(Matcher::new(&"漢字".repeat(20_000)).match_text("漢字").is_some());
    assert!(Matcher::new(&"a_b_".repeat(20_000)).terms().count() <= 100);
    assert!(matched_text(",;,", "x ,;, y").is_some());
}

#[test]
fn hostile_texts_take_no_longer_than_others() {
    // Every byte is a match, also of the phrase.
    let text = "a".repeat(300_000);
    assert!(Matcher::new(&"a".repeat(200)).match_text(&text).is_some());
    assert!(Matcher::new("x x x x x x y").match_text(&"x ".repeat(200_000)).is_some());
    let marks = "e\u{301}".repeat(100_000);
    assert!(Matcher::new("e\u{301}e").match_text(&marks).is_some());
    let matcher = Matcher::new("needle");
    let far = format!("{}{}", "漢".repeat(300_000), "NEEDLE");
    assert_eq!(&far[matcher.match_text(&far).unwrap().range], "NEEDLE");
    assert!(matcher.match_text("nul\0needle\r\n").is_some());
}

#[test]
fn lines_are_counted_from_one() {
    let text = "a\nb\r\nc";
    assert_eq!([0, 1, 2, 4, 5, 99].map(|at| line_number(text, at)), [1, 1, 2, 2, 3, 3]);
    assert_eq!(line_number("", 0), 1);
    assert_eq!(line_number("é\n", 1), 1);
}

proptest! {
    #[test]
    fn the_excerpt_around_a_match_contains_the_terms(filler in "([a-z]{0,9} ){0,90}", more in "([a-z]{0,9} ){0,90}") {
        let text = format!("{filler} Токен-42 {more}");
        let text_match = Matcher::new("токен-42").match_text(&text).unwrap();
        let shown = excerpt_around(&text, &text_match.range, 300, LineBreaks::Join);
        prop_assert!(shown.contains("Токен-42") && shown.chars().count() <= 300);
    }

    #[test]
    fn any_query_matches_any_text_without_panic(query in "\\PC{0,60}|(?s).{0,60}", text in "(?s).{0,300}") {
        let matcher = Matcher::new(&query);
        if let Some(text_match) = matcher.match_with_title(&text, &text) {
            prop_assert!(text.get(text_match.range.clone()).is_some());
            prop_assert!(text_match.coverage > 0.0 && text_match.coverage <= 1.001);
            prop_assert!((0.0..=1.0).contains(&text_match.closeness));
            prop_assert!(text_match.score().is_finite());
        }
        let _ = Matcher::from_regex(&query).map(|matcher| matcher.match_text(&text));
    }

    /// A substring is found, in any case, as an exact match.
    #[test]
    fn a_substring_is_found_as_an_exact_match(before in "[a-zß中\u{301} İ]{0,40}", phrase in "[a-zA-Z0-9éЖß中文_(.]{1,12}( [a-zé中]{1,8}){0,3}", after in "[ a-z中]{0,40}") {
        let text = format!("{before} {phrase} {after}");
        for query in [phrase.clone(), phrase.to_lowercase()] {
            let text_match = Matcher::new(&query).match_text(&text);
            prop_assert!(text_match.as_ref().is_some_and(|text_match| text_match.exact != ExactMatch::No), "{:?} {:?}", query, text_match);
            let matched = &text[text_match.unwrap().range];
            let folded = |text: &str| collapse_whitespace(&text.to_lowercase());
            prop_assert_eq!(folded(matched).replace("i\u{307}", "i"), folded(&query));
        }
    }

    /// A phrase matches as if all white space were single spaces.
    #[test]
    fn a_phrase_is_found_like_a_substring(phrase in "[ab]{1,3}( [ab]{1,3}){0,3}", text in "[ab \n]{0,40}") {
        let collapsed = collapse_whitespace(&text);
        let text_match = Matcher::new(&phrase).match_text(&text).filter(|text_match| text_match.exact != ExactMatch::No);
        prop_assert_eq!(text_match.is_some(), collapsed.contains(&phrase), "{:?}", text_match);
    }

    #[test]
    fn a_text_with_more_terms_scores_more(words in proptest::collection::hash_set("[b-df-hj-np-tv-z]{5,8}", 3..6), at in 0usize..3) {
        let words: Vec<String> = words.into_iter().collect();
        let matcher = Matcher::new(&words.join(" "));
        let mut all = words.clone();
        all.reverse();
        let mut fewer = all.clone();
        fewer.remove(at);
        let (all, fewer) = (all.join(" of "), fewer.join(" "));
        let scores = [&all, &fewer].map(|text| matcher.match_text(text).unwrap().score());
        prop_assert!(scores[0] > scores[1]);
        let phrase = matcher.match_text(&words.join("\n")).unwrap().score();
        prop_assert!(phrase > scores[0]);
    }
}
