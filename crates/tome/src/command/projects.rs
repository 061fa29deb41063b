//! `tome projects`: lists, renames, moves, merges and removes projects.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};
use tome_home::Projects;
use tome_model::Millis;
use tome_proto::v1::change_project_request::Change;
use tome_proto::{Client, v1};
use tome_terminal::{
    DIM, RESET, YELLOW, format_bytes, format_count, format_counted, print_hanging,
    print_table_within,
};

use super::project_name::{ProjectNames, absolute_path, find_typed_root, refuse_unknown};
use super::screen::Screen;
use super::shell_word::quote_shell;
use super::{CommandContext, CommandError, Outcome};
use crate::cli::projects::{ProjectChange, ProjectsArgs};

/// Columns of a terminal on which the list shows sizes.
const SIZE_COLUMNS_MIN: usize = 72;

pub fn run(context: &CommandContext, args: &ProjectsArgs) -> Result<Outcome> {
    match &args.change {
        None | Some(ProjectChange::List) => list_projects(context),
        Some(ProjectChange::Rename { project, name }) => {
            let project = find_project(context, project)?;
            refuse_taken_name(context, &project, name)?;
            change_project(context, &project, Change::NewName(name.clone()))?;
            // Its own name is as long as it takes to be unique.
            let name = ProjectNames::load(context).name(&project.root);
            report_change(context, &project, &format!("{} is now called {name}", project.name))
        }
        Some(ProjectChange::Mv { old, new }) => {
            let project = find_project(context, old)?;
            let new = std::path::absolute(new)?;
            if !new.is_dir() {
                let refusal =
                    CommandError::not_found(format!("there is no folder {}", new.display()));
                return Err(refusal.with_hint("move the folder first, then tell Tome").into());
            }
            let root = tome_home::locate_project(&new).map_or(new, |found| found.root);
            let folder = root.to_string_lossy().into_owned();
            change_project(context, &project, Change::NewFolder(folder))?;
            let shown = context.shorten_path(&root);
            let text = format!("{} is now in {shown}; its name stays", project.name);
            report_change(context, &project, &text)
        }
        Some(ProjectChange::Merge { project, into }) => merge_projects(context, project, into),
        Some(ProjectChange::Rm { project }) => {
            let project = find_project(context, project)?;
            if project.events > 0 || project.has_notes {
                return Err(refuse_removal(context, &project).into());
            }
            let removed = change_project(context, &project, Change::Remove(true))?;
            let text = match removed.kept.as_str() {
                "" => format!("{} removed: it held nothing", project.name),
                kept => {
                    let kept = context.shorten_path(Path::new(kept));
                    format!(
                        "{} removed; what its notes left behind is kept in {kept}",
                        project.name
                    )
                }
            };
            report_change(context, &project, &text)
        }
    }
}

/// Refuses a name that another project has.
fn refuse_taken_name(
    context: &CommandContext,
    project: &v1::KnownProject,
    name: &str,
) -> Result<(), CommandError> {
    let known = Projects::load(&context.settings.home).list();
    let Some(other) = known.iter().find(|one| one.name == name && one.root != project.root) else {
        return Ok(());
    };
    let folder = context.shorten_path(Path::new(&other.folder));
    Err(CommandError::bad_input(format!("{name:?} is already the name of {folder}")))
}

fn refuse_removal(context: &CommandContext, project: &v1::KnownProject) -> CommandError {
    let held = match (project.events, project.has_notes) {
        (0, _) => "notes".to_owned(),
        (events, false) => format_counted(events, "event", "events"),
        (events, true) => format!("{} and notes", format_counted(events, "event", "events")),
    };
    let name = quote_shell(&project.name);
    let mut hint = format!(
        "`tome projects merge {name} OTHER` copies them into another project; `tome export --project {name}` \
         writes them to a file"
    );
    let folder = Projects::load(&context.settings.home).find_folder(&project.root);
    // A project of a ledger for all has no store of its own.
    if let Some(folder) = folder.filter(|folder| folder.join("ledger").is_dir()) {
        hint.push_str(&format!(
            "; to delete them for good, run `tome stop` and delete {}: backups and the transcripts of your \
             agents keep their copies",
            context.shorten_path(&folder)
        ));
    }
    let message = format!("{} holds {held}, which this command never deletes", project.name);
    CommandError::bad_input(message).with_hint(hint)
}

fn list_projects(context: &CommandContext) -> Result<Outcome> {
    let all = fetch_projects(context)?;
    if context.json {
        all.iter().try_for_each(|one| context.print_json(&as_json(one)))?;
        return Ok(Outcome::Done);
    }
    let screen = Screen::new(context);
    print_list(&mut tome_terminal::stdout().lock(), &screen, &all)?;
    Ok(Outcome::Done)
}

fn print_list(
    out: &mut dyn Write,
    screen: &Screen,
    all: &[v1::KnownProject],
) -> std::io::Result<()> {
    if all.is_empty() {
        return writeln!(out, "no projects yet; `tome import` and `tome setup` bring them in");
    }
    let shows_size = screen.width.is_none_or(|width| width >= SIZE_COLUMNS_MIN);
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|project| {
            let last = match project.last_at_ms {
                0 => "never".to_owned(),
                at => screen.when(at),
            };
            let mut row = vec![
                tome_terminal::one_line(&project.name, 60),
                format_count(project.sessions),
                last,
            ];
            row.extend(shows_size.then(|| format_bytes(project.disk_bytes)));
            row.push(screen.path(&project.folder));
            row
        })
        .collect();
    let mut heads = vec!["project", ">sessions", "last used"];
    heads.extend(shows_size.then_some(">size"));
    heads.push("folder");
    print_table_within(out, &heads, &rows, screen.width)?;
    for project in all.iter().filter(|project| !project.problem.is_empty()) {
        let text = format!("{} cannot be read: {}", project.name, project.problem);
        print_hanging(out, &format!("{YELLOW}!{RESET} "), 2, &text, screen.prose_width())?;
    }
    let clones = find_clones(all);
    for (clone, into) in clones.iter().take(3) {
        let text = format!(
            "{} and {} are clones of one repository. Merge them: tome projects merge {} {}",
            clone.name,
            into.name,
            quote_shell(&clone.name),
            quote_shell(&into.name)
        );
        writeln!(out)?;
        print_hanging(out, "", 0, &text, screen.prose_width())?;
    }
    if clones.len() > 3 {
        writeln!(out, "{DIM}and {} more clones{RESET}", clones.len() - 3)?;
    }
    Ok(())
}

/// Projects with the same remote: each clone with the one that has most sessions.
fn find_clones(all: &[v1::KnownProject]) -> Vec<(&v1::KnownProject, &v1::KnownProject)> {
    let remote = |one: &v1::KnownProject| normalize_remote(&one.remote);
    let mut clones = Vec::new();
    for one in all {
        let same = all.iter().filter(|other| remote(one).is_some() && remote(other) == remote(one));
        let main = same.max_by_key(|other| (other.sessions, std::cmp::Reverse(&other.root)));
        if let Some(main) = main.filter(|main| main.root != one.root) {
            clones.push((one, main));
        }
    }
    clones
}

/// Host and path of a remote, which `git@host:path.git`, `ssh://git@host/path` and `https://host/path`
/// have in common. `None` if there is no remote.
fn normalize_remote(url: &str) -> Option<String> {
    let url = url.trim().trim_end_matches('/');
    let url = url.strip_suffix(".git").unwrap_or(url).trim_end_matches('/');
    if url.is_empty() {
        return None;
    }
    let is_local = url.starts_with(['/', '.']) || url.starts_with("file://");
    if is_local {
        return Some(url.to_owned());
    }
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let (host, path) = match scheme {
        // `host:path`, as scp takes it.
        "" => rest.split_once(':').or_else(|| rest.split_once('/')),
        _ => rest.split_once('/'),
    }
    .unwrap_or((rest, ""));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    // Each way in has a port of its own.
    let host = host.split(':').next().unwrap_or(host);
    Some(format!("{}/{}", host.to_lowercase(), path.trim_start_matches('/')))
}

fn merge_projects(context: &CommandContext, from: &Path, into: &Path) -> Result<Outcome> {
    let (from, into) = (find_project(context, from)?, find_project(context, into)?);
    if from.root == into.root {
        let problem = format!("{} cannot be merged into itself", from.name);
        return Err(CommandError::bad_input(problem).into());
    }
    let merged = change_project(context, &from, Change::MergeInto(into.root.clone()))?;
    if context.json {
        context.print_json(&json!({
            "project": from.root, "into": into.root, "events": merged.events,
            "notes": merged.notes, "kept": merged.kept,
        }))?;
        return Ok(Outcome::Done);
    }
    let mut out = tome_terminal::stdout().lock();
    writeln!(
        out,
        "{} merged into {}: {}, {}",
        from.name,
        into.name,
        format_counted(merged.events, "event", "events"),
        format_counted(merged.notes, "note", "notes")
    )?;
    let kept = context.shorten_path(Path::new(&merged.kept));
    let text =
        format!("Its former folder is kept in {kept}; delete it once you have checked the result.");
    print_hanging(&mut out, "", 0, &text, tome_terminal::terminal_width().min(100))?;
    Ok(Outcome::Done)
}

fn report_change(
    context: &CommandContext,
    project: &v1::KnownProject,
    text: &str,
) -> Result<Outcome> {
    if context.json {
        let changed = fetch_projects(context)?.into_iter().find(|one| one.root == project.root);
        context.print_json(&changed.map_or(json!({"root": project.root}), |one| as_json(&one)))?;
    } else {
        writeln!(tome_terminal::stdout(), "{text}")?;
    }
    Ok(Outcome::Done)
}

fn fetch_projects(context: &CommandContext) -> Result<Vec<v1::KnownProject>> {
    let list = async |client: &Client| client.list_projects().await;
    Ok(context.connector.call_blocking(list)?)
}

fn change_project(
    context: &CommandContext,
    project: &v1::KnownProject,
    change: Change,
) -> Result<v1::ChangeProjectResponse> {
    let request = v1::ChangeProjectRequest { project: project.root.clone(), change: Some(change) };
    let call = async |client: &Client| client.change_project(request).await;
    Ok(context.connector.call_once_blocking(call)?)
}

/// Finds a project by its name, its folder or a former folder.
fn find_project(context: &CommandContext, typed: &Path) -> Result<v1::KnownProject> {
    let all = fetch_projects(context)?;
    let text = typed.to_string_lossy();
    let known = Projects::load(&context.settings.home);
    // A mistyped name must not stand for the project around it.
    let is_folder = typed.exists() || known.had_folder(&absolute_path(typed)?);
    let folder = if is_folder { find_typed_root(typed)? } else { String::new() };
    let is_meant = |project: &v1::KnownProject| {
        project.name == text
            || project.root == folder
            || project.folder == folder
            || project.other_folders.contains(&folder)
    };
    let base_name = |project: &v1::KnownProject| {
        Path::new(&project.folder).file_name().is_some_and(|name| name.to_string_lossy() == text)
    };
    let mut matches: Vec<&v1::KnownProject> =
        all.iter().filter(|project| is_meant(project)).collect();
    if matches.is_empty() {
        matches = all.iter().filter(|project| base_name(project)).collect();
    }
    match matches.as_slice() {
        [project] => Ok((*project).clone()),
        [] => Err(refuse_unknown(&text, all.iter().map(|one| one.name.as_str()))),
        several => {
            let names: Vec<&str> = several.iter().map(|project| project.name.as_str()).collect();
            let problem = format!("{text} matches several projects: {}", names.join(", "));
            Err(CommandError::bad_input(problem).with_hint("use the longer name").into())
        }
    }
}

fn as_json(one: &v1::KnownProject) -> Value {
    json!({
        "root": one.root, "name": one.name, "folder": one.folder,
        "other_folders": one.other_folders, "sessions": one.sessions, "events": one.events,
        "remote": Some(&one.remote).filter(|remote| !remote.is_empty()),
        "last_at": Some(one.last_at_ms).filter(|at| *at > 0).map(Millis),
        "disk_bytes": one.disk_bytes, "has_notes": one.has_notes,
        "problem": Some(&one.problem).filter(|problem| !problem.is_empty()),
    })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn sample(name: &str, folder: &str, sessions: u64, days_ago: u64) -> v1::KnownProject {
        v1::KnownProject {
            root: folder.to_owned(),
            name: name.to_owned(),
            folder: folder.to_owned(),
            remote: match name {
                "app" => "git@example.com:dev/app.git".to_owned(),
                "app-clone" => "https://example.com/dev/app".to_owned(),
                _ => String::new(),
            },
            sessions,
            last_at_ms: NOW_MS - days_ago * 86_400_000,
            disk_bytes: sessions * 123_456,
            ..v1::KnownProject::default()
        }
    }

    const NOW_MS: u64 = 1_794_735_000_000;

    fn check(width: usize, expected: &Expect) {
        let all = [
            sample("app", "/home/dev/code/clients/northwind/app", 128, 0),
            sample("app-clone", "/home/dev/tmp/app-clone", 3, 40),
            sample(
                "a-rather-long-name-of-a-project",
                "/srv/shared/a-rather-long-name-of-a-project",
                1,
                400,
            ),
        ];
        let mut out = Vec::new();
        print_list(&mut out, &Screen::for_test(NOW_MS, width), &all).unwrap();
        let text = anstream::adapter::strip_bytes(&out).into_vec();
        let text = String::from_utf8(text).unwrap();
        for line in text.lines() {
            assert!(tome_terminal::display_width(line) <= width, "{width}: {line}");
        }
        expected.assert_eq(&text);
    }

    #[test]
    fn every_way_to_a_repository_is_the_same_remote() {
        for url in [
            "git@example.com:dev/app.git",
            "https://example.com/dev/app",
            "https://someone:token@Example.com/dev/app.git/",
            "ssh://git@example.com:2222/dev/app.git",
            "git://example.com/dev/app",
        ] {
            assert_eq!(normalize_remote(url).as_deref(), Some("example.com/dev/app"), "{url}");
        }
        assert_eq!(normalize_remote("/srv/git/app.git").as_deref(), Some("/srv/git/app"));
        assert_ne!(normalize_remote("host:dev/app"), normalize_remote("host:dev/other"));
        assert_eq!(normalize_remote(""), None);
    }

    #[test]
    fn the_list_fits_60_columns() {
        check(
            60,
            &expect![[r#"
                  project                 sessions  last used     folder
                  app                          128  now           …hwind/app
                  app-clone                      3  Oct 6         …app-clone
                  a-rather-long-name-of…         1  Oct 11, 2025  …a-project

                app-clone and app are clones of one repository. Merge them:
                tome projects merge app-clone app
            "#]],
        );
    }

    #[test]
    fn the_list_fits_80_columns() {
        check(
            80,
            &expect![[r#"
                  project                          sessions  last used        size  folder
                  app                                   128  now           15.8 MB  …rthwind/app
                  app-clone                               3  Oct 6          370 kB  …p/app-clone
                  a-rather-long-name-of-a-project         1  Oct 11, 2025   123 kB  …f-a-project

                app-clone and app are clones of one repository. Merge them: tome projects merge
                app-clone app
            "#]],
        );
    }

    #[test]
    fn the_list_fits_100_columns() {
        check(
            100,
            &expect![[r#"
              project                          sessions  last used        size  folder
              app                                   128  now           15.8 MB  ~/code/clients/northwind/app
              app-clone                               3  Oct 6          370 kB  ~/tmp/app-clone
              a-rather-long-name-of-a-project         1  Oct 11, 2025   123 kB  …a-rather-long-name-of-a-project

            app-clone and app are clones of one repository. Merge them: tome projects merge app-clone app
        "#]],
        );
    }

    #[test]
    fn the_list_fits_160_columns() {
        check(
            160,
            &expect![[r#"
              project                          sessions  last used        size  folder
              app                                   128  now           15.8 MB  ~/code/clients/northwind/app
              app-clone                               3  Oct 6          370 kB  ~/tmp/app-clone
              a-rather-long-name-of-a-project         1  Oct 11, 2025   123 kB  /srv/shared/a-rather-long-name-of-a-project

            app-clone and app are clones of one repository. Merge them: tome projects merge app-clone app
        "#]],
        );
    }
}
