//! The fields of the index.
//!
//! | field | content | indexed as |
//! | --- | --- | --- |
//! | text | stemmed words, and characters of scripts without spaces | frequencies, lengths |
//! | identifiers | complete identifiers, error codes, hashes, versions | documents only |
//! | paths | paths, their suffixes, file names | documents only |
//! | title, keywords | stemmed words | documents only |
//! | key | name of a named record | documents only, column |
//! | project, session, agent, kind, source | verbatim | documents only |
//! | seq, from, to, line, at, source | numbers | columns |
//!
//! Nothing is stored and there are no positions: the texts remain in the ledger and the notebooks.

use tantivy::TantivyDocument;
use tantivy::schema::{
    FAST, Field, IndexRecordOption, NumericOptions, Schema, SchemaBuilder, TextFieldIndexing,
    TextOptions,
};
use tantivy::tokenizer::{TextAnalyzer, TokenizerManager, WhitespaceTokenizer};

use tome_text::{TokenKind, stem, tokenize};

use crate::{EntryKey, IndexEntry};

/// Names of columns, which tantivy looks up by name.
pub(crate) mod column {
    pub(crate) const KEY: &str = "key";
    pub(crate) const SEQ: &str = "seq";
    pub(crate) const FROM: &str = "from";
    pub(crate) const TO: &str = "to";
    pub(crate) const LINE: &str = "line";
    pub(crate) const AT: &str = "at";
    pub(crate) const SOURCE: &str = "source";
}

/// Terms separated by white space; words are stemmed beforehand.
const SEPARATED: &str = "separated";
/// The whole value is one term.
const RAW: &str = "raw";

#[derive(Debug, Clone, Copy)]
pub(crate) struct IndexFields {
    pub(crate) text: Field,
    pub(crate) identifiers: Field,
    pub(crate) paths: Field,
    pub(crate) title: Field,
    pub(crate) keywords: Field,
    pub(crate) key: Field,
    pub(crate) project: Field,
    pub(crate) session: Field,
    pub(crate) agent: Field,
    pub(crate) kind: Field,
    pub(crate) source: Field,
    seq: Field,
    from: Field,
    to: Field,
    line: Field,
    at: Field,
}

impl IndexFields {
    /// Returns the fields and their schema, which are always the same.
    pub(crate) fn new() -> (Self, Schema) {
        let mut schema = Schema::builder();
        let counted = TextFieldIndexing::default()
            .set_tokenizer(SEPARATED)
            .set_index_option(IndexRecordOption::WithFreqs);
        let fields = Self {
            text: schema
                .add_text_field("text", TextOptions::default().set_indexing_options(counted)),
            identifiers: add_doc_only_field(&mut schema, "identifiers", SEPARATED),
            paths: add_doc_only_field(&mut schema, "paths", SEPARATED),
            title: add_doc_only_field(&mut schema, "title", SEPARATED),
            keywords: add_doc_only_field(&mut schema, "keywords", SEPARATED),
            key: schema.add_text_field(column::KEY, doc_only_options(RAW).set_fast(RAW)),
            project: add_doc_only_field(&mut schema, "project", RAW),
            session: add_doc_only_field(&mut schema, "session", RAW),
            agent: add_doc_only_field(&mut schema, "agent", RAW),
            kind: add_doc_only_field(&mut schema, "kind", RAW),
            source: schema
                .add_u64_field(column::SOURCE, NumericOptions::default().set_indexed().set_fast()),
            seq: schema.add_u64_field(column::SEQ, FAST),
            from: schema.add_u64_field(column::FROM, FAST),
            to: schema.add_u64_field(column::TO, FAST),
            line: schema.add_u64_field(column::LINE, FAST),
            at: schema.add_u64_field(column::AT, FAST),
        };
        (fields, schema.build())
    }

    pub(crate) fn build_document(&self, entry: &IndexEntry) -> TantivyDocument {
        let mut document = TantivyDocument::default();
        self.add_terms(entry, &mut document);
        for (field, value) in [
            (self.project, &entry.project),
            (self.session, &entry.session),
            (self.agent, &entry.agent),
            (self.kind, &entry.kind),
        ] {
            document.add_text(field, value);
        }
        match &entry.key {
            EntryKey::Event(seq) => document.add_u64(self.seq, *seq),
            EntryKey::Named(name) => document.add_text(self.key, name),
        }
        document.add_u64(self.source, entry.source as u64);
        document.add_u64(self.from, entry.range.from.into());
        document.add_u64(self.to, entry.range.to.into());
        document.add_u64(self.line, entry.line.into());
        document.add_u64(self.at, entry.at.0);
        document
    }

    fn add_terms(&self, entry: &IndexEntry, document: &mut TantivyDocument) {
        let mut field_terms = FieldTerms::default();
        field_terms.push_text(&entry.text);
        document.add_text(self.text, &field_terms.words);
        // A title's identifiers and paths go into the same fields as the text's; its words have
        // their own field.
        for (field, text) in [(self.title, &entry.title), (self.keywords, &entry.keywords)] {
            if !text.is_empty() {
                field_terms.words.clear();
                field_terms.push_text(text);
                document.add_text(field, &field_terms.words);
            }
        }
        for (field, terms) in
            [(self.identifiers, &field_terms.identifiers), (self.paths, &field_terms.paths)]
        {
            if !terms.is_empty() {
                document.add_text(field, terms);
            }
        }
    }
}

/// Space-separated terms per field.
#[derive(Default)]
struct FieldTerms {
    words: String,
    identifiers: String,
    paths: String,
}

impl FieldTerms {
    fn push_text(&mut self, text: &str) {
        tokenize(text, &mut |kind, term| {
            let field = match kind {
                TokenKind::Word | TokenKind::Character => {
                    self.words.push_str(&stem(term));
                    &mut self.words
                }
                TokenKind::Identifier => {
                    self.identifiers.push_str(term);
                    &mut self.identifiers
                }
                TokenKind::Path => {
                    self.paths.push_str(term);
                    &mut self.paths
                }
            };
            field.push(' ');
        });
    }
}

fn doc_only_options(analyzer: &str) -> TextOptions {
    TextOptions::default().set_indexing_options(
        TextFieldIndexing::default()
            .set_tokenizer(analyzer)
            .set_index_option(IndexRecordOption::Basic)
            .set_fieldnorms(false),
    )
}

fn add_doc_only_field(schema: &mut SchemaBuilder, name: &str, analyzer: &str) -> Field {
    schema.add_text_field(name, doc_only_options(analyzer))
}

pub(crate) fn build_analyzers() -> TokenizerManager {
    let analyzers = TokenizerManager::default();
    analyzers.register(SEPARATED, TextAnalyzer::from(WhitespaceTokenizer::default()));
    analyzers
}
