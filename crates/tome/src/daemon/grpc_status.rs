//! Maps errors to gRPC statuses.

use tome_home::HomeError;
use tome_model::InvalidInput;
use tome_notebook::NotebookError;
use tome_recall::RecallError;
use tonic::{Code, Status};

pub fn status_of(error: &HomeError) -> Status {
    let code = match error {
        HomeError::Invalid(_) | HomeError::Ambiguous { .. } => Code::InvalidArgument,
        HomeError::NotFound(_) => Code::NotFound,
        HomeError::Closed | HomeError::InUse(_) => Code::Unavailable,
        HomeError::Notebook(error) => notebook_code(error),
        error if error.is_callers_fault() => Code::InvalidArgument,
        HomeError::Ledger(_)
        | HomeError::File { .. }
        | HomeError::Incomplete { .. }
        | HomeError::Index(_)
        | HomeError::Summary(_) => Code::Internal,
    };
    Status::new(code, error.to_string())
}

pub fn invalid_argument(error: &InvalidInput) -> Status {
    Status::invalid_argument(error.to_string())
}

pub fn recall_status(error: &RecallError) -> Status {
    match error {
        RecallError::Home(error) => status_of(error),
        RecallError::Index(_) => Status::internal(error.to_string()),
    }
}

fn notebook_code(error: &NotebookError) -> Code {
    match error {
        NotebookError::NotFound { .. } => Code::NotFound,
        NotebookError::AlreadyExists(_) => Code::AlreadyExists,
        NotebookError::VersionConflict { .. } => Code::FailedPrecondition,
        NotebookError::PathEscapes(_)
        | NotebookError::BadPath { .. }
        | NotebookError::IndexReadOnly(_)
        | NotebookError::TextNotFound { .. }
        | NotebookError::TextAmbiguous { .. }
        | NotebookError::FactsBudgetExceeded { .. }
        | NotebookError::FactNotAllowed { .. }
        | NotebookError::Invalid(_)
        | NotebookError::GuideViolations(_) => Code::InvalidArgument,
        NotebookError::Unreadable { .. }
        | NotebookError::PartiallyCommitted { .. }
        | NotebookError::Io { .. } => Code::Internal,
    }
}
