"""Prepares everything that training needs as arrays, so that no step waits for the CPU.

    python precompute.py tokens --teachers DIR --vocabulary FILE --out DIR --input PART.jsonl.xz
    python precompute.py sets --teachers DIR --vocabulary FILE --out DIR --input SETS
    python precompute.py vectors --teachers DIR --out DIR
"""

import argparse
import json
import pickle
import re
import time
from pathlib import Path

import numpy as np
import torch

from evaluate import evaluate, load_sets
from model import TextStore, embed_all, load_teacher, teacher_vectors
from texts import read_pairs, tokenize

# Name -> tokenizer and pooling.
TEACHERS = {"gte": ("bert", "mean"), "granite": ("granite", "cls")}
CROP_FROM_CHARS = 400
CLUSTERS = 2048
FOREIGN = re.compile(r"[^\x00-\u024f\u2000-\u2bff\U0001f000-\U0001faff]")


def tokenizers(options) -> dict[str, str]:
    return {name: str(options.teachers / f"{name}-tokenizer.json") for name in ("bert", "granite")}


def save_tokens(path: Path, tokens: dict, **arrays) -> None:
    named = {f"{name}.{kind}": array for name, pair in tokens.items() for kind, array in zip(("ids", "lengths"), pair)}
    np.savez(path, **named, **arrays)


def make_tokens(options) -> None:
    """Texts of a part: all left sides, all right sides, then the second halves of long right sides:
    what answers a question is often at the end."""
    started = time.time()
    pairs = read_pairs(options.path)
    crops, crop_of = [], []
    for number, (_, _, right) in enumerate(pairs):
        if len(right) > CROP_FROM_CHARS:
            space = right.find(" ", len(right) // 2)
            crops.append(right[max(space, len(right) // 2) :])
            crop_of.append(number)
    texts = [pair[1] for pair in pairs] + [pair[2] for pair in pairs] + crops
    tokens = tokenize(texts, options.vocabulary.read_text(encoding="utf-8").split("\n"), tokenizers(options))
    # The teachers know English: they have no say on pairs that are mostly in other scripts.
    foreign = np.array([3 * len(FOREIGN.findall(left + right)) > len(left + right) for _, left, right in pairs])
    name = options.path.name.split(".")[0]
    save_tokens(
        options.out / f"tokens-{name}.npz",
        tokens,
        crop_of=np.array(crop_of, np.int64),
        foreign=foreign,
        sources=np.array([pair[0] for pair in pairs]),
    )
    print(name, len(pairs), "pairs", len(texts), "texts", f"{time.time() - started:.0f} s", flush=True)


def make_sets(options) -> None:
    sets = load_sets(options.path)
    texts = [text for one in sets for text in one.texts]
    tokens = tokenize(texts, options.vocabulary.read_text(encoding="utf-8").split("\n"), tokenizers(options))
    save_tokens(options.out / "sets.npz", tokens)
    (options.out / "sets.pickle").write_bytes(pickle.dumps(sets))
    print(len(texts), "texts to evaluate", flush=True)


def fit_teacher_weights(vectors: list[torch.Tensor], lefts: np.ndarray, rights: np.ndarray) -> list[float]:
    """Weights of the teachers' similarities in the logits that best tell which right side belongs to
    which left side: their combined temperature."""
    logs = torch.full((len(vectors),), 2.5, device=vectors[0].device, requires_grad=True)
    optimizer = torch.optim.Adam([logs], 0.05)
    generator = np.random.default_rng(5)
    for _ in range(150):
        chosen = generator.choice(len(lefts), min(1024, len(lefts)), replace=False)
        logits = 0
        for log, rows in zip(logs, vectors):
            left, right = (rows[torch.from_numpy(side[chosen]).to(rows.device)].float() for side in (lefts, rights))
            logits = logits + log.exp() * (left @ right.T)
        target = torch.arange(len(chosen), device=logits.device)
        loss = torch.nn.functional.cross_entropy(logits, target) + torch.nn.functional.cross_entropy(logits.T, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("teacher weights", logs.exp().tolist(), "loss", loss.item() / 2, flush=True)
    return logs.exp().tolist()


@torch.no_grad()
def find_clusters(points: torch.Tensor, count: int) -> np.ndarray:
    """Spherical k-means."""
    count = max(1, min(count, len(points) // 64))
    generator = torch.Generator().manual_seed(7)
    centres = points[torch.randperm(len(points), generator=generator)[:count].to(points.device)].float()
    for _ in range(8):
        centres = torch.nn.functional.normalize(centres, dim=1).half()
        nearest = torch.cat([(block @ centres.T).argmax(1) for block in points.split(65536)])
        centres = torch.zeros(count, points.shape[1], device=points.device)
        for block, places in zip(points.split(65536), nearest.split(65536)):
            centres.index_add_(0, places, block.float())
    return nearest.cpu().numpy()


def make_vectors(options) -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    torch.backends.cuda.matmul.allow_tf32 = True
    parts = [np.load(path) for path in sorted(options.out.glob("tokens-*.npz"))]
    counts = [len(part["foreign"]) for part in parts]
    base = np.concatenate([[0], np.cumsum([len(part["student.lengths"]) for part in parts])])
    lefts = np.concatenate([start + np.arange(count) for start, count in zip(base, counts)])
    rights = np.concatenate([start + count + np.arange(count) for start, count in zip(base, counts)])
    crops = np.full(len(lefts), -1)
    pair_base = np.concatenate([[0], np.cumsum(counts)])
    for part, start, count, pair_start in zip(parts, base, counts, pair_base):
        crop_of = part["crop_of"]
        crops[pair_start + crop_of] = start + 2 * count + np.arange(len(crop_of))
    foreign = np.concatenate([part["foreign"] for part in parts])
    sources = np.concatenate([part["sources"] for part in parts])
    ids, lengths = (np.concatenate([part[f"student.{kind}"] for part in parts]) for kind in ("ids", "lengths"))
    print(len(lefts), "pairs", base[-1], "texts", len(ids), "tokens", dict(zip(*np.unique(sources, return_counts=True))), flush=True)

    sets, set_tokens = pickle.loads((options.out / "sets.pickle").read_bytes()), np.load(options.out / "sets.npz")
    vectors, results = [], {}
    for name, (tokenizer, pooling) in TEACHERS.items():
        if not (options.teachers / f"{name}.npz").exists():
            continue
        started = time.time()
        weights = {key: value.to(dtype) for key, value in load_teacher(options.teachers / f"{name}.npz", device).items()}
        embed = lambda batch: teacher_vectors(weights, batch, pooling)
        store = TextStore(set_tokens[f"{tokenizer}.ids"], set_tokens[f"{tokenizer}.lengths"], device)
        results[name] = evaluate(name, sets, embed_all(store, embed, 384))
        store = TextStore(*(np.concatenate([part[f"{tokenizer}.{kind}"] for part in parts]) for kind in ("ids", "lengths")), device)
        rows = embed_all(store, embed, 384)
        vectors.append(rows)
        np.save(options.out / f"vectors-{name}.npy", rows.cpu().numpy())
        print(name, f"{time.time() - started:.0f} s", flush=True)

    taught = ~foreign
    scale = fit_teacher_weights(vectors, lefts[taught], rights[taught])
    points = torch.cat([rows[torch.from_numpy(lefts).to(device)] + rows[torch.from_numpy(rights).to(device)] for rows in vectors], 1)
    clusters = find_clusters(torch.nn.functional.normalize(points.float(), dim=1).half() if device == "cpu" else torch.nn.functional.normalize(points, dim=1), CLUSTERS)
    np.savez(options.out / "pairs.npz", lefts=lefts, rights=rights, crops=crops, foreign=foreign, sources=sources,
             clusters=clusters, ids=ids, lengths=lengths, teachers=np.array(list(results)), scale=np.array(scale))
    (options.out / "teachers.json").write_text(json.dumps(results))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("tokens", "sets", "vectors"))
    parser.add_argument("--teachers", type=Path, required=True)
    parser.add_argument("--vocabulary", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--input", dest="path", type=Path)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    {"tokens": make_tokens, "sets": make_sets, "vectors": make_vectors}[options.what](options)


if __name__ == "__main__":
    main()
