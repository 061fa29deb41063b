//! Which documents a citation opens. Nothing else of an answer is looked at.

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::Result;
use serde_json::Value;
use tome_proto::{Client, ClientError, v1};

use super::timeline::Timeline;

/// Opens citations, each once.
pub struct Resolver<'a> {
    client: &'a Client,
    timeline: &'a Timeline,
    /// The documents of a group's citation.
    known: HashMap<(String, String), Vec<String>>,
    /// The folders of the projects, by their roots.
    folders: HashMap<String, PathBuf>,
    /// Citations that could not be opened.
    pub unopened: usize,
}

impl<'a> Resolver<'a> {
    pub async fn new(client: &'a Client, timeline: &'a Timeline) -> Result<Self> {
        let projects = client.status(true).await?.projects.into_iter();
        let folders = projects
            .filter_map(|one| Some((one.root, PathBuf::from(one.path).parent()?.to_owned())))
            .collect();
        Ok(Self { client, timeline, known: HashMap::new(), folders, unopened: 0 })
    }

    /// The documents of a group that a citation opens: an event's own, those of a grip's events, and
    /// none for what is made from many.
    pub async fn documents(&mut self, group: &str, citation: &str) -> Result<Vec<String>> {
        let key = (group.to_owned(), citation.to_owned());
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let root = self.timeline.projects.get(group).map_or("", String::as_str);
        let events = match citation.split_once(':') {
            Some(("grip", _)) => self.events_of_grip(root, citation).await?,
            Some(("toc", _)) => Some(Vec::new()),
            _ if citation.contains('#') => self.event_of_line(root, citation),
            _ => self.event(root, citation).await?,
        };
        self.unopened += usize::from(events.is_none());
        let events = events.unwrap_or_default();
        let documents: Vec<String> = events
            .iter()
            .filter_map(|event| self.timeline.documents.get(event))
            .filter(|(of, _)| of == group)
            .map(|(_, document)| document.clone())
            .collect();
        self.known.insert(key, documents.clone());
        Ok(documents)
    }

    async fn events_of_grip(&self, root: &str, id: &str) -> Result<Option<Vec<String>>> {
        let request = v1::ExpandGripRequest {
            project: root.to_owned(),
            id: id.to_owned(),
            before: Some(0),
            after: Some(0),
        };
        match self.client.expand_grip(request).await {
            Ok(found) => Ok(Some(found.events.into_iter().map(|event| event.id).collect())),
            Err(ClientError::NotFound(_) | ClientError::Invalid(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// An event that is cited by its id, as one is that is in no copy yet.
    async fn event(&self, root: &str, id: &str) -> Result<Option<Vec<String>>> {
        match self.client.event(id, Some(root)).await {
            Ok(event) => Ok(Some(vec![event.id.to_string()])),
            Err(ClientError::NotFound(_) | ClientError::Invalid(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The event of a line of a session's copy; no event for a line of another file.
    fn event_of_line(&self, root: &str, citation: &str) -> Option<Vec<String>> {
        let (file, line) = citation.rsplit_once("#L")?;
        let line: usize = line.parse().ok()?;
        if !file.ends_with("messages.jsonl") {
            return Some(Vec::new());
        }
        let text = std::fs::read_to_string(self.folders.get(root)?.join(file)).ok()?;
        let event: Value = serde_json::from_str(text.lines().nth(line.checked_sub(1)?)?).ok()?;
        Some(vec![event.get("id")?.as_str()?.to_owned()])
    }
}
