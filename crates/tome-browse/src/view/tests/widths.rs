//! Lists, contents, help and questions at four widths.

use expect_test::expect;

use super::*;

#[test]
fn the_latest_sessions_at_four_widths() {
    check(
        &browser(60, 16, "", ""),
        &expect![[r#"
            ❯ type to search                                 3+ sessions
            app  any agent  anytime  all kinds  all speakers
            ❯ 2 h ago      claude-code  Accept unicode identifiers in t…
              Nov 13       codex        Fix the build
              Nov 5, 2025  claude-code  漢字 in titles take two columns…


            ────────────────────────────────────────────────────────────
             Accept unicode identifiers
             claude-code · on feature/unicode

               1  09:30  Please make the lexer accept unicode
               identifiers.
                       → Fixed: identifiers in `lexer.rs` follow the
                       XID rules now.                           3 more
            Enter read · Tab list and filters · Esc quit · ↑↓ choose
        "#]],
    );
    check(
        &browser(80, 24, "", ""),
        &expect![[r#"
            ❯ type to search                                                     3+ sessions
            app  any agent  anytime  all kinds  all speakers
            ❯ 2 h ago      claude-code  Accept unicode identifiers in the lexer and in the…
              Nov 13       codex        Fix the build
              Nov 5, 2025  claude-code  漢字 in titles take two columns each






            ────────────────────────────────────────────────────────────────────────────────
             Accept unicode identifiers
             claude-code · on feature/unicode

               1  09:30  Please make the lexer accept unicode identifiers.
                       → Fixed: identifiers in `lexer.rs` follow the XID rules now.

             Commits
               • 469cb2e Accept unicode identifiers



            Enter read · Tab list and filters · Esc quit · ↑↓ choose · Shift-↑↓ scroll
        "#]],
    );
    check(
        &browser(100, 16, "", "\tp"),
        &expect![[r#"
            ❯ type to search                                                                         3+ sessions
            p all projects  a any agent  w anytime  s all kinds  u all speakers
            ❯ 2 h ago      Accept unicode identifiers in… │ Accept unicode identifiers
              Nov 13       Fix the build                  │ claude-code · on feature/unicode
              Nov 5, 2025  漢字 in titles take two column…│
                                                          │   1  09:30  Please make the lexer accept unicode
                                                          │   identifiers.
                                                          │           → Fixed: identifiers in `lexer.rs` follow
                                                          │           the XID rules now.
                                                          │
                                                          │ Commits
                                                          │   • 469cb2e Accept unicode identifiers
                                                          │
                                                          │
                                                          │
            Enter read · ? help · q quit · / search · r resume · e edit · t contents · y copy
        "#]],
    );
    check(
        &browser(160, 16, "", "\t"),
        &expect![[r#"
            ❯ type to search                                                                                                                                     3+ sessions
            p app  a any agent  w anytime  s all kinds  u all speakers
            ❯ 2 h ago      claude-code  Accept unicode identifiers in the lexer and… │ Accept unicode identifiers
              Nov 13       codex        Fix the build                                │ claude-code · on feature/unicode
              Nov 5, 2025  claude-code  漢字 in titles take two columns each         │
                                                                                     │   1  09:30  Please make the lexer accept unicode identifiers.
                                                                                     │           → Fixed: identifiers in `lexer.rs` follow the XID rules now.
                                                                                     │
                                                                                     │ Commits
                                                                                     │   • 469cb2e Accept unicode identifiers
                                                                                     │
                                                                                     │
                                                                                     │
                                                                                     │
                                                                                     │
            Enter read · ? help · q quit · / search · r resume · e edit · t contents · y copy
        "#]],
    );
}

#[test]
fn hits_at_four_widths() {
    check(
        &browser(60, 16, "lexer", ""),
        &expect![[r#"
            ❯ lexer                                               3 hits
            app  any agent  anytime  all kinds  all speakers
            ❯ Nov 14  user  Please make the lexer accept unicode identi…
              Nov 14  note  lexer: identifiers follow the XID rules
              Nov 14  user  Please make the lexer accept unicode identi…


            ────────────────────────────────────────────────────────────
             #12  Nov 14, 09:31 · user

             Please make the lexer accept unicode identifiers.

             answered #17: Identifiers in `lexer.rs` now follow the
             XID rules.

            Enter read · Tab list and filters        skipped: rust/no.md
        "#]],
    );
    check(
        &browser(80, 24, "lexer", "\tj"),
        &expect![[r#"
            ❯ lexer                                                                   3 hits
            p app  a any agent  w anytime  s all kinds  u all speakers
              Nov 14  user  Please make the lexer accept unicode identifiers.
            ❯ Nov 14  note  lexer: identifiers follow the XID rules
              Nov 14  user  Please make the lexer accept unicode identifiers.






            ────────────────────────────────────────────────────────────────────────────────











            Enter read · ? help · q quit · / search · r resume · e edit  skipped: rust/no.md
        "#]],
    );
    check(
        &browser(100, 14, "lexer", ""),
        &expect![[r#"
            ❯ lexer                                                                                       3 hits
            app  any agent  anytime  all kinds  all speakers
            ❯ Nov 14  user  Please make the lexer accept… │ #12  Nov 14, 09:31 · user
              Nov 14  note  lexer: identifiers follow the…│
              Nov 14  user  Please make the lexer accept… │ Please make the lexer accept unicode identifiers.
                                                          │
                                                          │ answered #17: Identifiers in `lexer.rs` now follow
                                                          │ the XID rules.
                                                          │
                                                          │
                                                          │
                                                          │
                                                          │
            Enter read · Tab list and filters · Esc quit · ↑↓ choose · Shift-↑↓ scroll       skipped: rust/no.md
        "#]],
    );
    check(
        &browser(160, 14, "lexer", "\twa"),
        &expect![[r#"
            ❯ lexer                                                                                                                                                   3 hits
            p app  a claude-code  w today  s all kinds  u all speakers
            ❯ Nov 14  user  Please make the lexer accept unicode identifiers.        │ #12  Nov 14, 09:31 · user
              Nov 14  note  lexer: identifiers follow the XID rules                  │
              Nov 14  user  Please make the lexer accept unicode identifiers.        │ Please make the lexer accept unicode identifiers.
                                                                                     │
                                                                                     │ answered #17: Identifiers in `lexer.rs` now follow the XID rules.
                                                                                     │
                                                                                     │
                                                                                     │
                                                                                     │
                                                                                     │
                                                                                     │
            Enter read · ? help · q quit · / search · r resume · e edit · t contents · y copy                                                            skipped: rust/no.md
        "#]],
    );
}

#[test]
fn the_contents_at_four_widths() {
    check(
        &browser(60, 12, "", "\tt"),
        &expect![[r#"
            Contents  all years
            p app
            ❯ 2026  804 events  Unicode identifiers
              2025  804 events  Unicode identifiers


            ────────────────────────────────────────────────────────────
               Nov 14, 09:31 · user

             Please make the lexer accept unicode identifiers.
                                                                2 more
            → open · ← up · t back · ? help · q quit · r resume
        "#]],
    );
    check(
        &browser(80, 12, "", "\tt\n"),
        &expect![[r#"
            Contents  2026
            p app
            ❯ 2026-11  804 events  Unicode identifiers
              2026-10  804 events  Unicode identifiers


            ────────────────────────────────────────────────────────────────────────────────
               Nov 14, 09:31 · user

             Please make the lexer accept unicode identifiers.
                                                                                    1 more
            → open · ← up · t back · ? help · q quit · r resume
        "#]],
    );
    check(
        &browser(100, 12, "", "\tt"),
        &expect![[r#"
            Contents  all years
            p app
            ❯ 2026  Unicode identifiers                   │   Nov 14, 09:31 · user
              2025  Unicode identifiers                   │
                                                          │ Please make the lexer accept unicode identifiers.
                                                          │
                                                          │ answered #17: Identifiers in `lexer.rs` now follow
                                                          │ the XID rules.
                                                          │
                                                          │
                                                          │
            → open · ← up · t back · ? help · q quit · r resume
        "#]],
    );
    check(
        &browser(160, 12, "", "\tt\n"),
        &expect![[r#"
            Contents  2026
            p app
            ❯ 2026-11  804 events  Unicode identifiers                               │   Nov 14, 09:31 · user
              2026-10  804 events  Unicode identifiers                               │
                                                                                     │ Please make the lexer accept unicode identifiers.
                                                                                     │
                                                                                     │ answered #17: Identifiers in `lexer.rs` now follow the XID rules.
                                                                                     │
                                                                                     │
                                                                                     │
                                                                                     │
            → open · ← up · t back · ? help · q quit · r resume
        "#]],
    );
}

#[test]
fn the_help_and_the_question_at_four_widths() {
    check(
        &browser(60, 20, "", "\t?"),
        &expect![[r#"
            ❯ type to search                                 3+ sessions
            p ┌ Keys ────────────────────────────────────────────────┐
            ❯ │ type            search; Tab: to the list and back    │t…
              │ ↑ ↓  PgUp PgDn  choose; in the list also j k g G     │
              │ Shift-↑↓  J K   scroll the preview                   │s…
              │ Enter           read it, at the cited place          │
              │ Esc  q  Ctrl-C  leave                                │
              │                 in the list (or with Alt):           │
              │ r               resume the session in its agent      │
            ──│ e               edit the note in your editor         │──
             A│ t               contents: → opens, ← goes up         │
             c│ y               copy the citation for `tome show`    │
              │ p               this project or all                  │
              │ a               agent                                │
              │ w               when: today, 7 days, 30 days         │
              │ s               sessions, notes, lessons, contents   │
              │ u               user, agent or tools                 │
              │ /               search                               │
             C└──────────────────────────────────────────────────────┘
            Enter read · ? help · q quit · / search · r resume · e edit
        "#]],
    );
    check(
        &browser(80, 24, "", "\t?"),
        &expect![[r#"
            ❯ type to search                                                     3+ sessions
            p app  a any agent  w anytime  s all kinds  u all speakers
            ❯ 2 h ago      claude-code  Accept unicode identifiers in the lexer and in the…
              N┌ Keys ──────────────────────────────────────────────────────────────────┐
              N│ type            search; Tab: to the list and back                      │
               │ ↑ ↓  PgUp PgDn  choose; in the list also j k g G                       │
               │ Shift-↑↓  J K   scroll the preview                                     │
               │ Enter           read it, at the cited place                            │
               │ Esc  q  Ctrl-C  leave                                                  │
               │                 in the list (or with Alt):                             │
               │ r               resume the session in its agent                        │
            ───│ e               edit the note in your editor                           │───
             Ac│ t               contents: → opens, ← goes up                           │
             cl│ y               copy the citation for `tome show`                      │
               │ p               this project or all                                    │
               │ a               agent                                                  │
               │ w               when: today, 7 days, 30 days                           │
               │ s               sessions, notes, lessons, contents                     │
             Co│ u               user, agent or tools                                   │
               │ /               search                                                 │
               └────────────────────────────────────────────────────────────────────────┘


            Enter read · ? help · q quit · / search · r resume · e edit · t contents
        "#]],
    );
    check(
        &browser(60, 14, "", "\tr"),
        &expect![[r#"
            ❯ type to search                                 3+ sessions
            p app  a any agent  w anytime  s all kinds  u all speakers
            ❯ 2 h ago      claude-code  Accept unicode identifiers in t…
              ┌ Resume ──────────────────────────────────────────────┐
              │ Accept unicode identifiers in the lexer              │s…
              │ folder   /home/dev/app                               │
            ──│ command  claude --resume                             │──
             A│          419f42f0-2fa1-44cc-8b4d-babf59901513        │
             c│                                                      │
              │ Enter run · p print · Esc back                       │
              └──────────────────────────────────────────────────────┘
               identifiers.
                       → Fixed: identifiers in `lexer.rs` foll… 4 more
            Enter read · ? help · q quit · / search · r resume · e edit
        "#]],
    );
    check(
        &browser(100, 14, "", "\tr"),
        &expect![[r#"
            ❯ type to search                                                                         3+ sessions
            p app  a any agent  w anytime  s all kinds  u all speakers
            ❯ 2 h ago      Accept unicode identifiers in… │ Accept unicode identifiers
              Nov 13     ┌ Resume ────────────────────────────────────────────────────────────────┐
              Nov 5, 2025│ Accept unicode identifiers in the lexer                                │
                         │ folder   /home/dev/app                                                 │t unicode
                         │ command  claude --resume 419f42f0-2fa1-44cc-8b4d-babf59901513          │
                         │                                                                        │r.rs` follow
                         │ Enter run · p print · Esc back                                         │
                         └────────────────────────────────────────────────────────────────────────┘
                                                          │ Commits
                                                          │   • 469cb2e Accept unicode identifiers
                                                          │
            Enter read · ? help · q quit · / search · r resume · e edit · t contents · y copy
        "#]],
    );
    check(
        &browser(160, 14, "", "\tr"),
        &expect![[r#"
            ❯ type to search                                                                                                                                     3+ sessions
            p app  a any agent  w anytime  s all kinds  u all speakers
            ❯ 2 h ago      claude-code  Accept unicode identifiers in the lexer and… │ Accept unicode identifiers
              Nov 13       codex        Fix the build  ┌ Resume ────────────────────────────────────────────────────────────────┐
              Nov 5, 2025  claude-code  漢字 in titles │ Accept unicode identifiers in the lexer                                │
                                                       │ folder   /home/dev/app                                                 │nicode identifiers.
                                                       │ command  claude --resume 419f42f0-2fa1-44cc-8b4d-babf59901513          │s` follow the XID rules now.
                                                       │                                                                        │
                                                       │ Enter run · p print · Esc back                                         │
                                                       └────────────────────────────────────────────────────────────────────────┘
                                                                                     │
                                                                                     │
                                                                                     │
            Enter read · ? help · q quit · / search · r resume · e edit · t contents · y copy
        "#]],
    );
}
