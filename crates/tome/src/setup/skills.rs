//! One copy of Tome's skill per agent. Several agents read the same folders of skills, and some read the folders of
//! others; an agent that finds the skill twice may list it twice. So an agent shares a copy that it reads anyway, and
//! gets one of its own only where there is none.

use std::io::Read;
use std::path::{Path, PathBuf};

use tome_home::{FinalLink, open_regular};

use super::{FilePlan, Ground, MARK};
use crate::agents::wiring::{CLIENTS, Client};

/// The skill within a folder of skills.
pub const SKILL_FILE: &str = "tome-memory/SKILL.md";

/// So much of a skill is read to recognise Tome's; the whole of it has about four kilobytes.
const SKILL_BYTES_MAX: u64 = 64 * 1024;

/// The file in which an agent gets the skill, given where it would be put by default and the files that are planned
/// already. `None` if the agent already reads a copy that is not the project's.
pub fn choose_file(
    client: &Client,
    ground: &Ground<'_>,
    default: PathBuf,
    planned: &[FilePlan],
) -> Option<PathBuf> {
    if ground.project.is_some() && copies_in(client, &without_project(ground)).next().is_some() {
        return None;
    }
    let files = || (client.skill_folders)(ground).into_iter().map(|folder| folder.join(SKILL_FILE));
    let is_planned = |file: &PathBuf| planned.iter().any(|known| known.path == *file);
    files().find(is_planned).or_else(|| copies_in(client, ground).next()).or(Some(default))
}

/// Copies of the skill that an agent reads and that are one too many: they lie where Tome puts none, or in the
/// project although the person's folders have one.
pub fn redundant_copies(
    client: &Client,
    ground: &Ground<'_>,
    in_project: Option<&Ground<'_>>,
) -> Vec<PathBuf> {
    let of_person: Vec<PathBuf> = copies_in(client, ground).collect();
    let of_project: Vec<PathBuf> =
        in_project.into_iter().flat_map(|ground| copies_in(client, ground)).collect();
    let is_default = |file: &Path, ground: &Ground<'_>| {
        let mut folders =
            CLIENTS.iter().filter_map(|one| (one.skill_folders)(ground).into_iter().next());
        folders.any(|folder| file.starts_with(folder))
    };
    let total = of_person.len() + of_project.len();
    let has_one = !of_person.is_empty();
    let of_person = of_person.into_iter().filter(|file| !is_default(file, ground));
    let of_project = of_project
        .into_iter()
        .filter(|file| has_one || in_project.is_some_and(|ground| !is_default(file, ground)));
    let redundant: Vec<PathBuf> = of_person.chain(of_project).collect();
    if total > 1 { redundant } else { Vec::new() }
}

/// The copies of the skill that an agent reads at the person's or the project's level.
fn copies_in(client: &Client, ground: &Ground<'_>) -> impl Iterator<Item = PathBuf> {
    let folders = (client.skill_folders)(ground).into_iter();
    folders.map(|folder| folder.join(SKILL_FILE)).filter(|file| is_tomes(file))
}

/// A repository may put anything there: links, pipes, devices and long files are not read.
fn is_tomes(file: &Path) -> bool {
    let mut bytes = Vec::new();
    let read = open_regular(file, FinalLink::Refuse)
        .and_then(|file| file.take(SKILL_BYTES_MAX).read_to_end(&mut bytes));
    read.is_ok() && String::from_utf8_lossy(&bytes).contains(MARK)
}

fn without_project<'a>(ground: &Ground<'a>) -> Ground<'a> {
    Ground {
        home: ground.home.clone(),
        project: None,
        launch: ground.launch.clone(),
        var: ground.var,
    }
}
