"""Collects all training pairs: downloads the packages listed in packages/, extracts pairs, combines them.

    make_pairs.py WORK_FOLDER --mirrors MIRRORS_FOLDER

Needs pip, npm, cargo and, on a Debian 12 system, apt-get and dpkg-deb. MIRRORS_FOLDER holds a clone of each repository of
packages/repositories.txt in OWNER+NAME/repo. Every step leaves its result in WORK_FOLDER and is skipped if that exists.
"""

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
RIGHT_LIMIT = 820  # about 200 tokens: the student reads no more
# Largest number of pairs per file, in the order in which duplicates are decided.
LIMITS = {
    "dev-docs": None, "chat": None, "docsgit": 130_000, "docs": 120_000, "history": None, "rust": 110_000,
    "python": 160_000, "go": None, "dict": 140_000, "js": None,
}


def package_list(name):
    return [line for line in (HERE / "packages" / name).read_text().split("\n") if line]


def script(name, *arguments):
    subprocess.run([sys.executable, "-W", "ignore", str(HERE / name), *map(str, arguments)], check=True)


def download(folder, command, names, batch=1):
    """Downloads packages into a folder; a package that is gone is reported and left out."""
    if folder.exists():
        return
    folder.mkdir(parents=True)
    for at in range(0, len(names), batch):
        if subprocess.run([*command, *names[at : at + batch]], cwd=folder, check=False).returncode:
            print("not downloaded:", *names[at : at + batch], file=sys.stderr)


def download_crates(folder, names):
    """Unpacks crate sources into a folder by fetching a manifest per crate."""
    if folder.exists():
        return
    (folder / "manifest" / "src").mkdir(parents=True)
    (folder / "manifest" / "src" / "lib.rs").touch()
    for name in names:
        crate, version = name.split("@")
        manifest = f'[package]\nname = "collect"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\n{crate} = "={version}"\n'
        (folder / "manifest" / "Cargo.toml").write_text(manifest)
        (folder / "manifest" / "Cargo.lock").unlink(missing_ok=True)
        environment = {"CARGO_HOME": str(folder / "home")}
        subprocess.run(["env", *(f"{k}={v}" for k, v in environment.items()), "cargo", "fetch", "--quiet"], cwd=folder / "manifest", check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--mirrors", type=Path, required=True)
    parser.add_argument("--messages", type=Path, nargs="*", default=[], help="documents of retrieval sets, one per message")
    parser.add_argument("--sessions", type=Path, nargs="*", default=[], help="documents of retrieval sets, one per session")
    args = parser.parse_args()
    work, raw = args.work.resolve(), args.work.resolve() / "raw"
    raw.mkdir(parents=True, exist_ok=True)

    download(work / "wheels", ["pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--python-version", "3.12", "-d", "."], package_list("pypi.txt"))
    download(work / "npm", ["npm", "pack", "--silent", "--ignore-scripts"], package_list("npm.txt"))
    download(work / "debian-go", ["apt-get", "download", "-q"], package_list("debian-go.txt"), batch=40)
    download(work / "debian-docs", ["apt-get", "download", "-q"], package_list("debian-docs.txt"))
    download_crates(work / "crates", package_list("crates.txt"))
    crates = next((work / "crates" / "home" / "registry" / "src").iterdir())

    repositories = [line.split("\t") for line in package_list("repositories.txt")]
    histories = [name for name, use in repositories if use == "history"]
    documents = [f"{name}:{use}" for name, use in repositories if use not in ("history", "chat")]
    steps = {
        "python": ("code_pairs.py", "python", work / "wheels", "OUT", "--per-package", 1300),
        "rust": ("code_pairs.py", "rust", crates, "OUT", "--limit", 140_000, "--per-package", 500),
        "go": ("code_pairs.py", "go", work / "debian-go", "OUT", "--limit", 110_000, "--per-package", 400),
        "js": ("code_pairs.py", "js", work / "npm", "OUT", "--limit", 110_000, "--per-package", 700),
        "chat": ("chat_pairs.py", args.mirrors, "OUT"),
        "dict": ("dict_pairs.py", work / "debian-docs", "OUT"),
        "docs": ("docs_pairs.py", "debs", work / "debian-docs", "OUT"),
        "docsgit": ("docs_pairs.py", "git", args.mirrors, "OUT", *documents, "--per-origin", 25_000),
        "history": ("history_pairs.py", args.mirrors, "OUT", *histories, "--per-repository", 4500),
        "dev-docs": ("sessions_pairs.py", "OUT", "--messages", *args.messages, "--sessions", *args.sessions),
    }
    for name, (program, *arguments) in steps.items():
        out = raw / f"{name}.jsonl"
        if not out.exists():
            script(program, *(out if argument == "OUT" else argument for argument in arguments))

    files = [str(raw / f"{name}.jsonl") + (f":{limit}" if limit else "") for name, limit in LIMITS.items()]
    (work / "parts").mkdir(exist_ok=True)
    script("combine.py", work / "parts", *files, "--right-limit", RIGHT_LIMIT, "--pairs-out", work / "pairs")


if __name__ == "__main__":
    main()
