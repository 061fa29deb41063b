"""Pairs from dictionaries of Debian packages (dictd format, WordNet, fortunes): a question about a word → its definition.

    dict_pairs.py DEBS_FOLDER OUT.jsonl
"""

import argparse
import gzip
import os
import re

from common import PairWriter, deb_files, squeeze, stable, tidy

ALPHABET = {c: i for i, c in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")}
ASK = ["what is {w}?", "what does {w} mean?", "{w}", "define {w}", "meaning of {w}", "what is meant by {w}", "explain {w}", "{w} definition"]
LIMITS = {"dict-gcide": 45_000, "dict-foldoc": 20_000, "dict-jargon": 6_000, "dict-de-en": 9_000}


def number(code):
    value = 0
    for c in code:
        value = value * 64 + ALPHABET[c]
    return value


def dictd_entries(path):
    """Yields (headword, text) of the dictionary in a package."""
    files = dict(deb_files(path, lambda n: n.endswith((".index", ".dict.dz", ".dict")), 10**8))
    for name, data in files.items():
        if not name.endswith(".index"):
            continue
        stem = name.removesuffix(".index")
        body = files.get(stem + ".dict.dz")
        text = gzip.decompress(body) if body else files.get(stem + ".dict", b"")
        for line in data.decode("utf-8", "replace").splitlines():
            parts = line.split("\t")
            if len(parts) >= 3 and not parts[0].startswith("00"):
                start = number(parts[1])
                yield parts[0], text[start : start + number(parts[2])].decode("utf-8", "replace")


def ask(word):
    word = squeeze(word)
    return ASK[stable(word, len(ASK))].format(w=word)


def run_dictd(path, origin, writer):
    limit = LIMITS.get(origin, 7_000 if "freedict" in origin else 12_000)
    entries = sorted(dictd_entries(path), key=lambda e: stable(e[0] + e[1][:40], 1 << 30))
    for word, text in entries:
        if writer.origins.get(origin, 0) >= limit:
            break
        text = tidy(re.sub(r"[{}\\]", "", re.sub(r"\[1913 Webster\]|\[PJC\]|\[WordNet 1\.5\]|\[.{0,20}Webster.{0,10}\]", "", text)))
        if len(text) < 40 or len(word) < 3:
            continue
        quote = re.search(r"\n\s+([A-Z][^\n]{40,}(?:\n\s+[^\n]+)?)\s+--\w", text) if origin == "dict-gcide" else None
        if quote and stable(word, 3) == 0:
            writer.add(quote.group(1), text.replace(quote.group(1), ""), origin, origin)
            continue
        writer.add(ask(word) if len(word) < 60 else word, text, origin, origin)


def run_wordnet(path, writer):
    """Definition and usage example of every synset; a hyponym asked by its more general word."""
    for name, data in deb_files(path, lambda n: re.search(r"/data\.(noun|verb|adj|adv)$", n), 10**8):
        for line in data.decode("utf-8", "replace").splitlines():
            if line.startswith("  ") or " | " not in line:
                continue
            head, gloss = line.split(" | ", 1)
            fields = head.split()
            words = [fields[4 + 2 * i].replace("_", " ") for i in range(int(fields[3], 16))]
            words = [re.sub(r"\(\w+\)$", "", w) for w in words]
            examples = re.findall(r'"([^"]+)"', gloss)
            definition = re.sub(r';?\s*"[^"]*"', "", gloss).strip(" ;")
            form = stable(gloss, 3)
            if examples and form == 0:
                writer.add(examples[0], f"{', '.join(words)}: {definition}", "wordnet", "wordnet")
            elif form == 1:
                writer.add(definition, ", ".join(words) + (": " + "; ".join(examples) if examples else f" ({fields[2]})"), "wordnet", "wordnet")
            elif len(definition) > 24:
                writer.add(ask(words[0]), f"{', '.join(words)}: {gloss.strip()}", "wordnet", "wordnet")


def run_fortunes(path, origin, writer):
    """A saying's first sentence → the rest of it."""
    for name, data in deb_files(path, lambda n: "/fortunes/" in n and not n.endswith((".dat", ".u8"))):
        for piece in re.split(r"\n%\n", data.decode("utf-8", "replace")):
            sentences = re.split(r"(?<=[.!?])\s+", tidy(piece), maxsplit=1)
            if len(sentences) == 2 and len(sentences[1]) > 60:
                writer.add(sentences[0], sentences[1], origin, "fortunes")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("debs")
    parser.add_argument("out")
    args = parser.parse_args()
    writer = PairWriter(args.out, "dictionary", per_origin=60_000)
    for deb in sorted(os.listdir(args.debs)):
        origin, path = deb.split("_")[0], os.path.join(args.debs, deb)
        if origin == "wordnet-base":
            run_wordnet(path, writer)
        elif origin == "dict-wn":
            continue
        elif origin.startswith("dict-"):
            run_dictd(path, origin, writer)
        elif origin.startswith("fortunes"):
            run_fortunes(path, origin, writer)
    print(writer.origins)
    writer.close()


if __name__ == "__main__":
    main()
