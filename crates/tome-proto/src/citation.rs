//! Client calls of the Citations service.

use tonic::Streaming;

use crate::client::{AuthorizedChannel, Client, call_with_deadline};
use crate::v1::citations_client::CitationsClient;
use crate::{ClientError, limits, v1};

impl Client {
    /// Opens a citation.
    pub async fn open_citation(
        &self,
        request: v1::OpenRequest,
    ) -> Result<v1::OpenResponse, ClientError> {
        call_with_deadline(limits::NOTE_CALL_TIMEOUT, self.citations_client().open(request)).await
    }

    /// Rebuilds the transcripts (`messages.jsonl`); streams one response per store.
    pub async fn rebuild_messages(
        &self,
        request: v1::RebuildMessagesRequest,
    ) -> Result<Streaming<v1::RebuildMessagesResponse>, ClientError> {
        let mut citations = self.citations_client();
        call_with_deadline(limits::LONG_CALL_TIMEOUT, citations.rebuild_messages(request)).await
    }

    fn citations_client(&self) -> CitationsClient<AuthorizedChannel> {
        CitationsClient::new(self.wire.clone()).max_decoding_message_size(limits::MESSAGE_BYTES_MAX)
    }
}
