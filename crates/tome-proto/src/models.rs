//! Client calls of the Models and Reflections services: the daily token budget, and reflections.

use crate::client::{Client, Wire, call};
use crate::v1::models_client::ModelsClient;
use crate::v1::reflections_client::ReflectionsClient;
use crate::{ClientError, limits, v1};

impl Client {
    /// Reserves tokens for one model call; the response reports an exhausted budget.
    pub async fn reserve_tokens(
        &self,
        request: v1::ReserveRequest,
    ) -> Result<v1::ReserveResponse, ClientError> {
        call(limits::CALL_TIMEOUT, self.models().reserve(request)).await
    }

    /// Reports the actual cost of the call.
    pub async fn settle_tokens(&self, request: v1::SettleRequest) -> Result<(), ClientError> {
        call(limits::CALL_TIMEOUT, self.models().settle(request)).await.map(drop)
    }

    /// Returns today's usage.
    pub async fn tokens_used(&self) -> Result<v1::ReadingResponse, ClientError> {
        call(limits::CALL_TIMEOUT, self.models().reading(v1::ReadingRequest {})).await
    }

    /// Reflects on a session.
    pub async fn reflect(
        &self,
        request: v1::ReflectRequest,
    ) -> Result<v1::ReflectResponse, ClientError> {
        let mut reflections = ReflectionsClient::new(self.wire.clone());
        call(limits::LONG_CALL_TIMEOUT, reflections.reflect(request)).await
    }

    fn models(&self) -> ModelsClient<Wire> {
        ModelsClient::new(self.wire.clone())
    }
}
