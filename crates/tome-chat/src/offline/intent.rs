//! Parses the user's intent with a fixed set of patterns.

use std::sync::LazyLock;

use regex::Regex;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Intent {
    /// A fact to write into a note.
    Learn(FactNote),
    /// A question about the user's name.
    AskName,
    /// A question about the notes, optionally on a topic.
    AskKnown {
        about: String,
    },
    /// A question about earlier sessions.
    Recall {
        query: String,
    },
    Plan {
        goal: String,
    },
    Files,
    Read {
        path: String,
    },
    Search {
        query: String,
    },
    /// A reported fix, worth an episode at the end of the chat.
    ReportedFix,
    Greeting,
    Other,
}

/// A fact that the user stated, and the note that keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactNote {
    pub path: &'static str,
    pub title: &'static str,
    pub summary: &'static str,
    /// Label of a single-valued fact such as the name, which is replaced rather than added.
    pub single: Option<&'static str>,
    pub text: String,
}

/// The first match wins.
static INTENT_PATTERNS: LazyLock<Vec<(&'static str, Regex)>> = LazyLock::new(|| {
    let patterns = [
        ("ask_name", r"(?i)\b(?:what(?:'s| is)|tell me|do you know) my name\b|\bwho am i\b"),
        ("ask_known", r"(?i)\bwhat do you (?:know|remember)(?: about (?P<it>[^?!.]+))?"),
        ("ask_known", r"(?i)^(?:which|what) (?P<it>[^?!.]*?) (?:do|did) (?:we|i) (?:use|prefer)\b"),
        ("recall", r"(?i)^(?:recall|find)\s+(?P<it>.+)"),
        (
            "recall",
            r"(?i)(?P<it>\b(?:what|when|why|how|which|where)\b.*\b(?:did|have|had|was|were)\b.*\b(?:we|i|you|last time|before|yesterday)\b.*)",
        ),
        ("plan", r"(?i)^(?:please )?(?:make a |write a )?plan(?: for| of)?\s+(?P<it>.+)"),
        ("read", r"(?i)^(?:read|show|open)\s+(?P<it>\S+\.\w+|\S*/\S+)\s*$"),
        (
            "search",
            r#"(?i)^(?:search|grep)(?: the files)?(?: for)?\s+["']?(?P<it>[^"']+?)["']?\s*$"#,
        ),
        ("files", r"(?i)\b(?:list|show|which|what) (?:the |are the )?files\b"),
        ("reported_fix", r"(?i)\b(?:we|i) (?:just )?(?:fixed|solved|found|repaired)\b"),
        ("name", r"(?i)\b(?:my name is|call me)\s+(?P<it>[\p{L}][\p{L}\p{M}'’.\- ]*)"),
        (
            "name",
            r"(?:^|[.,;!]\s*|\b(?i:hello|hi|hey)[,!]?\s+)(?:I am|I'm|I’m|i am|i'm)\s+(?P<it>\p{Lu}[\p{L}\p{M}'’.\-]*(?: \p{Lu}[\p{L}\p{M}'’.\-]*)*)",
        ),
        ("remember", r"(?is)\bremember(?: that|:)\s+(?P<it>.+)"),
        (
            "prefer",
            r"(?i)\b(?P<it>i (?:always |usually |really )?(?:prefer|like|want|use|work)\b[^.!?]*)",
        ),
        (
            "use",
            r"(?i)\b(?P<it>we (?:always |never |only )?(?:use|write|call|deploy|test|build|release|work)\b[^.!?]*)",
        ),
        ("greeting", r"(?i)^(?:hello|hi|hey|good (?:morning|day|evening))\b"),
    ];
    let built = patterns.into_iter().map(|(name, text)| Some((name, Regex::new(text).ok()?)));
    built.flatten().collect()
});

impl Intent {
    pub fn parse(prompt: &str) -> Self {
        let prompt = prompt.trim();
        for (name, pattern) in INTENT_PATTERNS.iter() {
            let Some(captures) = pattern.captures(prompt) else { continue };
            let it = captures.name("it").map_or("", |it| it.as_str().trim());
            return match *name {
                "ask_name" => Self::AskName,
                "ask_known" => Self::AskKnown { about: it.trim_end_matches(" yet").to_owned() },
                "recall" => Self::Recall { query: it.to_owned() },
                "plan" => Self::Plan { goal: it.trim_end_matches(['.', '!', '?']).to_owned() },
                "read" => Self::Read { path: it.to_owned() },
                "search" => Self::Search { query: it.to_owned() },
                "files" => Self::Files,
                "reported_fix" => Self::ReportedFix,
                "greeting" => Self::Greeting,
                "name" => Self::Learn(FactNote::from_name(it)),
                "prefer" => Self::Learn(FactNote::about_user(it)),
                "remember" if is_about_user(it) => Self::Learn(FactNote::about_user(it)),
                _ => Self::Learn(FactNote::about_project(it)),
            };
        }
        Self::Other
    }
}

fn is_about_user(text: &str) -> bool {
    text.split_whitespace()
        .next()
        .is_some_and(|word| matches!(word.to_lowercase().as_str(), "i" | "my" | "i'm"))
}

impl FactNote {
    fn from_name(text: &str) -> Self {
        let name =
            text.split(" and ").next().unwrap_or(text).trim().trim_end_matches(['.', ',', '!']);
        Self { single: Some("Name"), text: name.to_owned(), ..Self::about_user("") }
    }

    fn about_user(text: &str) -> Self {
        let (path, title, summary) = ("facts/user.md", "User", "name and preferences of the user");
        Self { path, title, summary, single: None, text: to_sentence(text) }
    }

    fn about_project(text: &str) -> Self {
        let (path, title, summary) =
            ("facts/project.md", "Project", "how this project is worked on");
        Self { path, title, summary, single: None, text: to_sentence(text) }
    }

    pub fn bullet(&self) -> String {
        match self.single {
            Some(kind) => format!("- {kind}: {}", self.text),
            None => format!("- {}", self.text),
        }
    }
}

/// Normalizes to one line with an initial capital and no full stop.
fn to_sentence(text: &str) -> String {
    let line = tome_text::collapse_whitespace(text);
    let mut chars = line.trim_end_matches(['.', '!']).chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_are_mapped_to_intents() {
        let bullet = |prompt: &str| match Intent::parse(prompt) {
            Intent::Learn(fact) => format!("{} {}", fact.path, fact.bullet()),
            other => format!("{other:?}"),
        };
        for (prompt, expected) in [
            ("I am Zhang San.", "facts/user.md - Name: Zhang San"),
            ("Hello, I'm Ada and I like tea", "facts/user.md - Name: Ada"),
            ("my name is ada", "facts/user.md - Name: ada"),
            ("我是 Zhang. My name is 张三", "facts/user.md - Name: 张三"),
            ("remember that the port is 7070.", "facts/project.md - The port is 7070"),
            ("Please remember: I work at night", "facts/user.md - I work at night"),
            ("we use tabs, never spaces.", "facts/project.md - We use tabs, never spaces"),
            ("I prefer short answers", "facts/user.md - I prefer short answers"),
            ("What's my name?", "AskName"),
            ("what do you know about the port?", r#"AskKnown { about: "the port" }"#),
            ("which editor do we use?", r#"AskKnown { about: "editor" }"#),
            (
                "what bug did we fix last time?",
                r#"Recall { query: "what bug did we fix last time?" }"#,
            ),
            ("Plan the release.", r#"Plan { goal: "the release" }"#),
            ("we fixed the leak in the logger because stdout was shared", "ReportedFix"),
            ("read src/main.rs", r#"Read { path: "src/main.rs" }"#),
            ("search for fn main", r#"Search { query: "fn main" }"#),
            ("list the files", "Files"),
            ("I am tired", "Other"),
            ("Hello!", "Greeting"),
        ] {
            assert_eq!(bullet(prompt), expected, "{prompt}");
        }
    }
}
