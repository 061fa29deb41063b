"""Chooses the student's vocabulary: that of BERT-uncased without its unused entries, plus frequent words
that it would split and frequent ideographs that it lacks.

    python vocabulary.py --base bert-tokenizer.json --out vocabulary.txt parts/*.jsonl.xz
"""

import argparse
import json
import math
import random
import re
import unicodedata
from collections import Counter, defaultdict
from pathlib import Path

from model import SPECIAL_TOKENS
from texts import read_pairs, student_tokenizer

WORD = re.compile(r"(?<!\w)[a-zа-я][a-zа-я0-9]{2,23}(?!\w)")
IDEOGRAPH = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--words", type=int, default=4000)
    parser.add_argument("--ideographs", type=int, default=3500)
    parser.add_argument("--sample", type=int, default=250_000, help="pairs to count words in")
    parser.add_argument("parts", nargs="+", type=Path)
    options = parser.parse_args()

    known = json.loads(options.base.read_text(encoding="utf-8"))["model"]["vocab"]
    ordered = sorted(known, key=known.get)
    vocabulary = list(SPECIAL_TOKENS)
    vocabulary += [token for token in ordered if token not in SPECIAL_TOKENS and not token.startswith("[unused")]

    pairs = [pair for part in options.parts for pair in read_pairs(part)]
    random.Random(1).shuffle(pairs)
    counts: dict[str, Counter] = defaultdict(Counter)
    ideographs: Counter = Counter()
    for position, (source, left, right) in enumerate(pairs):
        text = f"{left} {right}".lower()
        ideographs.update(IDEOGRAPH.findall(text))
        if position < options.sample:
            bare = "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
            counts[source].update(set(WORD.findall(bare)))

    # The square root keeps the largest source from filling the vocabulary; a word must occur in two.
    scores: dict[str, float] = defaultdict(float)
    spread: Counter = Counter()
    for counter in counts.values():
        for word, count in counter.items():
            scores[word] += math.sqrt(count)
            spread[word] += count >= 2
    tokenizer = student_tokenizer(vocabulary)
    present = set(vocabulary)
    added = []
    for word in sorted(scores, key=lambda word: (-scores[word], word)):
        if len(added) == options.words:
            break
        if word not in present and spread[word] >= 2 and len(tokenizer.encode(word).ids) > 1:
            added.append(word)
    new_ideographs = [
        character
        for character, count in sorted(ideographs.items(), key=lambda item: (-item[1], item[0]))
        if character not in present and count >= 3
    ][: options.ideographs]
    vocabulary += added + new_ideographs
    options.out.write_text("\n".join(vocabulary), encoding="utf-8")
    print(f"{len(vocabulary)} tokens, {len(added)} words and {len(new_ideographs)} ideographs added")
    print(" ".join(added[:60]), "…", " ".join(added[-60:]))


if __name__ == "__main__":
    main()
