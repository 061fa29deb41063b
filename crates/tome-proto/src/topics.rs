//! Client calls of the Topics service.

use crate::client::{AuthorizedChannel, Client, call_with_deadline};
use crate::v1::topics_client::TopicsClient;
use crate::{ClientError, limits, v1};

impl Client {
    /// Returns how many topics a project has.
    pub async fn get_topic_graph_status(
        &self,
        request: v1::GetTopicGraphStatusRequest,
    ) -> Result<v1::GetTopicGraphStatusResponse, ClientError> {
        let mut client = self.topics_client();
        call_with_deadline(limits::LONG_CALL_TIMEOUT, client.get_topic_graph_status(request)).await
    }

    /// Returns the most important topics.
    pub async fn get_top_topics(
        &self,
        request: v1::GetTopTopicsRequest,
    ) -> Result<Vec<v1::Topic>, ClientError> {
        let mut client = self.topics_client();
        let found = call_with_deadline(limits::LONG_CALL_TIMEOUT, client.get_top_topics(request));
        Ok(found.await?.topics)
    }

    /// Returns the topics that match words.
    pub async fn get_topics_by_query(
        &self,
        request: v1::GetTopicsByQueryRequest,
    ) -> Result<Vec<v1::Topic>, ClientError> {
        let mut client = self.topics_client();
        let found =
            call_with_deadline(limits::LONG_CALL_TIMEOUT, client.get_topics_by_query(request));
        Ok(found.await?.topics)
    }

    /// Returns the topics that share most with a topic.
    pub async fn get_related_topics(
        &self,
        request: v1::GetRelatedTopicsRequest,
    ) -> Result<Vec<v1::RelatedTopic>, ClientError> {
        let mut client = self.topics_client();
        let found =
            call_with_deadline(limits::LONG_CALL_TIMEOUT, client.get_related_topics(request));
        Ok(found.await?.related)
    }

    /// Returns the page of a topic or of a file.
    pub async fn get_topic_page(
        &self,
        request: v1::GetTopicPageRequest,
    ) -> Result<v1::GetTopicPageResponse, ClientError> {
        let mut client = self.topics_client();
        call_with_deadline(limits::LONG_CALL_TIMEOUT, client.get_topic_page(request)).await
    }

    fn topics_client(&self) -> TopicsClient<AuthorizedChannel> {
        TopicsClient::new(self.wire.clone()).max_decoding_message_size(limits::MESSAGE_BYTES_MAX)
    }
}
