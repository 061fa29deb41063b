//! What is kept of what was said: the record; and that it is not said again, or, if it came too late,
//! that it is.

use tome_engine::{InjectionRecord, Injector};
use tome_home::HomeError;

use super::answer::Said;
use super::injector;
use super::request::Asked;
use crate::daemon::state::Daemon;

/// Keeps what was said. `handed`: it was ready while the hook was waiting for it.
pub(super) fn keep(daemon: &Daemon, asked: &Asked, said: Vec<Said>, handed: bool) {
    let Ok(injector) = injector(daemon) else { return };
    let took_ms = u64::try_from(asked.began.elapsed().as_millis()).unwrap_or(u64::MAX);
    for one in said {
        let record = InjectionRecord {
            at_ms: daemon.engine.clock().now().0,
            moment: asked.moment().to_owned(),
            why: one.why.clone(),
            agent: asked.agent.clone(),
            session_id: asked.session.as_str().to_owned(),
            project: asked.project.clone(),
            tokens: one.composed.tokens,
            cut: one.composed.cut.clone(),
            took_ms,
            handed,
            text: one.composed.text.clone(),
        };
        let kept = match handed {
            true => given(injector, asked, one),
            false => missed(injector, asked, one),
        };
        if let Err(error) = kept.and_then(|()| injector.log_injection(&record)) {
            daemon.log.say(&format!("an injection was not recorded: {error}"));
        }
    }
}

fn given(injector: &Injector, asked: &Asked, said: Said) -> Result<(), HomeError> {
    if said.is_start {
        injector.record_start(&asked.project, asked.session.as_str())?;
    }
    let mut keys = said.facts;
    keys.extend(said.hints.into_iter().map(|hint| hint.key));
    match keys.is_empty() {
        true => Ok(()),
        false => injector.record_hints_given(&asked.project, asked.session.as_str(), keys),
    }
}

fn missed(injector: &Injector, asked: &Asked, said: Said) -> Result<(), HomeError> {
    let (project, session) = (&asked.project, asked.session.as_str());
    if !said.hints.is_empty() {
        injector.defer_hints(project, session, said.hints)?;
    }
    match said.due {
        Some(due) => injector.record_missed(project, session, &due, &asked.trigger_settings()),
        None => Ok(()),
    }
}
