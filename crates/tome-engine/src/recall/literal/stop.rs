//! Words that hold a sentence together: in a question they count only when nothing else is there.
//!
//! A language is a table. To add one, write its table and name it in [`TABLES`]; leave out what is a
//! telling word in another language.

/// The tables, one a language; words in lower case, sorted by their bytes.
const TABLES: [&[&str]; 1] = [ENGLISH];

#[rustfmt::skip]
const ENGLISH: &[&str] = &[
    "a", "about", "all", "also", "am", "an", "and", "any", "are", "aren't", "as", "at", "be", "been",
    "being", "but", "by", "can", "can't", "could", "did", "didn't", "do", "does", "doesn't", "doing",
    "don't", "for", "from", "had", "has", "have", "having", "he", "her", "here", "hers", "him", "his",
    "how", "i", "i'd", "i'll", "i'm", "i've", "if", "in", "into", "is", "isn't", "it", "it's", "its",
    "itself", "just", "me", "my", "myself", "no", "nor", "not", "of", "on", "or", "our", "ours", "she",
    "should", "so", "some", "such", "than", "that", "that's", "the", "their", "theirs", "them", "then",
    "there", "there's", "these", "they", "this", "those", "to", "too", "us", "very", "was", "wasn't",
    "we", "were", "what", "what's", "when", "where", "which", "who", "whom", "whose", "why", "will",
    "with", "would", "you", "your", "yours",
];

/// Whether a word, in lower case, says nothing by itself.
pub(crate) fn is_stop(lower: &str) -> bool {
    TABLES.iter().any(|table| table.binary_search(&lower).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sorted() {
        for table in TABLES {
            assert!(table.is_sorted_by(|a, b| a < b));
        }
        assert!(is_stop("the") && is_stop("yours") && !is_stop("token"));
    }
}
