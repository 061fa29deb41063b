"""Combines files of pairs into one deduplicated, shuffled set, split into bzip2 parts.

    combine.py PARTS_FOLDER FILE.jsonl[:LIMIT]... --part-pairs 260000

bzip2 packs this text as well as xz at its default level and takes a tenth of the time.
"""

import argparse
import bz2
import collections
import json
import os
import random
import re
import unicodedata

from common import cut

NOT_WORD = re.compile(r"[\W_]+")


def fingerprint(text):
    """Normal form of a text: case, punctuation and spaces do not count."""
    return hash(NOT_WORD.sub(" ", unicodedata.normalize("NFKC", text).lower()).strip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--part-pairs", type=int, default=260_000)
    parser.add_argument("--exclude", nargs="*", default=[], help="files of pairs that are left out")
    parser.add_argument("--right-limit", type=int, default=1200, help="longest passage, in characters")
    parser.add_argument("--pairs-out", help="folder for the deduplicated pairs, one file per input")
    args = parser.parse_args()
    lefts, rights, counts = set(), set(), collections.Counter()
    for path in args.exclude:
        with open(path, encoding="utf-8") as file:
            for line in file:
                _, left, right = json.loads(line)
                lefts.add(fingerprint(left))
                rights.add(fingerprint(right))
    if args.pairs_out:
        os.makedirs(args.pairs_out, exist_ok=True)
    randomness, kept = random.Random(7), []
    for spec in args.files:
        path, _, limit = spec.partition(":")
        with open(path, encoding="utf-8") as file:
            lines = file.readlines()
        randomness.shuffle(lines)
        taken = []
        for line in lines:
            if limit and len(taken) >= int(limit):
                break
            try:
                source, left, right = json.loads(line)
            except ValueError:
                continue
            a, b = fingerprint(left), fingerprint(right)
            if a in lefts or b in rights or a in rights or b in lefts:
                continue
            lefts.add(a)
            rights.add(b)
            counts[source] += 1
            taken.append(json.dumps([source, left, cut(right, args.right_limit)], ensure_ascii=False) + "\n")
        kept.extend(taken)
        if args.pairs_out:
            with open(os.path.join(args.pairs_out, os.path.basename(path)), "w", encoding="utf-8") as out:
                out.writelines(taken)
    randomness.shuffle(kept)
    for part, start in enumerate(range(0, len(kept), args.part_pairs)):
        name = os.path.join(args.parts, f"part{part}.jsonl.bz2")
        with bz2.open(name, "wt", encoding="utf-8") as file:
            file.writelines(kept[start : start + args.part_pairs])
        print(name, os.path.getsize(name), flush=True)
    print(len(kept), dict(counts.most_common()))


if __name__ == "__main__":
    main()
