"""Encoders over packed texts, for the teachers and for the student.

Texts are never padded: a batch is one long row of tokens, with the offset at which every text starts.
All weights live in plain dictionaries from tensor name to tensor; README.md lists the names.
"""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F

HEAD_WIDTH = 32
NORM_EPSILON = 1e-12
SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
CLS, SEP = 2, 3
TEXTS_PER_BATCH = 1 << 15  # the attention kernel refuses more than 65,535

try:
    from torch.nn.attention.varlen import varlen_attn
except ImportError:
    varlen_attn = None


@dataclass
class Packed:
    """A batch of texts in one row of tokens."""

    ids: torch.Tensor
    positions: torch.Tensor
    segments: torch.Tensor  # text of each token
    offsets: torch.Tensor  # first token of each text, and the end: int32
    texts: int
    longest: int


class TextStore:
    """Token ids of many texts in one tensor on the device."""

    def __init__(self, ids: np.ndarray, lengths: np.ndarray, device: str):
        self.device = device
        self.ids = torch.from_numpy(ids.astype(np.int32)).to(device)
        self.lengths_host = lengths.astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(self.lengths_host)[:-1]]).astype(np.int64)
        self.lengths = torch.from_numpy(self.lengths_host).to(device)
        self.starts = torch.from_numpy(starts).to(device)

    def __len__(self) -> int:
        return len(self.lengths_host)

    def pack(self, index: np.ndarray) -> Packed:
        lengths_host = self.lengths_host[index]
        total, texts = int(lengths_host.sum()), len(index)
        chosen = torch.from_numpy(index).to(self.device, non_blocking=True)
        lengths = self.lengths[chosen]
        ends = lengths.cumsum(0)
        segments = torch.repeat_interleave(
            torch.arange(texts, device=self.device), lengths, output_size=total
        )
        positions = torch.arange(total, device=self.device) - (ends - lengths)[segments]
        ids = self.ids[self.starts[chosen][segments] + positions].long()
        return Packed(ids, positions, segments, F.pad(ends, (1, 0)).int(), texts, int(lengths_host.max()))


def attend(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, batch: Packed) -> torch.Tensor:
    """Attention inside each text; arguments are [tokens, heads, HEAD_WIDTH]."""
    if query.is_cuda and varlen_attn is not None:
        return varlen_attn(
            query, key, value, batch.offsets, batch.offsets, batch.longest, batch.longest
        )
    slots = batch.segments * batch.longest + batch.positions
    shape = (batch.texts * batch.longest, *query.shape[1:])
    padded = [
        query.new_zeros(shape).index_copy(0, slots, part).view(batch.texts, batch.longest, *shape[1:])
        for part in (query, key, value)
    ]
    used = torch.zeros(shape[0], dtype=torch.bool, device=query.device).index_fill(0, slots, True)
    mixed = F.scaled_dot_product_attention(
        *(part.transpose(1, 2) for part in padded),
        attn_mask=used.view(batch.texts, 1, 1, batch.longest),
    )
    return mixed.transpose(1, 2).reshape(shape)[slots]


def count_layers(weights: dict[str, torch.Tensor]) -> int:
    return sum(name.endswith(".query.weight") for name in weights)


def encode_tokens(
    weights: dict[str, torch.Tensor], embedded: torch.Tensor, batch: Packed, gelu: str = "tanh"
) -> torch.Tensor:
    """Runs the transformer layers over token embeddings [tokens, width]."""
    width = embedded.shape[1]

    def norm(values: torch.Tensor, name: str) -> torch.Tensor:
        scale, shift = weights[f"{name}.weight"], weights[f"{name}.bias"]
        return F.layer_norm(values, (width,), scale, shift, NORM_EPSILON)

    def linear(values: torch.Tensor, name: str) -> torch.Tensor:
        return F.linear(values, weights[f"{name}.weight"], weights[f"{name}.bias"])

    tokens = norm(embedded + weights["position"][batch.positions], "embed.norm")
    for layer in range(count_layers(weights)):
        prefix = f"layer.{layer}"
        heads = [
            linear(tokens, f"{prefix}.{part}").view(-1, width // HEAD_WIDTH, HEAD_WIDTH)
            for part in ("query", "key", "value")
        ]
        mixed = attend(*heads, batch).reshape(-1, width)
        tokens = norm(tokens + linear(mixed, f"{prefix}.output"), f"{prefix}.attention_norm")
        hidden = F.gelu(linear(tokens, f"{prefix}.up"), approximate=gelu)
        tokens = norm(tokens + linear(hidden, f"{prefix}.down"), f"{prefix}.output_norm")
    return tokens


def sum_per_text(values: torch.Tensor, batch: Packed) -> torch.Tensor:
    total = torch.zeros(batch.texts, values.shape[1], device=values.device)
    return total.index_add(0, batch.segments, values.float())


def mean_per_text(values: torch.Tensor, batch: Packed) -> torch.Tensor:
    lengths = (batch.offsets[1:] - batch.offsets[:-1]).float()
    return sum_per_text(values, batch) / lengths[:, None]


def load_teacher(path: str, device: str) -> dict[str, torch.Tensor]:
    """Loads a file written by prepare_teachers.py."""
    arrays = np.load(path)
    weights = {}
    for name in arrays.files:
        if name.endswith(".scale"):
            continue
        values = arrays[name].astype(np.float32)
        if f"{name}.scale" in arrays.files:
            values *= arrays[f"{name}.scale"].astype(np.float32)[:, None]
        weights[name] = torch.from_numpy(values).to(device)
    return weights


def teacher_vectors(weights: dict[str, torch.Tensor], batch: Packed, pooling: str) -> torch.Tensor:
    tokens = encode_tokens(weights, F.embedding(batch.ids, weights["table"]), batch, gelu="none")
    pooled = tokens[batch.offsets[:-1].long()].float() if pooling == "cls" else mean_per_text(tokens, batch)
    return F.normalize(pooled, dim=1)


def round_rows(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Rounds a matrix to 8 bits with one scale per row. Returns the steps and the scales."""
    scale = (values.abs().amax(1, keepdim=True) / 127).clamp(min=1e-12)
    return (values / scale).round().clamp(-127, 127), scale


class Student:
    """One token table, two encoders: a deep one and a static one."""

    def __init__(self, weights: dict[str, torch.Tensor], rounded: bool = False):
        self.weights = weights
        self.rounded = rounded

    def prepare(self, dtype: torch.dtype) -> dict[str, torch.Tensor]:
        """Weights as used in a forward pass: rounded to 8 bits if asked, the deep ones in `dtype`. The
        gradient passes through the rounding unchanged."""
        prepared = {}
        for name, values in self.weights.items():
            if self.rounded and values.ndim == 2:
                steps, scale = round_rows(values.detach())
                values = values + (steps * scale - values.detach())
            in_float = name in ("table", "token_weight", "static.projection", "projection")
            prepared[name] = values if in_float else values.to(dtype)
        return prepared

    def embed(
        self, batch: Packed, prepared: dict[str, torch.Tensor], dtype: torch.dtype
    ) -> tuple[torch.Tensor | None, torch.Tensor | None]:
        """Returns the deep and the static vectors (not normalized), each None if not in the model."""
        embedded = F.embedding(batch.ids, prepared["table"])
        deep = static = None
        if "static.projection" in prepared:
            weight = prepared["token_weight"][batch.ids].exp() * (batch.ids >= len(SPECIAL_TOKENS))
            static = sum_per_text(embedded * weight[:, None], batch) @ prepared["static.projection"].T
        if "projection" in prepared:
            lifted = embedded.to(dtype) @ prepared["embed.projection"].T
            tokens = encode_tokens(prepared, lifted, batch)
            deep = mean_per_text(tokens, batch) @ prepared["projection"].T
        return deep, static


def in_batches(store: TextStore, tokens_per_batch: int):
    """Yields the indexes of all texts, of similar length together."""
    order = np.argsort(store.lengths_host, kind="stable")
    ends = np.cumsum(store.lengths_host[order])
    start = 0
    while start < len(order):
        before = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + tokens_per_batch, "right")))
        stop = min(stop, start + TEXTS_PER_BATCH)
        yield order[start:stop]
        start = stop


@torch.no_grad()
def embed_all(store: TextStore, embed, dimensions: int, tokens_per_batch: int | None = None) -> torch.Tensor:
    """Embeds every text of a store with `embed(batch)`; returns float16 on the device."""
    tokens_per_batch = tokens_per_batch or (1 << 19 if store.device == "cuda" else 1 << 12)
    vectors = torch.zeros(len(store), dimensions, dtype=torch.float16, device=store.device)
    for index in in_batches(store, tokens_per_batch):
        target = torch.from_numpy(index).to(store.device)
        vectors[target] = embed(store.pack(index)).half()
    return vectors
