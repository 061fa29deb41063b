//! Client calls of the Models service: the daily token budget.

use crate::client::{AuthorizedChannel, Client, call_with_deadline};
use crate::v1::models_client::ModelsClient;
use crate::{ClientError, limits, v1};

impl Client {
    /// Reserves tokens for one model call; the response reports an exhausted budget.
    pub async fn reserve_tokens(
        &self,
        request: v1::ReserveRequest,
    ) -> Result<v1::ReserveResponse, ClientError> {
        call_with_deadline(limits::CALL_TIMEOUT, self.models_client().reserve(request)).await
    }

    /// Reports the actual cost of the call.
    pub async fn settle_tokens(&self, request: v1::SettleRequest) -> Result<(), ClientError> {
        call_with_deadline(limits::CALL_TIMEOUT, self.models_client().settle(request))
            .await
            .map(drop)
    }

    /// Returns today's usage.
    pub async fn get_token_usage(&self) -> Result<v1::ReadingResponse, ClientError> {
        call_with_deadline(
            limits::CALL_TIMEOUT,
            self.models_client().reading(v1::ReadingRequest {}),
        )
        .await
    }

    fn models_client(&self) -> ModelsClient<AuthorizedChannel> {
        ModelsClient::new(self.wire.clone())
    }
}
