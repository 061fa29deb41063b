//! Which commands ran, how they ended, and the line that explains a failure.

pub(crate) mod cause;
pub(crate) mod chain;
pub(crate) mod command_environment;
pub(crate) mod command_name;
pub(crate) mod command_run;
pub(crate) mod deletions;
pub(crate) mod failures;
pub(crate) mod location;
pub(crate) mod outcome;
pub(crate) mod packages;
pub(crate) mod renames;
#[cfg(test)]
pub(crate) mod shell_event;
