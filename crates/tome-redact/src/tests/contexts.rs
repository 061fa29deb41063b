//! Secrets that are recognized only by their context: commands, manifests, colored output.

use serde_json::json;

use super::{check, redact_json};

#[test]
fn cuts_secrets_behind_escape_sequences() {
    check(&[
        (
            "\u{1b}[34mpassword\u{1b}[0m=\u{1b}[32mhunter2\u{1b}[0m",
            "\u{1b}[34mpassword\u{1b}[0m=\u{1b}[32m[redacted:password]\u{1b}[0m",
        ),
        ("ghp_16C7e42F292c\u{1b}[01;31m\u{1b}[K6912E7710c838347Ae178B4a x", "[redacted:github] x"),
        ("\u{1b}[1mAKIAIOSFODNN7EXAMPLE\u{1b}[m", "\u{1b}[1m[redacted:aws]\u{1b}[m"),
        ("\\u001b[32mAKIAIOSFODNN7EXAMPLE\\u001b[0m", "\\u001b[32m[redacted:aws]\\u001b[0m"),
        ("^[[32mAKIAIOSFODNN7EXAMPLE^[[0m", "^[[32m[redacted:aws]^[[0m"),
        ("[32mAKIAIOSFODNN7EXAMPLE[0m", "[32m[redacted:aws][0m"),
        (
            "\u{1b}]8;;https://x.example\u{7}password\u{1b}]8;;\u{7}=hunter2",
            "\u{1b}]8;;https://x.example\u{7}password\u{1b}]8;;\u{7}=[redacted:password]",
        ),
        ("\u{1b}]0;password=hunter2\u{7} x", "\u{1b}]0;password=[redacted:password]\u{7} x"),
        ("pass\u{200b}word=hun\u{ad}ter2", "pass\u{200b}word=[redacted:password]"),
        ("\u{1b}ghp_16C7e42F292c6912E7710c838347Ae178B4a", "\u{1b}[redacted:github]"),
    ]);
}

#[test]
fn cuts_arguments_of_commands() {
    check(&[
        ("mysql -uroot -phunter2 app", "mysql -uroot -p[redacted:password] app"),
        ("sudo mysql -u root -p'hun ter2' app", "sudo mysql -u root -p'[redacted:password]' app"),
        (
            "sshpass -phunter2 mysql -px1y2z3",
            "sshpass -p[redacted:password] mysql -p[redacted:password]",
        ),
        ("zip -P hunter2 a.zip b", "zip -P [redacted:password] a.zip b"),
        (
            r#"{"command": "mysql -phunter2 app"}"#,
            r#"{"command": "mysql -p[redacted:password] app"}"#,
        ),
        (r#"["mysql", "-phunter2", "app"]"#, r#"["mysql", "-p[redacted:password]", "app"]"#),
        ("curl -uadmin:hunter2 x", "curl -uadmin:[redacted:password] x"),
        ("htpasswd -nb bob hunter2", "htpasswd -nb bob [redacted:password]"),
    ]);
}

#[test]
fn cuts_kubernetes_secrets() {
    let value = json!({"kind": "Secret", "data": {"pin": "MTIzNDU2"}, "metadata": {"name": "x"}});
    let value = redact_json(&value);
    assert_eq!(
        value,
        json!({"kind": "Secret", "data": {"pin": "[redacted:password]"}, "metadata": {"name": "x"}})
    );
    check(&[
        (
            "kind: Secret\ndata:\n  a: MTIzNDU2\n  b: |\n    first\n    second\nmetadata:\n  name: x\n",
            "kind: Secret\ndata:\n  a: [redacted:kubernetes]\n  b: |\n    [redacted:kubernetes]\n    [redacted:kubernetes]\nmetadata:\n  name: x\n",
        ),
        (
            "kind: ConfigMap\ndata:\n  a: MTIzNDU2\n---\nkind: Secret\ndata:\n  b: MTIzNDU2\n",
            "kind: ConfigMap\ndata:\n  a: MTIzNDU2\n---\nkind: Secret\ndata:\n  b: [redacted:kubernetes]\n",
        ),
    ]);
}

#[test]
fn what_is_typed_into_a_password_field_is_cut() {
    let form = |name: &str, value: &str| json!({"fields": [{"name": name, "type": "textbox", "value": value}]});
    let typed = |element: &str, text: &str| json!({"element": element, "ref": "e12", "text": text});
    for name in ["비밀번호", "密码", "Пароль", "Passwort", "Mot de passe"] {
        let rewritten = redact_json(&form(name, "hunter2-Kx9"));
        assert_eq!(rewritten, form(name, "[redacted:password]"));
    }
    let rewritten_text = redact_json(&typed("Password field", "hunter2-Kx9"));
    assert_eq!(rewritten_text, typed("Password field", "[redacted:password]"));
    let filled = |selector: &str, value: &str| json!({"selector": selector, "value": value});
    let cut = redact_json(&filled("#password", "hunter2-Kx9"));
    assert_eq!(cut, filled("#password", "[redacted:password]"));
    for kept in [
        form("아이디", "dev-42"),
        form("암호화", "AES-256-GCM"),
        form("password_hash_algorithm", "argon2id-v19"),
        typed("Search box", "how to reset a password"),
        typed("#password-reset-button", "Weiter-2"),
    ] {
        assert_eq!(redact_json(&kept), kept);
    }
}
