//! The user's answers to questions of the agent: through a tool (`AskUserQuestion` of Claude Code,
//! `question` of OpenCode, `request_user_input` of Codex, `ask_user` of Gemini CLI and Copilot CLI), or
//! by the letter of an option.

use std::borrow::Cow;

use serde_json::{Map, Value};
use tome_model::{Event, FactKind, FileAction, Tool};
use tome_text::count_words;

use crate::Evidence;
use crate::extract::answers::answer::find_closing_question;
use crate::extract::commands::failures::score_failure;
use crate::extract::facts::draft_fact::{DraftFact, FACT_CHARS_MAX, QUESTION_END, build_evidence};
use crate::extract::facts::overturned::is_corrected;
use crate::extract::facts::problems::is_chore_offer;
use crate::extract::facts::prompt_facts::is_unsure;
use crate::extract::files::file_tool::tool_base_name;
use crate::extract::language::clause::{capitalize, cut_clause};
use crate::extract::language::courtesy::strip_courtesy;
use crate::extract::language::prose::{MessageParts, SentenceShape};
use crate::extract::language::similarity::TermSet;
use crate::extract::language::text::{begins_with_any, output_texts, plain_text, to_lower};
use crate::extract::turns::reaction::{Reaction, skip_confirmation};
use crate::extract::turns::reference::{refers_by_number, refers_without_naming};
use crate::extract::turns::request::UserRequest;
use crate::extract::turns::turn::Turn;

const QUESTION_TOOLS: [&str; 4] = ["askuserquestion", "question", "request_user_input", "ask_user"];
/// Questions read per call.
const QUESTIONS_MAX: usize = 8;
const QUESTION_CHARS_MAX: usize = 130;
const ANSWER_WORDS_MAX: usize = 40;

/// Returns the decisions in the answers to a question tool.
pub(crate) fn find_choices(at: usize, event: &Event) -> Vec<DraftFact> {
    let Some(tool) = event.tool.as_ref().filter(|tool| is_question_tool(&tool.name)) else {
        return Vec::new();
    };
    let outputs = output_texts(event);
    let answers = find_answers(tool, &outputs);
    let choice = |(index, question): (usize, Question<'_>)| {
        let raw: Cow<'_, str> = match &answers {
            Some(answers) => Cow::Owned(question.find_answer(index, answers)?),
            None => Cow::Borrowed(find_quoted_answer(question.text, &outputs)?),
        };
        let answer = strip_recommendation(&plain_text(&raw));
        let answer = answer.trim_end_matches(['.', '!', ' ']);
        let is_answer = (1..=ANSWER_WORDS_MAX).contains(&count_words(answer));
        let asks_back = answer.ends_with(['?', '？']) || is_unsure(answer);
        let is_choice = asks_for_choice(question.text) && !is_about_procedure(question.text);
        if !is_answer || asks_back || is_unanswered(answer) || !is_choice {
            return None;
        }
        let text = describe_choice(&plain_text(question.text), answer);
        let evidence = vec![build_evidence(at, question.text), build_evidence(at, &raw)];
        DraftFact::new(FactKind::Decision, &text, 8, evidence)
    };
    read_questions(&tool.input).into_iter().enumerate().filter_map(choice).collect()
}

/// Whether a question is about the next step of the conversation, and not about the work: "How should these be
/// committed?"
fn is_about_procedure(question: &str) -> bool {
    #[rustfmt::skip]
    const STEPS: &[&str] = &[
        "what would you like to do", "what do you want to do", "what should i do", "how would you like to proceed",
        "how should i proceed", "what next", "what's next", "should i commit", "should i push", "ready to",
    ];
    const COMMITTED: [&str; 3] = ["be committed", "commit this", "commit these"];
    let lower = to_lower(question);
    begins_with_any(question, STEPS) || COMMITTED.iter().any(|mark| lower.contains(mark))
}

/// A choice in one line: the question, then the answer.
fn describe_choice(question: &str, answer: &str) -> String {
    let question = cut_clause(question.trim_end_matches(['.', '。']), QUESTION_CHARS_MAX);
    let end = if question.ends_with(['?', '？', ':', '…']) { "" } else { ":" };
    format!("{question}{end} {}", capitalize(answer))
}

/// The user's answer to a question of the agent that offers a choice, with that question.
pub(crate) fn find_chosen_answer(
    before: &Turn<'_>,
    turn: &Turn<'_>,
    events: &[Event],
) -> Option<DraftFact> {
    const TYPED_WORDS_MAX: usize = 14;
    const SUBJECT_END: &str = ": ";
    const SUBJECT_CHARS_MIN: usize = 30;
    /// A question back, also without its mark.
    const ASKING: [&str; 8] = ["how", "what", "why", "where", "which", "who", "can", "could"];
    /// Failure score of a line with an exception or another clear error: a pasted trace answers nothing.
    const TRACE_SCORE: u32 = 9;
    let (question_at, _) = before.final_answer(events)?;
    let question = find_closing_question(&before.answer_parts)?;
    let lower = format!(" {}", to_lower(&question.text));
    let offers =
        [" or ", " which ", " what's your preference"].iter().any(|word| lower.contains(word));
    let first = turn.prompt_parts.sentences.first()?;
    let words = count_words(&first.plain);
    if !offers
        || is_chore_offer(&question.text)
        || asks_for_list(&question.text)
        || asks_for_step(&question.text)
        || score_failure(&first.plain) >= TRACE_SCORE
        || turn.prompt_parts.is_pasted()
        || turn.reaction == Reaction::Correction
        || !(2..=TYPED_WORDS_MAX).contains(&words)
        || first.plain.ends_with(['?', '？'])
        || begins_with_any(&first.plain, &ASKING)
        || refers_by_number(strip_courtesy(&first.plain))
        || !concerns_question(&first.plain, &question.text)
        || is_unsure(&first.plain)
        || first.plain.starts_with(['/', '`', '$'])
    {
        return None;
    }
    let answer = skip_confirmation(&first.plain);
    let mut text = describe_choice(&question.text, answer.trim_end_matches(['.', '!', ' ']));
    let mut evidence: Vec<Evidence> = Vec::new();
    let room = FACT_CHARS_MAX.saturating_sub(text.chars().count() + SUBJECT_END.len());
    if let Some(subject) = find_subject(before, &question.text)
        && room >= SUBJECT_CHARS_MIN
    {
        // A dash must not look like the one after a request.
        let subject_text = cut_clause(&subject.text, room).replace(QUESTION_END, ", ");
        let subject_text = subject_text.trim_end_matches(['.', '。', '?', '？']);
        text = format!("{}{SUBJECT_END}{text}", capitalize(subject_text));
        evidence.push(build_evidence(subject.event, subject.raw));
    }
    evidence.extend(question.raws.iter().map(|raw| build_evidence(question_at, raw)));
    evidence.push(build_evidence(turn.prompt?, first.raw));
    DraftFact::new(FactKind::Decision, &text, 8, evidence)
}

/// Whether a question asks the user to tell something, in languages in which "or" and "which" do not show that.
fn asks_for_list(question: &str) -> bool {
    const ASKING: [&str; 7] =
        ["もらえますか", "ください", "教えて", "聞かせて", "请提供", "请告诉", "请列出"];
    ASKING.iter().any(|words| question.contains(words))
}

/// The request that led to a question, if the question does not name its subject: "Which template, bug
/// report or feature request?"
fn find_subject<'t, 'a>(before: &'t Turn<'a>, question: &str) -> Option<&'t UserRequest<'a>> {
    const PLAIN_WORDS_MAX: usize = 12;
    let request = before.request.as_ref()?;
    let is_subject = request.is_sure
        && request.is_asked
        && !request.pasted
        && before.reaction != Reaction::Confirmation
        && !refers_without_naming(&request.text)
        && !refers_by_number(&request.text);
    let is_plain = count_words(question) <= PLAIN_WORDS_MAX;
    (is_subject && is_plain && !concerns_question(&request.text, question)).then_some(request)
}

/// The user's consent to what the agent proposed.
pub(crate) fn find_consent(before: &Turn<'_>, turn: &Turn<'_>) -> Option<DraftFact> {
    const CONSENT_WORDS_MAX: usize = 4;
    const AGREED: &str = " (proposed by the agent, agreed)";
    let first = turn.prompt_parts.sentences.first()?;
    let agrees = turn.reaction == Reaction::Confirmation
        && turn.prompt_parts.sentences.len() == 1
        && count_words(&first.plain) <= CONSENT_WORDS_MAX;
    // Leave to commit or to look is no decision: the plan must name steps, and change files.
    let changes = turn.files.iter().any(|file| file.action != FileAction::Read);
    let (at, proposal) = before.conclusion.as_ref().filter(|(_, plan)| {
        agrees
            && before.is_proposal()
            && changes
            && !turn.is_interrupted
            && plan.items.len() >= 2
            && !is_corrected(before, turn)
    })?;
    let mut evidence: Vec<Evidence> =
        proposal.raws.iter().map(|raw| build_evidence(*at, raw)).collect();
    evidence.push(build_evidence(turn.prompt?, first.raw));
    let proposed = proposal.render(FACT_CHARS_MAX - AGREED.len());
    let text = format!("{}{AGREED}", proposed.trim_end_matches(['.', '。']));
    DraftFact::new(FactKind::Decision, &text, 8, evidence)
}

/// Whether an answer of the user concerns the question: it names something that the question names.
fn concerns_question(answer: &str, question: &str) -> bool {
    let of_question = TermSet::from_text(question);
    TermSet::from_text(answer).count_shared(&of_question) > 0
}

/// Weight of an option that was chosen without a question.
const UNASKED_WEIGHT: u32 = 6;

/// The option that the user chose by its letter or number in the agent's last answer.
pub(crate) fn find_option_choice(
    before: &Turn<'_>,
    turn: &Turn<'_>,
    events: &[Event],
) -> Option<DraftFact> {
    const OPTION_CHARS_MAX: usize = 110;
    const OPTION_QUESTION_CHARS_MAX: usize = 90;
    const OPTION_WORDS_MIN: usize = 4;
    let (answer_at, answer) = before.final_answer(events)?;
    let prompt = turn.prompt?;
    let typed = events.get(prompt)?.text.trim();
    let label = typed.trim_end_matches(['.', ')', '!', '。']);
    let label = ["option ", "Option ", "方案", "选择", "选"]
        .iter()
        .find_map(|word| label.strip_prefix(word))
        .map_or(label, str::trim_start);
    let is_letter = label.len() == 1 && label.chars().all(|c| c.is_ascii_alphanumeric());
    if !is_letter || label == "0" {
        return None;
    }
    let mut options = answer.lines().filter_map(|line| Some((line, read_option(line, label)?)));
    let (raw, option) = options.next()?;
    // The same label twice: it is not certain which list was meant.
    if options.next().is_some() || has_inline_option(answer, raw, label) {
        return None;
    }
    let is_step = is_navigation(option) || is_chore(option) || offers_next_steps(answer, raw);
    if is_step || is_menu(answer) {
        return None;
    }
    let option = cut_clause(&plain_text(option), OPTION_CHARS_MAX);
    let question = find_option_question(&before.answer_parts, raw);
    // Without its question, only a long option names its subject.
    if question.is_none() && count_words(&option) < OPTION_WORDS_MIN {
        return None;
    }
    let text = match &question {
        Some((_, question)) => {
            describe_choice(&cut_clause(question, OPTION_QUESTION_CHARS_MAX), &option)
        }
        None => capitalize(&option),
    };
    let mut evidence: Vec<Evidence> =
        question.iter().map(|(raw, _)| build_evidence(answer_at, raw)).collect();
    evidence.push(build_evidence(answer_at, raw.trim()));
    evidence.push(build_evidence(prompt, typed));
    // Without its question, it is mostly the next step of the work.
    let weight = if question.is_some() { 8 } else { UNASKED_WEIGHT };
    DraftFact::new(FactKind::Decision, &text, weight, evidence)
}

/// Whether the numbered lines of an answer are more than anybody chooses among: the commands of a program, or
/// the steps of a plan.
fn is_menu(answer: &str) -> bool {
    const OPTIONS_MAX: usize = 6;
    let is_next = |number: usize, line: &str| read_option(line, &number.to_string()).is_some();
    let last =
        answer.lines().fold(0, |last, line| if is_next(last + 1, line) { last + 1 } else { last });
    last > OPTIONS_MAX
}

/// Whether a menu within a line has the label as well: `[A] Refine [C] Continue`.
fn has_inline_option(answer: &str, chosen: &str, label: &str) -> bool {
    let mark = format!("[{}]", label.to_lowercase());
    answer.lines().any(|line| line != chosen && to_lower(line).contains(&mark))
}

/// Whether an option is a step of the work that decides nothing about the product.
fn is_chore(option: &str) -> bool {
    #[rustfmt::skip]
    const CHORES: &[&str] = &[
        "run", "re-run", "rerun", "commit", "push", "validate", "verify", "deploy", "restart", "open", "show",
    ];
    let option = option.trim_start_matches(|c: char| !c.is_alphanumeric());
    begins_with_any(option, CHORES)
}

/// Whether an option only continues a dialog.
fn is_navigation(option: &str) -> bool {
    #[rustfmt::skip]
    const STEPS: &[&str] = &[
        "proceed", "continue", "skip", "done", "finish", "exit", "quit", "cancel", "no further", "go back",
        "start over", "next step", "继续", "繼續", "跳过", "下一步", "続行", "続ける", "weiter", "continuer",
    ];
    begins_with_any(&plain_text(option), STEPS)
}

/// Whether the line before a list introduces steps to take, or readings of what the user said.
fn offers_next_steps(answer: &str, chosen: &str) -> bool {
    #[rustfmt::skip]
    const MARKS: &[&str] = &[
        "next step", "next action", "what next", "what's next", "follow-up", "to continue", "clarify",
        "you mean", "下一步", "接下来", "接下來", "要继续", "次のステップ", "prochaine", "nächste", "próximo",
    ];
    let before = answer.lines().take_while(|line| *line != chosen);
    let is_item = |line: &str| {
        line.starts_with([' ', '\t', '-', '*', '|']) && !line.starts_with("**")
            || line.starts_with(|c: char| c.is_ascii_digit())
    };
    let intro = before.filter(|line| !line.trim().is_empty() && !is_item(line)).last();
    intro.is_some_and(|line| {
        let lower = to_lower(line);
        MARKS.iter().any(|mark| lower.contains(mark)) || asks_for_step(line)
    })
}

/// The question that an option answers, verbatim and plain: the one before the list, or that at the end of
/// the answer.
fn find_option_question<'a>(parts: &MessageParts<'a>, option: &str) -> Option<(&'a str, String)> {
    let is_question =
        |text: &str| text.ends_with(['?', '？']) || begins_with_any(text, &["question"]);
    let option = option.trim();
    let index = parts.sentences.iter().position(|one| option.contains(one.raw));
    let above = parts.sentences.get(..index.unwrap_or(0)).unwrap_or_default();
    let lead = above.iter().rev().find(|one| one.shape != SentenceShape::Item);
    let lead = lead.filter(|one| is_question(&one.plain)).map(|one| (one.raw, one.plain.clone()));
    lead.or_else(|| {
        let closing = find_closing_question(parts)?;
        Some((closing.raws.first().copied()?, closing.text))
    })
}

/// The text of an option with this label: `B) …`, `2. …`, `- **B**: …`, `| B | … |`.
fn read_option<'a>(line: &'a str, label: &str) -> Option<&'a str> {
    let bare = line.trim_start_matches([' ', '\t', '-', '*', '|', '(', '[', '>', '#', '•']);
    let bare = bare.strip_prefix("Option ").unwrap_or(bare);
    let start = bare.get(..label.len()).filter(|start| start.eq_ignore_ascii_case(label))?;
    let rest = bare.get(start.len()..)?;
    let text =
        rest.trim_start_matches(['*', ')', ']', '.', ':', '：', '|', '-', '–', '—', ' ', '、']);
    let is_label = rest.starts_with(['*', ')', ']', '.', ':', '：', '|', '、'])
        || [" |", " -", " –", " —"].iter().any(|mark| rest.starts_with(mark));
    // Of a table, only the next cell.
    let text = text.split('|').next().unwrap_or(text).trim();
    (is_label && text.chars().any(char::is_alphanumeric)).then_some(text)
}

fn is_question_tool(name: &str) -> bool {
    QUESTION_TOOLS.contains(&tool_base_name(name).as_str())
}

/// Answers that say that there is none, and secrets.
fn is_unanswered(answer: &str) -> bool {
    let lower = answer.to_lowercase();
    [
        "unanswered",
        "no answer",
        "skipped",
        "no preference",
        "none of the above",
        "other",
        "you decide",
    ]
    .contains(&lower.as_str())
        || lower.starts_with("not sure")
        || lower.contains("[redacted")
        // "(notes only)": the words of the user are elsewhere.
        || lower.starts_with('(') && lower.ends_with(')')
        // A note of the agent's program: `[User dismissed — do not proceed]`.
        || lower.starts_with('[') && lower.ends_with(']')
}

/// Removes the mark of the option that the agent recommends.
fn strip_recommendation(answer: &str) -> String {
    ["(Recommended)", "(recommended)", "(推荐)", "（推荐）", "(推薦)", "(推奨)"]
        .iter()
        .fold(answer.to_owned(), |text, mark| text.replace(mark, ""))
        .trim()
        .to_owned()
}

/// Whether a question lets the user choose what to do, rather than asking for a fact ("Did it work?") or
/// for leave to take the next step.
fn asks_for_choice(question: &str) -> bool {
    #[rustfmt::skip]
    const FACTS: &[&str] = &[
        "can you see", "can you confirm", "did", "do you see", "do you have", "what happened",
        "what error", "what is", "what's", "what are the", "is", "are", "has", "have", "was", "were",
        "were you able",
    ];
    !begins_with_any(question.trim(), FACTS) && !asks_for_step(question)
}

/// Whether a question is about the next step or how the agent should work, rather than the product.
fn asks_for_step(question: &str) -> bool {
    #[rustfmt::skip]
    const STEPS: &[&str] = &[
        "restart", "sudo", "next step", "do next", "proceed", "continue", "ready to", "commit now",
        "right now", "now or later", "run it", "run the", "hold off", "explore further", "to sequence",
        "execution mode", "this session", "下一步", "继续", "繼續", "怎么进行", "怎麼進行", "执行方式", "執行方式",
    ];
    let lower = to_lower(question);
    STEPS.iter().any(|step| lower.contains(step))
}

struct Question<'a> {
    text: &'a str,
    id: Option<&'a str>,
    header: Option<&'a str>,
}

impl Question<'_> {
    /// Agents key the answers by the question, its id, its header or its number.
    fn find_answer(&self, index: usize, answers: &Map<String, Value>) -> Option<String> {
        let number = index.to_string();
        let keys = [Some(self.text), self.id, self.header, Some(number.as_str())];
        keys.into_iter().flatten().find_map(|key| answers.get(key)).and_then(read_answer)
    }
}

fn read_questions(input: &Value) -> Vec<Question<'_>> {
    let listed = input.get("questions").and_then(Value::as_array);
    let all = listed.map_or(std::slice::from_ref(input), Vec::as_slice);
    let questions = all.iter().filter_map(|value| {
        Some(Question {
            text: value.get("question")?.as_str()?,
            id: value.get("id").and_then(Value::as_str),
            header: value.get("header").and_then(Value::as_str),
        })
    });
    questions.take(QUESTIONS_MAX).collect()
}

/// The answers as an object: in the output, or in one of its texts as JSON.
fn find_answers<'a>(tool: &'a Tool, outputs: &[&str]) -> Option<Cow<'a, Map<String, Value>>> {
    if let Some(answers) = tool.output.get("answers").and_then(Value::as_object) {
        return Some(Cow::Borrowed(answers));
    }
    outputs.iter().filter(|text| text.trim_start().starts_with('{')).find_map(|text| {
        let parsed: Value = serde_json::from_str(text).ok()?;
        parsed.get("answers").and_then(Value::as_object).cloned().map(Cow::Owned)
    })
}

/// An answer is a text, a list of them, or an object with one.
fn read_answer(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        // Several would have to be quoted one by one.
        Value::Array(all) => match all.as_slice() {
            [only] => read_answer(only),
            _ => None,
        },
        Value::Object(fields) => read_answer(fields.get("answers")?),
        _ => None,
    }
}

/// The answer in `… "question"="answer" …`.
fn find_quoted_answer<'a>(question: &str, outputs: &[&'a str]) -> Option<&'a str> {
    let key = format!("\"{question}\"=\"");
    outputs.iter().find_map(|text| {
        let answer = text.get(text.find(&key)? + key.len()..)?;
        // An answer may hold quotation marks, so it ends before the next question or the end.
        let end = answer.find("\", \"").or_else(|| answer.rfind("\". ")).or(answer.rfind('"'))?;
        answer.get(..end)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tome_model::{Agent, EventId, EventKind, Millis, Role, SessionId};

    use super::*;

    fn choices(name: &str, input: Value, output: Value) -> Vec<String> {
        let event = Event {
            id: EventId::parse("event-1").unwrap(),
            session: SessionId::parse("session-1").unwrap(),
            agent: Agent::parse("claude-code").unwrap(),
            kind: EventKind::ToolResult,
            role: Role::Tool,
            text: String::new(),
            tool: Some(Tool { name: name.to_owned(), input, output }),
            at: Millis(1),
            arrived: Millis(1),
            project: "/app".to_owned(),
            cwd: "/app".to_owned(),
            meta: Map::default(),
        };
        let found = find_choices(0, &event);
        for fact in &found {
            for one in &fact.evidence {
                assert!(crate::evidence::contains_excerpt(&event, &one.excerpt), "{one:?}");
            }
        }
        found.into_iter().map(|fact| fact.text).collect()
    }

    const LEXER: &str = "Which lexer should we use?";

    fn questions() -> Value {
        json!({"questions": [
            {"question": LEXER, "header": "Lexer", "id": "lexer", "options": [{"label": "logos"}]},
            {"question": "Should we keep the old one?", "header": "Old", "id": "old"},
        ]})
    }

    #[test]
    fn an_answer_is_a_decision_in_the_format_of_every_agent() {
        let chosen = format!("{LEXER} Logos");
        let sentence = format!(
            "Your questions have been answered: \"{LEXER}\"=\"logos (Recommended)\", \"Should we keep \
             the old one?\"=\"No, delete it\". You can now continue with these answers in mind."
        );
        let both = [chosen.clone(), "Should we keep the old one? No, delete it".to_owned()];
        let answers = json!({LEXER: "logos", "Should we keep the old one?": "No, delete it"});
        let object = json!({"questions": questions()["questions"], "answers": answers});
        assert_eq!(choices("AskUserQuestion", questions(), object), both);
        assert_eq!(choices("AskUserQuestion", questions(), json!(sentence)), both);
        let dismissed = json!({LEXER: "[User dismissed — wait for the next instruction]"});
        let dismissed = json!({"questions": questions()["questions"], "answers": dismissed});
        assert!(choices("AskUserQuestion", questions(), dismissed).is_empty());
        let by_id = json!({"output": r#"{"answers":{"lexer":{"answers":["logos"]}}}"#});
        assert_eq!(choices("request_user_input", questions(), by_id), both[..1]);
        let by_number = json!({"llmContent": r#"{"answers":{"0":"logos"}}"#});
        assert_eq!(choices("ask_user", questions(), by_number), [chosen]);
    }

    #[test]
    fn an_option_is_read_by_its_label() {
        for (line, label, option) in [
            ("B) Use a queue", "b", Some("Use a queue")),
            ("- **B**: Use a queue", "B", Some("Use a queue")),
            ("| B | Use a queue | slower |", "B", Some("Use a queue")),
            ("2. Use a queue", "2", Some("Use a queue")),
            ("Option A - a monorepo", "A", Some("a monorepo")),
            ("[B] Use a queue", "b", Some("Use a queue")),
            ("A queue is slower", "A", None),
            ("21. Use a queue", "2", None),
        ] {
            assert_eq!(read_option(line, label), option, "{line}");
        }
    }

    #[test]
    fn without_an_answer_there_is_no_decision() {
        let dismissed = json!("User dismissed ask_user dialog without answering.");
        assert!(choices("ask_user", questions(), dismissed).is_empty());
        assert!(choices("AskUserQuestion", questions(), json!({"answers": {}})).is_empty());
        assert!(choices("Read", questions(), json!({"answers": {LEXER: "logos"}})).is_empty());
        let deep = (0..200).fold(json!("logos"), |inner, _| json!([inner]));
        let _ = choices("question", questions(), json!({"answers": {LEXER: deep}}));
    }
}
