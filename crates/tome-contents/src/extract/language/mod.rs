//! Words: sentences, clauses, terms and cues in what people and agents write.

pub(crate) mod clause;
pub(crate) mod courtesy;
pub(crate) mod cues;
pub(crate) mod keywords;
pub(crate) mod matter;
pub(crate) mod orders;
pub(crate) mod pasted;
pub(crate) mod prose;
pub(crate) mod reply;
pub(crate) mod similarity;
pub(crate) mod terms;
pub(crate) mod text;
