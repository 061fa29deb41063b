//! The titles of the sessions in a transcript.

use std::collections::HashSet;

use crate::agents::fields::PayloadFields;

/// The titles of a transcript's sessions. Records are repeated; the last one counts.
#[derive(Default)]
pub(super) struct SessionTitles {
    /// Session, title, and whether the user gave it.
    named: Vec<(String, String, bool)>,
    /// Messages of this transcript: a summary may be of another one, which this session continues.
    messages: HashSet<String>,
    summary: Option<String>,
}

impl SessionTitles {
    pub(super) fn read_record(&mut self, kind: &str, record: &PayloadFields) {
        let title = match kind {
            "custom-title" => record.get_str("customTitle"),
            "ai-title" => record.get_str("aiTitle"),
            "summary" => {
                let leaf = record.get_str("leafUuid").unwrap_or_default();
                let summary = record.get_str("summary").filter(|_| self.messages.contains(leaf));
                self.summary = summary.map(str::to_owned).or(self.summary.take());
                return;
            }
            _ => {
                self.messages.extend(record.get_str("uuid").map(str::to_owned));
                return;
            }
        };
        let session = record.get_str("sessionId").unwrap_or_default().to_owned();
        if let Some(title) = title {
            self.named.retain(|(of, _, is_users)| {
                *of != session || *is_users != (kind == "custom-title")
            });
            self.named.push((session, title.to_owned(), kind == "custom-title"));
        }
    }

    /// The user's title, else the agent's, else its summary.
    pub(super) fn latest(&self, session: &str) -> Option<&str> {
        let of_session = || self.named.iter().filter(|(of, ..)| of == session || of.is_empty());
        let users = of_session().find(|(.., is_users)| *is_users);
        let named = users.or_else(|| of_session().next());
        named.map(|(_, title, _)| title.as_str()).or(self.summary.as_deref())
    }
}
