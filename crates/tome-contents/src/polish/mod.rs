//! Summaries by a language model. It is asked for a title, bullets and keywords as JSON; what it
//! answers is checked as anybody's words are, and each of its bullets is looked for in what happened.
//!
//! A bullet that nothing supports is kept without support. An answer that cannot be used is asked
//! for once more, and then there is none: the summary that is there already stays.

mod answer;
mod evidence;
mod prompt;
mod terms;

use std::sync::Arc;

use tome_llm::{LanguageModel, ModelFailure, Prompt};

use self::answer::{Answer, Expected};
use self::evidence::{Children, Events};
use super::summarizer::{
    RollupInput, SegmentInput, Summarizer, Summary, SummaryBullet, SummaryError, Support,
};

/// When to come back to a model that is busy or away and does not say.
const SOON_S: u64 = 60;
/// When to come back after what may take a while, such as a command that failed.
const LATER_S: u64 = 5 * 60;
/// When to come back to something that a person has to put right: a key, a model's name, a bill.
const MUCH_LATER_S: u64 = 60 * 60;

/// A language model as a summarizer.
#[derive(Clone)]
pub struct ModelSummarizer {
    model: Arc<dyn LanguageModel>,
    input_tokens_max: u64,
    answer_tokens_max: u32,
}

impl ModelSummarizer {
    /// What a prompt holds of events or nodes, unless somebody says otherwise: a segment and what is
    /// around it, with room for its tool calls.
    pub const INPUT_TOKENS_MAX: u64 = 8_000;
    /// The room for an answer: some 400 tokens, and for models that think first what they think.
    pub const ANSWER_TOKENS_MAX: u32 = 2_000;

    /// Summarises with `model`; what a prompt holds is trimmed to about `input_tokens_max`.
    pub fn new(
        model: Arc<dyn LanguageModel>,
        input_tokens_max: u64,
        answer_tokens_max: u32,
    ) -> Self {
        Self { model, input_tokens_max, answer_tokens_max }
    }

    /// Asks, and asks once more if the answer cannot be used.
    fn ask(&self, task: &str, record: &str, expected: Expected) -> Result<Answer, SummaryError> {
        let system = prompt::system(task, expected);
        let marked = prompt::marked(record);
        let mut prompt =
            Prompt { system, user: marked, tokens_max: self.answer_tokens_max, json: true };
        let why = match self.answer(&prompt, expected)? {
            Ok(answer) => return Ok(answer),
            Err(why) => why,
        };
        prompt.user.push_str(&prompt::repair(&why));
        self.answer(&prompt, expected)?.map_err(SummaryError::Unusable)
    }

    /// One call: a failure of the model, or an answer, or why the answer cannot be used.
    fn answer(
        &self,
        prompt: &Prompt,
        expected: Expected,
    ) -> Result<Result<Answer, String>, SummaryError> {
        let completion =
            self.model.complete(prompt).map_err(|failure| without_summary(&failure))?;
        Ok(answer::read(&completion.text, expected))
    }
}

impl Summarizer for ModelSummarizer {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn segment(&self, input: &SegmentInput<'_>) -> Result<Summary, SummaryError> {
        let record = prompt::segment(input, self.input_tokens_max);
        let expected = Expected::of(input.events.len());
        let answer = self.ask(prompt::SEGMENT, &record, expected)?;
        let events = Events::of(input.events);
        Ok(summary(answer, |bullet| Support::Excerpts(events.supporting(bullet))))
    }

    fn rollup(&self, input: &RollupInput<'_>) -> Result<Summary, SummaryError> {
        let record = prompt::rollup(input, self.input_tokens_max);
        let expected = Expected::of(input.children.iter().map(|node| node.bullets.len()).sum());
        let answer = self.ask(&prompt::period_task(input), &record, expected)?;
        let children = Children::of(input.children);
        Ok(summary(answer, |bullet| Support::Bullets(children.supporting(bullet))))
    }
}

fn summary(answer: Answer, support: impl Fn(&str) -> Support) -> Summary {
    let bullets = answer.bullets.into_iter();
    Summary {
        title: answer.title,
        bullets: bullets.map(|text| SummaryBullet { support: support(&text), text }).collect(),
        keywords: answer.keywords,
    }
}

/// What a failure of the model means for the summary: when to come back, or that this text has none.
fn without_summary(failure: &ModelFailure) -> SummaryError {
    let after_s = match failure {
        ModelFailure::OverBudget { .. } => return SummaryError::OverBudget,
        ModelFailure::Refused { .. }
        | ModelFailure::Truncated { .. }
        | ModelFailure::ContextTooLong { .. } => {
            return SummaryError::Unusable(failure.to_string());
        }
        ModelFailure::Busy { retry_after: Some(after), .. } => after.as_secs().max(1),
        ModelFailure::Busy { .. }
        | ModelFailure::Down { .. }
        | ModelFailure::BrokenOff { .. }
        | ModelFailure::Stopped => SOON_S,
        ModelFailure::TimedOut { .. }
        | ModelFailure::Malformed { .. }
        | ModelFailure::Uncounted { .. }
        | ModelFailure::CommandFailed { .. } => LATER_S,
        // A bill that was not paid comes as a request that was not taken, so that waits as well.
        ModelFailure::Rejected { .. }
        | ModelFailure::Unauthorized { .. }
        | ModelFailure::NotFound { .. }
        | ModelFailure::CommandMissing { .. }
        | ModelFailure::Misconfigured(_) => MUCH_LATER_S,
    };
    SummaryError::Later { why: failure.to_string(), after_s }
}
