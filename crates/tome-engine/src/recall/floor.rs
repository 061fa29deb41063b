//! The floor: what lies below it is not an answer, however near it is to being one.

use super::plan::Plan;
use super::rank::Ranked;

/// The share of the question that the text of an answer has at least, weighed by how rare the words are.
const COVERAGE_MIN: f32 = 0.25;
/// Or how near its vector is.
const COSINE_MIN: f32 = 0.5;

/// Whether it may be an answer.
pub(super) fn is_relevant(one: &Ranked, _plan: &Plan) -> bool {
    one.coverage >= COVERAGE_MIN || one.cosine.is_some_and(|cosine| cosine >= COSINE_MIN)
}
