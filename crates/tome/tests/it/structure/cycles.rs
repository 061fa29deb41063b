//! Which modules of a crate use each other, at every depth.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::source::{Module, imports, inner_paths, modules_of};

type ModulePath = Vec<String>;

/// The modules of a crate and the names that they import.
struct Crate {
    modules: Vec<Module>,
    paths: BTreeSet<ModulePath>,
    imports: BTreeMap<(ModulePath, String), ModulePath>,
}

impl Crate {
    fn read(folder: &Path) -> Self {
        let modules = modules_of(folder);
        let paths = modules.iter().map(|module| module.path.clone()).collect();
        let mut read = Self { modules, paths, imports: BTreeMap::new() };
        for module in &read.modules {
            for import in imports(&module.code) {
                if let Some(path) = read.path_from_root(&module.path, &import.path) {
                    read.imports.insert((module.path.clone(), import.name), path);
                }
            }
        }
        read
    }

    /// A path as it is written in a module, from the root of the crate; `None` if it leads elsewhere.
    fn path_from_root(&self, module: &[String], path: &[String]) -> Option<ModulePath> {
        let mut base = module.to_vec();
        let mut rest = path;
        match rest.first()?.as_str() {
            "crate" => {
                base.clear();
                rest = &rest[1..];
            }
            "self" => rest = &rest[1..],
            "super" => {}
            child => {
                base.push(child.to_owned());
                if !self.paths.contains(&base) {
                    return None;
                }
                rest = &rest[1..];
            }
        }
        while rest.first().is_some_and(|name| name == "super") {
            base.pop();
            rest = &rest[1..];
        }
        base.extend(rest.iter().cloned());
        Some(base)
    }

    /// The module that holds what a path from the root names, however often it is re-exported.
    fn module_of(&self, path: &[String], steps_left: usize) -> ModulePath {
        let mut module = Vec::new();
        for (index, name) in path.iter().enumerate() {
            let inner: ModulePath = module.iter().cloned().chain([name.clone()]).collect();
            if self.paths.contains(&inner) {
                module = inner;
                continue;
            }
            match self.imports.get(&(module.clone(), name.clone())) {
                Some(target) if steps_left > 0 => {
                    let behind = path[index + 1..].iter().cloned();
                    let target: ModulePath = target.iter().cloned().chain(behind).collect();
                    return self.module_of(&target, steps_left - 1);
                }
                _ => break,
            }
        }
        module
    }
}

/// Siblings in one parent: which uses which, and in which file.
type Siblings = BTreeMap<String, BTreeMap<String, String>>;

/// For every parent the uses between the modules directly in it, including what lies below them. That
/// a module and its parent use each other is no cycle.
fn sibling_uses(folder: &Path) -> BTreeMap<ModulePath, Siblings> {
    let read = Crate::read(folder);
    let mut uses: BTreeMap<ModulePath, Siblings> = BTreeMap::new();
    for module in &read.modules {
        for path in inner_paths(&module.code) {
            let Some(path) = read.path_from_root(&module.path, &path) else { continue };
            let target = read.module_of(&path, 8);
            let shared = module.path.iter().zip(&target).take_while(|(a, b)| a == b).count();
            if let (Some(from), Some(to)) = (module.path.get(shared), target.get(shared)) {
                let siblings = uses.entry(target[..shared].to_vec()).or_default();
                let file = module.file.strip_prefix(folder).unwrap().display().to_string();
                siblings.entry(from.clone()).or_default().insert(to.clone(), file);
            }
        }
    }
    uses
}

/// The modules that can be reached from a module, itself included only if it is in a cycle.
fn reachable(uses: &Siblings, from: &str) -> BTreeSet<String> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from.to_owned()]);
    while let Some(module) = open.pop() {
        for next in uses.get(&module).into_iter().flat_map(BTreeMap::keys) {
            if seen.insert(next.clone()) {
                open.push(next.clone());
            }
        }
    }
    seen
}

/// Modules in one parent that use each other in a cycle.
pub struct Cycle {
    /// `tome::daemon`, `tome-recall`.
    pub parent: String,
    pub modules: Vec<String>,
    /// The uses that close it, each with its file.
    pub uses: Vec<String>,
}

/// All cycles of a crate.
pub fn cycles(name: &str, folder: &Path) -> Vec<Cycle> {
    let mut found = Vec::new();
    for (parent, uses) in sibling_uses(folder) {
        let parent = [&[name.to_owned()], parent.as_slice()].concat().join("::");
        let mut done = BTreeSet::new();
        for module in uses.keys() {
            let reached = reachable(&uses, module);
            if !reached.contains(module) || done.contains(module) {
                continue;
            }
            let is_in_cycle = |other: &&String| reachable(&uses, other).contains(module);
            let modules: Vec<String> = reached.iter().filter(is_in_cycle).cloned().collect();
            done.extend(modules.iter().cloned());
            let inside = |name: &String| modules.contains(name);
            let uses = uses.iter().filter(|(from, _)| inside(from)).flat_map(|(from, targets)| {
                let targets = targets.iter().filter(|(to, _)| inside(to));
                targets.map(move |(to, file)| format!("{from} -> {to} in {file}"))
            });
            found.push(Cycle { parent: parent.clone(), uses: uses.collect(), modules });
        }
    }
    found
}
