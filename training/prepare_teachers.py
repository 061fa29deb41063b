"""Converts the teacher models into one compact format: int8 rows with one float16 scale each.

Every teacher is a BERT-like encoder, so all of them get the same tensor names (see model.py) and one
implementation runs them all. The packages are unpacked beforehand; README.md lists them.

    python prepare_teachers.py --gte FOLDER --minilm FOLDER --granite FILE.hmsemb --out teachers/
"""

import argparse
import json
import shutil
import struct
from pathlib import Path

import numpy as np

# Name in a BERT checkpoint -> our name; the prefix `encoder.layer.I.` is replaced separately.
LAYER_NAMES = {
    "attention.self.query": "query",
    "attention.self.key": "key",
    "attention.self.value": "value",
    "attention.output.dense": "output",
    "attention.output.LayerNorm": "attention_norm",
    "intermediate.dense": "up",
    "output.dense": "down",
    "output.LayerNorm": "output_norm",
}


def from_bert(weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Renames the tensors of a BERT checkpoint and folds the token type into the positions."""
    token_type = weights["embeddings.token_type_embeddings.weight"][0]
    tensors = {
        "table": weights["embeddings.word_embeddings.weight"],
        "position": weights["embeddings.position_embeddings.weight"] + token_type,
        "embed.norm.weight": weights["embeddings.LayerNorm.weight"],
        "embed.norm.bias": weights["embeddings.LayerNorm.bias"],
    }
    for name, values in weights.items():
        if not name.startswith("encoder.layer."):
            continue
        _, _, layer, rest = name.split(".", 3)
        part, kind = rest.rsplit(".", 1)
        tensors[f"layer.{layer}.{LAYER_NAMES[part]}.{kind}"] = values
    return tensors


def read_onnx(path: Path) -> dict[str, np.ndarray]:
    """Reads a BERT exported to ONNX. Linear weights are anonymous there and transposed: the node that
    multiplies by one carries its name."""
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(str(path)).graph
    values = {tensor.name: tensor for tensor in graph.initializer}
    weights = {
        name: numpy_helper.to_array(tensor)
        for name, tensor in values.items()
        if name.startswith(("embeddings.", "encoder."))
    }
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in values:
            module = node.name.strip("/").removesuffix("/MatMul").replace("/", ".")
            weights[f"{module}.weight"] = numpy_helper.to_array(values[node.input[1]]).T
    return from_bert(weights)


def read_safetensors(path: Path) -> dict[str, np.ndarray]:
    from safetensors.numpy import load_file

    weights = {name: values.astype(np.float32) for name, values in load_file(path).items()}
    return from_bert({name: values for name, values in weights.items() if "pooler" not in name})


def read_granite(path: Path) -> tuple[dict[str, np.ndarray], bytes]:
    """Reads a pack of granite-embedding-30m-english. Returns the tensors and the tokenizer's JSON.

    RoBERTa counts positions from 2; the two unused rows are dropped here."""
    data = path.read_bytes()
    (header_length,) = struct.unpack_from("<Q", data, 8)
    offset = 16 + header_length
    header = json.loads(data[16:offset])
    tokenizer = data[offset : offset + header["tokenizer_len"]]
    offset += header["tokenizer_len"]
    raw = {}
    for entry in header["tensors"]:
        chunk, shape = data[offset : offset + entry["len"]], entry["shape"]
        offset += entry["len"]
        if entry["dtype"] == "i8":
            size = int(np.prod(shape))
            steps = np.frombuffer(chunk, np.int8, size).astype(np.float32)
            scales = np.frombuffer(chunk, np.float32, offset=size)
            raw[entry["name"]] = (steps.reshape(-1, entry["group"]) * scales[:, None]).reshape(shape)
        else:
            raw[entry["name"]] = np.frombuffer(chunk, np.float32).reshape(shape)
    tensors = {
        "table": raw["word_emb"],
        "position": raw["pos_emb"][header["arch"]["position_offset"] :] + raw["type_emb"][0],
        "embed.norm.weight": raw["emb_ln.w"],
        "embed.norm.bias": raw["emb_ln.b"],
    }
    parts = {"ao": "output", "aln": "attention_norm", "f1": "up", "f2": "down", "fln": "output_norm"}
    for layer in range(header["arch"]["layers"]):
        for kind, suffix in (("weight", "w"), ("bias", "b")):
            joined = np.split(raw[f"l{layer}.qkv.{suffix}"], 3)
            for name, values in zip(("query", "key", "value"), joined):
                tensors[f"layer.{layer}.{name}.{kind}"] = values
            for short, name in parts.items():
                tensors[f"layer.{layer}.{name}.{kind}"] = raw[f"l{layer}.{short}.{suffix}"]
    return tensors, tokenizer


def save(path: Path, tensors: dict[str, np.ndarray]) -> None:
    arrays = {}
    for name, values in tensors.items():
        if values.ndim == 2:
            scale = np.maximum(np.abs(values).max(1, keepdims=True) / 127, 1e-12)
            scale = np.maximum(scale.astype(np.float16), np.float16(1e-7))
            arrays[name] = np.clip(np.round(values / scale), -127, 127).astype(np.int8)
            arrays[f"{name}.scale"] = scale[:, 0]
        else:
            arrays[name] = values.astype(np.float16)
    np.savez_compressed(path, **arrays)
    layers = sum(name.endswith(".query.weight") for name in tensors)
    print(f"{path}: {layers} layers, {path.stat().st_size / 1e6:.1f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gte", type=Path, help="folder with onnx/model.onnx and tokenizer.json")
    parser.add_argument("--minilm", type=Path, help="folder with model.safetensors and tokenizer.json")
    parser.add_argument("--granite", type=Path, help="the .hmsemb file")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.gte:
        save(options.out / "gte.npz", read_onnx(options.gte / "onnx" / "model.onnx"))
        shutil.copyfile(options.gte / "tokenizer.json", options.out / "bert-tokenizer.json")
    if options.minilm:
        save(options.out / "minilm.npz", read_safetensors(options.minilm / "model.safetensors"))
    if options.granite:
        tensors, tokenizer = read_granite(options.granite)
        save(options.out / "granite.npz", tensors)
        (options.out / "granite-tokenizer.json").write_bytes(tokenizer)


if __name__ == "__main__":
    main()
