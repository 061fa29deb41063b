//! The weight of a title: the preference of its source. It is stored with the title, so that a session or a
//! period can choose among those of its segments. Of titles from the conversation, the one that stands better by
//! itself weighs more.

pub(crate) const FROM_PLAN: u32 = 700;
pub(crate) const FROM_PULL: u32 = 650;
pub(crate) const FROM_COMMIT: u32 = 600;
pub(crate) const FROM_CHORE_COMMIT: u32 = 510;
/// Mostly of a session or period: a single segment may be about something else.
pub(crate) const FROM_SUMMARY: u32 = 505;
/// The heading of a plan that nobody approved yet.
pub(crate) const FROM_PROPOSAL: u32 = 507;
pub(crate) const FROM_REBASE: u32 = 495;
const FROM_CONVERSATION: u32 = 400;
/// Weight of each point of quality of such a text, of nine.
const QUALITY_WEIGHT: u32 = 10;
/// Less than a request without a flaw: the agent's summary of a session, on the page of a day.
pub(crate) const FROM_SUMMARY_OF_SESSION: u32 = 486;
/// A step of the agent's own tasks: better than a request with several flaws.
pub(crate) const FROM_TASK: u32 = 475;
/// A branch is often older than the work on it: only better than a request that names no subject.
pub(crate) const FROM_BRANCH: u32 = 447;
/// A result that may be no more than a detail.
pub(crate) const FROM_RESULT: u32 = 445;
pub(crate) const FROM_EARLIER_REQUEST: u32 = 150;
pub(crate) const FROM_FILES: u32 = 50;

/// Weight of a title on the page of a day. The agent's summary of a session may be about other days of it: a
/// request without a flaw comes first.
pub(crate) fn weigh_for_day(weight: u32) -> u32 {
    if weight == FROM_SUMMARY { FROM_SUMMARY_OF_SESSION } else { weight }
}

/// Weight of a title from the conversation.
pub(crate) fn weigh_conversation(quality: u32) -> u32 {
    FROM_CONVERSATION + quality * QUALITY_WEIGHT
}

/// Whether a title has the weight of one from the conversation.
pub(crate) fn is_from_conversation(weight: u32) -> bool {
    (FROM_CONVERSATION..FROM_REBASE).contains(&weight)
        && (weight - FROM_CONVERSATION).is_multiple_of(QUALITY_WEIGHT)
}
