//! Client calls of the Projects service.

use crate::client::{AuthorizedChannel, Client, call_with_deadline};
use crate::v1::projects_client::ProjectsClient;
use crate::{ClientError, limits, v1};

impl Client {
    /// Lists all projects, the last used first.
    pub async fn list_projects(&self) -> Result<Vec<v1::KnownProject>, ClientError> {
        let request = v1::ListProjectsRequest {};
        let mut client = self.projects_client();
        let found = call_with_deadline(limits::LONG_CALL_TIMEOUT, client.list_projects(request));
        Ok(found.await?.projects)
    }

    /// Renames, moves, merges or removes a project.
    pub async fn change_project(
        &self,
        request: v1::ChangeProjectRequest,
    ) -> Result<v1::ChangeProjectResponse, ClientError> {
        let mut client = self.projects_client();
        call_with_deadline(limits::REBUILD_TIMEOUT, client.change_project(request)).await
    }

    fn projects_client(&self) -> ProjectsClient<AuthorizedChannel> {
        ProjectsClient::new(self.wire.clone()).max_decoding_message_size(limits::MESSAGE_BYTES_MAX)
    }
}
