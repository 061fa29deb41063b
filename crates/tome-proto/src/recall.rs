//! The client's side of recall.

use crate::client::{Client, call};
use crate::v1::recall_client::RecallClient;
use crate::{ClientError, limits, v1};

impl Client {
    /// Looks for what was said, done and noted.
    pub async fn recall(
        &self,
        request: v1::RecallRequest,
    ) -> Result<v1::RecallResponse, ClientError> {
        let recall = RecallClient::new(self.wire.clone());
        let mut recall = recall
            .max_encoding_message_size(limits::RECALL_MESSAGE_BYTES_MAX)
            .max_decoding_message_size(limits::RECALL_MESSAGE_BYTES_MAX);
        call(limits::RECALL_TIMEOUT, recall.recall(request)).await
    }
}
