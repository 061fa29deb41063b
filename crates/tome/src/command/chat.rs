//! `tome chat`: gives the terminal agent the daemon, the configured model and the settings.

use std::sync::Arc;

use anyhow::Result;
use tome_chat::{ChatArgs, ChatSetup, DaemonBudget, run_chat};
use tome_engine::triggers::TriggerSettings;
use tome_llm::CancelToken;

use super::notebook_client::absolute_folder;
use super::{CommandContext, Outcome, run_read_only};
use crate::chat_model::{build_chat_model, find_model_sections};
use crate::config::InjectSettings;

pub fn run(context: &CommandContext, args: &ChatArgs) -> Result<Outcome> {
    let settings = &context.settings;
    let clock = Arc::clone(&context.connector.settings().clock);
    let build_model = |name: Option<&str>| {
        let mut settings = settings.clone();
        settings.chat.model = name.map_or(settings.chat.model, str::to_owned);
        let budget = DaemonBudget(context.connector.clone());
        build_chat_model(&settings, budget, &clock, &CancelToken::default())
    };
    let setup = ChatSetup {
        connector: context.connector.clone(),
        cwd: absolute_folder(None)?,
        user_home: std::env::home_dir(),
        json: context.json,
        build_model: &build_model,
        sections: find_model_sections(settings),
        window_tokens: settings.chat.window_tokens,
        prices: settings.chat.prices,
        triggers: trigger_settings(&settings.inject),
        redact: &settings.redact,
        run_command: &|words| run_read_only(context, words),
    };
    run_chat(&setup, args)
}

fn trigger_settings(inject: &InjectSettings) -> TriggerSettings {
    TriggerSettings {
        replan: inject.plan,
        plan_steps: inject.plan_steps as usize,
        store: inject.store,
        store_tool_calls: inject.store_tool_calls,
        overview: inject.overview,
        overview_rounds: inject.overview_rounds,
        ..TriggerSettings::default()
    }
}
