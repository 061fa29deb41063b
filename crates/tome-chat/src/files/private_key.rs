//! Masks multi-line private keys line by line.
//!
//! Redaction sees only the excerpt that is shown, which may begin after the line that announces a
//! key. Therefore every line of a file passes through here from its beginning.

/// Replaces a line of a key.
const MASK: &str = "[private key]";
/// Minimum length of a base64 line, except for the last.
const BASE64_LINE_BYTES_MIN: usize = 16;
/// Maximum length of a key's last line.
const LAST_LINE_BYTES_MAX: usize = 80;

/// Tracks whether the current line belongs to a private key.
#[derive(Debug, Default)]
pub struct PrivateKeyMask {
    is_inside: bool,
}

impl PrivateKeyMask {
    /// Returns the line as it may be shown. The first and last line of a key are kept.
    pub fn mask_line(&mut self, line: String) -> String {
        if is_key_start(&line) {
            self.is_inside = true;
            return line;
        }
        // A truncated or merely mentioned key ends at the first line that cannot belong to it.
        self.is_inside &= !line.contains("-----END") && may_belong_to_key(&line);
        if self.is_inside && !line.trim().is_empty() { MASK.to_owned() } else { line }
    }
}

/// Whether a key starts after this line.
fn is_key_start(line: &str) -> bool {
    if line.trim_start().starts_with("Private-Lines:") {
        return true;
    }
    let Some((_, behind)) = line.rsplit_once("-----BEGIN") else { return false };
    let label = behind.split("-----").next().unwrap_or_default();
    label.contains("PRIVATE KEY") && !behind.contains("-----END")
}

fn may_belong_to_key(line: &str) -> bool {
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
    if line.split(|c| !is_base64(c)).any(|run| run.len() >= BASE64_LINE_BYTES_MIN) {
        return true;
    }
    // Headers such as `DEK-Info: …` precede the key; the last line may be short; quotes, commas and
    // quotation marks may surround each line.
    let inner = line.replace("\\n", " ").replace("\\r", " ");
    let inner = inner.trim_matches(|c: char| !is_base64(c) || c == '+');
    let is_header = inner.split_once(": ").is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    });
    is_header || inner.len() < LAST_LINE_BYTES_MAX && inner.chars().all(is_base64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let mut key = PrivateKeyMask::default();
        text.lines().map(|line| key.mask_line(line.to_owned())).collect()
    }

    const LINE: &str = "MIIEpAIBAAKCAQEAx3Z1zYcPzlV5o9pFqkzKq9mQ0nGxkYw8cV7kqLr5Hk1Zq2Xw";

    #[test]
    fn key_lines_are_masked_in_any_notation() {
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
                assert_eq!(shown[hidden], MASK, "{shown:?}");
            }
            assert_eq!(shown[6], "port = 7070");
        }
    }

    #[test]
    fn mentions_of_keys_mask_nothing() {
        for text in [
            "// -----BEGIN RSA PRIVATE KEY----- starts a key\nfn main() {\n    let a = 1;\n}",
            "s.contains(\"-----BEGIN PRIVATE KEY-----\") && s.contains(\"-----END PRIVATE KEY-----\")\nx",
            "-----BEGIN CERTIFICATE-----\nMIIEpAIBAAKCAQEAx3Z1zYcP\n-----END CERTIFICATE-----",
        ] {
            assert_eq!(shown(text), text.lines().collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_truncated_key_ends_at_the_first_other_line() {
        let text = format!("-----BEGIN PRIVATE KEY-----\n{LINE}\nlet us go on\n{LINE}");
        assert_eq!(shown(&text)[1..], [MASK, "let us go on", LINE]);
    }
}
