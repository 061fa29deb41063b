//! Client calls of the Notebook service.

use crate::client::{AuthorizedChannel, Client, call_with_deadline};
use crate::v1::notebook_client::NotebookClient;
use crate::{ClientError, limits, v1};

impl Client {
    /// Returns the location of a notebook.
    pub async fn locate_notebook(
        &self,
        whose: v1::Whose,
    ) -> Result<v1::LocateResponse, ClientError> {
        let request = v1::LocateRequest { whose: Some(whose) };
        call_with_deadline(limits::NOTE_CALL_TIMEOUT, self.notebook_client().locate(request)).await
    }

    /// Lists all notes of a notebook.
    pub async fn list_notes(&self, whose: v1::Whose) -> Result<v1::ListNotesResponse, ClientError> {
        let request = v1::ListNotesRequest { whose: Some(whose) };
        call_with_deadline(limits::NOTE_CALL_TIMEOUT, self.notebook_client().list_notes(request))
            .await
    }

    /// Returns the history of a notebook, newest first.
    pub async fn get_note_log(
        &self,
        request: v1::GetLogRequest,
    ) -> Result<v1::GetLogResponse, ClientError> {
        call_with_deadline(limits::NOTE_CALL_TIMEOUT, self.notebook_client().get_log(request)).await
    }

    /// Returns a note's text, current or at a version.
    pub async fn get_note_version(
        &self,
        request: v1::GetVersionRequest,
    ) -> Result<v1::GetVersionResponse, ClientError> {
        call_with_deadline(limits::NOTE_CALL_TIMEOUT, self.notebook_client().get_version(request))
            .await
    }

    /// Restores a version of a note.
    pub async fn restore_note(
        &self,
        request: v1::RestoreRequest,
    ) -> Result<v1::RestoreResponse, ClientError> {
        call_with_deadline(limits::NOTE_CALL_TIMEOUT, self.notebook_client().restore(request)).await
    }

    /// Checks the coder's lessons.
    pub async fn lint_lessons(&self) -> Result<Vec<v1::Finding>, ClientError> {
        let mut notebook = self.notebook_client();
        let found =
            call_with_deadline(limits::LONG_CALL_TIMEOUT, notebook.lint(v1::LintRequest {}))
                .await?;
        Ok(found.findings)
    }

    /// Reorganizes the coder's lessons.
    pub async fn tidy_lessons(&self, by: v1::Author) -> Result<v1::TidyResponse, ClientError> {
        let request = v1::TidyRequest { by: Some(by) };
        call_with_deadline(limits::LONG_CALL_TIMEOUT, self.notebook_client().tidy(request)).await
    }

    /// Moves a project's notes into its repository.
    pub async fn move_into_repository(
        &self,
        cwd: &str,
    ) -> Result<v1::MoveIntoRepositoryResponse, ClientError> {
        let request = v1::MoveIntoRepositoryRequest { cwd: cwd.to_owned() };
        call_with_deadline(
            limits::LONG_CALL_TIMEOUT,
            self.notebook_client().move_into_repository(request),
        )
        .await
    }

    fn notebook_client(&self) -> NotebookClient<AuthorizedChannel> {
        NotebookClient::new(self.wire.clone())
            .max_decoding_message_size(limits::NOTE_MESSAGE_BYTES_MAX)
    }
}

/// Takes as many messages as fit into one response, with space to spare.
pub fn take_fitting<T: prost::Message>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut room = limits::NOTE_MESSAGE_BYTES_MAX / 2;
    let fits = |one: &T| {
        let size = one.encoded_len() + 8;
        let fits = size <= room;
        room = room.saturating_sub(size);
        fits
    };
    all.take_while(fits).collect()
}
