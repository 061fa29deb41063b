"""Distils the teachers into one student: a token table, a deep encoder and a static one.

    python train.py --data DIR --teachers DIR --vocabulary FILE --steps 1460 --out DIR
"""

import argparse
import json
import pickle
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from evaluate import evaluate
from export import export
from model import SPECIAL_TOKENS, Student, TextStore, embed_all, load_teacher
from texts import MAX_TOKENS, student_tokenizer

DIMS = 256
MATRYOSHKA = ((256, 1.0), (128, 0.5))
GROUP = 128  # neighbouring pairs of one cluster in a batch: hard negatives
ROUNDED_FROM = 0.65  # share of the training after which weights are rounded in the forward pass


def initial_rows(known: dict[str, int], rows: torch.Tensor, vocabulary: list[str]) -> torch.Tensor:
    """Takes over the rows of known tokens. A new word starts as the mean of its pieces, a new ideograph
    at random."""
    generator = torch.Generator().manual_seed(1)
    base = [token for token in vocabulary if token in known]
    tokenizer = student_tokenizer(base)
    mean, spread = rows.mean(0), rows.std(0)
    result = torch.empty(len(vocabulary), rows.shape[1])
    for index, token in enumerate(vocabulary):
        if token in known:
            result[index] = rows[known[token]]
            continue
        pieces = [base[piece] for piece in tokenizer.encode(token).ids if piece >= len(SPECIAL_TOKENS)]
        if pieces:
            result[index] = rows[[known[piece] for piece in pieces]].mean(0)
        else:
            result[index] = mean + spread * torch.randn(rows.shape[1], generator=generator)
    return result


def read_potion(path: Path) -> tuple[dict[str, int], torch.Tensor]:
    """Reads the static model that Tome shipped before (see its model.rs for the layout)."""
    data = path.read_bytes()
    dims, tokens = int.from_bytes(data[10:12], "little"), int.from_bytes(data[12:16], "little")
    offset = 24
    scales = np.frombuffer(data, "<f4", tokens, offset)
    offset += 4 * tokens
    rows = np.frombuffer(data, np.int8, tokens * dims, offset).reshape(tokens, dims) * scales[:, None]
    offset += tokens * dims
    ends = np.frombuffer(data, "<u4", tokens, offset)
    texts = data[offset + 4 * tokens + 2 * 65536 :]
    known, start = {}, 0
    for token, end in enumerate(ends.tolist()):
        stop = end & 0x7FFFFFFF
        piece = texts[start:stop].decode()
        if piece:
            known[("##" if end >> 31 else "") + piece] = token
        start = stop
    return known, torch.from_numpy(rows.astype(np.float32))


def initial_weights(options, vocabulary: list[str], counts: np.ndarray) -> dict[str, torch.Tensor]:
    torch.manual_seed(options.seed)
    teacher = load_teacher(options.teachers / "gte.npz", "cpu")
    known = json.loads((options.teachers / "bert-tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    weights = {}
    rows = initial_rows(known, teacher["table"], vocabulary)
    if options.potion:
        potion_known, potion_rows = read_potion(options.potion)
        special = {token: len(potion_rows) for token in SPECIAL_TOKENS}
        potion_rows = torch.cat([potion_rows, torch.zeros(1, potion_rows.shape[1])])
        weights["table"] = initial_rows({**potion_known, **special}, potion_rows, vocabulary)
    else:
        # The table is the best approximation of the teacher's rows with fewer columns; frequent tokens
        # count more.
        importance = torch.from_numpy(np.sqrt(counts + 1.0)).float().clamp(max=300)[:, None]
        _, _, basis = torch.linalg.svd((rows * importance).double(), full_matrices=False)
        basis = basis[: options.table_width].float()
        weights["table"] = rows @ basis.T
        kept = 1 - ((rows - weights["table"] @ basis) ** 2).sum() / (rows**2).sum()
        print(f"the table keeps {kept:.3f} of the teacher's rows", flush=True)
    share = counts / max(1, counts.sum())
    # Potion's rows are weighted by frequency already.
    weights["token_weight"] = torch.from_numpy(np.log(1e-3 / (1e-3 + share)) * (not options.potion)).float()
    if not options.no_static:
        weights["static.projection"] = torch.eye(DIMS, options.table_width)
    if not options.layers:
        return weights
    width = options.width
    if width == teacher["table"].shape[1]:
        weights["embed.projection"] = basis.T.contiguous()
        weights["position"] = teacher["position"][:MAX_TOKENS].clone()
    else:
        weights["embed.projection"] = torch.eye(width, options.table_width)
        weights["position"] = teacher["position"][:MAX_TOKENS] @ basis[:width].T
    same = width == teacher["table"].shape[1]
    weights["embed.norm.weight"] = teacher["embed.norm.weight"] if same else torch.ones(width)
    weights["embed.norm.bias"] = teacher["embed.norm.bias"] if same else torch.zeros(width)
    for layer, origin in enumerate(options.layers):
        shapes = {"query": (width, width), "key": (width, width), "value": (width, width), "output": (width, width),
                  "up": (4 * width, width), "down": (width, 4 * width)}
        for part, (rows_out, columns) in shapes.items():
            name = f"layer.{layer}.{part}"
            if same:
                weights[f"{name}.weight"] = teacher[f"layer.{origin}.{part}.weight"]
                weights[f"{name}.bias"] = teacher[f"layer.{origin}.{part}.bias"]
            else:
                weights[f"{name}.weight"] = torch.randn(rows_out, columns) * 0.02
                weights[f"{name}.bias"] = torch.zeros(rows_out)
        for part in ("attention_norm", "output_norm"):
            name = f"layer.{layer}.{part}"
            weights[f"{name}.weight"] = teacher[f"layer.{origin}.{part}.weight"] if same else torch.ones(width)
            weights[f"{name}.bias"] = teacher[f"layer.{origin}.{part}.bias"] if same else torch.zeros(width)
    weights["projection"] = torch.nn.init.orthogonal_(torch.empty(DIMS, width))
    return weights


class Batches:
    """Draws batches: half at random, half in groups of similar pairs."""

    def __init__(self, pairs, size: int, seed: int):
        self.size, self.random = size, np.random.default_rng(seed)
        self.clusters = pairs["clusters"]
        self.count = len(self.clusters)
        self.queue = np.empty(0, np.int64)
        self.reshuffle()

    def reshuffle(self) -> None:
        """Sorts by cluster, in a new order inside each cluster."""
        self.neighbours = np.lexsort((self.random.random(self.count), self.clusters))
        self.since_shuffle = 0

    def draw(self) -> np.ndarray:
        half = self.size // 2
        if len(self.queue) < half:
            self.queue = np.concatenate([self.queue, self.random.permutation(self.count)])
        single, self.queue = self.queue[:half], self.queue[half:]
        self.since_shuffle += half
        if self.since_shuffle > self.count:
            self.reshuffle()
        starts = self.random.integers(0, max(1, self.count - GROUP), (self.size - half) // GROUP)
        grouped = [self.neighbours[start : start + GROUP] for start in starts]
        return np.unique(np.concatenate([single, *grouped]))


class Targets:
    """What the teachers say about one batch."""

    def __init__(self, left: torch.Tensor, right: torch.Tensor, trust: torch.Tensor, identity: float):
        logits = left @ right.T
        mix = (trust * (1 - identity))[:, None]
        eye = torch.eye(len(left), device=left.device)
        self.rows = mix * logits.softmax(1) + (1 - mix) * eye
        self.columns = mix * logits.T.softmax(1) + (1 - mix) * eye
        self.diagonal = torch.eye(len(left), dtype=torch.bool, device=left.device)
        self.among_rights = (right @ right.T).masked_fill(self.diagonal, -1e4).softmax(1)
        self.trust = trust


def soft_cross_entropy(target: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
    return -(target * logits.log_softmax(1)).sum(1)


def relation_loss(left: torch.Tensor, right: torch.Tensor, scale: torch.Tensor, targets: Targets, among: float) -> torch.Tensor:
    total = 0
    for dims, weight in MATRYOSHKA:
        a, b = F.normalize(left[:, :dims], dim=1), F.normalize(right[:, :dims], dim=1)
        logits = a @ b.T * scale
        loss = soft_cross_entropy(targets.rows, logits).mean() + 0.5 * soft_cross_entropy(targets.columns, logits.T).mean()
        if among:
            similar = (b @ b.T * scale).masked_fill(targets.diagonal, -1e4)
            loss = loss + among * (targets.trust * soft_cross_entropy(targets.among_rights, similar)).mean()
        total = total + weight * loss
    return total


def direction_loss(vectors: torch.Tensor, head: torch.Tensor, teachers: torch.Tensor, trust: torch.Tensor) -> torch.Tensor:
    """Distance to every teacher's vector, seen through a linear map."""
    seen = (F.normalize(vectors, dim=1) @ head.T).view(len(vectors), -1, 384)
    cosine = F.cosine_similarity(seen, teachers.view(len(vectors), -1, 384), dim=2)
    return (trust[:, None] * (1 - cosine)).mean()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--teachers", type=Path, required=True)
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--name", default="student")
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--layers", default="0,5,11", help="layers of gte-small to start from; empty: static only")
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--table-width", type=int, default=256)
    parser.add_argument("--no-static", action="store_true")
    parser.add_argument("--potion", type=Path, help="start the table from potion-base-8m.bin (static only)")
    parser.add_argument("--batch", type=int, default=2048)
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--table-rate", type=float, default=4e-4)
    parser.add_argument("--identity", type=float, default=0.3)
    parser.add_argument("--among", type=float, default=0.3)
    parser.add_argument("--direction", type=float, default=2.0)
    parser.add_argument("--crop", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=1 << 30, help="the schedule follows whichever ends first")
    options = parser.parse_args()
    options.layers = [int(layer) for layer in options.layers.split(",") if layer]
    options.out.mkdir(parents=True, exist_ok=True)

    device = "cuda" if torch.cuda.is_available() else "cpu"
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.manual_seed(options.seed)
    vocabulary = options.vocabulary.read_text(encoding="utf-8").split("\n")
    pairs = dict(np.load(options.data / "pairs.npz"))
    store = TextStore(pairs["ids"], pairs["lengths"], device)
    scales = np.sqrt(pairs["scale"]).tolist()
    taught = [
        torch.from_numpy(np.load(options.data / f"vectors-{name}.npy", mmap_mode="c")).to(device)
        for name in pairs["teachers"].tolist()
    ]

    def teacher_rows(index: np.ndarray) -> torch.Tensor:
        """Vectors of all teachers side by side, scaled so that dot products are logits."""
        rows = torch.from_numpy(index).to(device)
        return torch.cat([vectors[rows].float() * scale for vectors, scale in zip(taught, scales)], 1)

    counts = np.bincount(pairs["ids"], minlength=len(vocabulary)).astype(np.float64)
    counts[: len(SPECIAL_TOKENS)] = 0
    weights = {
        name: values.to(device).float().contiguous().requires_grad_()
        for name, values in initial_weights(options, vocabulary, counts).items()
    }
    student = Student(weights)
    kinds = [kind for kind, name in (("deep", "projection"), ("static", "static.projection")) if name in weights]
    heads = {kind: (torch.randn(384 * len(taught), DIMS, device=device) * DIMS**-0.5).requires_grad_() for kind in kinds}
    temperatures = {kind: torch.tensor(3.0, device=device, requires_grad=True) for kind in kinds}
    deep = [values for name, values in weights.items() if name.startswith(("layer.", "embed.", "position"))]
    optimizer = torch.optim.AdamW(
        [
            *([{"params": deep, "lr": options.rate, "weight_decay": 0.01}] if deep else []),
            {"params": [weights["table"]], "lr": options.table_rate},
            {"params": [weights[name] for name in ("projection", "static.projection") if name in weights], "lr": 1e-3},
            {"params": [weights["token_weight"]], "lr": 1e-2},
            {"params": [*heads.values(), *temperatures.values()], "lr": 1e-3},
        ],
        weight_decay=0.0,
        betas=(0.9, 0.98),
        fused=device == "cuda",
    )
    rates = [group["lr"] for group in optimizer.param_groups]
    batches = Batches(pairs, options.batch, options.seed)
    parameters = [values for group in optimizer.param_groups for values in group["params"]]
    print(options.name, "starts with", sum(values.numel() for values in weights.values()), "weights", flush=True)

    started, step, tokens, done = time.time(), 0, 0, 0.0
    while step < options.steps:
        if step % 10 == 0:
            if device == "cuda":
                torch.cuda.synchronize()
            done = max((time.time() - started) / 60 / options.minutes, step / max(1, options.steps))
            if done >= 1:
                break
            student.rounded = done > ROUNDED_FROM
        factor = min(1.0, (step + 1) / 200) * max(0.01, 1 - done)
        for group, rate in zip(optimizer.param_groups, rates):
            group["lr"] = rate * factor
        chosen = batches.draw()
        lefts, rights = pairs["lefts"][chosen], pairs["rights"][chosen]
        crops = pairs["crops"][chosen]
        rights = np.where((crops >= 0) & (batches.random.random(len(chosen)) < options.crop), crops, rights)
        trust = torch.from_numpy(~pairs["foreign"][chosen]).to(device).float()
        with torch.no_grad():
            left_rows, right_rows = teacher_rows(lefts), teacher_rows(rights)
            targets = Targets(left_rows, right_rows, trust, options.identity)
        batch = store.pack(np.concatenate([lefts, rights]))
        tokens += len(batch.ids)
        vectors = dict(zip(("deep", "static"), student.embed(batch, student.prepare(dtype), dtype)))
        loss, seen = 0, {}
        for kind in kinds:
            left, right = vectors[kind].split(len(chosen))
            scale = temperatures[kind].clamp(max=4.6).exp()
            relation = relation_loss(left, right, scale, targets, options.among)
            direction = direction_loss(vectors[kind], heads[kind], torch.cat([left_rows, right_rows]), torch.cat([trust, trust]))
            loss = loss + relation + options.direction * direction
            seen[kind] = (relation.detach(), direction.detach(), scale.detach())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 5.0)
        optimizer.step()
        step += 1
        if step % 1000 == 0 and len(kinds) == 2:
            export(weights, vocabulary, options.out / f"{options.name}-checkpoint.safetensors")
        if step % 250 == 1 or step == options.steps:
            text = " ".join(f"{kind} {a:.3f} {b:.3f} ×{c:.0f}" for kind, (a, b, c) in seen.items())
            print(f"{options.name} step {step} {done:.2f} {tokens / (time.time() - started) / 1e6:.2f} M tokens/s {text}", flush=True)
    if device == "cuda":
        torch.cuda.synchronize()
    minutes = (time.time() - started) / 60
    print(f"{options.name}: {step} steps, {step * options.batch / 1e6:.1f} M pairs, {tokens / 1e6:.0f} M tokens, {minutes:.1f} min", flush=True)

    student.rounded = True
    sets, set_tokens = pickle.loads((options.data / "sets.pickle").read_bytes()), np.load(options.data / "sets.npz")
    store_sets = TextStore(set_tokens["student.ids"], set_tokens["student.lengths"], device)
    results, notes = {"steps": step, "minutes": minutes, "tokens": tokens}, {}
    with torch.no_grad():
        prepared = student.prepare(dtype)
        sample = store.pack(np.concatenate([pairs["lefts"][:2000], pairs["rights"][:2000]]))
        sampled = student.embed(sample, prepared, dtype)
        for place, kind in enumerate(("deep", "static")):
            if kind not in kinds:
                continue
            rows = embed_all(store_sets, lambda batch: student.embed(batch, prepared, dtype)[place], DIMS)
            for dims in (256, 128, 64):
                results[f"{kind}-{dims}"] = evaluate(f"{options.name} {kind} {dims}", sets, rows[:, :dims])
            left, right = F.normalize(sampled[place], dim=1).split(len(sampled[place]) // 2)
            similarity = left @ right.T
            unrelated = (similarity.sum() - similarity.trace()) / (similarity.numel() - len(similarity))
            notes[f"unrelated_similarity_{kind}"] = f"{unrelated.item():.4f}"
    print(options.name, notes, flush=True)
    (options.out / f"{options.name}.json").write_text(json.dumps({**results, **notes}))
    if len(kinds) == 2:
        notes["seed"], notes["teachers"] = str(options.seed), ", ".join(pairs["teachers"].tolist())
        export(weights, vocabulary, options.out / f"{options.name}.safetensors", notes)


if __name__ == "__main__":
    main()
