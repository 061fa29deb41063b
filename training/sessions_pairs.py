"""Pairs from the documents (never the queries) of retrieval sets: neighbouring messages of conversations.

    sessions_pairs.py OUT.jsonl --messages DOCS.jsonl... --sessions DOCS.jsonl...
"""

import argparse
import gzip
import json
import re

from common import PairWriter, cut, squeeze


def documents(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def add_neighbours(writer, texts, origin):
    for left, right in zip(texts, texts[1:]):
        left = re.sub(r"^(user|assistant): ", "", left)
        if 20 < len(left):
            writer.add(cut(squeeze(left), 300), right, origin)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--messages", nargs="*", default=[], help="one document per message, in order within its group")
    parser.add_argument("--sessions", nargs="*", default=[], help="one document per session, one line per turn")
    args = parser.parse_args()
    writer = PairWriter(args.out, "dev-docs", per_origin=9000)
    for path in args.messages:
        groups = {}
        for document in documents(path):
            groups.setdefault(document["group"], []).append(document["text"])
        for texts in groups.values():
            add_neighbours(writer, texts, path)
    for path in args.sessions:
        for document in documents(path):
            turns = [t for t in re.split(r"\n(?=user: |assistant: )" if "user: " in document["text"][:10] else r"\n", document["text"]) if len(t) > 30]
            if len(turns) > 1:
                writer.add(cut(squeeze(re.sub(r"^\w+: ", "", turns[0])), 300), "\n".join(turns[1:6]), path)
                add_neighbours(writer, turns[1:8], path)
    writer.close()


if __name__ == "__main__":
    main()
