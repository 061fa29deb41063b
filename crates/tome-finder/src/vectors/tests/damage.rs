//! Truncated, corrupt and unfinished files.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;

use super::{Numbers, SENTENCES, builtin, event, note, put, with_sentences};
use crate::{EmbedError, Embedder, EntryFilter, FinderError, IndexBatch, IndexHit, VectorIndex};

fn answer(index: &VectorIndex) -> Vec<IndexHit> {
    index.search("drop the table", &EntryFilter::default(), 20).unwrap()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for file in fs::read_dir(from).unwrap().flatten() {
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

#[test]
fn opening_an_empty_folder_reports_missing() {
    let folder = TempDir::new().unwrap();
    let missing = |path: &Path| {
        assert!(
            matches!(VectorIndex::open(path, builtin()), Err(FinderError::Missing(_))),
            "{path:?}"
        );
    };
    missing(&folder.path().join("nowhere"));
    missing(folder.path());
    overwrite(&folder.path().join("log-1"), b"foreign");
    missing(folder.path());
    let file = folder.path().join("log-1");
    assert!(VectorIndex::open(&file, builtin()).is_err());
    // Creating replaces whatever is there.
    assert!(VectorIndex::create(&file, builtin()).unwrap().is_intact());
    assert!(VectorIndex::create(folder.path(), builtin()).unwrap().is_intact());
    assert!(!file.join("head").exists());
}

#[test]
fn an_index_of_another_embedder_is_rejected_by_name() {
    let folder = TempDir::new().unwrap();
    drop(with_sentences(folder.path()));
    let error =
        VectorIndex::open(folder.path(), Arc::new(Numbers { dimensions: 256 })).err().unwrap();
    let message = error.to_string();
    assert!(matches!(error, FinderError::Damaged { .. }));
    assert!(message.contains("tome-static") && message.contains("numbers/1"), "{message}");
}

#[test]
#[cfg(unix)]
fn index_files_are_readable_by_the_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("finder/vectors");
    drop(with_sentences(&path));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o700);
    for file in fs::read_dir(&path).unwrap().flatten() {
        assert_eq!(mode(&file.path()), 0o600, "{file:?}");
    }
}

/// An interrupted commit: tries every length that the files can have before the head changes.
#[test]
fn rows_beyond_the_committed_head_are_ignored() {
    let folder = TempDir::new().unwrap();
    let (before, after, torn) =
        (folder.path().join("before"), folder.path().join("after"), folder.path().join("torn"));
    let index = with_sentences(&before);
    index.write(put(vec![note("n", 0, "a wooden table")], "9")).unwrap();
    let expected = answer(&index);
    drop(index);
    copy(&before, &after);
    let index = VectorIndex::open(&after, builtin()).unwrap();
    let batch = put(vec![event(10, "drop the old table"), note("m", 0, "tables")], "10");
    index.write(IndexBatch { removed: vec!["n".to_owned()], ..batch.clone() }).unwrap();
    let now = answer(&index);
    assert_ne!(now, expected);
    for file in ["log-1", "signs-1", "levels-1"] {
        let (old, new) =
            (fs::metadata(before.join(file)).unwrap().len(), fs::read(after.join(file)).unwrap());
        for length in (usize::try_from(old).unwrap()..=new.len()).step_by(7) {
            copy(&after, &torn);
            fs::copy(before.join("head"), torn.join("head")).unwrap();
            fs::File::options()
                .write(true)
                .open(torn.join(file))
                .unwrap()
                .set_len(length as u64)
                .unwrap();
            let index = VectorIndex::open(&torn, builtin()).unwrap();
            assert_eq!((index.cursor().as_str(), index.entry_count()), ("9", 9));
            assert_eq!(answer(&index), expected);
            // The next commit overwrites the leftovers.
            index.write(IndexBatch { removed: vec!["n".to_owned()], ..batch.clone() }).unwrap();
            assert_eq!(answer(&index), now);
            assert_eq!(answer(&VectorIndex::open(&torn, builtin()).unwrap()), now);
        }
    }
}

#[test]
fn files_shorter_than_the_head_requires_are_damaged() {
    let folder = TempDir::new().unwrap();
    let (whole, cut) = (folder.path().join("whole"), folder.path().join("cut"));
    drop(with_sentences(&whole));
    for file in ["head", "log-1", "signs-1", "levels-1"] {
        let bytes = fs::metadata(whole.join(file)).unwrap().len();
        copy(&whole, &cut);
        for length in (0..bytes).rev() {
            fs::File::options().write(true).open(cut.join(file)).unwrap().set_len(length).unwrap();
            let opened = VectorIndex::open(&cut, builtin());
            assert!(matches!(opened, Err(FinderError::Damaged { .. })), "{file} of {length} bytes");
        }
        fs::remove_file(cut.join(file)).unwrap();
        assert!(VectorIndex::open(&cut, builtin()).is_err(), "{file}");
    }
}

/// Detected on open, or when the row is among the best candidates.
#[test]
fn a_changed_byte_is_detected() {
    let folder = TempDir::new().unwrap();
    let (whole, changed) = (folder.path().join("whole"), folder.path().join("changed"));
    drop(with_sentences(&whole));
    copy(&whole, &changed);
    for file in ["head", "log-1", "signs-1", "levels-1"] {
        let bytes = fs::read(whole.join(file)).unwrap();
        for i in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[i] ^= 1 << (i % 8);
            overwrite(&changed.join(file), &bytes);
            let looked = VectorIndex::open(&changed, builtin())
                .and_then(|it| it.search("drop the table", &EntryFilter::default(), 20));
            let is_noticed = matches!(looked, Err(FinderError::Damaged { .. }));
            assert!(is_noticed, "byte {i} of {file}");
        }
        overwrite(&changed.join(file), &bytes);
    }
    assert!(VectorIndex::open(&changed, builtin()).unwrap().is_intact());
}

fn overwrite(path: &Path, bytes: &[u8]) {
    use std::io::Write;
    fs::File::create(path).unwrap().write_all(bytes).unwrap();
}

#[test]
fn an_interrupted_compaction_leaves_no_files() {
    let folder = TempDir::new().unwrap();
    drop(with_sentences(folder.path()));
    for stray in ["log-2", "signs-2", "levels-2", "head.new"] {
        overwrite(&folder.path().join(stray), b"half");
    }
    overwrite(&folder.path().join("notes.txt"), b"unrelated");
    let index = VectorIndex::open(folder.path(), builtin()).unwrap();
    let files = fs::read_dir(folder.path()).unwrap().flatten();
    let mut names: Vec<_> = files.map(|it| it.file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["head", "levels-1", "log-1", "notes.txt", "signs-1"]);
    assert_eq!(index.entry_count(), 8);
}

#[test]
fn deleted_files_are_detected() {
    let folder = TempDir::new().unwrap();
    for file in ["head", "log-1", "signs-1", "levels-1", ""] {
        let path = folder.path().join("vectors");
        let index = with_sentences(&path);
        assert!(index.is_intact());
        if file.is_empty() {
            fs::remove_dir_all(&path).unwrap();
        } else {
            fs::remove_file(path.join(file)).unwrap();
        }
        assert!(!index.is_intact(), "{file}");
    }
    // A new index in the same folder is a different one.
    let path = folder.path().join("vectors");
    let index = with_sentences(&path);
    drop(VectorIndex::create(&path, builtin()).unwrap());
    assert!(!index.is_intact());
}

/// Fails, or returns unusable vectors.
struct Broken(EmbedFn);

type EmbedFn = fn(usize) -> Result<Vec<Vec<f32>>, EmbedError>;

impl Embedder for Broken {
    fn name(&self) -> &str {
        "broken"
    }

    fn dimensions(&self) -> usize {
        2
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        (self.0)(texts.len())
    }
}

#[test]
fn a_failing_embedder_leaves_the_index_unchanged() {
    let cases: [EmbedFn; 4] = [
        |_| Err(EmbedError { embedder: "broken".to_owned(), problem: "no".to_owned() }),
        |count| Ok(vec![vec![1.0, 0.0]; count + 1]),
        |count| Ok(vec![vec![1.0]; count]),
        |count| Ok(vec![vec![f32::INFINITY, 0.0]; count]),
    ];
    let folder = TempDir::new().unwrap();
    for case in cases {
        let index = VectorIndex::create(folder.path(), Arc::new(Broken(case))).unwrap();
        let result = index.write(put(vec![event(1, SENTENCES[0])], "1"));
        assert!(matches!(result, Err(FinderError::Embed(_))));
        assert_eq!((index.entry_count(), index.cursor().as_str()), (0, ""));
        assert!(index.search("x", &EntryFilter::default(), 1).is_err());
        // An empty batch does not call the embedder.
        index.write(put(Vec::new(), "2")).unwrap();
        assert_eq!(index.cursor(), "2");
    }
}
