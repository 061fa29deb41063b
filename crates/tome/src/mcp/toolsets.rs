//! Which tools are offered: sets by name, and whether only those that change nothing.

use tome_engine::{CORE_TOOLS, Effect, ToolSpec, Tools};

/// The sets, in the order in which they are named. `core` is a selection from the others.
const SETS: [&str; 6] = ["core", "recall", "notes", "coder", "contents", "anthropic"];

/// What is offered by default: every other tool costs tokens in every request of every project.
pub const DEFAULT: &str = "core";

/// A choice of tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolsets {
    sets: Vec<&'static str>,
    is_read_only: bool,
}

impl Default for Toolsets {
    fn default() -> Self {
        Self { sets: vec![DEFAULT], is_read_only: false }
    }
}

impl Toolsets {
    /// Reads names with commas between them. `all` is every set; `read-only` leaves out what changes
    /// something, of the sets named beside it or of the default one.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut chosen = Self { sets: Vec::new(), is_read_only: false };
        for name in text.split([',', ' ']).map(str::trim).filter(|name| !name.is_empty()) {
            match SETS.into_iter().find(|set| *set == name) {
                Some(set) => chosen.sets.push(set),
                None if name == "all" => chosen.sets.extend(SETS),
                None if name == "read-only" => chosen.is_read_only = true,
                None => {
                    let known = SETS.join(", ");
                    return Err(format!(
                        "{name:?} is not a set of tools: use {known}, all or read-only, with commas between them"
                    ));
                }
            }
        }
        match (chosen.sets.is_empty(), chosen.is_read_only) {
            (true, false) => Err(format!("no set of tools is named; the default is {DEFAULT}")),
            (true, true) => Ok(Self { is_read_only: true, ..Self::default() }),
            (false, _) => Ok(chosen),
        }
    }

    /// The tools of these sets, in the order in which they are offered.
    pub fn tools(&self) -> Vec<ToolSpec> {
        let mut tools = Tools::list();
        tools.retain(|tool| {
            let is_core = self.sets.contains(&"core") && CORE_TOOLS.contains(&tool.name);
            (is_core || self.sets.contains(&tool.toolset))
                && (!self.is_read_only || tool.effect == Effect::Reads)
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
    fn every_set_is_known_and_has_tools() {
        assert!(Tools::list().iter().all(|tool| SETS.contains(&tool.toolset)));
        assert_eq!(names("core"), CORE_TOOLS);
        for set in SETS {
            assert!(!names(set).is_empty(), "{set}");
        }
        assert_eq!(names("all").len(), Tools::list().len());
        assert_eq!(Toolsets::parse(DEFAULT), Ok(Toolsets::default()));
        assert_eq!(names("core,coder").len(), CORE_TOOLS.len() + 2);
    }

    #[test]
    fn sets_are_chosen_by_name() {
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
        assert!(Toolsets::parse(" , ").unwrap_err().contains(DEFAULT));
    }
}
