//! What has to stay, byte for byte: prose, code, placeholders, fingerprints.

use super::check_kept;

/// Lines as they turn up in sessions, of many languages and tools; `␤` is a line break.
#[test]
fn lines_from_the_field() {
    let lines: Vec<String> = include_str!("kept.txt")
        .lines()
        .map(|line| line.replace('␤', "\n"))
        .collect();
    check_kept(&lines.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn prose() {
    check_kept(&[
        "the password is wrong",
        "reset your password: click the link",
        "Enter password:",
        "Password: ",
        "password: wrong",
        "Token: expired",
        "token count: 4096",
        "tokens: 15",
        "max_tokens=4096",
        "input_tokens: 12345, output_tokens: 678",
        "The secret: practice every day.",
        "the password is sha256 hashed",
        "The token is base64 encoded and the secret is a 256-bit key.",
        "I forgot my password; can you reset it?",
        "pass the token to the parser",
        "PASS: tests/password.rs",
        "PASS=12 FAIL=0",
        "secret sauce = practice",
        "use the --password flag to set it",
        "  --token string   the token to use",
        "  --password PASSWORD  the password",
        "--password-stdin reads it from stdin",
        "Basic authentication and Bearer tokens are both supported.",
        "Authorization: Bearer token",
        "Send an `Authorization: Bearer <token>` header.",
        "Authorization: Bearer $TOKEN",
        "Authorization: Basic auth is deprecated",
        "authorization = require_login",
        "api key: see the vault",
        "key: value",
        "primary_key: user_id2",
        "foreign_key=users.id2x",
        "someone writing about the <private> tag",
        "and one about </private> too",
        "password: 8-16 characters",
        "secret: 32-byte value",
        "token: gpt-4o",
        "password must match: ^[a-z]+$",
        "error: password authentication failed for user \"bob\"",
        "a table | password | string | yes |",
        "密码: 请输入 password: 请输入密码",
        "Contraseña / password: contraseña",
    ]);
}

#[test]
fn code() {
    check_kept(&[
        "password = getpass()",
        "password = getpass.getpass('Password: ')",
        "api_key=os.environ['X']",
        "api_key = os.getenv(\"API_KEY_2\")",
        "let token = parser.next_token();",
        "let token = tokens[0];",
        "let token = &tokens[i2];",
        "token = self.token2",
        "token: string",
        "token: String,",
        "password: str",
        "password: Optional[str] = None",
        "password: &'a str,",
        "fn login(password: &str, token: u64) {}",
        "secret: [u8; 32],",
        "secret: bytes32",
        "token?: string | null;",
        "interface User { password: string; token: string }",
        "connect(user=user, password=password)",
        "connect(\n    user=user,\n    password=password\n)",
        "connect(user=user, password=pw, token=tok)",
        "connect(password=db_password)",
        "login({ username, password: userPassword });",
        "{ password: input\n}",
        "password: params[:password]",
        "password = request.form['password']",
        "password = config.get('password')",
        "this.password = password;",
        "self.token = token",
        "if token == Token::Ident {",
        "if (token === 'identifier') {",
        "match token { Token::A => 1 }",
        "case \"password\":\n  return decode(value1)",
        "type={show ? \"text\" : \"password\"}",
        "type={show ? \"password\" : \"text\"}",
        "<input type=\"password\" name=\"password\" id=\"password\">",
        "fields = [\"username\", \"password\", \"email\"]",
        "'password' => 'required|string|min:8|confirmed',",
        "{\"password\": [\"This field may not be blank.\"]}",
        "{\"password\": \"Must be at least 8 characters\"}",
        "{\"token\": \"the\", \"logprob\": -0.12}",
        "\"eos_token\": \"<|endoftext|>\", \"unk_token\": \"[UNK]\"",
        "bos_token_id: 50256",
        "tokenizer = AutoTokenizer.from_pretrained('gpt2')",
        "const TOKEN_LIMIT: usize = 100_000;",
        "password_hash = hash_password(password)",
        "secrets: inherit",
        "secret: ${{ secrets.X }}",
        "password: \"${DB_PASSWORD}\"",
        "PASSWORD=$(cat /run/secrets/pw1)",
        "PASSWORD=\"$1\"",
        "PASSWORD=$PASSWORD",
        "${PASSWORD:?must be set}",
        "password: {{ vault_password }}",
        "password=%s",
        "WHERE password = ? AND token = $2",
        "WHERE password = :password",
        "secretName: my-app-secret1",
        "secret: my-app-secret",
        "password_file: /run/secrets/db2",
        "password=/run/secrets/db2",
        "private_key: ~/.ssh/id_ed25519",
        "PWD=/home/dev/project2",
        "OLDPWD=/home/dev",
        "vec![Token::new(kind, span)]",
        "let key = map.get(&key2);",
        "sort(key=lambda x1: x1.age2)",
        "<Item key={item.id2} />",
        "cache_key = f\"user:{id}\"",
        "class=\"sk-toggleable__content sk-estimator-doc-link\"",
        "disk-usage risk-assessment task-0123456789abcdef0123",
        "if s.contains(\"-----BEGIN PRIVATE KEY-----\") && s.contains(\"-----END PRIVATE KEY-----\") {",
        "// -----BEGIN RSA PRIVATE KEY----- starts a key",
        "-----BEGIN CERTIFICATE-----\nMIIEpAIBAAKCAQEAx3Z1zYcPzlV5o9pFqkzKq9mQ0nGx\n-----END CERTIFICATE-----",
        "std::env::var(\"GITHUB_TOKEN\")",
        "env: { GITHUB_TOKEN: process.env.GITHUB_TOKEN }",
        "token = Token::Number(42)",
        "assert_eq!(token, \"abc123def456\");",
        "password := r.FormValue(\"password\")",
        "docker run -u 1000:1000 image",
        "key=\"abcdef123456\"",
        "std::mem::swap(&mut token, &mut next_token);",
    ]);
}

#[test]
fn placeholders() {
    check_kept(&[
        "password=***",
        "password: <your password>",
        "password: \"your-password-here\"",
        "PASSWORD=changeme",
        "API_KEY=YOUR_API_KEY",
        "api_key: xxxxxxxx",
        "api_key: \"...\"",
        "token: [redacted]",
        "token: [redacted:github]",
        "password=[redacted:password].",
        "password: null",
        "password: none",
        "password: \"\"",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "sk-...",
        "sk-ant-...",
        "AKIAXXXXXXXXXXXXXXXX",
        "postgres://user:${PASSWORD}@host/db",
        "postgres://<user>:<password>@host/db",
        "https://user:***@host/",
    ]);
}

#[test]
fn addresses() {
    check_kept(&[
        "https://example.com:8080/path@v1.2",
        "https://medium.com/@someone/a-story-0123456789ab",
        "ssh://git@github.com/owner/repo.git",
        "git@github.com:owner/repo.git",
        "http://[::1]:8080/a@b",
        "https://a.example,https://b.example/c@d",
        "mailto:someone@example.com",
        "npm install foo@https://example.com/foo.tgz",
        "see https://docs.example.com/password?x=1#token",
    ]);
}

#[test]
fn fingerprints_and_settings() {
    check_kept(&[
        "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
        "GIT_COMMIT=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
        "BUILD_ID=9f86d081884c7d659a2feaa0c55ad015",
        "REQUEST=550e8400-e29b-41d4-a716-446655440000",
        "id 550e8400-e29b-41d4-a716-446655440000",
        "IMAGE=registry.example/app@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "![x](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==)",
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/x86_64",
        "BUCKET=my-company-prod-data-us-east-1-2024-backup",
        "HOSTNAME=ip-10-0-12-34.eu-west-1.compute.internal",
        "CFLAGS=-O2 -march=x86-64-v3 -fPIC",
        "RUST_LOG=tome_engine=debug,tome_ledger=trace,hyper=info",
        "LS_COLORS=rs=0:di=01;34:ln=01;36:mh=00:pi=40;33:so=01;35",
        "JAVA_OPTS=-Xmx2048m",
        "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus",
        "VERSION=1.2.3-beta.4+build.20240101123456",
        "integrity sha512-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08==",
        "COUNT=12345678901234567890123",
        "let MAX_LEN=someFunctionNameThatIsLong2(x)",
    ]);
}
