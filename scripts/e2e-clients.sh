#!/bin/sh
# Fetches the coding agents that the end-to-end tests drive, in exact versions, into a cache folder outside the
# repository: $TOME_E2E_CLIENTS, or tome-e2e-clients in the system's folder for temporary files. Writes
# NAME-VERSION/ for each (the unpacked npm package) and nothing else; what is there already is kept.
#
#   scripts/e2e-clients.sh                 claude, gemini, codex, copilot and opencode
#   scripts/e2e-clients.sh gemini          only this one
#
# Native packages are named directly: the wrappers want a newer Node than many machines have, and npm then picks an
# older version without a word.
set -eu

dir=${TOME_E2E_CLIENTS:-${TMPDIR:-/tmp}/tome-e2e-clients}

fetch() { # name, version, package as npm names it
    target=$dir/$1-$2
    if [ -d "$target" ]; then
        echo "$1 $2: there already ($target)"
        return
    fi
    work=$(mktemp -d "$dir/.fetch-XXXXXX")
    (cd "$work" && npm pack --silent "$3" >/dev/null && tar -xzf ./*.tgz && rm ./*.tgz)
    if ! grep -q "\"version\": *\"$2" "$work/package/package.json"; then
        rm -rf "$work"
        echo "$1: npm gave another version than $2 for $3" >&2
        exit 1
    fi
    mv "$work/package" "$target"
    rmdir "$work"
    echo "$1 $2: $target"
}

# OpenCode installs a package for its plugins before it starts: with a copy of it here, tests need no network.
fetch_opencode_config() { # version
    target=$dir/opencode-$1/config
    if [ -d "$target" ]; then
        return
    fi
    work=$(mktemp -d "$dir/.fetch-XXXXXX")
    (cd "$work" && npm install --silent --ignore-scripts --no-audit --no-fund --save-exact "@opencode-ai/plugin@$1")
    mv "$work" "$target"
}

one() {
    case $1 in
    claude) fetch claude 2.1.325 @anthropic-ai/claude-code-linux-x64@2.1.325 ;;
    gemini) fetch gemini 0.61.0 @google/gemini-cli@0.61.0 ;;
    codex) fetch codex 0.166.0 @openai/codex@0.166.0-linux-x64 ;;
    copilot) fetch copilot 1.0.102 @github/copilot-linux-x64@1.0.102 ;;
    opencode)
        fetch opencode 1.18.33 opencode-linux-x64@1.18.33
        fetch_opencode_config 1.18.33
        ;;
    *)
        echo "unknown client $1: claude, gemini, codex, copilot, opencode" >&2
        exit 2
        ;;
    esac
}

if [ "$(uname -sm)" != "Linux x86_64" ]; then
    echo "the packages named here are those for Linux on x86_64; this is $(uname -sm)" >&2
    exit 1
fi
mkdir -p "$dir"
if [ $# -eq 0 ]; then
    set -- claude gemini codex copilot opencode
fi
for name in "$@"; do
    one "$name"
done
