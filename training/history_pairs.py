"""Pairs from git histories: a commit's subject → what it changed, or → its message body.

    history_pairs.py MIRRORS_FOLDER OUT.jsonl OWNER+NAME...
"""

import argparse
import re
import subprocess

from chat_pairs import git_dir
from common import PairWriter, stable

NOISE = re.compile(r"^(merge|bump|release|revert \"|version|update dependenc|chore\(deps\)|build\(deps|\[?auto|sync |update translations|changelog|deps?:|fix typo|typo|wip|v?\d+\.)", re.IGNORECASE)
SKIPPED_FILE = re.compile(r"(lock|\.snap|\.svg|\.min\.js|go\.sum|\.po|\.stderr|\.stdout|CHANGELOG.*|package\.json)$")
TRAILER = re.compile(r"^(signed-off-by|co-authored-by|reviewed-by|acked-by|closes|fixes|refs?|see also|cc|change-id|helped-by|tested-by)\b.*", re.IGNORECASE | re.MULTILINE)


def commits(place, count):
    form = "--format=%x1e%s%x1f%b%x1f"
    command = ["git", "-C", place, "log", "-p", "-U1", "--no-merges", "--no-renames", f"-{count}", form]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    buffer = ""
    for block in iter(lambda: process.stdout.read(1 << 20), b""):
        buffer += block.decode("utf-8", "replace")
        *whole, buffer = buffer.split("\x1e")
        yield from whole
    process.wait()
    yield buffer


def change(diff):
    """A short form of a diff: per file its name and its changed lines, 1,200 characters in all."""
    parts, size = [], 0
    for file in diff.split("\ndiff --git ")[:7]:
        name = re.search(r"^\+\+\+ b/(.+)$", file, re.MULTILINE)
        if not name or SKIPPED_FILE.search(name.group(1)) or "Binary files" in file[:400]:
            continue
        lines = [f"{name.group(1)}:"]
        for line in file.splitlines():
            if line.startswith(("+", "-")) and not line.startswith(("+++", "---")) and line[1:].strip():
                lines.append(line[:160])
            if len(lines) > 16:
                break
        parts.append("\n".join(lines))
        size += len(parts[-1])
        if size > 1200:
            break
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mirrors")
    parser.add_argument("out")
    parser.add_argument("repositories", nargs="+")
    parser.add_argument("--per-repository", type=int, default=5000)
    args = parser.parse_args()
    writer = PairWriter(args.out, "git-history", per_origin=args.per_repository)
    for name in args.repositories:
        place = git_dir(args.mirrors, name)
        for commit in commits(place, args.per_repository * 2) if place else []:
            subject, body, diff = (commit.split("\x1f", 2) + ["", ""])[:3]
            subject = re.sub(r"\s*\(#\d+\)$", "", subject.strip())
            if writer.full(name) or len(subject) < 15 or NOISE.match(subject):
                continue
            body = TRAILER.sub("", body).strip()
            what = change("\n" + diff.lstrip())
            if len(body) > 120 and stable(subject, 3) == 0:
                writer.add(subject, body, name)
            elif len(what) > 80:
                writer.add(subject, what, name)
    print(writer.origins)
    writer.close()


if __name__ == "__main__":
    main()
