//! What is to be said in answer to an event, each part within its time and its room.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;
use tome_engine::triggers::{self, DueInjection};
use tome_engine::{
    InjectionText, Injector, PLAN_TOKENS_MAX, PromptHint, StartKind, StartParts, StartRequest,
    TokenBudget, render_nudge, render_plan_lessons, render_resume, render_start,
};
use tome_home::HomeError;
use tome_model::{Event, EventKind};
use tonic::Status;

use super::request::Asked;
use super::{InjectionsService, injector};
use crate::daemon::calls::CallKind;
use crate::daemon::grpc_status::recall_status;
use crate::daemon::grpc_status::status_of;

/// What a few words of Tome's own may take.
const NUDGE_TOKENS_MAX: u64 = 400;
/// Why a session starts is said by its agent.
const WHY_BYTES_MAX: usize = 40;

/// One text, and why it is said.
pub(super) struct Said {
    pub why: String,
    pub composed: InjectionText,
    /// What is in it whole: it is no hint any more.
    pub facts: Vec<String>,
    /// The hints in it.
    pub hints: Vec<PromptHint>,
    /// What asked for it.
    pub due: Option<DueInjection>,
    /// Whether it is the whole text of a start.
    pub is_start: bool,
}

/// What a resumed session has to be told.
enum Resumed {
    /// It was never told what is known at a start.
    Unknown,
    /// Nothing.
    Unchanged,
    /// What changed.
    Changed(InjectionText),
}

/// Whether what an agent was told at a start is still in its context when it resumes the session.
/// OpenCode gets it as a part of the system prompt, which is made again by every process.
fn keeps_start_text(agent: &str) -> bool {
    agent != "opencode"
}

impl Said {
    pub(super) fn new(why: &str, composed: InjectionText) -> Self {
        let why = why.to_owned();
        Self { why, composed, facts: Vec::new(), hints: Vec::new(), due: None, is_start: false }
    }
}

impl InjectionsService {
    /// All that is to be said in answer to an event.
    pub(super) async fn say(&self, asked: &Arc<Asked>) -> Result<Vec<Said>, Status> {
        let heard = Arc::clone(asked);
        let heard = self.0.wait_for(move |daemon| {
            hear(injector(daemon)?, &heard).map_err(|error| status_of(&error))
        });
        let heard = heard.await??;
        if !asked.takes_text() || heard.is_subagent {
            self.missed(asked, heard.due).await?;
            return Ok(Vec::new());
        }
        let mut said: Vec<Said> = Vec::new();
        match (asked.kind, heard.due) {
            (EventKind::SessionStart | EventKind::Compaction, _) => {
                said.extend(self.begin(asked).await?);
            }
            (EventKind::UserMessage, due) => {
                said.extend(self.nudge(asked, due).await?);
                // One thing at a time: lessons for a plan are enough to read.
                if !said.iter().any(|one| one.why == "replan")
                    && let Some(event) = heard.event
                {
                    said.extend(self.hint(asked, event).await?);
                }
            }
            (_, due) => said.extend(self.nudge(asked, due).await?),
        }
        Ok(said)
    }

    /// The start text of a session.
    async fn begin(&self, asked: &Arc<Asked>) -> Result<Option<Said>, Status> {
        if !asked.settings.start {
            return Ok(None);
        }
        let why = if asked.source.is_empty() { "start" } else { &asked.source };
        let why = tome_model::truncate_to(why, WHY_BYTES_MAX);
        if asked.source == "resume" && keeps_start_text(&asked.agent) {
            match self.resume(asked).await? {
                Resumed::Unknown => {}
                Resumed::Unchanged => return Ok(None),
                Resumed::Changed(composed) => return Ok(Some(Said::new(why, composed))),
            }
        }
        let is_compacted = asked.kind == EventKind::Compaction || asked.source == "compact";
        let moment = if is_compacted { StartKind::Compacted } else { StartKind::Fresh };
        let session = Some(asked.session.as_str().to_owned());
        let starting = StartRequest { project: asked.project.clone(), session, kind: moment };
        self.warm(asked);
        let started = self.start(starting, asked.room, asked.ready).await?;
        let start = |(composed, facts)| Said { facts, is_start: true, ..Said::new(why, composed) };
        Ok(started.map(start))
    }

    /// Opens what the session's prompts will be looked up in, while nobody waits for that.
    fn warm(&self, asked: &Arc<Asked>) {
        if !asked.settings.hints {
            return;
        }
        let (daemon, project) = (Arc::clone(&self.0), asked.project.clone());
        tokio::spawn(async move {
            // Hints open what they need themselves; that is only slower.
            let _ = daemon
                .run_blocking(CallKind::Recall, move |daemon| {
                    injector(daemon)?.warm_indexes(&project).map_err(|error| recall_status(&error))
                })
                .await;
        });
    }

    /// What a resumed session has to be told.
    async fn resume(&self, asked: &Arc<Asked>) -> Result<Resumed, Status> {
        let theirs = Arc::clone(asked);
        let gather = self.0.run_blocking(CallKind::Notebook, move |daemon| {
            let gathered = injector(daemon)?.gather_resume(&theirs.project, &theirs.session);
            gathered.map_err(|error| status_of(&error))
        });
        // What could not be read in time has to be asked for: the session has the rest.
        let Ok(parts) = tokio::time::timeout_at(asked.ready, gather).await else {
            return Ok(Resumed::Unchanged);
        };
        Ok(match parts?? {
            None => Resumed::Unknown,
            Some(parts) => match render_resume(&parts, asked.room) {
                None => Resumed::Unchanged,
                Some(composed) => Resumed::Changed(composed),
            },
        })
    }

    /// The text for a start, of what could be read by then, and what of it is in there whole: it is no
    /// hint any more.
    pub(super) async fn start(
        &self,
        starting: StartRequest,
        room: TokenBudget,
        until: Instant,
    ) -> Result<Option<(InjectionText, Vec<String>)>, Status> {
        let parts = Arc::new(Mutex::new(StartParts::unread()));
        let gathered = Arc::clone(&parts);
        let gather = self.0.run_blocking(CallKind::Notebook, move |daemon| {
            injector(daemon).map(|injector| injector.gather_start(&starting, &gathered))
        });
        if let Ok(done) = tokio::time::timeout_at(until, gather).await {
            done??;
        }
        let parts = parts.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(composed) = render_start(&parts, room) else { return Ok(None) };
        let whole = if composed.cut.iter().any(|name| name == "facts") {
            &[]
        } else {
            parts.facts.as_slice()
        };
        let facts = whole.iter().map(|fact| format!("memory/{}", fact.path)).collect();
        Ok(Some((composed, facts)))
    }

    /// What a trigger asks for.
    async fn nudge(
        &self,
        asked: &Arc<Asked>,
        due: Option<DueInjection>,
    ) -> Result<Option<Said>, Status> {
        let Some(due) = due else { return Ok(None) };
        let (why, words) = (due.name(), triggers::texts::render_due(&due));
        let composed = match due.clone() {
            DueInjection::Replan { about } => {
                let lessons = self.0.run_blocking(CallKind::Notebook, move |daemon| {
                    injector(daemon)?.find_lessons(&about).map_err(|error| status_of(&error))
                });
                let Ok(lessons) = tokio::time::timeout_at(asked.ready, lessons).await else {
                    self.missed(asked, Some(due)).await?;
                    return Ok(None);
                };
                // A question without keywords, or a notebook that cannot be read: nothing to say.
                let lessons = lessons?.unwrap_or_default();
                render_plan_lessons(&lessons, &words, asked.room_of(PLAN_TOKENS_MAX))
            }
            _ => render_nudge(why, &words, asked.room_of(NUDGE_TOKENS_MAX)),
        };
        Ok(composed.map(|composed| Said { due: Some(due), ..Said::new(why, composed) }))
    }

    /// What was due could not be said: it is due again.
    async fn missed(&self, asked: &Arc<Asked>, due: Option<DueInjection>) -> Result<(), Status> {
        let Some(due) = due else { return Ok(()) };
        let asked = Arc::clone(asked);
        let noted = self.0.wait_for(move |daemon| {
            let (project, session) = (&asked.project, asked.session.as_str());
            injector(daemon)?
                .record_missed(project, session, &due, &asked.trigger_settings())
                .map_err(|error| status_of(&error))
        });
        noted.await?
    }
}

/// What is known once the event was shown to the triggers.
#[derive(Default)]
struct Heard {
    event: Option<Event>,
    due: Option<DueInjection>,
    is_subagent: bool,
}

/// Shows an event to the triggers of its session.
fn hear(injector: &Injector, asked: &Asked) -> Result<Heard, HomeError> {
    let Some(id) = &asked.event else { return Ok(Heard::default()) };
    let Some(event) = injector.load_event(&asked.project, id)? else { return Ok(Heard::default()) };
    let due = injector.process_event(&event, &asked.trigger_settings())?;
    let is_subagent = asked.takes_text() && injector.is_subagent(&asked.project, &asked.session)?;
    Ok(Heard { event: Some(event), due, is_subagent })
}
