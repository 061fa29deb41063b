//! stand-in
pub(crate) fn of(_: &str) -> Option<String> {
    None
}
pub(crate) fn made_from(t: &str) -> String {
    t.chars().take(20).collect()
}
pub(crate) fn settle(t: &str) -> String {
    t.to_owned()
}
pub(crate) fn append(p: Option<&str>, _: &str, e: &str, _: Option<&str>) -> String {
    format!("{}\n{e}\n", p.unwrap_or_default())
}
