//! Resolves citations to documents. Nothing else in a response counts for the score.

use std::collections::HashMap;

use anyhow::Result;
use tome_proto::v1::open_response::Content;
use tome_proto::{Client, ClientError, v1};
use tome_recall::Citation;

use crate::timeline::EventTimeline;

/// Opens citations as `tome show` does, with a cache.
pub struct CitationResolver<'a> {
    client: &'a Client,
    timeline: &'a EventTimeline,
    /// Resolved documents by group and citation.
    cache: HashMap<(String, String), Vec<String>>,
    /// Citations that could not be opened.
    pub unresolved: usize,
}

impl<'a> CitationResolver<'a> {
    pub fn new(client: &'a Client, timeline: &'a EventTimeline) -> Self {
        Self { client, timeline, cache: HashMap::new(), unresolved: 0 }
    }

    /// Resolves a citation to documents of a group: an event to its document, a source to those of its
    /// events, anything else (nodes, notes) to none.
    pub async fn resolve_documents(&mut self, group: &str, citation: &str) -> Result<Vec<String>> {
        let key = (group.to_owned(), citation.to_owned());
        if let Some(cached) = self.cache.get(&key) {
            return Ok(cached.clone());
        }
        let events = match self.resolve_events(group, citation).await {
            Err(ClientError::NotFound(_) | ClientError::Invalid(_)) => {
                self.unresolved += 1;
                Vec::new()
            }
            events => events?,
        };
        let documents = events.iter().filter_map(|event| self.timeline.documents.get(event));
        let documents = documents.filter(|(of, _)| of == group);
        let documents: Vec<String> = documents.map(|(_, document)| document.clone()).collect();
        self.cache.insert(key, documents.clone());
        Ok(documents)
    }

    async fn resolve_events(
        &self,
        group: &str,
        citation: &str,
    ) -> Result<Vec<String>, ClientError> {
        let root = self.timeline.project_root(group);
        // An event that is not in a transcript yet is cited by its id.
        if !Citation::looks_like_citation(citation) {
            return Ok(vec![self.client.get_event(citation, Some(&root)).await?.id.into()]);
        }
        let request = v1::OpenRequest {
            citation: citation.to_owned(),
            project: root,
            session_id: String::new(),
            ..v1::OpenRequest::default()
        };
        Ok(match self.client.open_citation(request).await?.content {
            Some(Content::Event(event)) => vec![event.id],
            Some(Content::Grip(grip)) => grip.events.into_iter().map(|event| event.id).collect(),
            Some(Content::Nodes(_) | Content::Lines(_) | Content::Foreign(_)) | None => Vec::new(),
        })
    }
}
