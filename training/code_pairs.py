"""Pairs of documentation and the code it describes, from packages of PyPI, npm, the crate registry and Debian.

    code_pairs.py python WHEELS_FOLDER OUT.jsonl --limit 200000
    code_pairs.py rust   CRATES_FOLDER OUT.jsonl
    code_pairs.py go     DEBS_FOLDER   OUT.jsonl
    code_pairs.py js     TARBALLS_FOLDER OUT.jsonl
"""

import argparse
import ast
import os
import re
import tarfile
import textwrap
import zipfile

from common import PairWriter, cut, deb_files, squeeze, stable

SKIPPED = re.compile(r"(^|/)(tests?|testing|testdata|vendor|_vendor|third_party|node_modules|examples?|benches)/|_pb2|\.pb\.go|\.min\.|zz_generated|(^|/)locales?/")
TAG_LINE = re.compile(r"^\s*(@\w+|:\w+.*:|Args?:|Arguments:|Parameters|Returns?:|Raises:|Examples?:?$|Notes?$|#+ |```|>>> |\.\. )")
WORD_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")

# The first word of a summary and how a person would ask for it.
QUESTION_VERBS = {
    "return": "get", "returns": "get", "get": "get", "gets": "get", "compute": "compute", "computes": "compute",
    "calculate": "calculate", "calculates": "calculate", "create": "create", "creates": "create", "convert": "convert",
    "converts": "convert", "check": "check", "checks": "check", "parse": "parse", "parses": "parse", "load": "load",
    "loads": "load", "read": "read", "reads": "read", "write": "write", "writes": "write", "remove": "remove",
    "removes": "remove", "delete": "delete", "deletes": "delete", "add": "add", "adds": "add", "find": "find",
    "finds": "find", "set": "set", "sets": "set", "make": "make", "makes": "make", "build": "build", "builds": "build",
    "open": "open", "opens": "open", "run": "run", "runs": "run", "send": "send", "sends": "send", "sort": "sort",
    "split": "split", "splits": "split", "test": "test", "determine": "determine", "determines": "determine",
    "generate": "generate", "generates": "generate", "plot": "plot", "draw": "draw", "list": "list", "count": "count",
    "download": "download", "save": "save", "update": "update", "print": "print", "format": "format", "extract": "extract",
    "merge": "merge", "join": "join", "copy": "copy", "encode": "encode", "decode": "decode", "validate": "validate",
    "wait": "wait", "retrieve": "get", "fetch": "fetch", "replace": "replace", "render": "render", "transform": "transform",
    "apply": "apply", "start": "start", "stop": "stop", "execute": "execute", "iterate": "iterate", "insert": "insert",
}


def name_in_words(name):
    return " ".join(part.lower() for part in WORD_PARTS.findall(name))


def summary(doc):
    """First paragraph of a documentation text, without tags and sections of parameters."""
    lines = []
    for line in doc.strip().splitlines():
        if not line.strip() or TAG_LINE.match(line):
            if lines:
                break
            continue
        lines.append(line.strip())
    return squeeze(" ".join(lines))


def question(text, language):
    """Turns "Return the path of X." into "how to get path of X", or gives None if the text has another form."""
    sentence = re.split(r"(?<=[a-z)])\.(?:\s|$)", text, maxsplit=1)[0].replace("`", "").rstrip(".:")
    first, _, rest = sentence.partition(" ")
    verb = QUESTION_VERBS.get(first.lower())
    if not verb or not 2 <= len(rest.split()) <= 18:
        return None
    if first.lower().startswith("return") and rest.lower().startswith(("true if", "whether")):
        verb, rest = "check", "if " + rest.split(" ", 2 if rest.lower().startswith("true") else 1)[-1]
    rest = re.sub(r"^(the|a|an)\s", "", rest, flags=re.IGNORECASE)
    form = stable(text, 5)
    asked = f"{verb} {rest}"
    return [f"how to {asked}", f"{language} how to {asked}", f"{language} {asked}", f"how to {asked} in {language}", f"how do I {asked}?"][form]


def add_code(writer, origin, language, name, doc, bare, documented):
    """Adds the pair(s) of one function: `bare` is its text without documentation, `documented` with it."""
    text = summary(doc)
    if len(text) < 15 or len(text.split()) < 3 or len(bare) < 60:
        return
    choice = stable(bare, 10)
    if choice < 4:
        asked = question(text, language)
        if asked:
            writer.add(asked, documented if choice == 0 else bare, origin)
            return
    words = name_in_words(name)
    if choice == 9 and len(words.split()) >= 3:
        writer.add(f"{language} {words}" if stable(words, 2) else words, documented, origin)
        return
    writer.add(text, bare, origin)


def python_functions(text):
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    lines = text.splitlines()
    for node in ast.walk(tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        doc = ast.get_docstring(node)
        if not doc or len(node.body) < 2:
            continue
        start, first = node.lineno - 1, node.body[0]
        header, body = lines[start : first.lineno - 1], lines[first.end_lineno : node.end_lineno]
        bare = textwrap.dedent("\n".join(header + body))
        whole = textwrap.dedent("\n".join(lines[start : node.end_lineno]))
        yield node.name, doc, cut(bare, 1200), cut(whole, 1200)


def run_python(folder, writer):
    for wheel in sorted(os.listdir(folder)):
        origin = wheel.split("-")[0]
        try:
            archive = zipfile.ZipFile(os.path.join(folder, wheel))
        except (zipfile.BadZipFile, IsADirectoryError):
            continue
        entries = [e for e in archive.infolist() if e.filename.endswith(".py") and e.file_size < 400_000 and not SKIPPED.search(e.filename)]
        entries.sort(key=lambda e: stable(e.filename, 1 << 30))
        for entry in entries[:1500]:
            if writer.full(origin):
                break
            for name, doc, bare, whole in python_functions(archive.read(entry).decode("utf-8", "replace")):
                add_code(writer, origin, "python", name, doc, bare, whole)


ITEM = {
    "rust": re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:default\s+)?(?:const\s+)?(?:async\s+)?(?:unsafe\s+)?(?:extern\s+\S+\s+)?(?:fn|struct|enum|trait|macro_rules!|impl)\s+(\w+)"),
    "go": re.compile(r"^(?:func\s+(?:\([^)]*\)\s*)?(\w+)|type\s+(\w+)\s+(?:struct|interface))"),
    "js": re.compile(
        r"^\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:public\s+|private\s+|protected\s+|static\s+|abstract\s+|readonly\s+|async\s+|get\s+|set\s+)*"
        r"(?:function\*?\s+(\w+)|(?:class|interface|type|enum)\s+(\w+)|(?:const|let|var)\s+(\w+)\s*=|(?:[\w.]+\.)?(\w+)\s*[=:]\s*(?:async\s*)?function|(\w+)\s*(?:<[^>]*>)?\()"
    ),
}
CODE_START = {"rust": "///", "go": "//", "js": "/**"}


def take_item(lines, start):
    """Text of the item that begins at a line: up to the end of its braces, or to its semicolon."""
    depth, size, taken = 0, 0, []
    for line in lines[start : start + 70]:
        taken.append(line)
        size += len(line) + 1
        depth += line.count("{") - line.count("}")
        depth += line.count("(") - line.count(")")
        if size > 1500 or (depth <= 0 and re.search(r"[};,]\s*$|\)\s*$", line)):
            break
    return textwrap.dedent("\n".join(taken))


def brace_functions(text, language):
    lines = text.expandtabs(4).splitlines()
    mark, item, at = CODE_START[language], ITEM[language], 0
    while at < len(lines):
        line = lines[at].strip()
        if not line.startswith(mark) or line.startswith("////"):
            at += 1
            continue
        start, doc = at, []
        if language == "js":
            while at < len(lines):
                piece = lines[at].strip()
                doc.append(piece.removeprefix("/**").removesuffix("*/").strip().removeprefix("*").strip())
                at += 1
                if piece.endswith("*/"):
                    break
        else:
            while at < len(lines) and lines[at].strip().startswith(mark):
                doc.append(lines[at].strip().removeprefix(mark).strip())
                at += 1
        head = at
        while at < len(lines) and (lines[at].strip().startswith(("#[", "@")) or lines[at].strip() in (")]",)):
            at += 1
        found = item.match(lines[at][:300]) if at < len(lines) else None
        if not found:
            continue
        name = next((g for g in found.groups() if g), "")
        bare = take_item(lines, at)
        whole = textwrap.dedent("\n".join(lines[start:head])) + "\n" + bare
        yield name, "\n".join(doc), cut(bare, 1200), cut(whole, 1200)


def add_text(writer, origin, language, name, data):
    if len(data) > 600_000 or SKIPPED.search(name):
        return
    text = data.decode("utf-8", "replace")
    if "generated" in text[:600].lower() or len(text) > 200 * (text.count("\n") + 1):
        return
    spoken = {"js": "typescript" if name.endswith("ts") else "javascript", "go": "golang"}.get(language, language)
    for name, doc, bare, whole in brace_functions(text, language):
        if language == "go":
            doc = re.sub(rf"^{re.escape(name)}\s+(is\s+|are\s+)?", "", doc) if stable(bare, 2) else doc
        add_code(writer, origin, spoken, name, re.sub(r"\{@\w+\s+([^}]*)\}|\[`?([^\]`]*)`?\](\([^)]*\)|\[[^\]]*\])?", r"\1\2", doc), bare, whole)


def run_rust(folder, writer):
    for crate in sorted(os.listdir(folder)):
        origin = re.sub(r"-\d.*", "", crate)
        for place, _, names in os.walk(os.path.join(folder, crate)):
            for name in sorted(names):
                if name.endswith(".rs") and not writer.full(origin):
                    path = os.path.join(place, name)
                    with open(path, "rb") as file:
                        add_text(writer, origin, "rust", path[len(folder) :], file.read(600_001))


def run_go(folder, writer):
    for deb in sorted(os.listdir(folder)):
        origin = deb.split("_")[0]
        for name, data in deb_files(os.path.join(folder, deb), lambda n: n.endswith(".go") and not n.endswith("_test.go")):
            if writer.full(origin):
                break
            add_text(writer, origin, "go", name, data)


def run_js(folder, writer):
    for archive_name in sorted(os.listdir(folder)):
        origin = re.sub(r"-\d.*", "", archive_name)
        files = []
        try:
            # Members are read in the order of the archive: seeking back would decompress it again.
            with tarfile.open(os.path.join(folder, archive_name), "r|gz") as archive:
                for entry in archive:
                    if entry.isfile() and entry.size < 600_000 and re.search(r"\.(ts|tsx|js|mjs|jsx)$", entry.name):
                        files.append((entry.name, archive.extractfile(entry).read()))
        except (tarfile.TarError, EOFError, OSError):
            continue
        files.sort(key=lambda f: (f[0].endswith(".d.ts"), not f[0].endswith((".ts", ".tsx")), "dist" in f[0], f[0]))
        for name, data in files[:1200]:
            if writer.full(origin):
                break
            add_text(writer, origin, "js", name, data)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("language", choices=["python", "rust", "go", "js"])
    parser.add_argument("folder")
    parser.add_argument("out")
    parser.add_argument("--limit", type=int, default=10**9)
    parser.add_argument("--per-package", type=int, default=1200)
    args = parser.parse_args()
    writer = PairWriter(args.out, f"code-{args.language}", args.limit, args.per_package)
    {"python": run_python, "rust": run_rust, "go": run_go, "js": run_js}[args.language](args.folder, writer)
    writer.close()


if __name__ == "__main__":
    main()
