//! Generates `docs/configuration.md` from the table of settings; regenerate it with `UPDATE_EXPECT=1 cargo
//! test -p tome reference`.

use std::fmt::Write as _;

use expect_test::expect_file;

use super::keys::{SETTING_KEYS, SettingKey};

const INTRODUCTION: &str = "\
# Configuration

<!-- Generated from the table in crates/tome/src/config/keys.rs. After a change there:
     UPDATE_EXPECT=1 cargo test -p tome reference -->

Tome needs no configuration. Each setting comes from the last of these sources that sets it:

1. its default;
2. the config file, `~/.config/tome/config.toml` (`$XDG_CONFIG_HOME/tome/config.toml` where that is set);
3. its environment variable;
4. `--set <key>=<value>` on the command line.

`tome config --all` lists every setting with its value and origin. `tome config get <key>` prints one; `tome config set <key>
<value>` and `tome config unset <key>` edit the file. Commands report an invalid value with its origin and stop; hooks
ignore it and use the other settings.

The daemon reads its settings when it starts. After a change run `tome stop`; the next command starts it again. The
`inject` settings are read by each hook and need no restart.

```toml
[daemon]
idle_exit = \"2h\"

[inject]
hints = \"off\"
```

Types:

- **boolean**: `true`, `yes`, `on` or `1`; `false`, `no`, `off` or `0`
- **duration**: a number and a unit, `500ms`, `90s`, `30m`, `2h` or `7d`
- **port or host:port**: a port means loopback; the host is an IP address or `localhost`
- **list**: in the file an array of strings, elsewhere one string with commas
";

const REST: &str = "
## capture.redact

Your own patterns, redacted like the built-in ones: at most 64, in the config file only. `name` has 1 to 32 characters of
`a-z`, `0-9` and `-`, and appears in the mark, `[redacted:ticket]`. `pattern` is a [regular
expression](https://docs.rs/regex); if it has a group named `secret`, only that group is replaced.

```toml
[[capture.redact]]
name = \"ticket\"
pattern = 'ACME-[0-9]{6}'
```

## Other environment variables

| variable | what it does |
| --- | --- |
| `TOME_HOME` | Tome's home folder, an absolute path; `--home` overrides it. Default: `$XDG_DATA_HOME/tome`, else `~/.local/share/tome` |
| `TOME_CONFIG` | the config file, which must exist; `--config` overrides it |
| `TOME_TOKEN` | the token for `daemon.endpoint`; default: the content of `run/token` in the home |
| `TOME_HOOK_OFF` | if set and not empty, `tome hook` does nothing |
| `TOME_HOOK_PATIENCE` | multiplies the deadlines of `tome hook`, 1 to 100, for slow machines |
";

fn configuration_reference() -> String {
    let mut page = INTRODUCTION.to_owned();
    let mut section = "";
    for key in SETTING_KEYS {
        let (of, _) = key.name.split_once('.').expect("section.name");
        if of != section {
            section = of;
            write!(page, "\n## {section}\n\n{HEAD}").expect("a string");
        }
        page.push_str(&render_row(key));
    }
    page.push_str(REST);
    page
}

const HEAD: &str = "\
| key | type | default | environment variable | what it does |
| --- | --- | --- | --- | --- |
";

fn render_row(key: &SettingKey) -> String {
    let default = match key.default {
        "" => "empty".to_owned(),
        default => format!("`{default}`"),
    };
    let (name, variable, about) = (key.name, key.env_variable(), key.description);
    assert!(!about.contains('|'), "{name}: a cell ends at |");
    format!("| `{name}` | {} | {default} | `{variable}` | {about} |\n", key.value_type)
}

#[test]
fn reference_page_lists_every_setting() {
    expect_file!["../../../../docs/configuration.md"].assert_eq(&configuration_reference());
}

#[test]
fn reference_types_list_accepted_values() {
    for key in SETTING_KEYS {
        assert_eq!(key.value_type.check(key.default), Ok(()), "the default of {}", key.name);
        let shown = key.value_type.to_string();
        for value in shown.split('`').skip(1).step_by(2) {
            let is_taken = key.value_type.check(value);
            let is_unbuilt = value == "rocksdb" && cfg!(not(feature = "rocksdb"));
            assert_eq!(is_taken.is_ok(), !is_unbuilt, "{} = {value}: {is_taken:?}", key.name);
        }
    }
}
