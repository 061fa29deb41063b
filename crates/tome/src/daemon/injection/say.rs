//! What is to be said in answer to an event, each part within its time and its room.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;
use tome_engine::triggers::{self, Due};
use tome_engine::{
    Composed, EngineError, InjectionRecord, Injector, PLAN_TOKENS_MAX, Room, StartParts, Starting,
    choose_hints, hints_text, nudge_text, plan_text, start_text,
};
use tome_model::{Event, EventKind};
use tonic::Status;

use super::asked::Asked;
use super::{InjectionsService, injector};
use crate::daemon::shared::{Shared, status_of};

/// What a few words of Tome's own may take.
const NUDGE_TOKENS_MAX: u64 = 400;
/// Why a session starts is said by its agent.
const WHY_BYTES_MAX: usize = 40;

/// One text, and why it is said.
pub(super) struct Said {
    why: String,
    pub composed: Composed,
    /// The hints in it.
    hints: Vec<String>,
}

impl Said {
    fn new(why: &str, composed: Composed) -> Self {
        Self { why: why.to_owned(), composed, hints: Vec::new() }
    }
}

impl InjectionsService {
    /// All that is to be said in answer to an event.
    pub(super) async fn say(&self, asked: &Arc<Asked>) -> Result<Vec<Said>, Status> {
        let heard = Arc::clone(asked);
        let heard = self.0.wait_for(move |shared| {
            hear(injector(shared)?, &heard).map_err(|error| status_of(&error))
        });
        let heard = heard.await??;
        if !asked.takes_text() || heard.is_subagent {
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

    /// What a session begins with.
    async fn begin(&self, asked: &Arc<Asked>) -> Result<Option<Said>, Status> {
        if !asked.settings.start {
            return Ok(None);
        }
        let goes_on = asked.kind == EventKind::Compaction
            || matches!(asked.source.as_str(), "resume" | "compact");
        let session = Some(asked.session.as_str().to_owned());
        let starting = Starting { project: asked.project.clone(), session, goes_on };
        let started = self.start(starting, asked.room, asked.ready).await?;
        let why = if asked.source.is_empty() { "start" } else { &asked.source };
        let why = tome_model::truncate_to(why, WHY_BYTES_MAX);
        Ok(started.map(|(composed, facts)| Said { hints: facts, ..Said::new(why, composed) }))
    }

    /// The text for a start, of what could be read by then, and what of it is in there whole: it is no
    /// hint any more.
    pub(super) async fn start(
        &self,
        starting: Starting,
        room: Room,
        until: Instant,
    ) -> Result<Option<(Composed, Vec<String>)>, Status> {
        let parts = Arc::new(Mutex::new(StartParts::unread()));
        let gathered = Arc::clone(&parts);
        let gather = self.0.wait_for_notes(move |shared| {
            injector(shared).map(|injector| injector.gather_start(&starting, &gathered))
        });
        if let Ok(done) = tokio::time::timeout_at(until, gather).await {
            done??;
        }
        let parts = parts.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(composed) = start_text(&parts, room) else { return Ok(None) };
        let whole = if composed.cut.iter().any(|name| name == "facts") {
            &[]
        } else {
            parts.facts.as_slice()
        };
        let facts = whole.iter().map(|fact| format!("memory/{}", fact.path)).collect();
        Ok(Some((composed, facts)))
    }

    /// What a trigger asks for.
    async fn nudge(&self, asked: &Arc<Asked>, due: Option<Due>) -> Result<Option<Said>, Status> {
        let Some(due) = due else { return Ok(None) };
        let (why, words) = (due.name(), triggers::texts::of(&due));
        let Due::Replan { about } = due else {
            let composed = nudge_text(why, &words, asked.room_of(NUDGE_TOKENS_MAX));
            return Ok(composed.map(|composed| Said::new(why, composed)));
        };
        let room = asked.room_of(PLAN_TOKENS_MAX);
        let lessons = self.0.wait_for_notes(move |shared| {
            injector(shared)?.lessons_for(&about).map_err(|error| status_of(&error))
        });
        let Ok(lessons) = tokio::time::timeout_at(asked.ready, lessons).await else {
            return Ok(None);
        };
        // A question without keywords, or a notebook that cannot be read: nothing to say.
        let lessons = lessons?.unwrap_or_default();
        Ok(plan_text(&lessons, &words, room).map(|composed| Said::new(why, composed)))
    }

    /// Hints for a prompt.
    async fn hint(&self, asked: &Arc<Asked>, event: Event) -> Result<Option<Said>, Status> {
        if !asked.settings.hints {
            return Ok(None);
        }
        let theirs = Arc::clone(asked);
        let found = self.0.wait_for_recall(move |shared| {
            let session = theirs.session.as_str();
            injector(shared)?
                .hits_for(&theirs.project, session, &event.text)
                .map(|hits| (hits, injector(shared).map(|it| it.given(&theirs.project, session))))
                .map_err(|error| status_of(&error))
        });
        let Ok(found) = tokio::time::timeout_at(asked.ready, found).await else {
            return Ok(None);
        };
        let Ok((hits, given)) = found? else { return Ok(None) };
        let hints = choose_hints(&hits, asked.session.as_str(), &given?);
        let text = hints_text(&hints, asked.room);
        Ok(text.map(|(composed, count)| Said {
            why: "hints".to_owned(),
            composed,
            hints: hints.into_iter().take(count).map(|hint| hint.key).collect(),
        }))
    }
}

/// What is known once the event was shown to the triggers.
#[derive(Default)]
struct Heard {
    event: Option<Event>,
    due: Option<Due>,
    is_subagent: bool,
}

/// Shows an event to the triggers of its session.
fn hear(injector: &Injector, asked: &Asked) -> Result<Heard, EngineError> {
    let Some(id) = &asked.event else { return Ok(Heard::default()) };
    let Some(event) = injector.event(&asked.project, id)? else { return Ok(Heard::default()) };
    let due = injector.hear(&event, &asked.trigger_settings())?;
    let is_subagent = asked.takes_text() && injector.is_subagent(&asked.project, &asked.session)?;
    Ok(Heard { event: Some(event), due, is_subagent })
}

/// Keeps what was said: hints that are not to be given again, and the record.
pub(super) fn keep(shared: &Shared, asked: &Asked, said: Vec<Said>, handed: bool) {
    let Ok(injector) = injector(shared) else { return };
    let took_ms = u64::try_from(asked.began.elapsed().as_millis()).unwrap_or(u64::MAX);
    for one in said {
        let record = InjectionRecord {
            at_ms: shared.clock.now().0,
            moment: asked.moment().to_owned(),
            why: one.why,
            agent: asked.agent.clone(),
            session_id: asked.session.as_str().to_owned(),
            project: asked.project.clone(),
            tokens: one.composed.tokens,
            cut: one.composed.cut,
            took_ms,
            handed,
            text: one.composed.text,
        };
        let given = match handed && !one.hints.is_empty() {
            true => injector.give(&asked.project, asked.session.as_str(), one.hints),
            false => Ok(()),
        };
        if let Err(error) = given.and_then(|()| injector.record(&record)) {
            shared.log.say(&format!("an injection was not recorded: {error}"));
        }
    }
}
