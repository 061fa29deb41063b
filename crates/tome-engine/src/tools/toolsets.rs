//! Selects the tools to offer: toolsets by name, optionally only those that change nothing.

use super::{ToolEffect, ToolSpec, Tools};

/// The tools offered to every client by default: search, open a citation, read and write notes.
/// Their schemas are part of every request, so there are few.
pub const CORE_TOOLS: [&str; 6] = [
    "recall_memory",
    "memory_show",
    "memory_read",
    "memory_write",
    "memory_append",
    "memory_patch",
];

/// The toolsets, in display order. `core` is a selection from the others.
const TOOLSET_NAMES: [&str; 7] =
    ["core", "recall", "notes", "coder", "contents", "topics", "anthropic"];

/// Offered by default; every further tool costs tokens in every request.
pub const DEFAULT_TOOLSET: &str = "core";

/// A selection of tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolsets {
    sets: Vec<&'static str>,
    is_read_only: bool,
}

impl Default for Toolsets {
    fn default() -> Self {
        Self { sets: vec![DEFAULT_TOOLSET], is_read_only: false }
    }
}

impl Toolsets {
    /// Parses comma-separated names. `all` selects every toolset; `read-only` removes the tools
    /// that change something from the named toolsets, or from the default one.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut chosen = Self { sets: Vec::new(), is_read_only: false };
        for name in text.split([',', ' ']).map(str::trim).filter(|name| !name.is_empty()) {
            match TOOLSET_NAMES.into_iter().find(|set| *set == name) {
                Some(set) => chosen.sets.push(set),
                None if name == "all" => chosen.sets.extend(TOOLSET_NAMES),
                None if name == "read-only" => chosen.is_read_only = true,
                None => {
                    let known = TOOLSET_NAMES.join(", ");
                    return Err(format!(
                        "unknown toolset {name:?}: use {known}, all or read-only, separated by commas"
                    ));
                }
            }
        }
        match (chosen.sets.is_empty(), chosen.is_read_only) {
            (true, false) => Err(format!("no toolset given; the default is {DEFAULT_TOOLSET}")),
            (true, true) => Ok(Self { is_read_only: true, ..Self::default() }),
            (false, _) => Ok(chosen),
        }
    }

    /// Returns the selected tools in the order in which they are offered.
    pub fn tools(&self) -> Vec<ToolSpec> {
        let mut tools = Tools::specs();
        tools.retain(|tool| {
            let is_core = self.sets.contains(&"core") && CORE_TOOLS.contains(&tool.name);
            (is_core || self.sets.contains(&tool.toolset))
                && (!self.is_read_only || tool.effect == ToolEffect::Reads)
        });
        tools
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<&'static str> {
        Toolsets::parse(text).unwrap().tools().iter().map(|tool| tool.name).collect()
    }

    #[test]
    fn every_toolset_is_known_and_not_empty() {
        assert!(Tools::specs().iter().all(|tool| TOOLSET_NAMES.contains(&tool.toolset)));
        assert_eq!(names("core"), CORE_TOOLS);
        for set in TOOLSET_NAMES {
            assert!(!names(set).is_empty(), "{set}");
        }
        assert_eq!(names("all").len(), Tools::specs().len());
        assert_eq!(Toolsets::parse(DEFAULT_TOOLSET), Ok(Toolsets::default()));
        assert_eq!(names("core,coder").len(), CORE_TOOLS.len() + 2);
    }

    #[test]
    fn toolsets_are_selected_by_name() {
        assert_eq!(names("coder"), ["coder_memory_recall", "coder_memory_store"]);
        assert_eq!(names(" coder , coder "), ["coder_memory_recall", "coder_memory_store"]);
        assert_eq!(names("coder,read-only"), ["coder_memory_recall"]);
        assert_eq!(names("anthropic"), ["memory"]);
        let looking = names("read-only");
        assert!(looking.contains(&"memory_read") && looking.contains(&"recall_memory"));
        for changes in ["memory_write", "memory_delete", "memory_append", "coder_memory_store"] {
            assert!(!looking.contains(&changes), "{changes}");
        }
        assert!(Toolsets::parse("kitchen").unwrap_err().contains("contents"));
        assert!(Toolsets::parse(" , ").unwrap_err().contains(DEFAULT_TOOLSET));
    }
}
