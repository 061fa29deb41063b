//! Client calls of the Contents service.

use tonic::Streaming;

use crate::client::{Client, Wire, call};
use crate::v1::contents_client::ContentsClient;
use crate::{ClientError, limits, v1};

impl Client {
    /// Returns the calendar from the top.
    pub async fn toc_root(
        &self,
        request: v1::GetTocRootRequest,
    ) -> Result<v1::GetTocRootResponse, ClientError> {
        call(limits::LONG_CALL_TIMEOUT, self.contents().get_toc_root(request)).await
    }

    /// Returns a page of a node's children, or of a time in words.
    pub async fn browse_toc(
        &self,
        request: v1::BrowseTocRequest,
    ) -> Result<v1::BrowseTocResponse, ClientError> {
        call(limits::LONG_CALL_TIMEOUT, self.contents().browse_toc(request)).await
    }

    /// Returns a whole node, for each project that has it.
    pub async fn node(
        &self,
        request: v1::GetNodeRequest,
    ) -> Result<v1::GetNodeResponse, ClientError> {
        call(limits::LONG_CALL_TIMEOUT, self.contents().get_node(request)).await
    }

    /// Returns the versions of a node.
    pub async fn node_versions(
        &self,
        request: v1::GetVersionsRequest,
    ) -> Result<Vec<v1::NodeVersion>, ClientError> {
        let found = call(limits::LONG_CALL_TIMEOUT, self.contents().get_versions(request)).await?;
        Ok(found.versions)
    }

    /// Returns a grip with the events around it.
    pub async fn expand_grip(
        &self,
        request: v1::ExpandGripRequest,
    ) -> Result<v1::ExpandGripResponse, ClientError> {
        call(limits::LONG_CALL_TIMEOUT, self.contents().expand_grip(request)).await
    }

    /// Verifies every node and every grip.
    pub async fn verify_contents(
        &self,
        request: v1::VerifyContentsRequest,
    ) -> Result<Vec<v1::StoreChecked>, ClientError> {
        Ok(call(limits::REBUILD_TIMEOUT, self.contents().verify_contents(request)).await?.stores)
    }

    /// Rebuilds the contents; streams one response per store.
    pub async fn rebuild_contents(
        &self,
        request: v1::RebuildContentsRequest,
    ) -> Result<Streaming<v1::RebuildContentsResponse>, ClientError> {
        let mut contents = self.contents();
        call(limits::LONG_CALL_TIMEOUT, contents.rebuild_contents(request)).await
    }

    /// Returns the progress of the workers.
    pub async fn workers(&self) -> Result<Vec<v1::StoreWorkers>, ClientError> {
        let mut contents = self.contents();
        let answer = contents.get_workers(v1::GetWorkersRequest {});
        Ok(call(limits::LONG_CALL_TIMEOUT, answer).await?.stores)
    }

    fn contents(&self) -> ContentsClient<Wire> {
        ContentsClient::new(self.wire.clone()).max_decoding_message_size(limits::MESSAGE_BYTES_MAX)
    }
}
