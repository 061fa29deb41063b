"""Measures how well vectors alone find the right documents of a retrieval set.

A set is a folder with `docs.jsonl` (id, text, group), `queries.jsonl` (id, text, group) and `qrels.tsv`
(query, document), each possibly gzipped. A query searches the documents of its group. Documents are cut
into overlapping chunks; the best chunk counts.
"""

import gzip
import json
from pathlib import Path

import numpy as np
import torch

CHUNK_CHARS = 900
OVERLAP_CHARS = 150
DEPTHS = (1, 5, 10)


def read_lines(folder: Path, name: str) -> list[str]:
    zipped = folder / f"{name}.gz"
    if zipped.exists():
        return gzip.decompress(zipped.read_bytes()).decode().split("\n")
    return (folder / name).read_text(encoding="utf-8").split("\n")


def cut(text: str) -> list[str]:
    if len(text) <= CHUNK_CHARS + 2 * OVERLAP_CHARS:
        return [text]
    return [text[start : start + CHUNK_CHARS + OVERLAP_CHARS] for start in range(0, len(text), CHUNK_CHARS)]


class RetrievalSet:
    """One set. Its texts are the chunks of all documents, then the queries that have an answer."""

    def __init__(self, folder: Path):
        self.name = folder.name.removesuffix("-dev")
        docs = [json.loads(line) for line in read_lines(folder, "docs.jsonl") if line]
        gold: dict[str, set[str]] = {}
        for line in read_lines(folder, "qrels.tsv"):
            if line:
                query, doc = line.split("\t")[:2]
                gold.setdefault(query, set()).add(doc)
        queries = [json.loads(line) for line in read_lines(folder, "queries.jsonl") if line]
        queries = [query for query in queries if gold.get(query["id"])]
        groups: dict[str, list[int]] = {}
        for number, doc in enumerate(docs):
            groups.setdefault(doc.get("group") or "", []).append(number)
        chunks = [cut(doc["text"]) for doc in docs]
        first = np.concatenate([[0], np.cumsum([len(parts) for parts in chunks])])
        self.texts = [part for parts in chunks for part in parts] + [query["text"] for query in queries]
        self.groups = []
        for group, members in groups.items():
            asked = [number for number, query in enumerate(queries) if (query.get("group") or "") == group]
            if asked:
                self.groups.append(
                    (
                        np.concatenate([np.arange(first[doc], first[doc + 1]) for doc in members]),
                        np.concatenate([np.full(len(chunks[doc]), place) for place, doc in enumerate(members)]),
                        np.array(asked) + int(first[-1]),
                        [{place for place, doc in enumerate(members) if docs[doc]["id"] in gold[queries[number]["id"]]}
                         for number in asked],
                        [len(gold[queries[number]["id"]]) for number in asked],
                    )
                )

    def recall(self, vectors: torch.Tensor) -> list[float]:
        """Mean share of the right documents among the first 1, 5 and 10."""
        sums, asked_total = np.zeros(len(DEPTHS)), 0
        for chunk_rows, chunk_places, query_rows, gold, gold_counts in self.groups:
            queries = vectors[torch.from_numpy(query_rows).to(vectors.device)]
            chunks = vectors[torch.from_numpy(chunk_rows).to(vectors.device)]
            places = torch.from_numpy(chunk_places).to(vectors.device)
            best = torch.full((len(queries), int(chunk_places.max()) + 1), -9.0, device=vectors.device)
            best.scatter_reduce_(1, places.expand(len(queries), -1), queries @ chunks.T, "amax")
            ranked = best.topk(min(max(DEPTHS), best.shape[1]), 1).indices.cpu().tolist()
            for order, right, count in zip(ranked, gold, gold_counts):
                sums += [len(right.intersection(order[:depth])) / count for depth in DEPTHS]
            asked_total += len(queries)
        return (sums / asked_total).tolist()


def load_sets(folder: Path) -> list[RetrievalSet]:
    return [RetrievalSet(path) for path in sorted(folder.iterdir()) if path.is_dir()]


def evaluate(name: str, sets: list[RetrievalSet], vectors: torch.Tensor) -> dict[str, list[float]]:
    """`vectors` holds one row per text of all sets, in order. Prints one line; returns recall per set."""
    results, start = {}, 0
    vectors = torch.nn.functional.normalize(vectors.float(), dim=1)
    for one in sets:
        results[one.name] = one.recall(vectors[start : start + len(one.texts)])
        start += len(one.texts)
    cells = " | ".join(
        f"{one[:8]} " + "/".join(f"{value:.3f}"[1:] for value in values) for one, values in results.items()
    )
    print(f"{name:18s} {cells}", flush=True)
    return results
