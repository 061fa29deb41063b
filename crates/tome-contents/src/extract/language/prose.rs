//! Separates the prose of a message from code, logs, traces, diffs, tables, JSON, and text injected
//! by the harness or by Tome.

use tome_text::{is_han_or_kana, is_table_rule, split_sentences};

use crate::extract::language::text::{
    head_and_tail, may_begin_with, plain_text, strip_prefix_ignoring_case,
};

/// Bytes read from the head and the tail of a message.
const HEAD_BYTES_MAX: usize = 12 * 1024;
const TAIL_BYTES_MAX: usize = 6 * 1024;
/// Limits per message.
const SENTENCES_MAX: usize = 160;
const OTHERS_MAX: usize = 240;
const ROWS_MAX: usize = 80;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProseSentence<'a> {
    /// Verbatim.
    pub(crate) raw: &'a str,
    /// Without Markdown.
    pub(crate) plain: String,
    pub(crate) shape: SentenceShape,
    /// Columns before its line: an item below another one is indented further.
    pub(crate) indent: usize,
    /// Whether it stands below a heading such as "Next steps" or "Sources".
    pub(crate) is_aside: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SentenceShape {
    Running,
    Heading,
    Item,
}

#[derive(Debug, Default)]
pub(crate) struct MessageParts<'a> {
    pub(crate) sentences: Vec<ProseSentence<'a>>,
    /// Lines that are not prose, where error messages are found.
    pub(crate) others: Vec<&'a str>,
    /// Rows of tables without their headings, each with the number of sentences before it.
    pub(crate) rows: Vec<(usize, &'a str)>,
    /// Lines of code blocks, each with the number of sentences before it.
    pub(crate) code: Vec<(usize, &'a str)>,
}

impl MessageParts<'_> {
    /// Whether most of a message is pasted: logs, review comments, code.
    pub(crate) fn is_pasted(&self) -> bool {
        self.others.len() > self.sentences.len() * 2
    }
}

pub(crate) fn split_message(text: &str) -> MessageParts<'_> {
    let mut parts = MessageParts::default();
    let text = find_typed_text(text).unwrap_or(text);
    for part in head_and_tail(text, HEAD_BYTES_MAX, TAIL_BYTES_MAX) {
        for seen in strip_injected(part) {
            let mut fenced = false;
            let mut is_row = false;
            for line in join_wrapped_lines(seen) {
                add_line(line, &mut fenced, &mut parts);
                let bare = line.trim();
                let sentences_before = parts.sentences.len();
                if is_row && bare.starts_with('|') && parts.rows.len() < ROWS_MAX {
                    parts.rows.push((sentences_before, bare));
                }
                is_row = bare.starts_with('|') && (is_row || is_table_rule(bare));
            }
        }
    }
    parts
}

/// The words that the user typed: without the template of a command, and without what an editor or the
/// agent added.
pub fn prompt_text(text: &str) -> String {
    let typed = find_typed_text(text).filter(|input| !input.is_empty()).unwrap_or(text);
    let parts = head_and_tail(typed, HEAD_BYTES_MAX, TAIL_BYTES_MAX);
    parts.into_iter().flat_map(strip_injected).collect::<Vec<&str>>().join(" ")
}

/// Returns what the user typed, if the message marks it; may be empty.
pub(crate) fn find_typed_text(text: &str) -> Option<&str> {
    find_editor_request(text)
        .or_else(|| find_template_input(text))
        .or_else(|| find_quoted_request(text))
}

/// Returns the request below the files that an editor named: Codex's `## My request for Codex:`.
fn find_editor_request(text: &str) -> Option<&str> {
    const BEGINNINGS: [&str; 2] = ["# Context from my IDE setup", "# Files mentioned by the user"];
    const HEADING: &str = "\n## My request for ";
    let text = text.trim_start();
    BEGINNINGS.iter().find(|start| text.starts_with(**start))?;
    let (_, below) = text.split_once(HEADING)?;
    let (_, request) = below.split_once('\n')?;
    Some(request.trim())
}

/// Returns the words that the user typed after a command whose template the agent sent in full: the text
/// block below the heading `User Input`.
fn find_template_input(text: &str) -> Option<&str> {
    const HEADING: &str = "## User Input";
    const HEADING_AT_MAX: usize = 2_000;
    let at = text.find(HEADING).filter(|at| *at <= HEADING_AT_MAX)?;
    let below = text.get(at + HEADING.len()..)?.trim_start();
    let block = below.strip_prefix("```text").or_else(|| below.strip_prefix("```"))?;
    let (input, _) = block.trim_start_matches([' ', '\r']).strip_prefix('\n')?.split_once("```")?;
    Some(input.trim())
}

/// Returns the request that a program put into its own prompt: `User request: "make it green"`.
fn find_quoted_request(text: &str) -> Option<&str> {
    #[rustfmt::skip]
    const LABELS: [&str; 6] = [
        "user request:", "user-anfrage:", "user query:", "user prompt:", "user's request:", "user task:",
    ];
    let lines = text.lines().take(40).map(str::trim);
    let mut labelled = lines.filter_map(|line| {
        LABELS.iter().find_map(|label| strip_prefix_ignoring_case(line, label)).map(str::trim)
    });
    labelled.find_map(|quoted| {
        let inside = quoted.strip_prefix(['"', '“'])?.strip_suffix(['"', '”'])?;
        (!inside.is_empty()).then_some(inside)
    })
}

fn add_line<'a>(line: &'a str, fenced: &mut bool, parts: &mut MessageParts<'a>) {
    let bare = line.trim();
    if bare.starts_with("```") || bare.starts_with("~~~") {
        *fenced = !*fenced;
    } else if bare.is_empty() {
    } else if *fenced || !is_prose(bare) || follows_banner(bare, parts) {
        if *fenced && parts.code.len() < OTHERS_MAX {
            parts.code.push((parts.sentences.len(), bare));
        }
        if parts.others.len() < OTHERS_MAX {
            parts.others.push(bare);
        }
    } else {
        let shape = classify_shape(bare);
        let indent = line.len() - line.trim_start().len();
        for raw in split_sentences(bare) {
            if parts.sentences.len() < SENTENCES_MAX {
                let plain = plain_text(raw);
                let opens_aside = shape != SentenceShape::Item && is_aside_label(&plain);
                // A list belongs to its label; the next heading or paragraph ends it.
                let continues = parts.sentences.last().is_some_and(|last| {
                    last.is_aside && (shape == SentenceShape::Item || is_aside_label(&last.plain))
                });
                let is_aside = opens_aside || continues && shape != SentenceShape::Heading;
                parts.sentences.push(ProseSentence { raw, plain, shape, indent, is_aside });
            }
        }
    }
}

/// Labels of the parts of an answer that do not state its result: next steps, usage and sources.
fn is_aside_label(plain: &str) -> bool {
    #[rustfmt::skip]
    const LABELS: &[&str] = &[
        "next steps", "next step", "next natural steps", "suggested next steps", "recommended next steps",
        "natural next steps", "to run", "how to run", "how to use", "usage", "to test", "to verify",
        "to try it", "sources", "source", "references", "links", "further reading", "see also",
        "下一步", "后续步骤", "使用方式", "使用方法", "来源", "参考资料", "參考資料", "参考", "次のステップ", "出典",
        "다음 단계", "출처", "prochaines étapes", "próximos passos", "próximos pasos", "nächste schritte",
        "quellen", "fuentes", "fontes", "следующие шаги", "источники",
    ];
    let bare = plain.trim_end_matches([':', '：', '.', ' ']);
    LABELS.iter().filter(|label| may_begin_with(bare, label)).any(|label| {
        strip_prefix_ignoring_case(bare, label).is_some_and(|rest| {
            rest.is_empty() || rest.starts_with([':', '：', '(', '（']) || rest.starts_with(" (")
        })
    })
}

fn classify_shape(bare: &str) -> SentenceShape {
    let numbered = bare.split_once(['.', ')']).is_some_and(|(number, rest)| {
        number.len() <= 2 && number.chars().all(|c| c.is_ascii_digit()) && rest.starts_with(' ')
    });
    // The options of a choice: `B) …`.
    let numbered = numbered
        || bare.split_once(") ").is_some_and(|(label, _)| {
            label.len() == 1 && label.chars().all(|c| c.is_ascii_uppercase())
        });
    if bare.starts_with('#')
        || (bare.starts_with("**") && bare.trim_end_matches(':').ends_with("**"))
    {
        SentenceShape::Heading
    } else if numbered
        || bare.starts_with(['•', '·'])
        || bare.starts_with("- ")
        || bare.starts_with("* ")
    {
        SentenceShape::Item
    } else {
        SentenceShape::Running
    }
}

/// Tags around injected text: opening, closing, and whether the text inside is kept.
#[rustfmt::skip]
const INJECTED_TAGS: [(&str, &str, bool); 19] = [
    ("<tome-memory", "</tome-memory>", false), ("&lt;tome-memory", "&lt;/tome-memory&gt;", false),
    ("<system-reminder>", "</system-reminder>", false),
    ("<system_reminder>", "</system_reminder>", false),
    ("<hook_context>", "</hook_context>", false), ("<hook_prompt", "</hook_prompt>", false),
    ("<environment_context>", "</environment_context>", false),
    ("<user_instructions>", "</user_instructions>", false),
    ("<local-command-caveat>", "</local-command-caveat>", false),
    ("<local-command-stdout>", "</local-command-stdout>", false),
    ("<command-message>", "</command-message>", false), ("<command-name>", "</command-name>", true),
    ("<command-args>", "</command-args>", true), ("<bash-input>", "</bash-input>", true),
    ("<bash-stdout>", "</bash-stdout>", false), ("<bash-stderr>", "</bash-stderr>", false),
    ("<ide_opened_file>", "</ide_opened_file>", false),
    ("<ide_selection>", "</ide_selection>", false),
    ("<recommended_plugins>", "</recommended_plugins>", false),
];

/// Returns the parts of a text outside injected blocks. An unclosed tag counts as ordinary text.
fn strip_injected(text: &str) -> Vec<&str> {
    if !text.contains('<') && !text.contains("&lt;") {
        return vec![text];
    }
    let mut seen = Vec::new();
    let mut rest = text;
    let mut from = 0;
    while let Some(at) = rest.get(from..).and_then(|part| part.find(['<', '&'])).map(|at| at + from)
    {
        let here = rest.get(at..).unwrap_or_default();
        match match_injected(here) {
            Some((inside, after)) => {
                seen.push(rest.get(..at).unwrap_or_default());
                seen.extend(inside);
                rest = after;
                from = 0;
            }
            None => from = at + 1,
        }
    }
    seen.push(rest);
    seen.retain(|part| !part.trim().is_empty());
    seen
}

fn match_injected(here: &str) -> Option<(Option<&str>, &str)> {
    INJECTED_TAGS.iter().find_map(|(open, close, keep)| {
        let after_open = here.strip_prefix(open)?;
        let (inside, after) = after_open.split_once(close)?;
        Some((keep.then_some(inside), after))
    })
}

/// Returns lines, joining those that an editor wrapped.
fn join_wrapped_lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = Vec::new();
    let mut start = 0;
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        let so_far = text.get(start..end).unwrap_or_default();
        if end > start && !continues_line(so_far, line) {
            lines.push(so_far.trim_end_matches(['\n', '\r']));
            start = end;
        }
        end += line.len();
    }
    if end > start {
        lines.push(text.get(start..end).unwrap_or_default().trim_end_matches(['\n', '\r']));
    }
    lines
}

fn continues_line(so_far: &str, next: &str) -> bool {
    let last = so_far.trim_end_matches(['\n', '\r']).rsplit('\n').next().unwrap_or_default();
    last.len() >= 56
        && so_far.len() < 1_000
        && last.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ',' | '`' | ')' | '"'))
        && next.starts_with(char::is_lowercase)
        && is_prose(last.trim())
        && is_prose(next.trim())
}

/// Beginnings of lines that are not prose.
#[rustfmt::skip]
const NON_PROSE_STARTS: &[&str] = &[
    "|", "{", "}", "diff --git", "@@", "+++ ", "--- ", "index ", "at ", "File \"", "Traceback",
    "Caused by:", "goroutine ", "$ ", "// ", "import ", "#include", "#!", "=== ", "---", "<?",
    "npm ERR!", "[INFO]", "[ERROR]", "[WARN", "Error:", "error:", "error[", "fatal:", "warning:",
    "! [", "npm error", "remote: ", "Enumerating objects", "Counting objects", "Writing objects",
    "Resolving deltas", "Compressing objects", "Run echo \"", "Type '{", "Property '", "Cannot find name '", "##[", "::error", "::warning",
];

/// Whether a line is prose rather than code, a log, a trace, a table or JSON.
pub(crate) fn is_prose(line: &str) -> bool {
    // "5432." may answer a question; a row of figures does not.
    let worded = line.chars().any(char::is_alphabetic)
        || line.len() <= 20 && line.chars().any(char::is_numeric);
    let starts = NON_PROSE_STARTS.iter().any(|start| line.starts_with(start));
    worded
        && !(starts
            || is_terminal_line(line)
            || looks_like_code(line)
            || looks_like_log(line)
            || is_tag_line(line)
            || is_json_field(line))
}

/// Whether a line is terminal output: `❯ git push`, `[entire] pushing …`.
fn is_terminal_line(line: &str) -> bool {
    let tagged =
        line.strip_prefix('[').and_then(|rest| rest.split_once("] ")).is_some_and(|(tag, rest)| {
            !tag.contains(' ')
                && tag.len() > 1
                && !tag.contains("redacted")
                && !rest.starts_with('(')
        });
    tagged
        || is_shell_prompt(line)
        || is_script_banner(line)
        || is_code_frame(line)
        || ["❯ ", "➜ ", "% ", ">>> ", "PS C:"].iter().any(|start| line.starts_with(start))
}

/// Whether a package manager announces the script that it runs: `> web@0.1.0 test:e2e`.
fn is_script_banner(line: &str) -> bool {
    let package = line.strip_prefix("> ").and_then(|rest| rest.split_whitespace().next());
    let version = package.and_then(|package| package.rsplit_once('@')).map(|(_, version)| version);
    version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
}

/// Whether a line shows numbered source code, as compilers and test runners do: `> 1 | import x`.
fn is_code_frame(line: &str) -> bool {
    let line = line.strip_prefix('>').unwrap_or(line).trim_start();
    line.split_once('|').is_some_and(|(number, _)| {
        let number = number.trim_end();
        !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
    })
}

/// Whether a line is the command below the banner of its script.
fn follows_banner(line: &str, parts: &MessageParts<'_>) -> bool {
    line.starts_with("> ") && parts.others.last().is_some_and(|last| is_script_banner(last))
}

/// Whether a line begins with a shell's prompt: `dev@laptop ~ % make`, `root@host:/app# make`.
fn is_shell_prompt(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let Some(first) = words.next() else { return false };
    let (user, host) = first.split_once('@').unwrap_or_default();
    let is_name = |text: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "-_.:~/[]".contains(c))
    };
    let ends = |word: &str| word.ends_with(['%', '$', '#']);
    // The symbols of prompt themes: `app  main ±✚  source ~/.zshrc`.
    const SIGNS: [char; 2] = ['➜', '❯'];
    if line.starts_with(SIGNS) || line.contains("±✚") || line.contains('\u{e0b0}') {
        return true;
    }
    is_name(user)
        && is_name(host.trim_end_matches(['%', '$', '#']))
        && (ends(first) || words.take(2).any(|word| ends(word) && word.len() <= 40))
}

/// Whether a line is markup: `<option>None of them</option>`.
fn is_tag_line(line: &str) -> bool {
    let name = line.strip_prefix('<').unwrap_or_default();
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/') && line.ends_with('>')
}

fn is_json_field(line: &str) -> bool {
    line.starts_with('"')
        && (line.contains("\": ") || line.ends_with("\",") || line.contains("\":"))
}

fn looks_like_code(line: &str) -> bool {
    #[rustfmt::skip]
    const KEYWORDS: [&str; 22] = [
        "fn ", "pub ", "let mut ", "const ", "var ", "def ", "class ", "return ", "if (", "for (",
        "func ", "type ", "impl ", "use ", "package ", "from ", "export ", "SELECT ", "INSERT ",
        "ALTER ", "CREATE TABLE", "#[",
    ];
    /// Words of a line of code that ends with a parenthesis and a colon.
    const CODE_WORDS_MAX: usize = 8;
    const PYTHON_CLAUSES: [&str; 5] = ["except ", "elif ", "else:", "try:", "finally:"];
    let begins = |clause: &&str| line.starts_with(*clause);
    let is_python = line.ends_with(':') && PYTHON_CLAUSES.iter().any(begins);
    let ends = line.ends_with(['{', ';', '}'])
        || line.ends_with("=>")
        || line.ends_with("):") && line.split_whitespace().count() <= CODE_WORDS_MAX
        || is_python;
    if ends
        && !line.contains(['。', '；'])
        && !(line.ends_with(';') && line.split_whitespace().count() > 8)
    {
        return true;
    }
    let symbols = line
        .chars()
        .filter(|c| {
            matches!(
                c,
                '{' | '}'
                    | '('
                    | ')'
                    | '['
                    | ']'
                    | ';'
                    | '='
                    | '<'
                    | '>'
                    | '|'
                    | '\\'
                    | '&'
                    | '$'
                    | '/'
                    | '_'
                    | ':'
                    | '"'
            )
        })
        .count();
    let length = line.chars().count();
    let keyword = KEYWORDS.iter().any(|word| line.starts_with(word));
    let longest = line.split_whitespace().map(str::len).max().unwrap_or(0);
    let words = line.split_whitespace().count();
    let few_words = words <= 2
        && line.chars().any(|c| matches!(c, '/' | '\\' | '=' | ':'))
        && !line.starts_with(['#', '/'])
        && !line.chars().any(is_han_or_kana);
    (keyword && symbols * 16 > length)
        || (symbols * 5 > length && !line.contains('`'))
        || (longest > 100 && words < 12 && !line.chars().any(is_han_or_kana))
        || (few_words && length > 24)
}

fn looks_like_log(line: &str) -> bool {
    let start: String = line.chars().take(48).collect();
    let digits = start.chars().take(24).filter(char::is_ascii_digit).count();
    let level = ["INFO", "ERROR", "WARN", "DEBUG", "TRACE", "FATAL"]
        .iter()
        .any(|level| start.split(|c: char| !c.is_alphanumeric()).any(|word| word == *level));
    let is_access = line.contains("HTTP/1.") || line.contains("HTTP/2\"");
    let is_labelled = ["INFO:", "ERROR:", "WARN:", "WARNING:", "DEBUG:"]
        .iter()
        .any(|label| line.starts_with(label));
    (is_access || is_labelled)
        || (digits >= 8 && start.starts_with(|c: char| c.is_ascii_digit() || c == '['))
        || (level && (digits >= 4 || start.starts_with(['[', 'E', 'W', 'I', 'D', 'F'])))
}
