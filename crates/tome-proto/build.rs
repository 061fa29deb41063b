//! Compiles the .proto files with protox, so that building needs no protoc.

use std::path::PathBuf;

use prost::Message;

#[expect(clippy::disallowed_methods, reason = "a build output needs no durable write")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files = [
        "event",
        "capture",
        "events",
        "daemon",
        "tools",
        "notebook",
        "contents",
        "recall",
        "citation",
        "injection",
        "models",
        "reflect",
        "finder",
    ]
    .map(|name| format!("proto/tome/v1/{name}.proto"));
    println!("cargo::rerun-if-changed=proto");
    let described = protox::compile(&files, ["proto"])?;
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("tome.bin"), described.encode_to_vec())?;
    tonic_prost_build::configure().compile_fds(described)?;
    Ok(())
}
