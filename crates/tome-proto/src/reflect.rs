//! Client call of the Reflections service.

use crate::client::{Client, call_with_deadline};
use crate::v1::reflections_client::ReflectionsClient;
use crate::{ClientError, limits, v1};

impl Client {
    /// Reflects on a session.
    pub async fn reflect(
        &self,
        request: v1::ReflectRequest,
    ) -> Result<v1::ReflectResponse, ClientError> {
        let mut reflections = ReflectionsClient::new(self.wire.clone());
        call_with_deadline(limits::LONG_CALL_TIMEOUT, reflections.reflect(request)).await
    }
}
