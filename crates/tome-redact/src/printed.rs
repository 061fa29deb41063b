//! Secrets that a command prints without a name: `aws configure get aws_secret_access_key`. Only the command
//! tells that its output is one.

use std::borrow::Cow;

use serde_json::Value;

use super::name;

/// The mark of a printed secret.
const MARK: &str = "[redacted:secret]";
/// Bytes of a command that are read.
const COMMAND_BYTES_MAX: usize = 32 * 1024;
/// Larger outputs are read line by line even if they are JSON.
const JSON_BYTES_MAX: usize = 256 * 1024;
/// A shorter word is no secret.
const SECRET_CHARS_MIN: usize = 6;
/// Words before the value of a line such as `Secret Value: …`.
const LABEL_WORDS_MAX: usize = 3;

/// Programs that print secrets, with the words that have to follow, in this order; others may stand between them.
/// A word that ends in `*` is a prefix.
#[rustfmt::skip]
const PRINTING: &[(&str, &[&str])] = &[
    ("aws", &["configure", "get", "aws_secret_access_key"]), ("aws", &["configure", "get", "aws_session_token"]),
    ("aws", &["configure", "export-credentials"]), ("aws", &["ecr", "get-login-password"]),
    ("aws", &["ecr-public", "get-login-password"]), ("aws", &["secretsmanager", "get-secret-value"]),
    ("aws", &["ssm", "get-parameter*", "--with-decryption"]), ("aws", &["rds", "generate-db-auth-token"]),
    ("aws", &["sts", "get-session-token"]), ("aws", &["sts", "assume-role*"]),
    ("aws", &["iam", "create-access-key"]), ("aws", &["codeartifact", "get-authorization-token"]),
    ("gh", &["auth", "token"]), ("gh", &["auth", "status", "--show-token"]), ("gh", &["auth", "status", "-t"]),
    ("glab", &["auth", "status", "--show-token"]), ("glab", &["auth", "status", "-t"]),
    ("gcloud", &["auth", "print-access-token"]), ("gcloud", &["auth", "print-identity-token"]),
    ("gcloud", &["secrets", "versions", "access"]),
    ("az", &["account", "get-access-token"]), ("az", &["keyvault", "secret", "show"]),
    ("az", &["acr", "credential", "show"]), ("az", &["storage", "account", "keys", "list"]),
    ("az", &["ad", "sp", "create-for-rbac"]),
    ("kubectl", &["get", "secret*", "-o*"]), ("kubectl", &["get", "secret*", "--output*"]),
    ("kubectl", &["get", "secret*", "--template*"]), ("kubectl", &["create", "token"]),
    ("oc", &["get", "secret*", "-o*"]), ("oc", &["whoami", "-t"]), ("oc", &["whoami", "--show-token"]),
    ("vault", &["kv", "get"]), ("vault", &["read"]), ("vault", &["token", "create"]), ("vault", &["print", "token"]),
    ("op", &["read"]), ("op", &["item", "get"]), ("bw", &["get", "password"]), ("bw", &["get", "totp"]),
    ("bw", &["unlock", "--raw"]), ("pass", &["show"]), ("gopass", &["show"]), ("lpass", &["show"]),
    ("secret-tool", &["lookup"]), ("keyring", &["get"]),
    ("security", &["find-generic-password", "-w"]), ("security", &["find-internet-password", "-w"]),
    ("git", &["credential", "fill"]),
    ("heroku", &["auth:token"]), ("heroku", &["config:get"]), ("fly", &["auth", "token"]), ("fly", &["tokens", "create"]),
    ("flyctl", &["auth", "token"]), ("flyctl", &["tokens", "create"]), ("npm", &["token", "create"]),
    ("npm", &["config", "get", "*_authToken"]), ("supabase", &["projects", "api-keys"]),
    ("terraform", &["output", "-raw"]), ("tofu", &["output", "-raw"]),
    ("pulumi", &["config", "get"]), ("pulumi", &["stack", "output", "--show-secrets"]),
    ("sops", &["-d"]), ("sops", &["--decrypt"]), ("sops", &["decrypt"]), ("ansible-vault", &["view"]),
    ("wg", &["genkey"]), ("wg", &["genpsk"]), ("pwgen", &[]), ("openssl", &["rand"]), ("age-keygen", &[]),
];

/// Whether the command in a tool's input prints a secret.
pub fn prints_secret(input: &Value) -> bool {
    ["command", "cmd", "script"].iter().filter_map(|field| input.get(field)).any(
        |field| match field {
            Value::String(line) => line_prints_secret(line),
            Value::Array(words) => {
                let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                line_prints_secret(&words.join(" "))
            }
            _ => false,
        },
    )
}

fn line_prints_secret(line: &str) -> bool {
    if line.len() > COMMAND_BYTES_MAX {
        return false;
    }
    line.split([';', '|', '&', '\n']).any(|call| {
        // The output of `$(…)` is captured, not printed. Splitting at spaces leaves `KEY=$(gh`, which matches no
        // program.
        let words: Vec<&str> = call.split_whitespace().map(trim_quotes).collect();
        (0..words.len()).any(|at| words.get(at..).is_some_and(call_prints_secret))
    })
}

fn trim_quotes(word: &str) -> &str {
    word.trim_start_matches(['"', '\'', '(']).trim_end_matches(['"', '\'', ')'])
}

/// Whether a call that begins with a program prints a secret.
fn call_prints_secret(words: &[&str]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    let program = program.rsplit('/').next().unwrap_or(program);
    match program {
        "printenv" => arguments.iter().any(|name| name::rate_name(name).is_some()),
        "echo" | "printf" => arguments
            .iter()
            .filter_map(|word| find_variable(word))
            .any(|name| name::rate_name(name).is_some()),
        _ => PRINTING.iter().any(|(name, pattern)| {
            *name == program && {
                let mut rest = arguments.iter();
                pattern.iter().all(|wanted| rest.any(|word| fits(word, wanted)))
            }
        }),
    }
}

fn fits(word: &str, wanted: &str) -> bool {
    if let Some(prefix) = wanted.strip_suffix('*') {
        return word.starts_with(prefix);
    }
    wanted.strip_prefix('*').map_or(word == wanted, |suffix| word.ends_with(suffix))
}

/// The name in `$NAME`, `${NAME}` or `${NAME:0:4}`.
fn find_variable(word: &str) -> Option<&str> {
    let (_, after) = word.split_once('$')?;
    let name = after.strip_prefix('{').unwrap_or(after);
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
    name.get(..end).filter(|name| !name.is_empty())
}

/// Cuts the secrets from the output of a command that prints one.
pub fn redact_printed(output: &Value) -> Value {
    /// Fields of an output that hold what was printed.
    const PRINTED: [&str; 11] = [
        "stdout",
        "stderr",
        "output",
        "content",
        "text",
        "result",
        "aggregated_output",
        "formatted_output",
        "llmContent",
        "returnDisplay",
        "message",
    ];
    match output {
        Value::String(text) => Value::String(redact_printed_text(text).into_owned()),
        Value::Array(items) => Value::Array(items.iter().map(redact_printed).collect()),
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .map(|(name, value)| {
                    let is_printed = PRINTED.contains(&name.as_str()) || !value.is_string();
                    (name.clone(), if is_printed { redact_printed(value) } else { value.clone() })
                })
                .collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => output.clone(),
    }
}

/// Cuts from a printed text each line that is one word, and each value that is one.
pub fn redact_printed_text(text: &str) -> Cow<'_, str> {
    let is_json = text.trim_start().starts_with(['{', '[']) && text.len() <= JSON_BYTES_MAX;
    if is_json && let Ok(value) = serde_json::from_str::<Value>(text) {
        let redacted = redact_leaves(&value);
        return if redacted == value {
            Cow::Borrowed(text)
        } else {
            Cow::Owned(redacted.to_string())
        };
    }
    let mut redacted = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match find_printed_word(line) {
            Some((start, end)) => {
                redacted.push_str(line.get(..start).unwrap_or_default());
                redacted.push_str(MARK);
                redacted.push_str(line.get(end..).unwrap_or_default());
            }
            None => redacted.push_str(line),
        }
    }
    if redacted == text { Cow::Borrowed(text) } else { Cow::Owned(redacted) }
}

fn redact_leaves(value: &Value) -> Value {
    match value {
        Value::String(text) if is_secret_word(text) => MARK.into(),
        Value::Array(items) => Value::Array(items.iter().map(redact_leaves).collect()),
        Value::Object(fields) => Value::Object(
            fields.iter().map(|(name, value)| (name.clone(), redact_leaves(value))).collect(),
        ),
        _ => value.clone(),
    }
}

/// The range of the word that is all of a line, or all of its value.
fn find_printed_word(line: &str) -> Option<(usize, usize)> {
    let range = |word: &str| line.rfind(word).map(|start| (start, start + word.len()));
    let bare = line.trim();
    let labelled = [": ", "=", ":\t", "\t"].iter().find_map(|mark| bare.split_once(mark));
    if let Some((label, value)) = labelled {
        let value = value.trim().trim_end_matches(',').trim_matches(['"', '\'']);
        if label.split_whitespace().count() <= LABEL_WORDS_MAX && is_secret_word(value) {
            return range(value);
        }
    }
    range(bare).filter(|_| is_secret_word(bare))
}

/// Whether a text may be a secret: one word, and neither a mark nor an address.
fn is_secret_word(text: &str) -> bool {
    text.chars().nth(SECRET_CHARS_MIN - 1).is_some()
        && !text.contains(char::is_whitespace)
        && !text.contains("[redacted:")
        && !text.contains("[private]")
        && !text.ends_with(':')
        && !text.starts_with("https://")
        && !text.starts_with("http://")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn commands_that_print_a_secret_are_known() {
        for command in [
            "aws configure get aws_secret_access_key 2>&1",
            "aws --profile dev configure get aws_secret_access_key",
            "cd app && gh auth token",
            "bash -lc 'gh auth token'",
            "/usr/bin/vault kv get -field=key secret/app",
            "kubectl -n web get secret db -o jsonpath='{.data.key}' | base64 -d",
            "op read op://dev/db/password",
            "printenv DB_PASSWORD",
            "echo \"$GITHUB_TOKEN\"",
            "echo ${API_KEY:0:8}",
            "openssl rand -hex 32",
        ] {
            assert!(prints_secret(&json!({ "command": command })), "{command}");
        }
        assert!(prints_secret(&json!({"command": ["bash", "-lc", "gh auth token"]})));
        for command in [
            "TOKEN=$(gh auth token) make release",
            "aws configure get region",
            "gh auth status",
            "kubectl get secrets",
            "echo $HOME",
            "printenv PATH",
            "cargo test",
        ] {
            assert!(!prints_secret(&json!({ "command": command })), "{command}");
        }
        assert!(!prints_secret(&json!({"file_path": "gh auth token"})));
    }

    #[test]
    fn what_they_print_is_cut() {
        for (text, expected) in [
            ("q8Zk3VbN0xW7tYpL2mRs\n", "[redacted:secret]\n"),
            ("correcthorse", "[redacted:secret]"),
            ("Key    Value\npassword: hunter22\n", "Key    Value\npassword: [redacted:secret]\n"),
            ("KEY=\"q8Zk3VbN\"\n", "KEY=\"[redacted:secret]\"\n"),
            ("[redacted:aws]", "[redacted:aws]"),
            ("An error occurred (AccessDenied)", "An error occurred (AccessDenied)"),
            ("data:\n  key: cXdlcnR5\n", "data:\n  key: [redacted:secret]\n"),
            (
                r#"{"Name":"db","SecretString":"hunter22"}"#,
                r#"{"Name":"db","SecretString":"[redacted:secret]"}"#,
            ),
        ] {
            assert_eq!(redact_printed_text(text), expected);
            assert_eq!(redact_printed_text(expected), expected, "again");
        }
    }

    #[test]
    fn only_what_was_printed_is_cut() {
        let output = json!({"stdout": "q8Zk3VbN0xW7", "status": "completed", "interrupted": false});
        let expected =
            json!({"stdout": "[redacted:secret]", "status": "completed", "interrupted": false});
        assert_eq!(redact_printed(&output), expected);
        let parts = json!([{"type": "tool_result", "text": "q8Zk3VbN0xW7"}]);
        assert_eq!(
            redact_printed(&parts),
            json!([{"type": "tool_result", "text": "[redacted:secret]"}])
        );
    }
}
