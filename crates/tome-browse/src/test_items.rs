//! Items for tests.

use crate::item::{ContentsPage, Item, ItemTarget, NotebookScope, ResumeCommand};

pub fn session(id: &str, title: &str) -> Item {
    Item {
        target: ItemTarget::Session(id.to_owned()),
        project: "/home/dev/app".to_owned(),
        session: id.to_owned(),
        citation: id.to_owned(),
        when: "2 h ago".to_owned(),
        who: "claude-code".to_owned(),
        project_name: "app".to_owned(),
        text: title.to_owned(),
        card: format!("\u{1b}[1m{title}\u{1b}[0m\nclaude-code · Sun, Nov 15, 09:30 – 10:12\n"),
        agent: "claude-code".to_owned(),
    }
}

pub fn sessions() -> Vec<Item> {
    let title = "Accept unicode identifiers in the lexer and in the parser, with tests";
    let codex = Item {
        when: "Nov 13".to_owned(),
        who: "codex".to_owned(),
        agent: "codex".to_owned(),
        ..session("0198c3f2", "Fix the build")
    };
    let wide = Item {
        when: "Nov 5, 2025".to_owned(),
        ..session("52a1", "漢字 in titles take two columns each")
    };
    vec![session("419f42f0", title), codex, wide]
}

pub fn hit(citation: &str) -> Item {
    Item {
        target: ItemTarget::Event(citation.to_owned()),
        citation: citation.to_owned(),
        when: "Nov 14".to_owned(),
        who: "user".to_owned(),
        text: "Please make the lexer accept unicode identifiers.".to_owned(),
        card: format!(
            "\u{1b}[32m{citation}\u{1b}[0m  \u{1b}[2mNov 14, 09:31 · user\u{1b}[0m\n\n\
             Please make the lexer accept unicode identifiers.\n\n\
             \u{1b}[2manswered #17:\u{1b}[0m Identifiers in `lexer.rs` now follow the XID rules.\n"
        ),
        ..session("419f42f0", "")
    }
}

pub fn note() -> Item {
    Item {
        target: ItemTarget::Note {
            scope: NotebookScope::Project,
            session: String::new(),
            path: "lexer.md".to_owned(),
            line: 3,
        },
        citation: "memory/lexer.md".to_owned(),
        session: String::new(),
        who: "note".to_owned(),
        text: "lexer: identifiers follow the XID rules".to_owned(),
        card: String::new(),
        ..hit("")
    }
}

pub fn contents_page(node: &str, parent: Option<&str>, children: &[&str]) -> ContentsPage {
    let child = |id: &&str| Item {
        target: ItemTarget::Node((*id).to_owned()),
        citation: (*id).to_owned(),
        when: id.rsplit(':').next().unwrap_or_default().to_owned(),
        who: "804 events".to_owned(),
        text: "Unicode identifiers".to_owned(),
        ..hit("")
    };
    ContentsPage {
        node: node.to_owned(),
        period: node.rsplit(':').next().unwrap_or_default().to_owned(),
        parent: parent.map(str::to_owned),
        items: children.iter().map(child).collect(),
        notice: String::new(),
    }
}

pub fn resume_command() -> ResumeCommand {
    ResumeCommand {
        session: "419f42f0".to_owned(),
        project: "/home/dev/app".to_owned(),
        title: "Accept unicode identifiers in the lexer".to_owned(),
        folder: "/home/dev/app".to_owned(),
        command: "claude --resume 419f42f0-2fa1-44cc-8b4d-babf59901513".to_owned(),
        has_folder: true,
    }
}
