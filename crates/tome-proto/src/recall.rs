//! Client calls of the Recall service.

use crate::client::{Client, call_with_deadline};
use crate::v1::recall_client::RecallClient;
use crate::{ClientError, limits, v1};

impl Client {
    /// Searches everything that was said, done or noted.
    pub async fn recall(
        &self,
        request: v1::RecallRequest,
    ) -> Result<v1::RecallResponse, ClientError> {
        let recall = RecallClient::new(self.wire.clone());
        let mut recall = recall
            .max_encoding_message_size(limits::RECALL_MESSAGE_BYTES_MAX)
            .max_decoding_message_size(limits::RECALL_MESSAGE_BYTES_MAX);
        call_with_deadline(limits::RECALL_TIMEOUT, recall.recall(request)).await
    }

    /// Lists the standing instructions of the user in a project.
    pub async fn list_instructions(
        &self,
        request: v1::ListInstructionsRequest,
    ) -> Result<v1::ListInstructionsResponse, ClientError> {
        let mut recall = RecallClient::new(self.wire.clone())
            .max_decoding_message_size(limits::RECALL_MESSAGE_BYTES_MAX);
        call_with_deadline(limits::RECALL_TIMEOUT, recall.list_instructions(request)).await
    }
}
