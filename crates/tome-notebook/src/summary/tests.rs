//! Every operation leaves one summary line and keeps every other line.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::{append_entry, ensure_one_summary, find_summary, generate_summary, set_summary};

fn check_made(text: &str, expected: &Expect) {
    expected.assert_eq(&generate_summary(text));
}

#[test]
fn the_first_summary_outside_of_code_counts() {
    assert_eq!(find_summary("# A\r\n>  Summary:\t a, b \r\n").as_deref(), Some("a, b"));
    assert_eq!(
        find_summary("```\n> Summary: code\n```\n> Summary:\n> Summary: x\n").as_deref(),
        Some("x")
    );
    assert_eq!(
        find_summary("---\nname: x\n> Summary: no\n---\n > Summary: no\nSummary: no\n"),
        None
    );
}

#[test]
fn a_summary_is_generated_from_entries() {
    check_made(
        "# 2026-02 Episodes\n\n## Logger stdout leak fix\n- Summary: pino pipeline leak → custom JS transport\n- Date: 2026-02-24\n\n## Short ID implementation\n- Summary: UUID → short hex\n",
        &expect!["Short ID implementation, Logger stdout leak fix"],
    );
    check_made(
        "## 2026-02-24: A very long title of an entry, with more\n- Summary: `cache` fix\n## [2026-03-01] The **second** entry for the people of the world\n## 2026-03-02",
        &expect!["2026-03-02, second entry for people, cache fix"],
    );
    check_made(
        "## One two three four five six seven eight nine ten eleven\n",
        &expect!["One two three four five six seven eight nine"],
    );
    check_made("## Fix, fix,\n## fix fix\n```\n## Code\n```\n", &expect!["fix fix, Fix, fix"]);
}

#[test]
fn a_summary_is_generated_from_keys_bullets_or_words() {
    check_made(
        "# User Facts\n\n- Name: Zhang San\n- **Language:** Chinese\n* `Role`: developer\n- Updated: 2026-02-24\n- name: again\n",
        &expect!["name, language, role"],
    );
    check_made("- 姓名：张三\n- 语言：中文\n", &expect!["姓名, 语言"]);
    check_made(
        "- Prefers [concise](a.md) answers over long ones\n- Uses vim\n  - with plugins\n- See https://x.org\n- Four\n",
        &expect!["Prefers concise answers, Uses vim, See https://x.org, Four"],
    );
    check_made(
        "\n# T\n***\nThe first words\nof a paragraph.\n\nNot this.\n",
        &expect!["first words of paragraph"],
    );
    let sentence = "我们决定在认证服务中使用数据库因为它支持事务".repeat(9);
    let made = generate_summary(&sentence);
    assert_eq!(made.chars().count(), 100);
    assert!(sentence.starts_with(made.strip_suffix('…').unwrap()));
    for empty in
        ["", " \n", "# Title\n", "```\ncode\n```\n", "> Summary: old\n", "<!-- hint -->\n", "- \n"]
    {
        check_made(empty, &expect![""]);
    }
}

#[test]
fn a_summary_is_put_below_the_title() {
    for (text, expected) in [
        ("# A\n\n- b\n", "# A\n\n> Summary: $& x\n\n- b\n"),
        ("# A\n- b\n", "# A\n\n> Summary: $& x\n\n- b\n"),
        ("# A", "# A\n\n> Summary: $& x\n"),
        ("- b\r\n", "> Summary: $& x\r\n\r\n- b\r\n"),
        ("## b\n", "> Summary: $& x\n\n## b\n"),
        ("\u{feff}- b\n", "\u{feff}> Summary: $& x\n\n- b\n"),
        ("---\nname: x\n---\ntext\n", "---\nname: x\n---\n\n> Summary: $& x\n\ntext\n"),
        ("---\nname: x\n---", "---\nname: x\n---\n\n> Summary: $& x\n"),
        ("```\n# A\n```\n", "> Summary: $& x\n\n```\n# A\n```\n"),
        ("", "> Summary: $& x\n"),
        ("a\n\n>Summary:old\n\n> Summary: b\n\nc", "a\n\n> Summary: $& x\n\nc"),
        ("> Summary: a", "> Summary: $& x"),
    ] {
        assert_eq!(set_summary(text, " $&\n x "), expected);
        assert_eq!(set_summary(text, "> Summary: $& x"), expected);
    }
}

#[test]
fn settling_creates_a_missing_summary() {
    assert_eq!(ensure_one_summary("- Role: dev\n"), "> Summary: role\n\n- Role: dev\n");
    assert_eq!(
        ensure_one_summary("> Summary:\n\n- Role: dev\n"),
        "> Summary: role\n\n- Role: dev\n"
    );
    assert_eq!(
        ensure_one_summary("> Summary: \nb\n> Summary: first\n> Summary: c\n"),
        "> Summary: first\nb\n"
    );
    assert_eq!(ensure_one_summary("# Only a title\n"), "# Only a title\n");
}

#[test]
fn entries_are_added_at_the_end() {
    let first = append_entry(
        None,
        "episodes/2026-02.md",
        "\n## Logger fix\r\n- Date: 2026-02-24\n\n",
        None,
    );
    expect![[r#"
        # 2026-02 Episodes

        > Summary: Logger fix

        ## Logger fix
        - Date: 2026-02-24
    "#]]
    .assert_eq(&first);
    let second = append_entry(
        Some(&first),
        "episodes/2026-02.md",
        "## Short ID\n\n> Summary: logger, ids\n\n- x\n",
        None,
    );
    expect![[r#"
        # 2026-02 Episodes

        > Summary: logger, ids

        ## Logger fix
        - Date: 2026-02-24

        ## Short ID

        - x
    "#]]
    .assert_eq(&second);
    let third = append_entry(Some(&second), "episodes/2026-02.md", "```\nopen", Some("costs $1"));
    let fourth = append_entry(Some(&third), "episodes/2026-02.md", "## Last", Some(" \n"));
    expect![[r#"
        # 2026-02 Episodes

        > Summary: Last, Short ID, Logger fix

        ## Logger fix
        - Date: 2026-02-24

        ## Short ID

        - x

        ```
        open
        ```

        ## Last
    "#]]
    .assert_eq(&fourth);
    assert_eq!(find_summary(&third).as_deref(), Some("costs $1"));
}

#[test]
fn a_new_file_has_a_title_and_a_file_its_line_endings() {
    assert_eq!(
        append_entry(None, "facts/user.md", "- Name: x", None),
        "# User Facts\n\n> Summary: name\n\n- Name: x\n"
    );
    assert_eq!(
        append_entry(Some(" \n"), "notes/to-do.md", "# Mine\n- a", None),
        "# Mine\n\n> Summary: a\n\n- a\n"
    );
    assert_eq!(
        append_entry(Some("# A\r\n- b: c"), "x.md", "- d: e\n- f: g\n", None),
        "# A\r\n\r\n> Summary: b, d, f\r\n\r\n- b: c\r\n\r\n- d: e\r\n- f: g\r\n"
    );
    assert_eq!(
        append_entry(Some("---\nk: v\n---\n"), "x.md", "---\nk: v\n---\n", Some("s")),
        "---\nk: v\n---\n\n> Summary: s\n\n---\nk: v\n---\n"
    );
}

/// Counts summary lines by a simpler rule: generated fences are exactly three backticks.
fn summaries(text: &str) -> usize {
    let mut is_code = false;
    let mut count = 0;
    for line in text.lines() {
        if line == "```" {
            is_code = !is_code;
        } else if !is_code
            && line.starts_with('>')
            && !line.starts_with(">>")
            && line.trim_start_matches('>').trim_start().starts_with("Summary:")
        {
            count += 1;
        }
    }
    count
}

fn others(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| line.trim_matches(['\r', '\u{feff}']));
    lines
        .filter(|line| !line.trim().is_empty() && !line.contains("Summary:"))
        .map(str::to_owned)
        .collect()
}

/// Whether `all` contains these lines in this order.
fn holds(all: &[String], these: &[String]) -> bool {
    let mut all = all.iter();
    these.iter().all(|line| all.any(|it| it == line))
}

fn file() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("# Title"),
        Just("## Entry of 今日"),
        Just("- Key: value"),
        Just("- bullet $&"),
        Just("```"),
        Just("> Summary: one $1"),
        Just(">Summary: two"),
        Just("> Summary:"),
        Just(""),
        Just(" "),
        Just("text"),
        Just("<!--"),
        Just("-->"),
    ];
    let ending = prop_oneof![Just("\n"), Just("\r\n")];
    let last = prop_oneof![Just(""), Just("\n"), Just("\n\n")];
    (prop::collection::vec(line, 0..15), ending, last)
        .prop_map(|(lines, ending, last)| (lines.join("\n") + last).replace('\n', ending))
}

proptest! {
    #[test]
    fn setting_a_summary_leaves_exactly_one(text in file(), summary in "[a-z$&1 \n]{0,20}[a-z$]") {
        let after = set_summary(&text, &summary);
        prop_assert_eq!(summaries(&after), 1, "{}", after);
        let flat = summary.split('\n').map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        prop_assert_eq!(find_summary(&after), Some(flat));
        prop_assert_eq!(others(&after), others(&text));
        prop_assert_eq!(set_summary(&after, &summary), after);
    }

    #[test]
    fn settling_is_idempotent(text in file()) {
        let settled = ensure_one_summary(&text);
        prop_assert_eq!(&ensure_one_summary(&settled), &settled);
        prop_assert_eq!(others(&settled), others(&text));
        if find_summary(&text).is_some() || !generate_summary(&text).is_empty() {
            prop_assert_eq!(summaries(&settled), 1, "{}", settled);
        }
        if let Some(first) = find_summary(&text) {
            prop_assert_eq!(find_summary(&settled), Some(first));
        }
    }

    #[test]
    fn appending_loses_nothing(previous in prop::option::of(file()), entry in file(), summary in prop::option::of("[a-z$&]{1,9}")) {
        let after = append_entry(previous.as_deref(), "facts/user.md", &entry, summary.as_deref());
        let lines = [others(previous.as_deref().unwrap_or_default()), others(&entry)].concat();
        prop_assert!(holds(&others(&after), &lines), "{}", after);
        prop_assert!(after.ends_with('\n') && !after.ends_with("\n\n"));
        if let Some(summary) = summary {
            prop_assert_eq!(summaries(&after), 1, "{}", after);
            prop_assert_eq!(find_summary(&after), Some(summary));
        } else {
            prop_assert!(summaries(&after) <= 1);
        }
    }

    #[test]
    fn any_text_gives_one_tidy_line(text in any::<String>(), file in file()) {
        for text in [text.as_str(), &file, &format!("## {text}"), &format!("- {text}\n- {file}")] {
            let made = generate_summary(text);
            prop_assert!(made.split_whitespace().count() < 10, "{}", made);
            prop_assert!(made.chars().count() <= 100, "{}", made);
            prop_assert!(!made.contains(char::is_control) && made.trim() == made);
            prop_assert!(!made.contains(",,") && !made.starts_with(',') && !made.ends_with(','), "{}", made);
            for after in [set_summary(text, "x"), append_entry(Some(text), "a", text, None), ensure_one_summary(text)] {
                prop_assert_eq!(ensure_one_summary(&after), after);
            }
        }
    }
}
