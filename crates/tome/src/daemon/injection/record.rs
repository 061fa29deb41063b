//! Records injections: in the log, and so that a given one is not repeated and a late one is.

use tome_engine::{InjectionRecord, Injector};
use tome_home::HomeError;

use super::dispatch::ComposedInjection;
use super::request::HookRequest;
use super::require_injector;
use crate::daemon::state::Daemon;

/// Records injections. `handed`: they were ready while the hook was waiting.
pub(super) fn record_injections(
    daemon: &Daemon,
    request: &HookRequest,
    injections: Vec<ComposedInjection>,
    handed: bool,
) {
    let Ok(injector) = require_injector(daemon) else { return };
    let took_ms = u64::try_from(request.started.elapsed().as_millis()).unwrap_or(u64::MAX);
    for injection in injections {
        let record = InjectionRecord {
            at_ms: daemon.engine.clock().now().0,
            point: request.point_name().to_owned(),
            why: injection.reason.clone(),
            agent: request.agent.clone(),
            session_id: request.session.as_str().to_owned(),
            project: request.project.clone(),
            tokens: injection.text.tokens,
            cut: injection.text.cut.clone(),
            took_ms,
            handed,
            text: injection.text.text.clone(),
        };
        let recorded = if handed {
            record_given(injector, request, injection)
        } else {
            record_missed(injector, request, injection)
        };
        if let Err(error) = recorded.and_then(|()| injector.log_injection(&record)) {
            daemon.log.write(&format!("an injection was not recorded: {error}"));
        }
    }
}

/// Logs that a text could not be looked up in time.
pub(super) fn record_late_lookup(daemon: &Daemon, request: &HookRequest, reason: &str) {
    let Ok(injector) = require_injector(daemon) else { return };
    let record = InjectionRecord {
        at_ms: daemon.engine.clock().now().0,
        point: request.point_name().to_owned(),
        why: reason.to_owned(),
        agent: request.agent.clone(),
        session_id: request.session.as_str().to_owned(),
        project: request.project.clone(),
        tokens: 0,
        cut: Vec::new(),
        took_ms: u64::try_from(request.started.elapsed().as_millis()).unwrap_or(u64::MAX),
        handed: false,
        text: String::new(),
    };
    if let Err(error) = injector.log_injection(&record) {
        daemon.log.write(&format!("an injection was not recorded: {error}"));
    }
}

fn record_given(
    injector: &Injector,
    request: &HookRequest,
    injection: ComposedInjection,
) -> Result<(), HomeError> {
    if injection.is_start {
        injector.record_start(&request.project, request.session.as_str())?;
    }
    if !injection.files_checked.is_empty() {
        let (project, session) = (&request.project, request.session.as_str());
        injector.record_files_checked(project, session, injection.files_checked)?;
    }
    let mut keys = injection.facts;
    keys.extend(injection.hints.into_iter().map(|hint| hint.key));
    if keys.is_empty() {
        Ok(())
    } else {
        injector.record_hints_given(&request.project, request.session.as_str(), keys)
    }
}

fn record_missed(
    injector: &Injector,
    request: &HookRequest,
    injection: ComposedInjection,
) -> Result<(), HomeError> {
    let (project, session) = (&request.project, request.session.as_str());
    if !injection.hints.is_empty() {
        injector.defer_hints(project, session, injection.hints)?;
    }
    match injection.due {
        Some(due) => injector.record_missed(project, session, &due, &request.trigger_settings()),
        None => Ok(()),
    }
}
