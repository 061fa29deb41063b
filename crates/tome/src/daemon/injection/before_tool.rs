//! Texts for tool calls: the decision about a file that is edited, and memory for a subagent that
//! starts. Whatever is not ready in time is left out; the tool call never waits for it.

use std::sync::Arc;

use tome_engine::{
    DECISION_TOKENS_MAX, EditLookup, FileEdit, PromptHint, SUBAGENT_TOKENS_MAX, SubagentTask,
    choose_hints, render_subagent,
};
use tonic::Status;

use super::dispatch::ComposedInjection;
use super::record::record_late_lookup;
use super::request::HookRequest;
use super::{InjectionsService, require_injector};
use crate::daemon::calls::CallKind;
use crate::daemon::grpc_status::{recall_status, status_of};
use crate::daemon::state::Daemon;

/// The parts of the text for a subagent.
type SubagentParts = (Vec<String>, Vec<PromptHint>);

impl InjectionsService {
    /// Composes the text for a tool call that is about to happen.
    pub(super) async fn compose_before_tool(
        &self,
        request: &Arc<HookRequest>,
    ) -> Result<Vec<ComposedInjection>, Status> {
        if !request.subagent_task.is_empty() && request.settings.subagents {
            let for_thread = Arc::clone(request);
            let kept = self.0.run_blocking(CallKind::Ledger, move |daemon| {
                let HookRequest { project, session, subagent_type, subagent_task, .. } =
                    &*for_thread;
                let task =
                    SubagentTask { kind: subagent_type.clone(), text: subagent_task.clone() };
                let kept = require_injector(daemon)?.record_subagent_task(
                    project,
                    session.as_str(),
                    &task,
                );
                kept.map_err(|error| status_of(&error))
            });
            kept.await??;
        }
        Ok(self.compose_decision(request).await?.into_iter().collect())
    }

    /// Composes the last decision about a file that is edited.
    pub(super) async fn compose_decision(
        &self,
        request: &Arc<HookRequest>,
    ) -> Result<Option<ComposedInjection>, Status> {
        if !request.settings.before_edit || request.files.is_empty() || !request.accepts_text() {
            return Ok(None);
        }
        let for_thread = Arc::clone(request);
        let lookup =
            self.0.run_blocking(CallKind::Recall, move |daemon| find_decision(daemon, &for_thread));
        // Later than this, the decision may still come after the edit.
        let Ok(lookup) = tokio::time::timeout_at(request.read_deadline, lookup).await else {
            self.log_late_lookup(request, "decision");
            return Ok(None);
        };
        let EditLookup { text, keys } = lookup??;
        Ok(text.map(|text| ComposedInjection {
            files_checked: keys,
            ..ComposedInjection::new("decision", text)
        }))
    }

    /// Logs that a lookup took longer than the hook waits, while the hook gets its answer.
    fn log_late_lookup(&self, request: &Arc<HookRequest>, reason: &'static str) {
        let (daemon, request) = (Arc::clone(&self.0), Arc::clone(request));
        tokio::spawn(async move {
            let logged = daemon.run_blocking(CallKind::Ledger, move |daemon| {
                record_late_lookup(daemon, &request, reason);
            });
            // It fails only if the daemon stops.
            let _ = logged.await;
        });
    }

    /// Composes the text for a subagent that starts.
    pub(super) async fn compose_subagent(
        &self,
        request: &Arc<HookRequest>,
    ) -> Result<Option<ComposedInjection>, Status> {
        if !request.settings.subagents {
            return Ok(None);
        }
        let for_thread = Arc::clone(request);
        let parts = self
            .0
            .run_blocking(CallKind::Recall, move |daemon| gather_subagent(daemon, &for_thread));
        let Ok(parts) = tokio::time::timeout_at(request.read_deadline, parts).await else {
            return Ok(None);
        };
        let (how_to_work, hints) = parts??;
        let text = render_subagent(&how_to_work, &hints, request.budget_of(SUBAGENT_TOKENS_MAX));
        Ok(text.map(|text| ComposedInjection::new("subagent", text)))
    }
}

fn find_decision(daemon: &Daemon, request: &HookRequest) -> Result<EditLookup, Status> {
    let injector = require_injector(daemon)?;
    let edit = FileEdit {
        project: request.project.clone(),
        session: request.session.clone(),
        subagent: request.subagent.clone(),
        cwd: request.cwd.clone(),
        files: request.files.clone(),
    };
    let lookup = injector.find_edit_decision(&edit, request.budget_of(DECISION_TOKENS_MAX));
    let lookup = lookup.map_err(|error| status_of(&error))?;
    if lookup.text.is_none() && !lookup.keys.is_empty() {
        // Without a decision, the file is not checked again at every edit.
        let (project, session) = (&request.project, request.session.as_str());
        let recorded = injector.record_files_checked(project, session, lookup.keys.clone());
        recorded.map_err(|error| status_of(&error))?;
    }
    Ok(lookup)
}

fn gather_subagent(daemon: &Daemon, request: &HookRequest) -> Result<SubagentParts, Status> {
    let injector = require_injector(daemon)?;
    let HookRequest { project, session, subagent_type, .. } = request;
    let how_to_work = injector.load_how_to_work(project, session);
    let how_to_work = how_to_work.map_err(|error| status_of(&error))?;
    let task = injector.take_subagent_task(project, session.as_str(), subagent_type);
    let task = match task.map_err(|error| status_of(&error))? {
        Some(task) => Some(task),
        None => {
            let prompt = injector.find_last_prompt(project, session);
            prompt.map_err(|error| status_of(&error))?
        }
    };
    let Some(task) = task.filter(|task| tome_recall::is_worth_searching(task)) else {
        return Ok((how_to_work, Vec::new()));
    };
    let hits = injector.find_hits(project, session.as_str(), &task);
    let hits = hits.map_err(|error| recall_status(&error))?;
    let hints = choose_hints(&hits, session.as_str(), &task, &std::collections::BTreeSet::new());
    Ok((how_to_work, hints))
}
