"""Reads pairs and tokenizes texts."""

import bz2
import json
import lzma
import os
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from model import CLS, SEP, SPECIAL_TOKENS

MAX_TOKENS = 256


def read_pairs(path: Path) -> list[tuple[str, str, str]]:
    """Reads `[source, left, right]` lines."""
    opener = {".xz": lzma.open, ".bz2": bz2.open}.get(path.suffix, open)
    with opener(path, "rt", encoding="utf-8") as lines:
        return [tuple(json.loads(line)) for line in lines]


def student_tokenizer(vocabulary: list[str]) -> Tokenizer:
    """BERT-uncased's rules over our vocabulary. Special tokens in a text are plain text."""
    tokenizer = Tokenizer(
        models.WordPiece(
            {token: index for index, token in enumerate(vocabulary)},
            unk_token="[UNK]",
            max_input_chars_per_word=100,
        )
    )
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def student_ids(tokenizer: Tokenizer, text: str, limit: int = MAX_TOKENS) -> list[int]:
    """Unknown words are dropped. An empty list stands for a text without a known token."""
    ids = [index for index in tokenizer.encode(text).ids if index >= len(SPECIAL_TOKENS)]
    return [CLS, *ids[: limit - 2], SEP] if ids else []


_worker: dict = {}


def _start_worker(vocabulary: list[str], teachers: dict[str, str]) -> None:
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    _worker["student"] = student_tokenizer(vocabulary)
    for name, path in teachers.items():
        tokenizer = Tokenizer.from_file(path)
        tokenizer.no_padding()
        tokenizer.enable_truncation(MAX_TOKENS)
        _worker[name] = tokenizer


def _tokenize(texts: list[str]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    result = {}
    for name, tokenizer in _worker.items():
        if name == "student":
            lists = [student_ids(tokenizer, text) or [CLS, SEP] for text in texts]
        else:
            lists = [encoding.ids for encoding in tokenizer.encode_batch(texts)]
        lengths = np.fromiter(map(len, lists), np.uint16, len(lists))
        ids = np.fromiter((i for one in lists for i in one), np.uint16, int(lengths.sum()))
        result[name] = (ids, lengths)
    return result


def tokenize(
    texts: list[str], vocabulary: list[str], teachers: dict[str, str], processes: int = int(os.environ.get("PROCESSES", 16))
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Token ids of all texts, joined, and the length of each, for the student and for every teacher
    tokenizer (name -> tokenizer.json)."""
    chunks = [texts[start : start + 4000] for start in range(0, len(texts), 4000)]
    with Pool(processes, _start_worker, (vocabulary, teachers)) as pool:
        parts = pool.map(_tokenize, chunks, chunksize=1)
    return {
        name: tuple(np.concatenate([part[name][side] for part in parts]) for side in (0, 1))
        for name in ("student", *teachers)
    }
