//! The contexts in which secrets occur: configuration, source code, colored terminals.

/// The context of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surrounding {
    Plain,
    Json,
    Yaml,
    Shell,
    /// Colors around the name and the value, as printed by `jq -C`.
    Colored,
    /// A colored match in the middle of the secret, as printed by `grep --color`.
    ColoredInside,
    /// The same, with the escape byte in JSON notation.
    WrittenEscapes,
    /// A zero-width space in the middle.
    Invisible,
}

impl Surrounding {
    pub const ALL: [Self; 8] = [
        Self::Plain,
        Self::Json,
        Self::Yaml,
        Self::Shell,
        Self::Colored,
        Self::ColoredInside,
        Self::WrittenEscapes,
        Self::Invisible,
    ];
}

fn split_middle(secret: &str) -> (&str, &str) {
    secret.split_at(secret.len() / 2)
}

/// Puts a token that needs no name into a context.
pub fn place_token(token: &str, surrounding: Surrounding) -> String {
    let (first, second) = split_middle(token);
    match surrounding {
        Surrounding::Plain => format!("I used {token} for it."),
        Surrounding::Json => format!("{{\"id\": 7, \"thing\": \"{token}\", \"ok\": true}}"),
        Surrounding::Yaml => format!("things:\n  first: {token}\n  second: 2\n"),
        Surrounding::Shell => format!("$ tool --thing {token} --verbose\n"),
        Surrounding::Colored => {
            format!("\u{1b}[1;34mthing\u{1b}[0m: \u{1b}[0;32m{token}\u{1b}[0m\n")
        }
        Surrounding::ColoredInside => {
            format!("it is {first}\u{1b}[01;31m\u{1b}[K{second}\u{1b}[m\u{1b}[K now")
        }
        Surrounding::WrittenEscapes => {
            format!("{{\"log\": \"it is \\u001b[32m{first}\\u001b[1m{second}\\u001b[0m now\"}}")
        }
        Surrounding::Invisible => format!("it is {first}\u{200b}{second} now"),
    }
}

/// Puts a line that reveals its secret into a context.
pub fn place_line(line: &str, secret: &str, surrounding: Surrounding) -> String {
    let (first, second) = split_middle(secret);
    let fill = |value: &str| line.replace("{}", value);
    match surrounding {
        Surrounding::Plain => fill(secret),
        Surrounding::Json => {
            let text = fill(secret).replace('\\', "\\\\").replace('"', "\\\"");
            format!(
                "{{\"output\": \"{}\", \"ok\": true}}",
                text.replace('\n', "\\n").replace('\t', "\\t")
            )
        }
        Surrounding::Yaml => format!("# a file\n{}\n# its end\n", fill(secret)),
        Surrounding::Shell => format!("$ cat notes\n{}\n$ ", fill(secret)),
        Surrounding::Colored => {
            let (before, after) = line.split_once("{}").expect("a place for the secret");
            let name = before.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            let sign = &before[name.len()..];
            format!(
                "\u{1b}[34m{name}\u{1b}[0m\u{1b}[1;39m{sign}\u{1b}[0;32m{secret}\u{1b}[0m{after}"
            )
        }
        Surrounding::ColoredInside => {
            fill(&format!("{first}\u{1b}[01;31m\u{1b}[K{second}\u{1b}[m\u{1b}[K"))
        }
        Surrounding::WrittenEscapes => {
            fill(&format!("\\u001b[32m{first}\\u001b[1m{second}\\u001b[0m"))
        }
        Surrounding::Invisible => fill(&format!("{first}\u{200b}{second}")),
    }
}

/// Removes what the contexts put into secrets.
pub fn without_escapes(text: &str) -> String {
    let mut out = text.to_owned();
    for code in ["01;31", "1;34", "0;32", "1;39", "34", "32", "0", "1", ""] {
        out = out.replace(&format!("\u{1b}[{code}m"), "").replace(&format!("\\u001b[{code}m"), "");
    }
    out.replace("\u{1b}[K", "").replace('\u{200b}', "")
}
