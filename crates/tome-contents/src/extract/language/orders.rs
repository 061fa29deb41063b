//! Orders, which begin with what to do, and questions.

use crate::extract::language::text::{begins_with_any, is_mostly_cjk};

/// Whether a text begins with a request verb and is not a question.
pub fn is_order(text: &str) -> bool {
    begins_with_any(text, REQUEST_WORDS) && !is_question(text)
}

/// Whether a text begins with a question word, or is written without spaces.
pub(crate) fn is_question(text: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: &[&str] = &[
        "why", "how", "what", "where", "when", "which", "who", "is", "are", "does", "do", "did",
        "should", "can", "could", "was", "has", "почему", "как", "что", "где", "warum", "wie",
        "was",
    ];
    begins_with_any(text, WORDS) || is_mostly_cjk(text)
}

/// Words that begin a request.
#[rustfmt::skip]
pub(crate) const REQUEST_WORDS: &[&str] = &[
    "add", "address", "analyze", "apply", "build", "bump", "change", "check", "clean", "compare",
    "configure", "convert", "create", "debug", "delete", "deploy", "document", "drop", "explain",
    "extract", "figure", "find", "finish", "fix", "generate", "handle", "implement", "improve",
    "install", "investigate", "look", "make", "merge", "migrate", "move", "optimize", "port",
    "profile", "rebase", "redo", "refactor", "release", "remove", "rename", "replace", "resolve",
    "revert", "review", "rewrite", "run", "set", "show", "simplify", "speed", "split", "summarize",
    "support", "switch", "tell", "test", "trace", "translate", "try", "undo", "update", "upgrade",
    "use", "verify", "write", "why", "how", "what", "where", "when", "which", "who", "is", "are",
    "does", "do", "should", "исправь", "почини", "добавь", "сделай", "напиши", "перепиши",
    "проверь", "удали", "почему", "как", "посмотри", "объясни", "перенеси", "разберись", "baue",
    "füge", "schreibe", "warum", "wie", "erkläre", "prüfe", "behebe", "ajoute", "ajouter", "corrige",
    "crée", "créer", "fais", "supprime", "explique", "génère", "pourquoi", "comment", "agrega", "añade",
    "arregla", "crea", "haz", "elimina", "explica", "revisa", "por qué", "cómo", "adicione", "corrija",
    "crie", "faça", "remova", "analise", "ajuste", "leia", "thêm", "sửa", "tạo", "hãy",
];
