//! The generated code in `src/generated` is committed, so that building Tome needs no code
//! generator. It must match the .proto files; after a change to them,
//! `UPDATE_EXPECT=1 cargo test -p tome-proto` regenerates it, before anything uses the new messages.

use prost::Message;

#[test]
#[expect(clippy::disallowed_methods, reason = "generated code needs no durable write")]
fn generated_code_matches_the_proto_files() {
    let root = std::path::absolute(".").unwrap();
    let files = std::fs::read_dir(root.join("proto/tome/v1")).unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    let descriptors = protox::compile(&files, [root.join("proto")]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let generator = tonic_prost_build::configure().out_dir(folder.path());
    generator.compile_fds(descriptors.clone()).unwrap();
    let code = std::fs::read(folder.path().join("tome.v1.rs")).unwrap();
    for (name, expected) in [("tome.v1.rs", code), ("descriptors.bin", descriptors.encode_to_vec())]
    {
        let path = root.join("src/generated").join(name);
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&path, &expected).unwrap();
        }
        let is_current = std::fs::read(&path).is_ok_and(|committed| committed == expected);
        assert!(is_current, "{name} is outdated: run UPDATE_EXPECT=1 cargo test -p tome-proto");
    }
}
