//! Weights of the ranking, and how many texts it reads.
//!
//! Other constants are in the files that use them: relevance thresholds (`threshold.rs`), the
//! regression behind the confidence (`confidence.rs`), the text scan (`literal/`); in `tome-finder`
//! BM25's parameters, its boosts, and the shares of exact words and word pairs.
//!
//! The weights were tuned on development sets of chats, assistant sessions, coding sessions and
//! Chinese messages, at values around which results change little; none is specific to one kind of
//! data.

/// Weight of the second, third … best chunk of an event: this to the power of its rank.
pub(super) const CHUNK_DECAY: f32 = 0.3;
/// Number of chunks per event that count.
pub(super) const CHUNKS_COUNTED: usize = 5;
/// Penalty for events with many chunks, which have more chances to match. It must level off, or
/// long sessions are never found.
pub(super) const MANY_CHUNKS_PENALTY: f32 = 1.5;
/// Weight of a user message relative to an answer.
pub(super) const USER_MESSAGE_WEIGHT: f32 = 1.3;
/// If the query contains several questions: weight of the best answer to one of them, relative to
/// the match with the whole query.
pub(super) const SUB_QUESTION_WEIGHT: f32 = 4.0;
/// Share of terms that a turn gets from its neighbors, by distance.
pub(super) const NEIGHBOR_TERM_SHARES: [(isize, f32); 4] =
    [(-1, 0.6), (1, 0.4), (-2, 0.3), (2, 0.2)];
/// Share of similarity that a turn gets from its neighbors, by distance.
pub(super) const NEIGHBOR_SIMILARITY_SHARES: [(isize, f32); 4] =
    [(-1, 0.2), (1, 0.12), (-2, 0.06), (2, 0.06)];
/// Turns up to this many words get the full share; longer ones proportionally less.
pub(super) const NEIGHBOR_WORDS: f32 = 50.0;
/// Longer turns, in bytes, do not pair with long neighbors.
pub(super) const NEIGHBOR_BYTES_MAX: usize = 2_400;
/// Still longer ones have no neighbors: they are documents rather than turns.
pub(super) const TURN_WITH_NEIGHBORS_BYTES_MAX: usize = 16_000;
/// Penalty for events with many chunks in the vector ranking.
pub(super) const MANY_CHUNKS_VECTORS_PENALTY: f32 = 0.2;

/// Weight of the similarity relative to the share of the query's words that a text earns. Both are
/// between 0 and about 1.
pub(super) const SIMILARITY_WEIGHT: f32 = 1.3;
/// The same among texts of source code, whose words are names and not those of a question.
pub(super) const CODE_SIMILARITY_WEIGHT: f32 = 2.5;
/// The same among long documents, of which some part is close to anything.
pub(super) const DOCUMENT_SIMILARITY_WEIGHT: f32 = 0.9;
/// The same where words are more informative: between people, turns are short and full of names; and several
/// questions in one are similar to no answer of one of them.
pub(super) const LOW_SIMILARITY_WEIGHT: f32 = 0.45;
/// Share of static vectors in the similarity of a text that has deep ones, too.
pub(super) const STATIC_SHARE: f32 = 0.2;
/// Texts with more chunks are compared by static vectors alone: not all of their chunks have deep
/// ones, and the closest of many is often close by chance.
pub(super) const DEEP_CHUNKS_MAX: usize = 20;
/// Weight of a text scan: it only decides between texts that are otherwise equal.
pub(super) const LITERAL_WEIGHT: f32 = 0.05;
/// Weight of a node or source relative to the events that it summarizes.
pub(super) const CONTENTS_WEIGHT: f32 = 0.4;
/// Weight of a tool call relative to a message: people ask for what was said and concluded, and output
/// repeats words.
pub(super) const TOOL_CALL_WEIGHT: f32 = 0.85;
/// Weight of a message in which an agent only announces its next steps: what came of them is elsewhere.
pub(super) const NARRATION_WEIGHT: f32 = 0.7;
/// Weight of a call that only keeps the agent's list of tasks.
pub(super) const TASK_LIST_WEIGHT: f32 = 0.4;
/// Share of a question's words that the turn after it gets, because it is the answer.
pub(super) const ANSWER_SHARE: f32 = 0.6;
/// How much less of the score a turn keeps that only asks, in a chat between people.
pub(super) const QUESTION_PENALTY: f32 = 0.5;
/// How much a turn gains if the query names the one who speaks.
pub(super) const SPEAKER_BONUS: f32 = 0.25;
/// Boost for hits within the time span that the query names: enough to put good hits first, but not
/// everything else from that time.
pub(super) const TIME_SPAN_BOOST: f64 = 1.5;
/// One text in this many has to be long for a query over documents.
pub(super) const DOCUMENTS_SHARE: usize = 4;

/// Number of chunks to take from each index.
pub(super) const BM25_DEPTH: usize = 150;
pub(super) const VECTORS_DEPTH: usize = 100;
/// Limits of a proactive query: words to search for, chunks of events, and texts of events and
/// pages to read. Small, because an agent waits and at most three hits are shown.
pub(super) const PROACTIVE_WORDS_MAX: usize = 8;
pub(super) const PROACTIVE_DEPTH: usize = 24;
pub(super) const PROACTIVE_READ_MAX: usize = 12;
pub(super) const PROACTIVE_PAGES_MAX: usize = 6;
/// Number of pages to take from each index.
pub(super) const PAGES_DEPTH: usize = 40;
/// Number of texts to read: events found by BM25 or a text scan, events found by vectors, and
/// pages.
pub(super) const READ_MAX: usize = 40;
pub(super) const VECTORS_READ_MAX: usize = 20;
pub(super) const PAGES_READ_MAX: usize = 12;
/// Number of index sets of which texts are read, if the query covers many and asks for no more hits.
pub(super) const WIDE_SETS_READ_MIN: usize = 12;
/// Number of best events whose neighbors are read too.
pub(super) const NEIGHBORS_READ_MAX: usize = 16;
