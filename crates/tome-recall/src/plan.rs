//! Parses a query: the time span it names, the text to search for, and the scope.

use tome_contents::find_time_phrase;
use tome_finder::{EntryFilter, EntrySource};
use tome_model::{Clock, Event, Millis, ModelError, Zone};

use super::candidate::CandidateBody;
use super::literal::Matcher;
use super::rank::RankedCandidate;
use super::{Across, RecallQuery, RecallScope, Tier, time_query};
use crate::RecallError;
use tome_home::layout;

/// Longer queries are pasted text and are truncated; the beginning tells what they are about.
const QUERY_BYTES_MAX: usize = 16 << 10;
/// Maximum number of hits per answer.
pub(super) const HITS_MAX: usize = 50;
/// Boost for hits within the time span that the query names: enough to put good hits first, but not
/// everything else from that time.
const TIME_SPAN_BOOST: f64 = 1.5;

/// A parsed query.
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
    /// The whole query.
    full_query: String,
    /// Whether it names a time and nothing else.
    only_time: bool,
    pub filter: EntryFilter,
    /// The current session, and whether the search is limited to it.
    pub session: Option<TargetSession>,
    pub scope: RecallScope,
    pub across: Across,
    pub tier: Option<Tier>,
    pub limit: usize,
    /// Whether this query was not asked for and an agent waits: only cheap steps are run.
    pub proactive: bool,
}

pub(super) struct TargetSession {
    pub id: String,
    pub folder: String,
    pub only: bool,
}

impl RecallPlan {
    pub(super) fn from_query(
        question: &RecallQuery,
        clock: &dyn Clock,
        zone: &Zone,
    ) -> Result<Self, RecallError> {
        let query = tome_model::truncate_to(&question.query, QUERY_BYTES_MAX);
        if query.trim().is_empty() {
            let problem = "is empty: describe in a few words what to search for";
            return Err(ModelError::invalid("query", problem).into());
        }
        let needle_of = |text: &str| match question.is_regex {
            true => Matcher::from_regex(text),
            false => Ok(Matcher::new(text)),
        };
        let found = match question.is_regex {
            true => None,
            false => find_time_phrase(query, clock.now(), zone),
        };
        let (text, span, said) = match found {
            Some((span, at)) => {
                let said = query.get(at.clone()).unwrap_or_default().to_owned();
                let rest = [query.get(..at.start), query.get(at.end..)];
                let rest = rest.map(Option::unwrap_or_default).join(" ");
                (rest.trim().to_owned(), Some((span.from, span.to)), Some(said))
            }
            None => (query.trim().to_owned(), None, None),
        };
        let only = question.across == Across::Session;
        let session = question.session.as_deref().filter(|session| !session.is_empty());
        if only && session.is_none() {
            let problem = "is missing: pass a session, or search across the project";
            return Err(ModelError::invalid("session", problem).into());
        }
        // A query that only names a time asks what happened then.
        let only_time = said.is_some() && time_query::is_time_only(&text);
        // A text may contain the date itself.
        let is_date = said.as_ref().is_some_and(|said| said.contains(char::is_numeric));
        let whole = query.trim().to_owned();
        let text = if text.is_empty() || is_date { whole.clone() } else { text };
        let needle = needle_of(&text)?;
        if needle.is_empty() {
            let problem = "has nothing to look for: use a word, a name or a symbol";
            return Err(ModelError::invalid("query", problem).into());
        }
        Ok(Self {
            matcher: needle,
            text,
            span,
            time_phrase: said,
            is_time_doubtful: false,
            full_query: whole,
            only_time: only_time && !question.proactive && question.tier.is_none(),
            filter: EntryFilter {
                agents: question.agents.clone(),
                kinds: question.kinds.clone(),
                since: question.since,
                until: question.until,
                session: session.filter(|_| only).map(str::to_owned),
                ..EntryFilter::default()
            },
            session: session.map(|id| TargetSession {
                id: id.to_owned(),
                folder: layout::session_dir_name(id),
                only,
            }),
            scope: question.scope,
            across: question.across,
            tier: if question.is_regex { Some(Tier::Literal) } else { question.tier },
            limit: question.limit.min(HITS_MAX),
            proactive: question.proactive,
        })
    }

    /// Returns whether a candidate belongs to the current session.
    pub(super) fn is_in_current_session(&self, one: &RankedCandidate) -> bool {
        let own = self.session.as_ref().map(|session| session.id.as_str());
        let of = one.candidate.body.as_ref().and_then(|body| body.session.as_deref());
        own.is_some() && of == own
    }

    /// Returns whether the query only asks what happened in a time span.
    pub(super) fn is_time_only(&self) -> bool {
        self.only_time && self.page_sources().contains(&EntrySource::Node)
    }

    /// Returns whether the session and agent of a candidate pass the filter.
    pub(super) fn admits_body(&self, body: &CandidateBody) -> bool {
        let filter = &self.filter;
        let session = body.session.as_deref();
        let is_agent = |name: &String| body.agent.as_ref() == Some(name);
        filter.session.as_deref().is_none_or(|wanted| session == Some(wanted))
            && (filter.agents.is_empty() || filter.agents.iter().any(is_agent))
    }

    pub(super) fn includes_events(&self) -> bool {
        matches!(self.scope, RecallScope::All | RecallScope::Messages)
    }

    /// The sources of pages to search.
    pub(super) fn page_sources(&self) -> Vec<EntrySource> {
        // Only events have a kind.
        if !self.filter.kinds.is_empty() {
            return Vec::new();
        }
        match self.scope {
            RecallScope::All => {
                vec![
                    EntrySource::Node,
                    EntrySource::Grip,
                    EntrySource::Note,
                    EntrySource::Detail,
                    EntrySource::Insight,
                ]
            }
            RecallScope::Messages => Vec::new(),
            RecallScope::Detail => vec![EntrySource::Detail],
            RecallScope::Notes => vec![EntrySource::Note],
            RecallScope::Coder => vec![EntrySource::Insight],
            RecallScope::Contents => vec![EntrySource::Node, EntrySource::Grip],
        }
    }

    pub(super) fn includes_coder(&self) -> bool {
        self.across != Across::Session && self.page_sources().contains(&EntrySource::Insight)
    }

    pub(super) fn wants_tier(&self, tier: Tier) -> bool {
        match self.tier {
            None | Some(Tier::Fused) => true,
            Some(only) => only == tier,
        }
    }

    /// Returns whether an event passes the filter. Does not check its session or project.
    pub(super) fn admits_event(&self, event: &Event) -> bool {
        let filter = &self.filter;
        let is_of = |list: &[String], one: &str| list.is_empty() || list.iter().any(|it| it == one);
        filter.since.is_none_or(|since| event.at >= since)
            && filter.until.is_none_or(|until| event.at < until)
            && is_of(&filter.agents, event.agent.as_str())
            && is_of(&filter.kinds, event.kind.as_str())
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

    /// Boosts hits within the time span and sorts again.
    pub(super) fn boost_time_span(&self, ranked: &mut [RankedCandidate]) {
        if let Some((from, to)) = self.span {
            for one in ranked.iter_mut().filter(|one| (from..to).contains(&one.candidate.at)) {
                one.score *= TIME_SPAN_BOOST;
            }
            ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
        }
    }

    /// Summary for `explain`.
    pub(super) fn explain(&self) -> String {
        let mut said = format!("{:?}", tome_model::truncate_to(&self.text, 80));
        if let Some(time) = &self.time_phrase {
            said.push_str(&format!(", time {time:?}"));
        }
        said
    }
}
