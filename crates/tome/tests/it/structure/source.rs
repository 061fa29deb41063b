//! Source files of the workspace, without comments, texts and tests.

use std::path::{Path, PathBuf};

/// A module of a crate: its own code, without that of the modules in it.
pub struct Module {
    /// From the root of the crate, which is empty.
    pub path: Vec<String>,
    pub file: PathBuf,
    pub code: String,
}

/// The modules of a crate, found as the compiler finds them; those that only tests have are left out.
pub fn modules_of(folder: &Path) -> Vec<Module> {
    let src = folder.join("src");
    let root = [src.join("lib.rs"), src.join("main.rs")].into_iter().find(|path| path.is_file());
    let root = root.unwrap_or_else(|| panic!("{} has no root", src.display()));
    let mut found = Vec::new();
    add_modules(&root, &src, Vec::new(), code_of(&root), &mut found);
    found
}

fn add_modules(
    file: &Path,
    folder: &Path,
    path: Vec<String>,
    mut code: String,
    found: &mut Vec<Module>,
) {
    let mut from = 0;
    while let Some(at) = find_word(&code, from, "mod") {
        from = at + "mod".len();
        let rest = code[from..].trim_start();
        let name = first_word(rest);
        let behind = rest[name.len()..].trim_start();
        let inner: Vec<String> = path.iter().cloned().chain([name.clone()]).collect();
        if name.is_empty() {
            continue;
        }
        if behind.starts_with(';') {
            let below = folder.join(&name);
            let files = [folder.join(format!("{name}.rs")), below.join("mod.rs")];
            // Generated code that is included is not a file of its own here.
            if let Some(file) = files.iter().find(|file| file.is_file()) {
                add_modules(file, &below, inner, code_of(file), found);
            }
        } else if let Some(body) = behind.strip_prefix('{') {
            let body = group_text(body).to_owned();
            let start = code.len() - behind.len() + 1;
            code.replace_range(start..start + body.len(), "");
            add_modules(file, &folder.join(&name), inner, body, found);
        }
    }
    found.push(Module { path, file: file.to_path_buf(), code });
}

/// The code of a file: comments, texts and the items that only tests have are blank.
pub fn code_of(file: &Path) -> String {
    let text = std::fs::read_to_string(file).unwrap();
    without_test_items(&without_comments_and_texts(&text))
}

fn without_comments_and_texts(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = comment_or_literal(rest, code.chars().next_back());
        let lines = rest[..length].matches('\n').count();
        if length == 0 {
            code.push(c);
            rest = &rest[c.len_utf8()..];
        } else {
            code.push_str(&"\n".repeat(lines));
            code.push_str(if rest.starts_with('/') { " " } else { "\"\"" });
            rest = &rest[length..];
        }
    }
    code
}

/// The length of the comment or literal that `rest` begins with; 0 if it begins with neither.
fn comment_or_literal(rest: &str, before: Option<char>) -> usize {
    let end_behind = |from: usize, end: &str| {
        rest[from..].find(end).map_or(rest.len(), |at| from + at + end.len())
    };
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return end_behind(2, "*/");
    }
    let is_in_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let raw = rest.trim_start_matches('b').strip_prefix('r').filter(|_| !is_in_word);
    if let Some(raw) = raw {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            let from = rest.len() - raw.len() + hashes + 1;
            return end_behind(from, &format!("\"{}", "#".repeat(hashes)));
        }
    }
    let quote = rest.chars().next().filter(|c| ['"', '\''].contains(c));
    let Some(quote) = quote else { return 0 };
    let mut chars = rest.char_indices().skip(1);
    let mut seen = 0;
    while let Some((at, c)) = chars.next() {
        if c == quote {
            return at + 1;
        }
        seen += 1;
        if c == '\\' {
            chars.next();
        } else if quote == '\'' && seen > 1 && !rest.starts_with("'\\") {
            return 0; // A lifetime.
        }
    }
    0
}

fn without_test_items(code: &str) -> String {
    let (mut kept, mut rest) = (String::new(), code);
    let find = |rest: &str| {
        let starts = ["#[cfg(test)]", "#[cfg(all(test,"];
        starts.iter().filter_map(|start| rest.find(start)).min()
    };
    while let Some(at) = find(rest) {
        kept.push_str(&rest[..at]);
        rest = behind_item(&rest[at..]);
    }
    kept.push_str(rest);
    kept
}

/// What follows the item that `rest` begins with, attributes included.
fn behind_item(mut rest: &str) -> &str {
    while let Some(attribute) = rest.trim_start().strip_prefix("#[") {
        let mut open = 1;
        let end = attribute.find(|c| {
            open += i32::from(c == '[') - i32::from(c == ']');
            open == 0
        });
        rest = &attribute[end.unwrap_or_default() + 1..];
    }
    let mut open = 0;
    let end = rest.find(|c| {
        open += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
        open == 0 && (c == ';' || c == '}')
    });
    end.map_or("", |end| &rest[end + 1..])
}

/// Where `word` stands in `code` as a word of its own, at `from` or later.
pub fn find_word(code: &str, from: usize, word: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    code[from..]
        .match_indices(word)
        .map(|(at, _)| from + at)
        .find(|at| !code[..*at].ends_with(is_part) && !code[at + word.len()..].starts_with(is_part))
}

pub fn first_word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// The text of a group that begins behind its opening brace.
pub fn group_text(rest: &str) -> &str {
    let mut open = 1;
    let end = rest.find(|c| {
        open += i32::from(c == '{') - i32::from(c == '}');
        open == 0
    });
    end.map_or(rest, |end| &rest[..end])
}

/// The items of a `use` group, split at its top-level commas.
fn split_group(group: &str) -> Vec<&str> {
    let mut open = 0;
    let items = group.split(|c| {
        open += i32::from(c == '{') - i32::from(c == '}');
        open == 0 && c == ','
    });
    items.map(str::trim).filter(|item| !item.is_empty()).collect()
}

/// A path, and the name that a `use` gives it.
pub struct NamedPath {
    pub path: Vec<String>,
    pub name: String,
}

/// The paths that `text` begins with: `a::b`, `a::{b, c as d}`. Behind the path anything may follow.
pub fn paths_at(text: &str) -> Vec<NamedPath> {
    let mut path: Vec<String> = Vec::new();
    let mut rest = text;
    loop {
        if let Some(group) = rest.strip_prefix('{') {
            let below = split_group(group_text(group)).into_iter().flat_map(paths_at);
            let with_start = below.map(|found| {
                let is_self = found.path == ["self"];
                let whole = path.iter().cloned();
                let whole: Vec<String> =
                    if is_self { whole.collect() } else { whole.chain(found.path).collect() };
                let is_renamed = found.name != "self";
                let name = if is_renamed { found.name } else { whole.last().cloned().unwrap() };
                NamedPath { path: whole, name }
            });
            return with_start.collect();
        }
        let word = first_word(rest);
        rest = &rest[word.len()..];
        if !word.is_empty() {
            path.push(word);
        }
        match rest.strip_prefix("::") {
            Some(behind) => rest = behind,
            None => break,
        }
    }
    let renamed = rest.trim_start().strip_prefix("as ").map(first_word);
    let Some(name) = renamed.or_else(|| path.last().cloned()) else { return Vec::new() };
    vec![NamedPath { path, name }]
}

/// Every path in `code` that begins with `crate`, `self` or `super`.
pub fn inner_paths(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for start in ["crate::", "self::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back();
            if !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                found.extend(paths_at(&code[at..]).into_iter().map(|named| named.path));
            }
        }
    }
    found
}

/// What the `use` items of `code` bring into scope.
pub fn imports(code: &str) -> Vec<NamedPath> {
    let (mut found, mut from) = (Vec::new(), 0);
    while let Some(at) = find_word(code, from, "use") {
        from = at + "use".len();
        found.extend(paths_at(code[from..].trim_start()));
    }
    found
}

#[test]
fn only_comments_texts_and_test_items_are_left_out() {
    let text = r##"
#[cfg(test)]
mod tests;
use crate::kept; // crate::comment
impl Kept<'_> {
    #[cfg(test)]
    #[allow(unused)]
    fn for_test(of: [u8; 2]) -> u8 { crate::in_test(); '}' as u8 }
    fn kept() { let text = ("crate::text \" {", r#"""#, '"'); crate::also_kept::f() }
}
#[cfg(test)]
mod more { fn test() { crate::in_more() } }
fn last() { super::last() }
"##;
    let code = without_test_items(&without_comments_and_texts(text));
    let paths: Vec<String> = inner_paths(&code).iter().map(|path| path.join("::")).collect();
    assert_eq!(paths, ["crate::kept", "crate::also_kept::f", "super::last"], "{code}");
    let groups = imports("pub use a::{self, b::{c as d, e}};");
    let names: Vec<String> =
        groups.iter().map(|named| format!("{}={}", named.name, named.path.join("::"))).collect();
    assert_eq!(names, ["a=a", "d=a::b::c", "e=a::b::e"]);
}
