//! Secrets of all kinds, in the contexts where they occur.

use serde_json::json;

use super::{CustomPattern, Redactor, check, redact_json};
use crate::PatternError;

#[test]
fn cuts_aws_keys() {
    check(&[
        ("key AKIAIOSFODNN7EXAMPLE here", "key [redacted:aws] here"),
        ("ASIAY34FZKBOKMUTVV7A", "[redacted:aws]"),
        ("AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "[redacted:aws]"),
        (
            "aws configure set aws_secret_access_key wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "aws configure set aws_secret_access_key [redacted:aws]",
        ),
        (
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "aws_secret_access_key = [redacted:aws]",
        ),
        (
            "AWS_SECRET_ACCESS_KEY=/JalrXUtnFEMI7K7MDENG+bPxRfiCYEXAMPLEKEY",
            "AWS_SECRET_ACCESS_KEY=[redacted:aws]",
        ),
        (
            r#"{"SecretAccessKey": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}"#,
            r#"{"SecretAccessKey": "[redacted:aws]"}"#,
        ),
        (
            "aws_access_key_id=AKIAIOSFODNN7EXAMPLE\naws_session_token=IQoJb3JpZ2luX2VjEJr//////////wEaCXVzLWVhc3QtMSJGMEQC",
            "aws_access_key_id=[redacted:aws]\naws_session_token=[redacted:aws]",
        ),
    ]);
}

#[test]
fn cuts_github_tokens() {
    check(&[
        ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "[redacted:github]"),
        ("gho_16C7e42F292c6912E7710c838347Ae178B4a.", "[redacted:github]."),
        ("ghu_16C7e42F292c6912E7710c838347Ae178B4a", "[redacted:github]"),
        ("ghs_16C7e42F292c6912E7710c838347Ae178B4a", "[redacted:github]"),
        ("ghr_16C7e42F292c6912E7710c838347Ae178B4a", "[redacted:github]"),
        (
            "github_pat_11ABCDEFG0aBcDeFgHiJkL_mNoPqRsTuVwXyZ0123456789abcdefghijklmnopqrst",
            "[redacted:github]",
        ),
        (
            r"first line\nghp_16C7e42F292c6912E7710c838347Ae178B4a\nlast",
            r"first line\n[redacted:github]\nlast",
        ),
        ("GITHUB_TOKEN=ghp_16C7e42F292c6912E7710c838347Ae178B4a", "GITHUB_TOKEN=[redacted:github]"),
    ]);
}

#[test]
fn cuts_gitlab_tokens() {
    check(&[
        ("glpat-abcDEF123456ghiJKL78", "[redacted:gitlab]"),
        ("glptt-0123456789abcdef0123456789abcdef01234567", "[redacted:gitlab]"),
        ("runner glrt-t1_abcdEFGH1234ijklMNOP", "runner [redacted:gitlab]"),
        ("gldt-abcDEF123456ghiJKL78,", "[redacted:gitlab],"),
    ]);
}

#[test]
fn cuts_slack_tokens() {
    check(&[
        ("xoxb-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx", "[redacted:slack]"),
        ("xoxp-123456789012-123456789012-123456789012-abcdef", "[redacted:slack]"),
        ("xapp-1-A012ABCDEF0-1234567890123-0123456789abcdef0123456789abcdef", "[redacted:slack]"),
        (
            "curl https://hooks.slack.com/services/T00000000/B00000000/abcdEFGHijklMNOPqrstUVWX",
            "curl https://hooks.slack.com/services/[redacted:slack]",
        ),
    ]);
}

#[test]
fn cuts_google_keys() {
    check(&[
        ("?key=AIzaSyA1234567890abcdefghijklmnopqrstuv", "?key=[redacted:google]"),
        ("ya29.a0AfH6SMBx1234567890abcdefghij", "[redacted:google]"),
        ("GOCSPX-abcdefGHIJKL123456mnopqrst12", "[redacted:google]"),
    ]);
}

// Split in two, because push protection would take them for live keys.
#[test]
fn cuts_stripe_keys() {
    check(&[
        (concat!("sk_", "live_4eC39HqLyjWDarjtT1zdp7dc"), "[redacted:stripe]"),
        (concat!("rk_", "live_4eC39HqLyjWDarjtT1zdp7dc"), "[redacted:stripe]"),
        (concat!("sk_", "test_4eC39HqLyjWDarjtT1zdp7dc"), "[redacted:stripe]"),
        (concat!("wh", "sec_abcdEFGH1234ijklMNOP5678"), "[redacted:stripe]"),
    ]);
}

#[test]
fn cuts_openai_and_anthropic_keys() {
    check(&[
        ("sk-abcdEFGH1234ijklMNOP5678qrstUVWX9012yzABCDEF3456", "[redacted:openai]"),
        ("sk-proj-abcd_EFGH-1234ijklMNOP5678qrstUVWX", "[redacted:openai]"),
        ("sk-svcacct-abcdEFGH1234ijklMNOP", "[redacted:openai]"),
        ("sk-abcdefghijklmnopqrstuvwxyz123456", "[redacted:openai]"),
        ("sk-ant-api03-abcDEF_123-456ghiJKLmnoPQR", "[redacted:anthropic]"),
        (
            "export ANTHROPIC_API_KEY=sk-ant-api03-abcDEF_123-456ghi",
            "export ANTHROPIC_API_KEY=[redacted:anthropic]",
        ),
    ]);
}

#[test]
fn cuts_tokens_of_other_issuers() {
    check(&[
        ("npm_abcdefghijklmnopqrstuvwxyz0123456789", "[redacted:npm]"),
        ("hf_abcdefghijklmnopqrstuvwxyzABCDEFGH", "[redacted:huggingface]"),
        ("bot 123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1", "bot 123456789:[redacted:telegram]"),
        ("AGE-SECRET-KEY-1QQPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3", "[redacted:age]"),
    ]);
}

#[test]
fn cuts_jwts() {
    check(&[
        (
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
            "[redacted:jwt]",
        ),
        (
            "Cookie: id=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N; a=b",
            "Cookie: id=[redacted:jwt]; a=b",
        ),
        ("unsigned eyJhbGciOiJub25lIn0.eyJzdWIiOiIxMjM0In0.", "unsigned [redacted:jwt]."),
    ]);
}

const PEM: &str = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEAx3Z1zYcPzlV5o9pFqkzKq9mQ0nGxkYw8cV7kqLr5Hk1Zq2Xw\nq2FvR1pKc3Z1zYcPzlV5o9pFqkzKq9mQ0nGxkYw8cV7kqLr5Hk1Zq2XwAbCdEfGh\nabcd1234==\n-----END RSA PRIVATE KEY-----";

#[test]
fn cuts_private_keys() {
    let inline = PEM.replace('\n', "\\n");
    let escaped = format!(r#"{{"private_key": "{inline}\n", "a": 1}}"#);
    let numbered: String =
        PEM.lines().enumerate().map(|(at, line)| format!("{:6}→{line}\n", at + 1)).collect();
    let quoted: String = PEM.lines().map(|line| format!("  \"{line}\\n\" +\n")).collect();
    let flat = PEM.replace('\n', " ");
    let open = PEM.split("\n-----END").next().unwrap();
    let cut_off = format!("{open}\nand so on");
    let encrypted = PEM.replace(
        "KEY-----\nMII",
        "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123\n\nMII",
    );
    let encrypted_open = encrypted.split("\nabcd").next().unwrap();
    check(&[
        (PEM, "[redacted:private-key]"),
        (&format!("before\n{PEM}\nafter"), "before\n[redacted:private-key]\nafter"),
        (&escaped, r#"{"private_key": "[redacted:private-key]", "a": 1}"#),
        (&numbered, "     1→[redacted:private-key]\n"),
        (&quoted, "  \"[redacted:private-key]\\n\" +\n"),
        (&flat, "[redacted:private-key]"),
        (open, "[redacted:private-key]"),
        (&cut_off, "[redacted:private-key]\nand so on"),
        (&encrypted, "[redacted:private-key]"),
        (encrypted_open, "[redacted:private-key]"),
        ("-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----", "[redacted:private-key]"),
        (
            "-----BEGIN OPENSSH PRIVATE KEY-----\r\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ\r\n",
            "[redacted:private-key]\r\n",
        ),
    ]);
}

#[test]
fn cuts_credentials_in_headers() {
    check(&[
        ("Authorization: Bearer abc123def456", "Authorization: Bearer [redacted:bearer]"),
        ("authorization: basic dXNlcjpwYXNz", "authorization: basic [redacted:bearer]"),
        (
            r#"-H "Authorization: Bearer mF_9.B5f-4.1JqM" x"#,
            r#"-H "Authorization: Bearer [redacted:bearer]" x"#,
        ),
        (
            r#"{"Authorization": "Bearer mF_9.B5f-4.1JqM"}"#,
            r#"{"Authorization": "Bearer [redacted:bearer]"}"#,
        ),
        (
            r#"{\"Authorization\":\"Bearer mF_9.B5f-4.1JqM\"}"#,
            r#"{\"Authorization\":\"Bearer [redacted:bearer]\"}"#,
        ),
        (
            "headers['Authorization'] = 'Token 0123456789abcdef'",
            "headers['Authorization'] = 'Token [redacted:bearer]'",
        ),
        ("Authorization: 0123456789abcdefABCDEF", "Authorization: [redacted:bearer]"),
        ("send Bearer 0123456789abcdef0123 along", "send Bearer [redacted:bearer] along"),
        ("X-Api-Key: 0123456789abcdef", "X-Api-Key: [redacted:password]"),
        (
            "curl -u admin:hunter2 https://x.example/",
            "curl -u admin:[redacted:password] https://x.example/",
        ),
        ("curl --user 'admin:hun ter2' x", "curl --user 'admin:[redacted:password]' x"),
    ]);
}

#[test]
fn cuts_assigned_secrets() {
    check(&[
        ("password=hunter2", "password=[redacted:password]"),
        ("password = hunter2", "password = [redacted:password]"),
        ("password: hunter2", "password: [redacted:password]"),
        ("my password: hunter2.", "my password: [redacted:password]."),
        ("Password: P@ssw0rd!", "Password: [redacted:password]"),
        ("passwd='correct horse battery staple'", "passwd='[redacted:password]'"),
        ("password=letmein", "password=[redacted:password]"),
        ("user=bob&password=hunter2&x=1", "user=bob&password=[redacted:password]&x=1"),
        (
            "Server=db;Password=s3cr;et;Database=x",
            "Server=db;Password=[redacted:password];Database=x",
        ),
        (r#"{"password": "x"}"#, r#"{"password": "[redacted:password]"}"#),
        (
            r#"{"user":"bob","password":"hunter2","n":1}"#,
            r#"{"user":"bob","password":"[redacted:password]","n":1}"#,
        ),
        (
            r#"{\"password\":\"hunter2\",\"n\":1}"#,
            r#"{\"password\":\"[redacted:password]\",\"n\":1}"#,
        ),
        (
            r#"{\\\"password\\\":\\\"hunter2\\\"}"#,
            r#"{\\\"password\\\":\\\"[redacted:password]\\\"}"#,
        ),
        (r#"{"password": "a\"b\\c1"}"#, r#"{"password": "[redacted:password]"}"#),
        (r#"{"password": "hunter2"#, r#"{"password": "[redacted:password]"#),
        (
            "db:\n  password: postgres\n  port: 5432",
            "db:\n  password: [redacted:password]\n  port: 5432",
        ),
        ("POSTGRES_PASSWORD: postgres", "POSTGRES_PASSWORD: [redacted:password]"),
        ("      - MYSQL_ROOT_PASSWORD=root", "      - MYSQL_ROOT_PASSWORD=[redacted:password]"),
        ("mysql --password letmein --host db", "mysql --password [redacted:password] --host db"),
        ("login --password x", "login --password [redacted:password]"),
        ("login --password=x", "login --password=[redacted:password]"),
        ("vault login --token=s.abc123def456", "vault login --token=[redacted:password]"),
        ("deploy --api-key 0123abcd4567", "deploy --api-key [redacted:password]"),
        ("sshpass -p hunter2 ssh host", "sshpass -p [redacted:password] ssh host"),
        ("client_secret: 'abc'", "client_secret: '[redacted:password]'"),
        ("clientSecret=\"q8-zz\"", "clientSecret=\"[redacted:password]\""),
        ("const apiKey = 'abc123';", "const apiKey = '[redacted:password]';"),
        ("let password: &str = \"hunter2\";", "let password: &str = \"[redacted:password]\";"),
        ("const password: string = 'hunter2';", "const password: string = '[redacted:password]';"),
        (
            "password: Option<String> = Some(\"hunter2\".into())",
            "password: Option<String> = Some(\"[redacted:password]\".into())",
        ),
        (
            "password = String::from(\"hunter2\")",
            "password = String::from(\"[redacted:password]\")",
        ),
        (
            "os.environ[\"DB_PASSWORD\"] = \"hunter2\"",
            "os.environ[\"DB_PASSWORD\"] = \"[redacted:password]\"",
        ),
        (
            "putenv(\"DB_PASSWORD\", \"hunter2\")",
            "putenv(\"DB_PASSWORD\", \"[redacted:password]\")",
        ),
        ("'password' => 'hunter2',", "'password' => '[redacted:password]',"),
        ("pwd := \"hunter2\"", "pwd := \"[redacted:password]\""),
        ("char password[64] = \"hunter2\";", "char password[64] = \"[redacted:password]\";"),
        ("if password == \"hunter2\" {", "if password == \"[redacted:password]\" {"),
        ("def connect(password=\"hunter2\"):", "def connect(password=\"[redacted:password]\"):"),
        ("spring.datasource.password=hunter2", "spring.datasource.password=[redacted:password]"),
        ("<password>hunter2</password>", "<password>[redacted:password]</password>"),
        ("${DB_PASSWORD:-hunter2}", "${DB_PASSWORD:-[redacted:password]}"),
        (
            "- name: DB_PASSWORD\n  value: hunter2",
            "- name: DB_PASSWORD\n  value: [redacted:password]",
        ),
        (
            "CREATE USER x WITH PASSWORD 'hunter';",
            "CREATE USER x WITH PASSWORD '[redacted:password]';",
        ),
        ("machine h login bob password hunter", "machine h login bob password [redacted:password]"),
        ("**Password:** hunter2", "**Password:** [redacted:password]"),
        ("Password: `hunter2`", "Password: `[redacted:password]`"),
        ("| password | hunter2 |", "| password | [redacted:password] |"),
        ("the password is hunter2, ok?", "the password is [redacted:password], ok?"),
        ("password: |\n  hunter2\n", "password: |\n  [redacted:password]\n"),
        ("auth_token: 0a1b2c3d4e5f", "auth_token: [redacted:password]"),
        ("token = 'a1b2c3d4e5f6'", "token = '[redacted:password]'"),
        ("ENCRYPTION_KEY=q1w2e3r4t5y6", "ENCRYPTION_KEY=[redacted:password]"),
        ("AccountKey=abcDEF123+/==;Endpoint=x", "AccountKey=[redacted:password];Endpoint=x"),
        (
            r#""env": ["DB_PASSWORD=hunter2", "A=b"]"#,
            r#""env": ["DB_PASSWORD=[redacted:password]", "A=b"]"#,
        ),
        (r"DB_PASSWORD=hunter2\nA=b", r"DB_PASSWORD=[redacted:password]\nA=b"),
        ("password=[redacted:aws]tail9x", "password=[redacted:aws][redacted:password]"),
        ("password：hunter2", "password：[redacted:password]"),
        (
            "{\"key\":\"password\",\"value\":\"hunter2\"}",
            "{\"key\":\"password\",\"value\":\"[redacted:password]\"}",
        ),
        (
            "<add key=\"DbPassword\" value=\"hunter2\" />",
            "<add key=\"DbPassword\" value=\"[redacted:password]\" />",
        ),
        (
            "x = process.env.PASSWORD || \"hunter2\"",
            "x = process.env.PASSWORD || \"[redacted:password]\"",
        ),
        ("os.getenv('PASSWORD') or 'hunter2'", "os.getenv('PASSWORD') or '[redacted:password]'"),
        ("client.setPassword(\"hunter2\")", "client.setPassword(\"[redacted:password]\")"),
        ("ENV DB_PASSWORD swordfish", "ENV DB_PASSWORD [redacted:password]"),
        ("pass=hunter2 pw: hunter2", "pass=[redacted:password] pw: [redacted:password]"),
        ("API key: a1b2c3d4e5", "API key: [redacted:password]"),
        (
            "CREATE USER x IDENTIFIED BY 'swordfish'",
            "CREATE USER x IDENTIFIED BY '[redacted:password]'",
        ),
        ("stringData: {password: hunter2}", "stringData: {password: [redacted:password]}"),
        (
            "--set auth.password=hunter2,db.user=x",
            "--set auth.password=[redacted:password],db.user=x",
        ),
        (
            "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP&issuer=y",
            "otpauth://totp/x?secret=[redacted:password]&issuer=y",
        ),
    ]);
}

#[test]
fn cuts_credentials_in_urls() {
    check(&[
        ("https://user:pass@host/x", "https://user:[redacted:url]@host/x"),
        ("postgres://app:p@ss:w0rd@db:5432/app", "postgres://app:[redacted:url]@db:5432/app"),
        ("postgres://app:p/ss@db:5432/app", "postgres://app:[redacted:url]@db:5432/app"),
        ("redis://:s3cret@cache:6379/0", "redis://:[redacted:url]@cache:6379/0"),
        (r"https:\/\/bob:hunter2@h\/p", r"https:\/\/bob:[redacted:url]@h\/p"),
        (
            "https://0123456789abcdef0123456789abcdef@o1.ingest.example/2",
            "https://[redacted:url]@o1.ingest.example/2",
        ),
        (
            "git clone https://x-access-token:abc@github.com/a/b",
            "git clone https://x-access-token:[redacted:url]@github.com/a/b",
        ),
        ("DATABASE_URL=mysql://root:hunter2@db/x", "DATABASE_URL=mysql://root:[redacted:url]@db/x"),
        ("root:hunter2@tcp(127.0.0.1:3306)/db", "root:[redacted:url]@tcp(127.0.0.1:3306)/db"),
        (
            "https://h/cb?access_token=a1b2c3d4&x=1",
            "https://h/cb?access_token=[redacted:password]&x=1",
        ),
    ]);
}

#[test]
fn cuts_secrets_in_environment_lines() {
    check(&[
        ("SESSION_SALT=q8Zk3VbN0xW7tYpL2mRs", "SESSION_SALT=[redacted:secret]"),
        ("export COOKIE_SEED='q8Zk3VbN0xW7tYpL2mRs'", "export COOKIE_SEED='[redacted:secret]'"),
        ("PEPPER=9f86d081884c7d659a2feaa0c55ad015", "PEPPER=[redacted:secret]"),
        ("BLOB=q8Zk3VbN0xW7tYpL2mRs", "BLOB=[redacted:env]"),
        ("A=1\nSEED=9f86d081884c7d659a2feaa0c55ad015\nB=2", "A=1\nSEED=[redacted:secret]\nB=2"),
    ]);
}

#[test]
fn cuts_parts_marked_as_private() {
    check(&[
        ("a <private>b</private> c", "a [private] c"),
        ("a <PRIVATE>b\nc</Private> d", "a [private] d"),
        ("<private>a</private> b <private>c</private>", "[private] b [private]"),
        ("<private>a <private>b</private> c</private> d", "[private] d"),
        ("<private>a <private>b</private> c", "[private]"),
        ("a <private>b and no end", "a [private]"),
        ("a <private >b</private > c", "a [private] c"),
        ("a <private\n>b</PRIVATE\n> c", "a [private] c"),
        ("a <private reason=\"x\">b</private> c", "a [private] c"),
        ("a <Private reason='a > b' x>c</private> d", "a [private] d"),
        ("a <private note=\"</private>\">b</private> c", "a [private] c"),
        ("a <private note=\"open>b</private> c", "a [private] c"),
        ("a <private reason=\\\"x\\\">b</private> c", "a [private] c"),
        ("a <priv\u{200b}ate>b</private> c", "a [private] c"),
        ("a \u{1b}[1m<private>\u{1b}[0mb</private> c", "a \u{1b}[1m[private] c"),
        ("a \\u003cprivate\\u003eb\\u003c/private\\u003e c", "a [private] c"),
        ("x </private> <private>a</private> </private> y", "x </private> [private] </private> y"),
        ("<private>password=hunter2</private>", "[private]"),
        ("password=<private>x</private>", "password=[private]"),
    ]);
}

#[test]
fn cuts_secrets_in_json() {
    let value = json!({
        "command": "mysql --password=hunter2 -e 'select 1'",
        "password": "b c",
        "nested": {"apiKey": "k", "passwords": ["one1", "<your password>"], "token": "string"},
        "env": [{"name": "DB_PASSWORD", "value": "hunter2"}, {"name": "HOST", "value": "db"}],
        "count": {"token": 4096, "secret": true, "password": ""},
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a": 1,
        "path": "/srv/ghp_16C7e42F292c6912E7710c838347Ae178B4a/x.rs",
        "inner": "{\"password\": \"hunter2\"}",
        "note": "<private>x</private> y",
        "done": "[redacted:password]",
        "sessionId": "ses_6f2a9B1c7D3e5F0a8B4c",
        "key": "q8Zk3VbN0xW7tYpL2mRs",
        "headers": {"Cookie": "theme=dark; sid=q8Zk3VbN0xW7tYpL2mRs", "Authorization": "Bearer a1b2c3d4e5"},
        "args": ["login", "--password", "horse", "--verbose"],
    });
    let value = redact_json(&value);
    let expected = json!({
        "command": "mysql --password=[redacted:password] -e 'select 1'",
        "password": "[redacted:password]",
        "nested": {"apiKey": "[redacted:password]", "passwords": ["[redacted:password]", "<your password>"], "token": "string"},
        "env": [{"name": "DB_PASSWORD", "value": "[redacted:password]"}, {"name": "HOST", "value": "db"}],
        "count": {"token": 4096, "secret": true, "password": ""},
        "[redacted:github]": 1,
        "path": "/srv/[redacted:github]/x.rs",
        "inner": "{\"password\": \"[redacted:password]\"}",
        "note": "[private] y",
        "done": "[redacted:password]",
        "sessionId": "ses_6f2a9B1c7D3e5F0a8B4c",
        "key": "q8Zk3VbN0xW7tYpL2mRs",
        "headers": {"Cookie": "theme=dark; sid=[redacted:cookie]", "Authorization": "Bearer [redacted:bearer]"},
        "args": ["login", "--password", "[redacted:password]", "--verbose"],
    });
    assert_eq!(value, expected);
    assert_eq!(redact_json(&value), value);
}

#[test]
fn cuts_matches_of_custom_patterns() {
    let custom = |name: &str, pattern: &str| CustomPattern {
        name: name.to_owned(),
        pattern: pattern.to_owned(),
    };
    let redactor =
        Redactor::new(&[custom("badge", r"B-\d{4}"), custom("case", r"case no\. (?<secret>\w+)")])
            .unwrap();
    let once = redactor.redact("B-1234, case no. x77, B-12").into_owned();
    assert_eq!(once, "[redacted:badge], case no. [redacted:case], B-12");
    assert_eq!(redactor.redact(&once), once);

    let greedy = Redactor::new(&[custom("all", "(?s).")]).unwrap();
    assert_eq!(greedy.redact("anything [private] at all"), "[redacted:all][private][redacted:all]");
}

#[test]
fn an_invalid_custom_pattern_is_named_in_the_error() {
    let bad = |name: &str, pattern: &str| {
        Redactor::new(&[CustomPattern { name: name.to_owned(), pattern: pattern.to_owned() }])
            .unwrap_err()
    };
    assert!(bad("open", "(").to_string().contains("\"open\""));
    assert!(matches!(bad("huge", "(a{1000}){1000}{1000}"), PatternError::Pattern { .. }));
    assert!(matches!(bad("long", &"a".repeat(5000)), PatternError::TooLong { .. }));
    assert!(matches!(bad("Not A Name", "a"), PatternError::Name { .. }));
    assert!(matches!(bad("", "a"), PatternError::Name { .. }));
}
