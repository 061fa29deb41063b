//! Keeps one copy of Tome's skill per agent. Several agents read the same skill folders, and some
//! read those of others; an agent that finds the skill twice may list it twice. An agent therefore
//! uses a copy that it reads anyway and gets its own only if there is none.

use std::io::Read;
use std::path::{Path, PathBuf};

use tome_home::{FinalLink, open_regular};

use super::integration::{AgentIntegration, INTEGRATIONS};
use super::{Environment, OWNERSHIP_MARK, SKILL_FILE};

/// Read limit for recognizing Tome's skill, which has about four kilobytes.
const SKILL_BYTES_MAX: u64 = 64 * 1024;

/// Chooses the file for an agent's skill, given its default and which files are already planned. `None`
/// if the agent already reads a copy outside the project.
pub fn choose_skill_file(
    client: &AgentIntegration,
    environment: &Environment<'_>,
    default: PathBuf,
    is_planned: impl Fn(&PathBuf) -> bool,
) -> Option<PathBuf> {
    if environment.project.is_some()
        && find_copies(client, &without_project(environment)).next().is_some()
    {
        return None;
    }
    let files =
        || (client.skill_folders)(environment).into_iter().map(|folder| folder.join(SKILL_FILE));
    files().find(is_planned).or_else(|| find_copies(client, environment).next()).or(Some(default))
}

/// Returns superfluous copies of the skill that an agent reads: in a folder that setup does not
/// use, or in the project although the user's folders have one.
pub fn redundant_copies(
    client: &AgentIntegration,
    environment: &Environment<'_>,
    in_project: Option<&Environment<'_>>,
) -> Vec<PathBuf> {
    let of_person: Vec<PathBuf> = find_copies(client, environment).collect();
    let of_project: Vec<PathBuf> =
        in_project.into_iter().flat_map(|environment| find_copies(client, environment)).collect();
    let is_default = |file: &Path, environment: &Environment<'_>| {
        let mut folders = INTEGRATIONS
            .iter()
            .filter_map(|one| (one.skill_folders)(environment).into_iter().next());
        folders.any(|folder| file.starts_with(folder))
    };
    let total = of_person.len() + of_project.len();
    let has_one = !of_person.is_empty();
    let of_person = of_person.into_iter().filter(|file| !is_default(file, environment));
    let of_project = of_project.into_iter().filter(|file| {
        has_one || in_project.is_some_and(|environment| !is_default(file, environment))
    });
    let redundant: Vec<PathBuf> = of_person.chain(of_project).collect();
    if total > 1 { redundant } else { Vec::new() }
}

/// Finds the copies of the skill that an agent reads at the user or project level.
fn find_copies(
    client: &AgentIntegration,
    environment: &Environment<'_>,
) -> impl Iterator<Item = PathBuf> {
    let folders = (client.skill_folders)(environment).into_iter();
    folders.map(|folder| folder.join(SKILL_FILE)).filter(|file| is_tome_skill(file))
}

/// A repository may contain anything here: links, pipes, devices and long files are not read.
fn is_tome_skill(file: &Path) -> bool {
    let mut bytes = Vec::new();
    let read = open_regular(file, FinalLink::Refuse)
        .and_then(|file| file.take(SKILL_BYTES_MAX).read_to_end(&mut bytes));
    read.is_ok() && String::from_utf8_lossy(&bytes).contains(OWNERSHIP_MARK)
}

fn without_project<'a>(environment: &Environment<'a>) -> Environment<'a> {
    Environment {
        home: environment.home.clone(),
        project: None,
        launch: environment.launch.clone(),
        var: environment.var,
    }
}
