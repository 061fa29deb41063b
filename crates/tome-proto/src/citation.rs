//! Client calls of the Citations service.

use tonic::Streaming;

use crate::client::{Client, Wire, call};
use crate::v1::citations_client::CitationsClient;
use crate::{ClientError, limits, v1};

impl Client {
    /// Opens a citation.
    pub async fn open(&self, request: v1::OpenRequest) -> Result<v1::OpenResponse, ClientError> {
        call(limits::NOTE_CALL_TIMEOUT, self.citations().open(request)).await
    }

    /// Rebuilds the transcripts (`messages.jsonl`); streams one response per store.
    pub async fn rebuild_messages(
        &self,
        request: v1::RebuildMessagesRequest,
    ) -> Result<Streaming<v1::RebuildMessagesResponse>, ClientError> {
        let mut citations = self.citations();
        call(limits::LONG_CALL_TIMEOUT, citations.rebuild_messages(request)).await
    }

    fn citations(&self) -> CitationsClient<Wire> {
        CitationsClient::new(self.wire.clone()).max_decoding_message_size(limits::MESSAGE_BYTES_MAX)
    }
}
