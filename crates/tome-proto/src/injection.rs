//! Client calls of the Injections service.

use std::time::Duration;

use crate::client::{AuthorizedChannel, Client, call_with_deadline};
use crate::v1::injections_client::InjectionsClient;
use crate::{ClientError, limits, v1};

impl Client {
    /// Returns the text to inject for an event that was just stored; empty for nothing.
    pub async fn inject(
        &self,
        request: v1::InjectRequest,
        within: Duration,
    ) -> Result<String, ClientError> {
        Ok(call_with_deadline(within, self.injections_client().inject(request)).await?.text)
    }

    /// Lists injections.
    pub async fn list_injections(
        &self,
        request: v1::ListInjectionsRequest,
    ) -> Result<Vec<v1::InjectionRecord>, ClientError> {
        let mut injections = self.injections_client();
        let listed =
            call_with_deadline(limits::CALL_TIMEOUT, injections.list_injections(request)).await?;
        Ok(listed.injections)
    }

    /// Returns the text that a session starting now would get.
    pub async fn preview_injection(
        &self,
        request: v1::PreviewInjectionRequest,
    ) -> Result<v1::PreviewInjectionResponse, ClientError> {
        call_with_deadline(
            limits::NOTE_CALL_TIMEOUT,
            self.injections_client().preview_injection(request),
        )
        .await
    }

    /// Logs a text that the caller gave to an agent.
    pub async fn record_injection(
        &self,
        cwd: &str,
        record: v1::InjectionRecord,
    ) -> Result<(), ClientError> {
        let request = v1::RecordInjectionRequest { cwd: cwd.to_owned(), record: Some(record) };
        call_with_deadline(
            limits::CALL_TIMEOUT,
            self.injections_client().record_injection(request),
        )
        .await?;
        Ok(())
    }

    fn injections_client(&self) -> InjectionsClient<AuthorizedChannel> {
        InjectionsClient::new(self.wire.clone())
            .max_decoding_message_size(limits::MESSAGE_BYTES_MAX)
    }
}
