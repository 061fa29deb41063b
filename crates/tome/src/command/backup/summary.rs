//! The output of `tome backup` and `tome restore`.

use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};
use tome_engine::backup::BackupCounts;
use tome_proto::v1;
use tome_terminal::{BOLD, RESET, YELLOW, format_bytes, format_counted, wrap_lines};

use super::{CheckedBackup, Screen};

/// The part of an interrupted backup that this one reuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reuse {
    /// There was none, or it held nothing of use.
    Nothing,
    Continued {
        events: u64,
        bytes: u64,
    },
    /// The home is no longer the one that it was made of.
    StartedOver {
        reason: String,
    },
}

impl Reuse {
    pub fn to_json(&self) -> Value {
        match self {
            Self::Nothing => Value::Null,
            Self::Continued { events, bytes } => json!({"events": events, "bytes": bytes}),
            Self::StartedOver { reason } => {
                json!({"events": 0, "bytes": 0, "started_over": reason})
            }
        }
    }
}

pub struct WrittenBackup<'a> {
    pub path: &'a Path,
    pub bytes: u64,
    pub counts: BackupCounts,
    pub reuse: Reuse,
}

impl WrittenBackup<'_> {
    pub fn print(&self, out: &mut impl Write, screen: &Screen) -> io::Result<()> {
        let path = screen.path(&self.path.to_string_lossy());
        writeln!(out, "{BOLD}{path}{RESET}")?;
        let size = format!("{}, verified: {}", format_bytes(self.bytes), join_counts(&self.counts));
        print_indented(out, screen, &size)?;
        match &self.reuse {
            Reuse::Nothing => {}
            Reuse::Continued { events, bytes } => {
                let events = format_counted(*events, "event", "events");
                let bytes = format_bytes(*bytes);
                let kept = format!("{events} ({bytes}) kept from the interrupted run");
                print_indented(out, screen, &kept)?;
            }
            Reuse::StartedOver { reason } => {
                let text = format!(
                    "started over: the interrupted backup cannot be continued, because {reason}"
                );
                print_indented(out, screen, &text)?;
            }
        }
        print_unreadable(out, screen, &self.counts)
    }
}

impl CheckedBackup {
    /// Prints what `tome restore --check` found.
    pub fn print(
        &self,
        out: &mut impl Write,
        screen: &Screen,
        path: &Path,
        bytes: u64,
    ) -> io::Result<()> {
        let path = screen.path(&path.to_string_lossy());
        writeln!(out, "{BOLD}{path}{RESET}")?;
        let mut facts = format!("{}, intact", format_bytes(bytes));
        if let Some(created) = self.created {
            let ago = tome_terminal::format_ago(screen.now, created);
            facts = format!("{facts}, written {ago} by Tome {}", self.version);
        }
        print_indented(out, screen, &facts)?;
        print_indented(out, screen, &join_counts(&self.counts))?;
        print_unreadable(out, screen, &self.counts)
    }
}

fn join_counts(counts: &BackupCounts) -> String {
    let mut parts = vec![
        format_counted(counts.events, "event", "events"),
        format_counted(counts.projects, "project", "projects"),
        format_counted(counts.notes, "note", "notes"),
    ];
    for (count, one, many) in [
        (counts.files, "other file", "other files"),
        (counts.spooled, "waiting event", "waiting events"),
    ] {
        if count > 0 {
            parts.push(format_counted(count, one, many));
        }
    }
    parts.join(", ")
}

fn print_unreadable(
    out: &mut impl Write,
    screen: &Screen,
    counts: &BackupCounts,
) -> io::Result<()> {
    if counts.unreadable == 0 {
        return Ok(());
    }
    let events = format_counted(counts.unreadable, "event", "events");
    let text = format!("{events} could not be read; run `tome doctor`");
    for line in wrap_lines(&text, screen.prose_width().saturating_sub(2)) {
        writeln!(out, "  {YELLOW}{line}{RESET}")?;
    }
    Ok(())
}

fn print_indented(out: &mut impl Write, screen: &Screen, text: &str) -> io::Result<()> {
    for line in wrap_lines(text, screen.prose_width().saturating_sub(2)) {
        writeln!(out, "  {line}")?;
    }
    Ok(())
}

/// The outcome for the config file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigOutcome {
    NotInBackup,
    Restored,
    Same,
    /// There is another one, which counts.
    Kept,
}

impl ConfigOutcome {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotInBackup => "not in the backup",
            Self::Restored => "restored",
            Self::Same => "same",
            Self::Kept => "kept",
        }
    }
}

/// Such as ` (3 were already here)`; empty for none.
fn say_known(known: u64) -> String {
    match known {
        0 => String::new(),
        known => format!(" ({} already here)", format_counted(known, "was", "were")),
    }
}

/// Prints the outcome of a restore. `config` is the path of the config file.
pub fn print_restored(
    out: &mut impl Write,
    screen: &Screen,
    restored: &v1::RestoreProgress,
    outcome: ConfigOutcome,
    config: Option<&Path>,
) -> io::Result<()> {
    let has_news = restored.events
        + restored.notes
        + restored.notes_beside
        + restored.versions
        + restored.files
        > 0;
    if !has_news {
        let text = "nothing to restore: everything in this backup is here already";
        for line in wrap_lines(text, screen.prose_width()) {
            writeln!(out, "{line}")?;
        }
    } else {
        let events = format_counted(restored.events, "event", "events");
        writeln!(out, "{BOLD}restored {events}{RESET}{}", say_known(restored.duplicates))?;
        for (count, known, one, many) in [
            (restored.projects, 0, "new project", "new projects"),
            (restored.notes, restored.notes_known, "note", "notes"),
            (restored.versions, 0, "earlier version of notes", "earlier versions of notes"),
            (restored.files, restored.files_known, "other file", "other files"),
            (restored.spooled, 0, "waiting event", "waiting events"),
        ] {
            if count + known > 0 {
                writeln!(out, "  {}{}", format_counted(count, one, many), say_known(known))?;
            }
        }
    }
    if restored.notes_beside > 0 {
        let notes = format_counted(restored.notes_beside, "note differs", "notes differ");
        let text = format!("{notes} from those here: see *.restored.md beside them");
        for line in wrap_lines(&text, screen.prose_width().saturating_sub(2)) {
            writeln!(out, "  {YELLOW}{line}{RESET}")?;
        }
    }
    let file = config.map(|file| screen.path(&file.to_string_lossy()));
    match (outcome, file) {
        (ConfigOutcome::Restored, Some(file)) => {
            print_indented(out, screen, &format!("settings in {file}"))?;
        }
        (ConfigOutcome::Kept, Some(file)) => {
            print_indented(out, screen, &format!("settings stay as they are in {file}"))?;
        }
        _ => {}
    }
    if has_news {
        let rest = "Contents and indexes are built in the background; `tome status` shows how far.";
        for line in wrap_lines(rest, screen.prose_width()) {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use tome_model::Millis;
    use tome_terminal::display_width;

    use super::*;

    const NOW_MS: u64 = 1_794_735_000_000;

    fn counts() -> BackupCounts {
        BackupCounts {
            projects: 6,
            events: 12_345,
            notes: 9,
            files: 4,
            spooled: 2,
            unreadable: 3,
            ..BackupCounts::default()
        }
    }

    /// A screen without styles at four widths; widths with the same lines are joined.
    fn at_four_widths(print: &dyn Fn(&mut Vec<u8>, &Screen) -> io::Result<()>) -> String {
        let mut screens: Vec<(String, String)> = Vec::new();
        for width in [60, 80, 100, 160] {
            let mut out = Vec::new();
            print(&mut out, &Screen::for_test(NOW_MS, width)).unwrap();
            let shown = String::from_utf8(out).unwrap();
            let shown = [BOLD, YELLOW, RESET]
                .iter()
                .fold(shown, |text, style| text.replace(&style.to_string(), ""));
            assert!(shown.lines().all(|line| display_width(line) <= width), "{width}: {shown}");
            match screens.last_mut().filter(|(_, last)| *last == shown) {
                Some((widths, _)) => *widths = format!("{widths}, {width}"),
                None => screens.push((width.to_string(), shown)),
            }
        }
        let screens = screens.iter().map(|(widths, shown)| format!("at {widths}:\n{shown}"));
        screens.collect::<Vec<_>>().join("\n")
    }

    fn written(reuse: &Reuse) -> String {
        at_four_widths(&|out, screen| {
            let path = Path::new("/home/dev/backups/tome-2026-11-15-093000.backup");
            let reuse = reuse.clone();
            WrittenBackup { path, bytes: 23_456_789, counts: counts(), reuse }.print(out, screen)
        })
    }

    #[test]
    fn a_backup_says_what_it_holds_and_what_it_kept() {
        expect![[r#"
            at 60:
            ~/backups/tome-2026-11-15-093000.backup
              23.5 MB, verified: 12,345 events, 6 projects, 9 notes, 4
              other files, 2 waiting events
              10,000 events (19.0 MB) kept from the interrupted run
              3 events could not be read; run `tome doctor`

            at 80:
            ~/backups/tome-2026-11-15-093000.backup
              23.5 MB, verified: 12,345 events, 6 projects, 9 notes, 4 other files, 2
              waiting events
              10,000 events (19.0 MB) kept from the interrupted run
              3 events could not be read; run `tome doctor`

            at 100, 160:
            ~/backups/tome-2026-11-15-093000.backup
              23.5 MB, verified: 12,345 events, 6 projects, 9 notes, 4 other files, 2 waiting events
              10,000 events (19.0 MB) kept from the interrupted run
              3 events could not be read; run `tome doctor`
        "#]]
        .assert_eq(&written(&Reuse::Continued { events: 10_000, bytes: 19_000_000 }));
        let reason = "a project in it has changed".to_owned();
        expect![[r#"
            at 60:
            ~/backups/tome-2026-11-15-093000.backup
              23.5 MB, verified: 12,345 events, 6 projects, 9 notes, 4
              other files, 2 waiting events
              started over: the interrupted backup cannot be continued,
              because a project in it has changed
              3 events could not be read; run `tome doctor`

            at 80:
            ~/backups/tome-2026-11-15-093000.backup
              23.5 MB, verified: 12,345 events, 6 projects, 9 notes, 4 other files, 2
              waiting events
              started over: the interrupted backup cannot be continued, because a project in
              it has changed
              3 events could not be read; run `tome doctor`

            at 100, 160:
            ~/backups/tome-2026-11-15-093000.backup
              23.5 MB, verified: 12,345 events, 6 projects, 9 notes, 4 other files, 2 waiting events
              started over: the interrupted backup cannot be continued, because a project in it has changed
              3 events could not be read; run `tome doctor`
        "#]]
        .assert_eq(&written(&Reuse::StartedOver { reason }));
    }

    #[test]
    fn a_checked_backup_says_when_it_was_written() {
        let checked = CheckedBackup {
            counts: BackupCounts { spooled: 0, unreadable: 0, ..counts() },
            created: Some(Millis(NOW_MS - 7_200_000)),
            version: "0.1.0".to_owned(),
            config: None,
        };
        let path = Path::new("/home/dev/home.backup");
        expect![[r#"
            at 60, 80, 100, 160:
            ~/home.backup
              23.5 MB, intact, written 2 h ago by Tome 0.1.0
              12,345 events, 6 projects, 9 notes, 4 other files
        "#]]
        .assert_eq(&at_four_widths(&|out, screen| checked.print(out, screen, path, 23_456_789)));
    }

    #[test]
    fn a_restore_says_what_it_added() {
        let config = Some(Path::new("/home/dev/.config/tome/config.toml"));
        let restored = v1::RestoreProgress {
            events: 12_000,
            duplicates: 345,
            projects: 2,
            notes: 9,
            notes_known: 14,
            notes_beside: 1,
            versions: 27,
            files: 4,
            files_known: 1,
            spooled: 2,
        };
        expect![[r#"
            at 60:
            restored 12,000 events (345 were already here)
              2 new projects
              9 notes (14 were already here)
              27 earlier versions of notes
              4 other files (1 was already here)
              2 waiting events
              1 note differs from those here: see *.restored.md beside
              them
              settings stay as they are in ~/.config/tome/config.toml
            Contents and indexes are built in the background; `tome
            status` shows how far.

            at 80, 100, 160:
            restored 12,000 events (345 were already here)
              2 new projects
              9 notes (14 were already here)
              27 earlier versions of notes
              4 other files (1 was already here)
              2 waiting events
              1 note differs from those here: see *.restored.md beside them
              settings stay as they are in ~/.config/tome/config.toml
            Contents and indexes are built in the background; `tome status` shows how far.
        "#]]
        .assert_eq(&at_four_widths(&|out, screen| {
            print_restored(out, screen, &restored, ConfigOutcome::Kept, config)
        }));
        let nothing = v1::RestoreProgress { duplicates: 345, ..v1::RestoreProgress::default() };
        expect![[r#"
            at 60:
            nothing to restore: everything in this backup is here
            already

            at 80, 100, 160:
            nothing to restore: everything in this backup is here already
        "#]]
        .assert_eq(&at_four_widths(&|out, screen| {
            print_restored(out, screen, &nothing, ConfigOutcome::Same, config)
        }));
    }
}
