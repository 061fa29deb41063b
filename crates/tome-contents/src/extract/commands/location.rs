//! Where in a file a message points to.

/// Splits `src/a.go:3:14: message` into the location and the message.
pub(crate) fn split_location(line: &str) -> Option<(&str, &str)> {
    let (location, message) = line.split_once(": ")?;
    let mut parts = location.split(':');
    let file = parts.next()?;
    let is_number = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    let mut numbers = parts.clone();
    let is_location = file.contains('.')
        && !file.contains(char::is_whitespace)
        && numbers.next().is_some()
        && parts.all(is_number);
    is_location.then(|| (location, message.trim()))
}
