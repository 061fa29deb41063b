"""Writes a student as one safetensors file with 8-bit weights."""

from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save_file

from model import HEAD_WIDTH, SPECIAL_TOKENS, count_layers, round_rows


def export(
    weights: dict[str, torch.Tensor], vocabulary: list[str], path: Path, notes: dict[str, str] | None = None
) -> None:
    """Matrices become I8 `NAME` with F32 `NAME.scale` per row; everything else stays F32."""
    tensors = {"vocabulary": np.frombuffer("\n".join(vocabulary).encode(), np.uint8)}
    for name, values in weights.items():
        values = values.detach().float().cpu()
        if name == "token_weight":
            values = values.exp()
            values[: len(SPECIAL_TOKENS)] = 0
        if values.ndim == 2:
            steps, scale = round_rows(values)
            tensors[name] = steps.to(torch.int8).numpy()
            tensors[f"{name}.scale"] = scale[:, 0].contiguous().numpy()
        else:
            tensors[name] = values.contiguous().numpy()
    width = weights["position"].shape[1]
    metadata = {
        "format": "tome-embed",
        "version": "1",
        "layers": str(count_layers(weights)),
        "width": str(width),
        "heads": str(width // HEAD_WIDTH),
        "intermediate": str(weights["layer.0.up.weight"].shape[0]),
        "table_width": str(weights["table"].shape[1]),
        "dims": str(weights["projection"].shape[0]),
        "max_tokens": str(weights["position"].shape[0]),
        "vocabulary_size": str(len(vocabulary)),
        **(notes or {}),
    }
    save_file(tensors, path, metadata)
    print(f"{path}: {path.stat().st_size / 1e6:.2f} MB")
