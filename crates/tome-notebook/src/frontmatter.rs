//! stand-in
#[derive(Default)]
pub(crate) struct Head {
    pub name: Option<String>,
    pub description: Option<String>,
    pub note_type: Option<String>,
    pub updated: Option<String>,
}
pub(crate) fn read(_: &str) -> Head {
    Head::default()
}
pub(crate) fn compose(_: Option<&str>, typed: &crate::Typed, today: &str, body: &str) -> String {
    format!(
        "---\nname: {}\ndescription: {}\ntype: {}\nupdated: {today}\n---\n\n{body}\n",
        typed.name,
        typed.description,
        typed.note_type.as_str()
    )
}
pub(crate) fn set_updated(text: &str, _: &str) -> String {
    text.to_owned()
}
