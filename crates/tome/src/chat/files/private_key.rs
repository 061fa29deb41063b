//! Private keys of several lines, told line by line.
//!
//! Secrets are cut out of what is shown, but a slice of a file, or one line of it, may begin behind the
//! line that says that a key follows. So whoever reads a file passes every line of it through here.

/// What stands for a line of a key.
const HIDDEN: &str = "[private key]";
/// A line of base64 is at least this long, but for the last.
const LINE_BYTES_MIN: usize = 16;
/// The last line of a key is shorter than this.
const LAST_BYTES_MAX: usize = 80;

/// Whether the lines of a file, from its first on, are those of a private key.
#[derive(Debug, Default)]
pub struct PrivateKey {
    is_inside: bool,
}

impl PrivateKey {
    /// A line as it may be shown. The lines that begin and end a key stay.
    pub fn shown(&mut self, line: String) -> String {
        if begins(&line) {
            self.is_inside = true;
            return line;
        }
        // A key that is cut off, or only spoken of, ends where something else begins.
        self.is_inside &= !line.contains("-----END") && may_be_of_key(&line);
        if self.is_inside && !line.trim().is_empty() { HIDDEN.to_owned() } else { line }
    }
}

/// Whether a key goes on in the next line.
fn begins(line: &str) -> bool {
    if line.trim_start().starts_with("Private-Lines:") {
        return true;
    }
    let Some((_, behind)) = line.rsplit_once("-----BEGIN") else { return false };
    let label = behind.split("-----").next().unwrap_or_default();
    label.contains("PRIVATE KEY") && !behind.contains("-----END")
}

fn may_be_of_key(line: &str) -> bool {
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
    if line.split(|c| !is_base64(c)).any(|run| run.len() >= LINE_BYTES_MIN) {
        return true;
    }
    // `DEK-Info: …` and its like stand before the key; the last line may be short; quotes, commas and
    // the marks of quotations may stand around each.
    let inner = line.replace("\\n", " ").replace("\\r", " ");
    let inner = inner.trim_matches(|c: char| !is_base64(c) || c == '+');
    let is_header = inner.split_once(": ").is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    });
    is_header || inner.len() < LAST_BYTES_MAX && inner.chars().all(is_base64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let mut key = PrivateKey::default();
        text.lines().map(|line| key.shown(line.to_owned())).collect()
    }

    const LINE: &str = "MIIEpAIBAAKCAQEAx3Z1zYcPzlV5o9pFqkzKq9mQ0nGxkYw8cV7kqLr5Hk1Zq2Xw";

    #[test]
    fn the_lines_of_a_key_are_hidden_however_it_is_written() {
        for (before, after) in
            [("", ""), ("  ", ""), ("> ", ""), ("+", ""), ("    \"", "\\n\" +"), ("# ", "\r")]
        {
            let lines = [
                "-----BEGIN RSA PRIVATE KEY-----",
                "DEK-Info: AES-128-CBC,00",
                "",
                LINE,
                "q2Fv",
                "-----END RSA PRIVATE KEY-----",
            ];
            let written: Vec<_> =
                lines.iter().map(|line| format!("{before}{line}{after}")).collect();
            let shown = shown(&format!("{}\nport = 7070\n", written.join("\n")));
            assert!(shown[0].contains("BEGIN") && shown[5].contains("END"), "{shown:?}");
            for hidden in [1, 3, 4] {
                assert_eq!(shown[hidden], HIDDEN, "{shown:?}");
            }
            assert_eq!(shown[6], "port = 7070");
        }
    }

    #[test]
    fn who_writes_about_keys_hides_nothing() {
        for text in [
            "// -----BEGIN RSA PRIVATE KEY----- starts a key\nfn main() {\n    let a = 1;\n}",
            "s.contains(\"-----BEGIN PRIVATE KEY-----\") && s.contains(\"-----END PRIVATE KEY-----\")\nx",
            "-----BEGIN CERTIFICATE-----\nMIIEpAIBAAKCAQEAx3Z1zYcP\n-----END CERTIFICATE-----",
        ] {
            assert_eq!(shown(text), text.lines().collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_key_that_is_cut_off_ends() {
        let text = format!("-----BEGIN PRIVATE KEY-----\n{LINE}\nlet us go on\n{LINE}");
        assert_eq!(shown(&text)[1..], [HIDDEN, "let us go on", LINE]);
    }
}
