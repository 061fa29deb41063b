//! Summaries by a language model. It returns title, bullets and keywords as JSON; the answer is
//! validated, and each bullet is searched for in the source.
//!
//! A bullet without evidence is kept as unsupported. After an unusable answer the model gets one
//! more attempt; if that fails too, the existing summary stays.

mod answer;
mod evidence;
mod prompt;
mod terms;

use std::sync::Arc;

use tome_llm::{CompletionRequest, LanguageModel, ModelFailure};

use self::answer::{AnswerRules, ModelSummary};
use self::evidence::{ChildBullets, EventTexts};
use super::summarizer::{
    RollupInput, SegmentInput, Summarizer, Summary, SummaryBullet, SummaryError, Support,
};

/// Retry delay when a model is busy or unreachable and gives none itself.
const RETRY_SOON_S: u64 = 60;
/// Retry delay for failures that may last, such as a failing command.
const RETRY_LATER_S: u64 = 5 * 60;
/// Retry delay for problems that a person has to fix: an API key, a model name, a bill.
const RETRY_AFTER_FIX_S: u64 = 60 * 60;

/// Summarizes with a language model.
#[derive(Clone)]
pub struct ModelSummarizer {
    model: Arc<dyn LanguageModel>,
    input_tokens_max: u64,
    answer_tokens_max: u32,
}

impl ModelSummarizer {
    /// Default tokens of events or nodes in a prompt: a segment with its overlap and tool calls.
    pub const INPUT_TOKENS_MAX: u64 = 8_000;
    /// Default tokens of an answer: about 400, plus the reasoning of models that think first.
    pub const ANSWER_TOKENS_MAX: u32 = 2_000;

    /// Summarizes with `model`; the record in a prompt is trimmed to about `input_tokens_max`
    /// tokens.
    pub fn new(
        model: Arc<dyn LanguageModel>,
        input_tokens_max: u64,
        answer_tokens_max: u32,
    ) -> Self {
        Self { model, input_tokens_max, answer_tokens_max }
    }

    /// Asks the model, and once more if the answer is unusable.
    fn ask_with_retry(
        &self,
        task: &str,
        record: &str,
        expected: AnswerRules,
    ) -> Result<ModelSummary, SummaryError> {
        let system = prompt::system_prompt(task, expected);
        let marked = prompt::mark_record(record);
        let mut prompt = CompletionRequest {
            system,
            user: marked,
            tokens_max: self.answer_tokens_max,
            json: true,
        };
        let why = match self.ask_once(&prompt, expected)? {
            Ok(answer) => return Ok(answer),
            Err(why) => why,
        };
        prompt.user.push_str(&prompt::repair_request(&why));
        self.ask_once(&prompt, expected)?.map_err(SummaryError::Unusable)
    }

    /// One call: the inner error says why the answer is unusable.
    fn ask_once(
        &self,
        prompt: &CompletionRequest,
        expected: AnswerRules,
    ) -> Result<Result<ModelSummary, String>, SummaryError> {
        let completion =
            self.model.complete(prompt).map_err(|failure| to_summary_error(&failure))?;
        Ok(answer::parse(&completion.text, expected))
    }
}

impl Summarizer for ModelSummarizer {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn summarize_segment(&self, input: &SegmentInput<'_>) -> Result<Summary, SummaryError> {
        let record = prompt::render_segment(input, self.input_tokens_max);
        let expected = AnswerRules::for_input_len(input.events.len());
        let answer = self.ask_with_retry(prompt::SEGMENT_TASK, &record, expected)?;
        let events = EventTexts::new(input.events);
        Ok(build_summary(answer, |bullet| Support::Excerpts(events.find_support(bullet))))
    }

    fn summarize_period(&self, input: &RollupInput<'_>) -> Result<Summary, SummaryError> {
        let record = prompt::render_period(input, self.input_tokens_max);
        let expected =
            AnswerRules::for_input_len(input.children.iter().map(|node| node.bullets.len()).sum());
        let answer = self.ask_with_retry(&prompt::period_task(input), &record, expected)?;
        let children = ChildBullets::new(input.children);
        Ok(build_summary(answer, |bullet| Support::Bullets(children.find_support(bullet))))
    }
}

fn build_summary(answer: ModelSummary, support: impl Fn(&str) -> Support) -> Summary {
    let bullets = answer.bullets.into_iter();
    Summary {
        title: answer.title,
        bullets: bullets.map(|text| SummaryBullet { support: support(&text), text }).collect(),
        keywords: answer.keywords,
        work: Vec::new(),
    }
}

/// Maps a model failure to a retry delay, or to no summary for this text.
fn to_summary_error(failure: &ModelFailure) -> SummaryError {
    let after_s = match failure {
        ModelFailure::OverBudget { .. } => return SummaryError::OverBudget,
        ModelFailure::Refused { .. }
        | ModelFailure::Truncated { .. }
        | ModelFailure::ContextTooLong { .. } => {
            return SummaryError::Unusable(failure.to_string());
        }
        ModelFailure::Overloaded { retry_after: Some(after), .. } => after.as_secs().max(1),
        ModelFailure::Overloaded { .. }
        | ModelFailure::Unreachable { .. }
        | ModelFailure::Interrupted { .. }
        | ModelFailure::Cancelled => RETRY_SOON_S,
        ModelFailure::TimedOut { .. }
        | ModelFailure::Malformed { .. }
        | ModelFailure::BudgetUnavailable { .. }
        | ModelFailure::CommandFailed { .. } => RETRY_LATER_S,
        // An unpaid bill is reported as a rejected request.
        ModelFailure::Rejected { .. }
        | ModelFailure::Unauthorized { .. }
        | ModelFailure::NotFound { .. }
        | ModelFailure::SpawnFailed { .. }
        | ModelFailure::Misconfigured(_) => RETRY_AFTER_FIX_S,
    };
    SummaryError::Later { why: failure.to_string(), after_s }
}
