"""Computes reference vectors from an exported model with numpy alone, for the tests of other
implementations.

    python golden.py MODEL.safetensors OUT.json
"""

import json
import sys
from pathlib import Path

import numpy as np
from safetensors import safe_open

from texts import student_ids, student_tokenizer

LONG = " ".join(
    f"Step {number}: the worker reads batch {number * 7} from the queue, checks its checksum and writes it to disk."
    for number in range(60)
)
TEXTS = [
    "",
    "   \n\t ",
    "hello",
    "How do I check whether a file exists?",
    "Where did we decide to keep the retry limit at five?",
    "The build fails with `error[E0382]: borrow of moved value: config`.",
    "I moved to Lisbon in March and started learning the cello.",
    "What is the name of my sister's dog?",
    "fix: do not drop the last record when the buffer is exactly full",
    "def mean(values):\n    \"\"\"Arithmetic mean of a list.\"\"\"\n    return sum(values) / len(values)",
    "fn parse_header(input: &[u8]) -> Result<Header, ParseError> { let (len, rest) = read_u32(input)?; Ok(Header { len }) }",
    "export async function loadUser(id: string): Promise<User> { return await api.get(`/users/${id}`); }",
    "func (s *Server) Close() error { s.mu.Lock(); defer s.mu.Unlock(); return s.listener.Close() }",
    "SELECT name, COUNT(*) FROM orders WHERE created_at > NOW() - INTERVAL '7 days' GROUP BY name;",
    "grep -rn 'TODO' src/ | sort | uniq -c",
    "https://example.org/docs/guide.html?page=3#install",
    "snake_case_name camelCaseName PascalCaseName SCREAMING_CASE kebab-case-name",
    "0x7ffe 3.14159 1e-9 2024-03-15T12:00:49+11:00 v1.2.3-rc.4",
    "Wie richte ich die Datenbankverbindung für die Testumgebung ein?",
    "Übergrößenträger und Straßenbahnhaltestelle",
    "Le serveur redémarre tout seul après chaque mise à jour.",
    "¿Cuándo es la próxima reunión con el equipo de diseño?",
    "Почему тесты падают только на сервере сборки?",
    "我下周三要去上海参加一个会议。",
    "数据库连接超时怎么办？",
    "明日の会議は何時に始まりますか。",
    "빌드가 왜 실패했나요?",
    "هل يمكنك شرح هذا الخطأ؟",
    "पायथन में फ़ाइल कैसे खोलें",
    "naïve café résumé coöperate",
    "😀 great work 🎉🎉",
    "[CLS] [SEP] [MASK] [UNK] are plain text here",
    "don't won't it's they're",
    "!!! ??? ... --- ***",
    "a",
    "a b c d e f g h i j k l m n o p q r s t u v w x y z",
    "word " * 300,
    LONG,
    "x" * 99 + " " + "y" * 100 + " " + "z" * 101 + " end",
    "The quick brown fox\u00a0jumps\u200bover\u2028the\tlazy\rdog",
    "Ｆｕｌｌｗｉｄｔｈ ｔｅｘｔ",
    "İstanbul'da hava nasıl?",
    "user: my flight to Oslo was moved to 9 pm\nassistant: I updated the plan: dinner at six, taxi at seven.",
    "Error: ENOENT: no such file or directory, open '/etc/app/config.yaml'",
    "Traceback (most recent call last):\n  File \"main.py\", line 3, in <module>\nKeyError: 'timeout'",
    "git rebase --interactive HEAD~3 && git push --force-with-lease",
    "# Heading\n\n- one item\n- another item\n\n> a quotation\n\n```sh\nmake test\n```",
    "{\"name\": \"tome\", \"ids\": [1, 2, 3], \"nested\": {\"deep\": true, \"none\": null}}",
    "Kubernetes ingress returns 502 after the TLS certificate was renewed",
    "We chose SQLite over Postgres because the tool has to work offline.",
    "My grandmother's recipe needs two cups of flour, a pinch of saffron and patience.",
]


def load(path: str) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Expands the 8-bit matrices."""
    with safe_open(path, "np") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}
        metadata = file.metadata()
    return {
        name: values * tensors[f"{name}.scale"][:, None] if f"{name}.scale" in tensors else values
        for name, values in tensors.items()
    }, metadata


def normalize(vector: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(vector)
    return vector / length if length > 0 else vector


def deep_vector(weights: dict[str, np.ndarray], layers: int, ids: list[int]) -> np.ndarray:
    def norm(values: np.ndarray, name: str) -> np.ndarray:
        centred = values - values.mean(1, keepdims=True)
        spread = np.sqrt((centred**2).mean(1, keepdims=True) + 1e-12)
        return centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def linear(values: np.ndarray, name: str) -> np.ndarray:
        return values @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def gelu(values: np.ndarray) -> np.ndarray:
        return 0.5 * values * (1 + np.tanh(np.sqrt(2 / np.pi) * (values + 0.044715 * values**3)))

    lifted = weights["table"][ids] @ weights["embed.projection"].T
    tokens = norm(lifted + weights["position"][: len(ids)], "embed.norm")
    for layer in range(layers):
        prefix = f"layer.{layer}"
        query, key, value = (
            linear(tokens, f"{prefix}.{part}").reshape(len(ids), -1, 32).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / np.sqrt(32)
        scores = np.exp(scores - scores.max(2, keepdims=True))
        mixed = (scores / scores.sum(2, keepdims=True)) @ value
        mixed = mixed.transpose(1, 0, 2).reshape(len(ids), -1)
        tokens = norm(tokens + linear(mixed, f"{prefix}.output"), f"{prefix}.attention_norm")
        tokens = norm(tokens + linear(gelu(linear(tokens, f"{prefix}.up")), f"{prefix}.down"), f"{prefix}.output_norm")
    return normalize(weights["projection"] @ tokens.mean(0))


def static_vector(weights: dict[str, np.ndarray], ids: list[int]) -> np.ndarray:
    total = (weights["table"][ids] * weights["token_weight"][ids][:, None]).sum(0)
    return normalize(weights["static.projection"] @ total)


def main() -> None:
    weights, metadata = load(sys.argv[1])
    tokenizer = student_tokenizer(bytes(weights["vocabulary"]).decode().split("\n"))
    dims, limit = int(metadata["dims"]), int(metadata["max_tokens"])
    cases = []
    for text in TEXTS:
        ids = student_ids(tokenizer, text, limit=1 << 20)[1:-1]
        deep = static = np.zeros(dims, np.float32)
        if ids:
            deep = deep_vector(weights, int(metadata["layers"]), student_ids(tokenizer, text, limit))
            static = static_vector(weights, ids)
        rounded = [[round(float(value), 5) for value in vector] for vector in (deep, static)]
        cases.append({"text": text, "ids": ids, "deep": rounded[0], "static": rounded[1]})
    Path(sys.argv[2]).write_text(json.dumps(cases, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{len(cases)} texts")


if __name__ == "__main__":
    main()
