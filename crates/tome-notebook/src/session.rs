//! stand-in
pub(crate) const OVERVIEW: &str = "# Working Memory\n";
pub(crate) struct Meta {
    pub keywords: Vec<String>,
}
pub(crate) fn meta(_: &str) -> Option<Meta> {
    None
}
pub(crate) fn title(_: &str) -> Option<String> {
    None
}
pub(crate) fn with_meta(t: &str, _: &str, _: &str) -> String {
    t.to_owned()
}
