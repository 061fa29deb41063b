//! The client's side of the day's budget for language models.

use crate::client::{Client, Wire, call};
use crate::v1::models_client::ModelsClient;
use crate::{ClientError, limits, v1};

impl Client {
    /// Sets tokens aside for one call to a model, or says why not.
    pub async fn reserve_tokens(
        &self,
        request: v1::ReserveRequest,
    ) -> Result<v1::ReserveResponse, ClientError> {
        call(limits::CALL_TIMEOUT, self.models().reserve(request)).await
    }

    /// Says what became of the call.
    pub async fn settle_tokens(&self, request: v1::SettleRequest) -> Result<(), ClientError> {
        call(limits::CALL_TIMEOUT, self.models().settle(request)).await.map(drop)
    }

    /// What models were used for today.
    pub async fn tokens_used(&self) -> Result<v1::ReadingResponse, ClientError> {
        call(limits::CALL_TIMEOUT, self.models().reading(v1::ReadingRequest {})).await
    }

    fn models(&self) -> ModelsClient<Wire> {
        ModelsClient::new(self.wire.clone())
    }
}
