//! Client calls of the Contents service.

use tonic::Streaming;

use crate::client::{AuthorizedChannel, Client, call_with_deadline};
use crate::v1::contents_client::ContentsClient;
use crate::{ClientError, limits, v1};

impl Client {
    /// Returns the contents from the top.
    pub async fn get_toc_root(
        &self,
        request: v1::GetTocRootRequest,
    ) -> Result<v1::GetTocRootResponse, ClientError> {
        call_with_deadline(limits::LONG_CALL_TIMEOUT, self.contents_client().get_toc_root(request))
            .await
    }

    /// Returns a page of a node's children, or of a time in words.
    pub async fn browse_toc(
        &self,
        request: v1::BrowseTocRequest,
    ) -> Result<v1::BrowseTocResponse, ClientError> {
        call_with_deadline(limits::LONG_CALL_TIMEOUT, self.contents_client().browse_toc(request))
            .await
    }

    /// Returns a whole node, for each project that has it.
    pub async fn get_node(
        &self,
        request: v1::GetNodeRequest,
    ) -> Result<v1::GetNodeResponse, ClientError> {
        call_with_deadline(limits::LONG_CALL_TIMEOUT, self.contents_client().get_node(request))
            .await
    }

    /// Returns the versions of a node.
    pub async fn get_node_versions(
        &self,
        request: v1::GetVersionsRequest,
    ) -> Result<Vec<v1::NodeVersion>, ClientError> {
        let found = call_with_deadline(
            limits::LONG_CALL_TIMEOUT,
            self.contents_client().get_versions(request),
        )
        .await?;
        Ok(found.versions)
    }

    /// Returns the latest sessions of a project, or of all.
    pub async fn list_sessions(
        &self,
        request: v1::ListSessionsRequest,
    ) -> Result<v1::ListSessionsResponse, ClientError> {
        call_with_deadline(limits::LONG_CALL_TIMEOUT, self.contents_client().list_sessions(request))
            .await
    }

    /// Returns the page of a session.
    pub async fn get_session(
        &self,
        request: v1::GetSessionRequest,
    ) -> Result<v1::GetSessionResponse, ClientError> {
        call_with_deadline(limits::LONG_CALL_TIMEOUT, self.contents_client().get_session(request))
            .await
    }

    /// Returns a grip with the events around it.
    pub async fn expand_grip(
        &self,
        request: v1::ExpandGripRequest,
    ) -> Result<v1::ExpandGripResponse, ClientError> {
        call_with_deadline(limits::LONG_CALL_TIMEOUT, self.contents_client().expand_grip(request))
            .await
    }

    /// Verifies every node and every grip.
    pub async fn verify_contents(
        &self,
        request: v1::VerifyContentsRequest,
    ) -> Result<Vec<v1::StoreChecked>, ClientError> {
        Ok(call_with_deadline(
            limits::REBUILD_TIMEOUT,
            self.contents_client().verify_contents(request),
        )
        .await?
        .stores)
    }

    /// Rebuilds the contents; streams one response per store.
    pub async fn rebuild_contents(
        &self,
        request: v1::RebuildContentsRequest,
    ) -> Result<Streaming<v1::RebuildContentsResponse>, ClientError> {
        let mut contents = self.contents_client();
        call_with_deadline(limits::LONG_CALL_TIMEOUT, contents.rebuild_contents(request)).await
    }

    /// Returns the progress of the projections.
    pub async fn get_workers(&self) -> Result<Vec<v1::StoreWorkers>, ClientError> {
        let mut contents = self.contents_client();
        let answer = contents.get_workers(v1::GetWorkersRequest {});
        Ok(call_with_deadline(limits::LONG_CALL_TIMEOUT, answer).await?.stores)
    }

    fn contents_client(&self) -> ContentsClient<AuthorizedChannel> {
        ContentsClient::new(self.wire.clone()).max_decoding_message_size(limits::MESSAGE_BYTES_MAX)
    }
}
