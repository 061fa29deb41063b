//! Titles from what people type.

use expect_test::{Expect, expect};
use serde_json::json;

use tome_model::FactKind;

use super::edge_cases::{edit, lines, message};
use super::{check, events, summarize};

fn titles(prompts: &[&str]) -> String {
    let mut out = String::new();
    for text in prompts {
        let line = json!({"at": 1_772_442_000_000_u64, "session_id": "s", "agent": "gemini", "cwd": "/home/dev/app", "kind": "user_message", "text": text});
        let events = events(&line.to_string());
        let summary = summarize(&events);
        check(&summary, &events);
        out += &format!("{}\n", summary.title);
    }
    out
}

#[track_caller]
fn check_titles(prompts: &[&str], expected: &Expect) {
    expected.assert_eq(&titles(prompts));
}

#[test]
fn courtesies_are_removed_from_titles() {
    check_titles(
        &[
            "Hi! Could you please fix the flaky test in upload_test.go? It fails on CI every other day.",
            "ok, now let's add retries to the S3 client, with jitter",
            "why does `cargo build` rebuild everything when I only touch a test?",
            "I've been staring at this for an hour. The tooltip of the chart is cut off in Safari. Can you have a look?",
            "Implement the following plan:\n\n# Rate limiting per API key\n\n## Steps\n1. add a table",
            "please, please, please make the login page not look like 1998, our designer cries each time she opens it and so do I",
            "Thanks! One more thing: rename `UserSvc` to `UserService` everywhere.",
            "Take a look at: the exported function TruncateRunes is never used",
            "/review",
            "yes",
        ],
        &expect![[r#"
            Fix the flaky test in upload_test.go
            Add retries to the S3 client, with jitter
            Why does cargo build rebuild everything when I only touch a test?
            The tooltip of the chart is cut off in Safari
            Rate limiting per API key
            Make the login page not look like 1998
            Rename UserSvc to UserService everywhere
            The exported function TruncateRunes is never used
            /review
            Yes
        "#]],
    );
}

#[test]
fn titles_work_in_other_languages() {
    check_titles(
        &[
            "请帮我把登录接口改成 JWT 认证，顺便加上刷新令牌",
            "ログイン画面のバリデーションを追加してください。メールアドレスの形式もチェックしたいです。",
            "Привет, можешь, пожалуйста, добавить кэш в сервис заказов? Сейчас каждый запрос идёт в базу.",
            "Kannst du bitte die Funktion `parse` in `lexer.py` umbenennen?",
            "로그인 페이지에 비밀번호 재설정 링크를 추가해 주세요",
            "Ajoute un test pour la fonction calculer_total, s'il te plaît",
        ],
        &expect![[r#"
            把登录接口改成 JWT 认证，顺便加上刷新令牌
            ログイン画面のバリデーションを追加してください
            Добавить кэш в сервис заказов
            Die Funktion `parse` in lexer.py umbenennen
            로그인 페이지에 비밀번호 재설정 링크를 추가해 주세요
            Ajoute un test pour la fonction calculer_total
        "#]],
    );
}

#[test]
fn pasted_text_is_not_taken_for_the_request() {
    check_titles(
        &[
            "```\nfn main() {}\n```\nmake this print the arguments",
            "{\n  \"status\": 500,\n  \"error\": \"connection refused\"\n}\nwe get this from the gateway since noon",
            "fix this:\n\nTraceback (most recent call last):\n  File \"a.py\", line 3, in <module>\nZeroDivisionError: division by zero",
            "2026-03-02 10:00:01 ERROR worker-3 job 81 failed: disk quota exceeded\n2026-03-02 10:00:02 INFO worker-3 retrying",
            "diff --git a/x.rs b/x.rs\n--- a/x.rs\n+++ b/x.rs\n@@ -1 +1 @@\n-let a = 1;\n+let a = 2;\n\nis this change safe?",
        ],
        &expect![[r#"
            Make this print the arguments
            We get this from the gateway since noon
            ZeroDivisionError: division by zero
            ERROR worker-3 job 81 failed: disk quota exceeded
            Is this change safe?
        "#]],
    );
}

/// The bullets about one shell call.
fn ran(command: &str, output: &str) -> String {
    let line = json!({"at": 1_772_442_000_000_u64, "session_id": "s", "agent": "opencode", "cwd": "/home/dev/app", "kind": "tool_result",
        "tool": {"name": "bash", "input": {"command": command}, "output": output}});
    let events = events(&line.to_string());
    let summary = summarize(&events);
    check(&summary, &events);
    let texts = summary.bullets.iter().map(|bullet| bullet.text.as_str());
    texts.chain(Some(summary.title.as_str())).take(1).map(|text| format!("{text}\n")).collect()
}

#[test]
fn commands_get_short_names() {
    let all: String = [
        ("cd web && RUST_LOG=debug timeout 60 cargo test -p a -- --nocapture 2>&1 | tail -5", "test result: ok. 3 passed; 0 failed"),
        ("git -C /srv/app push origin main", "error: failed to push some refs\nexit code 1"),
        ("npm run build:prod", "✓ built in 3.02s"),
        ("python -m pytest tests/unit -q", "2 failed, 9 passed in 0.31s\nFAILED tests/unit/test_a.py::test_b - AssertionError: 1 != 2"),
        ("uv run ruff check .", "All checks passed!"),
        ("kubectl --context prod -n web rollout status deploy/web", "deployment \"web\" successfully rolled out"),
        ("gh api repos/a/b --jq '.[] | select(.x == 1)'", "{}"),
        ("./gradlew :core:test", "BUILD SUCCESSFUL in 4s"),
        ("terraform plan -out x", "Error: Invalid provider configuration\n\nProcess exited with code 1"),
    ]
    .iter()
    .map(|(command, output)| ran(command, output))
    .collect();
    expect![[r#"
        Ran cd web && RUST_LOG=debug timeout 60 cargo test -p a -- --nocapture 2>&1 |…
        Open: `git push` fails: error: failed to push some refs
        Ran npm run build:prod
        Open: `pytest` fails: FAILED tests/unit/test_a.py::test_b - AssertionError: 1 != 2
        Ran uv run ruff check .
        Ran kubectl --context prod -n web rollout status deploy/web
        Ran gh api repos/a/b --jq '.[] | select(.x == 1)'
        Ran ./gradlew :core:test
        Open: `terraform plan` fails: Error: Invalid provider configuration
    "#]]
    .assert_eq(&all);
}

#[test]
fn a_title_says_the_request_and_not_what_stands_around_it() {
    check_titles(
        &[
            "can you do some research for me for good issue templates? and propose one",
            "Working within the existing Vite + React project context: 1. Update the bubble chart to take a label",
            "You are generating a specification for ONE use case. Write the specification of the checkout flow.",
            "When working on features and building plans for them, you must always use test-driven development for every phase",
            "/home/dev/shop/agents/skills/blog-writing 转成中文",
            "ensure all of the functionality in the Hooks/, Rules/, Skills/, and Workflows/ directories is implemented",
            "in common.go:296 we are creating the branch with \"app@local\" could we change this to use the current git user and email of the repository?",
            "we should think about how can we make the import of large files faster",
            "init",
            "ON_CHAIN env var)\n- Installed the skills for development",
            "dev@laptop frontend % npm run test:e2e\n\n> web@0.1.0 test:e2e\n> playwright test\n\nError: Cannot find module '@playwright/test'\n\n> 1 | import { test, expect } from '@playwright/test'",
        ],
        &expect![[r#"
            Research good issue templates
            Update the bubble chart to take a label
            Write the specification of the checkout flow
            You must always use test-driven development for every phase
            skills/blog-writing 转成中文
            Ensure all of the functionality in the Hooks/, Rules/, Skills/, and Workflows/ directories is implemented
            Change this to use the current git user and email of the repository
            Think about how can we make the import of large files faster
            Init
            Installed the skills for development
            Error: Cannot find module '@playwright/test'
        "#]],
    );
}

#[test]
fn a_title_keeps_what_a_request_is_about() {
    check_titles(
        &[
            "Исправь баг в парсере)",
            "Do two things: a) rename the --force flag b) update the README",
            "When I call clamp(x, lo) with a negative lower bound the slider thumb jumps to the right edge of the track",
            "If the user enters an invalid email address in the form, then show an inline error below it",
            "The modal says \"Payment failed please try another card\" even when the payment succeeded",
            "In the payment service please fix the failing tests",
            "You're still using the deprecated createClient in api.ts. Please change that.",
            "Add pagination to GET /api/v1/users/orders",
            "Deploying to staging fails with: set the DATABASE_URL variable first",
            "Refactor the settings page to use tabs, however, keep the old routes working for now",
            "have a look for memory leaks in the worker pool",
            "copilot-instructions.md is there now, check it",
            "LIVE PREVIEW MODE - every change is seen at once!\n\nUser request: \"make the UI look like iOS\"\n\nSTEPS: 1. read",
            "INFO: 10.0.0.1:17092 - \"GET /auth/me HTTP/1.1\" 200 OK\nwhy is the user logged out after this request?",
        ],
        &expect![[r#"
            Исправь баг в парсере)
            A) rename the --force flag b) update the README
            When I call clamp(x, lo) with a negative lower bound the slider thumb jumps to the right edge…
            If the user enters an invalid email address in the form, then show an inline error below it
            Reported: The modal says "Payment failed please try another card" even when the payment succeeded
            In the payment service please fix the failing tests
            You're still using the deprecated createClient in api.ts
            Add pagination to GET /api/v1/users/orders
            Deploying to staging fails with: set the DATABASE_URL variable first
            Refactor the settings page to use tabs, however, keep the old routes working for now
            Have a look for memory leaks in the worker pool
            copilot-instructions.md is there now, check it
            Make the UI look like iOS
            Why is the user logged out after this request?
        "#]],
    );
}

#[test]
fn the_title_of_the_agent_names_a_segment_that_is_about_it() {
    let title = |prompt: &str| {
        let line = json!({"at": 1_772_442_000_000_u64, "session_id": "s", "agent": "claude-code", "cwd": "/home/dev/app",
            "kind": "user_message", "text": prompt, "meta": {"session_title": "Move the session cache to Postgres"}});
        let summary = summarize(&events(&line.to_string()));
        let titles = summary.work[0].facts.iter().filter(|fact| fact.kind == FactKind::Title);
        (summary.title.clone(), titles.map(|fact| fact.text.clone()).collect::<Vec<_>>())
    };
    // A request that says what is wanted, about something else; the session keeps its title.
    let (shown, all) = title("Rename the flag `--fast` of the importer to `--quick`");
    assert_eq!(shown, "Rename the flag --fast of the importer to --quick");
    assert!(all.iter().any(|text| text == "Move the session cache to Postgres"), "{all:?}");
    // A vague one about the same.
    let (shown, _) = title("the session cache, with Postgres");
    assert_eq!(shown, "Move the session cache to Postgres");
}

/// A call with an input, as a line of an event.
fn call(tool: &str, input: &serde_json::Value, output: &str) -> serde_json::Value {
    json!({"session_id": "s", "agent": "claude-code", "cwd": "/home/dev/app", "kind": "tool_result",
           "text": output, "tool": {"name": tool, "input": input, "output": output}})
}

fn title_of(values: &[serde_json::Value]) -> String {
    let events = lines(values);
    let summary = summarize(&events);
    check(&summary, &events);
    summary.title
}

#[test]
fn a_name_that_the_agent_gave_its_work_comes_before_a_reply() {
    let prompt = message("user_message", "Still no footer on the invoice, that can't be it");
    let todos = json!({"todos": [
        {"content": "Run the tests", "status": "completed"},
        {"content": "Add the tax footer to the invoice page", "status": "completed"},
        {"content": "Write the tax footer of the invoice mail", "status": "pending"},
    ]});
    let edit = edit("/home/dev/app/src/invoice_page.rs");
    let done = message("assistant_stop", "Done.");
    let listed = call("TodoWrite", &todos, "Todos have been modified successfully");
    assert_eq!(
        title_of(&[prompt.clone(), listed, edit.clone(), done.clone()]),
        "Add the tax footer to the invoice page"
    );
    // Of what was only planned, of other work, or refused, nothing is named.
    let other = json!({"todos": [{"content": "Migrate the billing database schema", "status": "completed"}]});
    let listed = call("TodoWrite", &other, "Todos have been modified successfully");
    let title = title_of(&[prompt, listed, edit, done]);
    assert!(!title.contains("billing"), "{title}");
}

#[test]
fn the_heading_of_a_document_names_what_was_written() {
    let prompt = message("user_message", "Still no word about the restore of the nightly backup");
    let file = json!({"file_path": "/home/dev/app/docs/ops.md",
                      "content": "# Restore of the nightly backup\n\nStop the server first.\n"});
    let done = message("assistant_stop", "Done.");
    let title = title_of(&[prompt, call("Write", &file, "File created"), done]);
    assert_eq!(title, "Restore of the nightly backup");
}

#[test]
fn pasted_lines_and_outbursts_are_no_titles_and_bug_reports_are() {
    check_titles(
        &[
            "[info] worker 3: 2026-03-02T10:00:00.118Z queue is full\nWhat is that about?",
            "the damn build is broken again",
            "I can't log in with Google since the last update",
            "Wait for the server before the tests begin",
            "[Bug] The login page ignores the return key",
            "Fix the off-by-one in parser.py:42",
            "Replace the links to https://example.org with relative ones",
        ],
        &expect![[r#"
            What is that about?
            A prompt without a result
            I can't log in with Google since the last update
            Wait for the server before the tests begin
            [Bug] The login page ignores the return key
            Fix the off-by-one in parser.py:42
            Replace the links to https://example.org with relative ones
        "#]],
    );
}
