//! Parses a query: the time span it names, the text to search for, and the scope.

use tome_contents::find_time_phrase;
use tome_finder::{EntryFilter, RecordKind};
use tome_model::{Clock, InvalidInput, Millis, Zone};
use tome_text::{StopClass, is_stop_word};

use super::effort::SearchEffort;
use super::literal::Matcher;
use super::{Across, QuerySyntax, RecallFilter, RecallQuery, Tier};
use crate::RecallError;
use tome_home::layout;

/// Longer queries are pasted text and are truncated; the beginning shows what they are about.
const QUERY_BYTES_MAX: usize = 16 << 10;
/// Maximum number of hits per answer.
pub(super) const HITS_MAX: usize = 50;

pub(super) struct RecallPlan {
    /// The text to search for, without a relative time phrase ("last week").
    pub text: String,
    pub matcher: Matcher,
    /// The time span that the query names: preferred, not required.
    pub span: Option<(Millis, Millis)>,
    /// The words that name it.
    pub time_phrase: Option<String>,
    /// Whether nothing was recorded in that span, so that the words may mean something else.
    is_time_doubtful: bool,
    full_query: String,
    /// Whether it names a time and nothing else.
    only_time: bool,
    pub filter: RecallFilter,
    /// The filter's conditions on single records.
    pub entry_filter: EntryFilter,
    pub session: Option<CurrentSession>,
    pub tier: Option<Tier>,
    /// Maximum number of hits.
    pub hits_max: usize,
    pub effort: SearchEffort,
}

pub(super) struct CurrentSession {
    pub id: String,
    pub folder: String,
}

impl RecallPlan {
    pub(super) fn from_query(
        query: &RecallQuery,
        clock: &dyn Clock,
        zone: &Zone,
    ) -> Result<Self, RecallError> {
        let entered = tome_model::truncate_to(&query.text, QUERY_BYTES_MAX);
        if entered.trim().is_empty() {
            let problem = "is empty: describe in a few words what to search for";
            return Err(InvalidInput::invalid("query", problem).into());
        }
        let build_matcher = |text: &str| match query.syntax {
            QuerySyntax::Regex => Matcher::from_regex(text),
            QuerySyntax::Words => Ok(Matcher::new(text)),
        };
        let time_match = match query.syntax {
            QuerySyntax::Regex => None,
            QuerySyntax::Words => find_time_phrase(entered, clock.now(), zone),
        };
        let (text, span, time_phrase) = match time_match {
            Some((span, at)) => {
                let time_phrase = entered.get(at.clone()).unwrap_or_default().to_owned();
                let rest = [entered.get(..at.start), entered.get(at.end..)];
                let rest = rest.map(Option::unwrap_or_default).join(" ");
                (rest.trim().to_owned(), Some((span.from, span.to)), Some(time_phrase))
            }
            None => (entered.trim().to_owned(), None, None),
        };
        let session = query.filter.current_session();
        if query.filter.across == Across::Session && session.is_none() {
            let problem = "is missing: pass a session, or search across the project";
            return Err(InvalidInput::invalid("session", problem).into());
        }
        // A query that only names a time asks what happened then.
        let only_time = time_phrase.is_some() && is_time_only(&text);
        // A text may contain the date itself.
        let is_date = time_phrase.as_ref().is_some_and(|phrase| phrase.contains(char::is_numeric));
        let full_query = entered.trim().to_owned();
        let text = if text.is_empty() || is_date { full_query.clone() } else { text };
        let matcher = build_matcher(&text)?;
        if matcher.is_empty() {
            let problem = "has nothing to look for: use a word, a name or a symbol";
            return Err(InvalidInput::invalid("query", problem).into());
        }
        let effort =
            if query.origin.is_proactive() { SearchEffort::Proactive } else { SearchEffort::Full };
        Ok(Self {
            matcher,
            text,
            span,
            time_phrase,
            is_time_doubtful: false,
            full_query,
            only_time: only_time && effort.is_full() && query.tier.is_none(),
            entry_filter: query.filter.entry_filter(),
            session: session.map(|id| CurrentSession {
                id: id.to_owned(),
                folder: layout::session_dir_name(id),
            }),
            filter: query.filter.clone(),
            tier: match query.syntax {
                QuerySyntax::Regex => Some(Tier::Literal),
                QuerySyntax::Words => query.tier,
            },
            hits_max: query.limits.hits.min(HITS_MAX),
            effort,
        })
    }

    /// Returns whether the query only asks what happened in a time span.
    pub(super) fn is_time_only(&self) -> bool {
        self.only_time && self.filter.includes_pages(RecordKind::Node)
    }

    /// Returns whether complete indexes suffice to find candidates: a scan reads the events themselves,
    /// and a time is answered by the contents.
    pub(super) fn is_answered_by_indexes(&self) -> bool {
        self.tier != Some(Tier::Literal) && !self.is_time_only()
    }

    pub(super) fn wants_tier(&self, tier: Tier) -> bool {
        match self.tier {
            None | Some(Tier::Fused) => true,
            Some(only) => only == tier,
        }
    }

    /// Searches for the time phrase as text, after nothing was found to be recorded in that span.
    pub(super) fn treat_time_as_words(&mut self) {
        self.is_time_doubtful = true;
        if self.text != self.full_query {
            self.matcher = Matcher::new(&self.full_query);
            self.text.clone_from(&self.full_query);
        }
    }

    /// The time phrase, if nothing was recorded in that span: searched for, but not required.
    pub(super) fn doubtful_time_phrase(&self) -> &str {
        self.time_phrase.as_deref().filter(|_| self.is_time_doubtful).unwrap_or_default()
    }

    /// Summary for `explain`.
    pub(super) fn explain(&self) -> String {
        let mut summary = format!("{:?}", tome_model::truncate_to(&self.text, 80));
        if let Some(time) = &self.time_phrase {
            summary.push_str(&format!(", time {time:?}"));
        }
        summary
    }
}

/// Returns whether a query, without its time phrase, asks for nothing specific.
fn is_time_only(text: &str) -> bool {
    let mut words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '\'');
    words.all(|word| {
        let filler = StopClass::FUNCTION | StopClass::ACTIVITY;
        word.is_empty() || is_stop_word(&word.to_lowercase(), filler)
    })
}

#[cfg(test)]
mod tests {
    use super::is_time_only;

    #[test]
    fn a_query_with_only_filler_besides_the_time_is_time_only() {
        for text in ["", "what did we do", "What happened?", "what have I been working on", "so…"]
        {
            assert!(is_time_only(text), "{text}");
        }
        for text in ["what did we decide", "the lexer", "deploy", "работа"] {
            assert!(!is_time_only(text), "{text}");
        }
    }
}
