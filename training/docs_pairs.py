"""Pairs from documentation: a heading with its parents → the section's text. Reads Markdown, reStructuredText, HTML and manual pages.

    docs_pairs.py debs DEBS_FOLDER OUT.jsonl
    docs_pairs.py git  MIRRORS_FOLDER OUT.jsonl OWNER+NAME:REGEX...
"""

import argparse
import gzip
import html
import os
import re

from chat_pairs import blobs
from common import PairWriter, cut, deb_files, letters, squeeze, stable, tidy

DULL = re.compile(r"^(see also|license|copyright|contents|table of contents|index|navigation|specifications|browser compatibility|authors?|author|colophon|reporting bugs|history|references|footnotes|changelog|credits|indices and tables|syntax|synopsis|search)$", re.IGNORECASE)
LANGUAGE = re.compile(r"(?:^|[-/._])(de|fr|es|ru|ja|zh-cn|zh_cn|zh)(?:[-/._]|$)", re.IGNORECASE)


def add_sections(writer, origin, source, sections):
    """`sections` yields (headings from the title down, text)."""
    for path, text in sections:
        path = [squeeze(h).strip("#¶ ") for h in path if h and h.strip()]
        text = tidy(text)
        if not path or DULL.match(path[-1]) or len(text) < 80 or letters(text) < 0.6:
            continue
        left = path[-1]
        if len(path) > 1 and (len(left.split()) < 5 or stable(text, 2)):
            left = f"{path[-2]}: {left}" if stable(text, 3) else f"{path[0]} {left}"
        if len(left) < 12 and max(left) < "\u2e80":
            sentence = re.split(r"(?<=[.!?])\s", squeeze(text), maxsplit=1)
            if len(sentence) == 2 and len(sentence[1]) > 80:
                writer.add(cut(sentence[0], 300), sentence[1], origin, source)
            continue
        # A long section gives a second pair: its first sentence, which states the topic, → what follows.
        if len(text) > 500 and stable(text, 3) == 0:
            sentence = re.split(r"(?<=[.!?。])\s+", text, maxsplit=1)
            if len(sentence) == 2 and 30 < len(sentence[0]) < 300:
                writer.add(sentence[0], cut(sentence[1], 900), origin, source)
        writer.add(left, text, origin, source)


def markdown(text):
    text = re.sub(r"\A---\n.*?\n---\n", lambda m: title_of(m.group(0)), text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"\{\{[^{}\"]*\(?\"?([^\"{}]*)\"?[^{}]*\)?\}\}", r"\1", text)
    text = re.sub(r"\{%.*?%\}|\{\{.*?\}\}", "", text, flags=re.DOTALL)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    stack, body, fenced = [], [], False
    for line in text.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
            continue
        heading = None if fenced else re.match(r"^(#{1,6})\s+(.+?)\s*#*$", line)
        if heading:
            yield list(stack), "\n".join(body)
            stack, body = stack[: len(heading.group(1)) - 1] + [re.sub(r"[`*]|\{#.*\}|\\", "", heading.group(2))], []
        else:
            body.append(line)
    yield stack, "\n".join(body)


def title_of(front):
    found = re.search(r"^title:\s*[\"']?(.+?)[\"']?$", front, re.MULTILINE)
    return f"# {found.group(1)}\n" if found else ""


def rest(text):
    lines, stack, levels, body = text.splitlines(), [], [], []
    for at, line in enumerate(lines):
        below = lines[at + 1] if at + 1 < len(lines) else ""
        if line.strip() and re.match(r"^([=\-~^\"'`*+#.])\1{3,}\s*$", below) and len(below.strip()) >= len(line.strip()) - 1 and not line.startswith((" ", "..")):
            if body:
                yield list(stack), "\n".join(body)
            mark = below[0]
            levels = levels[: levels.index(mark) + 1] if mark in levels else levels + [mark]
            stack, body = stack[: len(levels) - 1] + [line.strip()], []
        elif not re.match(r"^([=\-~^\"'`*+#.])\1{3,}\s*$", line) and not line.lstrip().startswith(".. "):
            body.append(re.sub(r":[\w:+-]+:`~?([^`<]*?)\s*(?:<[^`]*>)?`", r"\1", line).replace("``", ""))
    yield stack, "\n".join(body)


def web_page(text):
    text = re.sub(r"<(script|style|nav|head|footer|svg)\b.*?</\1>", "", text, flags=re.DOTALL | re.IGNORECASE)
    text = re.sub(r"<a class=\"headerlink\".*?</a>|<!--.*?-->", "", text, flags=re.DOTALL)
    stack = []
    for piece in re.split(r"(?=<h[1-6]\b)", text, flags=re.IGNORECASE)[1:400]:
        found = re.match(r"<h([1-6])\b.*?>(.*?)</h\1>", piece, re.DOTALL | re.IGNORECASE)
        if not found:
            continue
        stack = stack[: int(found.group(1)) - 1] + [plain(found.group(2))]
        yield stack, plain(piece[found.end() :])


def plain(markup):
    markup = re.sub(r"</?(p|div|li|tr|dt|dd|pre|br|table|ul|ol|dl)\b[^>]*>", "\n", markup, flags=re.IGNORECASE)
    return html.unescape(re.sub(r"<[^>]+>", "", markup))


def manual(text, name):
    """Sections and options of a manual page: `name heading` → text, description of an option → the option."""
    text = re.sub(r"\\f(\[[^\]]*\]|.)|\\[&|^]|\\s[+-]?\d", "", text)
    text = re.sub(r"\\\(aq", "'", text)
    text = re.sub(r"\\\((?:em|en|hy)|\\-", "-", text)
    text = re.sub(r"\\e", r"\\", text)
    text = re.sub(r"\\\(..|\\\[[^\]]*\]", "", text)
    page = os.path.basename(name).split(".")[0]
    about, heading, body = page, "", []
    for line in text.splitlines():
        request = re.match(r"^[.'](\w+)\s*(.*)$", line)
        if request and request.group(1) in ("SH", "SS", "Sh", "Ss"):
            if heading.upper() in ("NAME", "BEZEICHNUNG", "NOM", "NOMBRE", "ИМЯ", "名前", "NOME", "名称"):
                about = squeeze(" ".join(body))[:120] or page
            elif heading:
                yield [about, f"{page} {heading.lower()}"], "\n".join(body)
            heading, body = request.group(2).strip('" '), []
        elif request and request.group(1) in ("TP", "PP", "IP", "P", "LP", "RS", "RE", "Pp", "It"):
            body.append("\n" + request.group(2).strip('"').removesuffix(" 4") if request.group(1) in ("IP", "It") else "\n")
        elif request and request.group(1) in ("B", "I", "BR", "IR", "RB", "RI", "BI", "IB", "SB", "Nm", "Fl", "Ar", "Xr", "Dq", "Ql", "Pa", "Cm"):
            body.append(request.group(2).replace('"', ""))
        elif not line.startswith((".", "'")):
            body.append(line)
    if heading:
        yield [about, f"{page} {heading.lower()}"], "\n".join(body)


def parse(name, data):
    text = data.decode("utf-8", "replace")
    if re.search(r"/man\d/", name):
        return manual(text, name)
    if name.endswith((".html", ".htm", ".xhtml")):
        return web_page(text)
    if name.endswith((".rst", ".rst.txt", ".txt")):
        return rest(text)
    return markdown(text)


def run_debs(folder, writer):
    wanted = re.compile(r"\.(html?|xhtml|md|rst|rst\.txt)(\.gz)?$|/man/(\w\w(_\w\w)?/)?man\d/.*\.gz$")
    dull = re.compile(r"genindex|modindex|search\.html|/_sources/.*index|_static|changelog|NEWS|copyright|/src/|implementors|/(api|doxygen)/.*-members")
    for deb in sorted(os.listdir(folder), key=lambda n: stable(n, 1 << 20)):
        origin = deb.split("_")[0]
        if origin.startswith(("dict-", "fortunes", "wordnet")):
            continue
        found = LANGUAGE.search(origin)
        for name, data in deb_files(os.path.join(folder, deb), lambda n: wanted.search(n) and not dull.search(n)):
            if writer.full(origin):
                break
            if name.endswith(".gz"):
                try:
                    data, name = gzip.decompress(data), name.removesuffix(".gz")
                except (OSError, EOFError):
                    continue
            source = "manual" if "/man" in name and re.search(r"/man\d/", name) else "docs"
            source += f"-{found.group(1).lower()}" if found else ""
            add_sections(writer, origin, source, parse(name, data[:400_000]))
        print(origin, writer.origins.get(origin, 0), flush=True)


def run_git(folder, specs, writer):
    for spec in specs:
        name, _, pattern = spec.partition(":")
        for path, data in blobs(folder, name, pattern):
            if writer.full(name):
                break
            found = LANGUAGE.search(path) if "translated" in name or "tldr" in name else None
            if name == "tldr-pages+tldr":
                tldr(writer, name, data.decode("utf-8", "replace"), f"tldr-{found.group(1)}" if found else "tldr")
            elif re.search(r"error_codes|/rules/|docs/rules", path):
                rule(writer, name, path, data.decode("utf-8", "replace"))
            else:
                add_sections(writer, name, f"docs-{found.group(1).lower()}" if found else "docs", parse(path, data))
        print(name, writer.origins.get(name, 0), flush=True)


def tldr(writer, origin, text, source):
    """Description of a task → the command; a command's description → its page."""
    title = re.search(r"^# (.+)$", text, re.MULTILINE)
    about = " ".join(re.findall(r"^> (?!More|Mehr|Plus|Más|更多|詳し|Больше)(.+)$", text, re.MULTILINE))
    if title and about:
        writer.add(about, re.sub(r"^> .*$", "", text.split("\n", 1)[-1], flags=re.MULTILINE), origin, source)
        for task, command in re.findall(r"^- (.+?):?$\n\n`(.+)`$", text, re.MULTILINE):
            if stable(task + command, 2):
                writer.add(task, f"{title.group(1)}: {re.sub(r'[{}]{2}', '', command)}", origin, source)


def rule(writer, origin, path, text):
    """An error code or lint rule: its sections, and its first sentence → the rest."""
    code = os.path.basename(path).split(".")[0]
    text = re.sub(r"\A---.*?---\n", "", text, flags=re.DOTALL).strip()
    first, _, others = text.partition("\n\n")
    if len(others) > 60:
        writer.add(squeeze(first.strip("# ")), f"{code}\n{others}", origin, "rules")
        writer.add(f"error {code}" if code.startswith("E0") else f"{code} rule", text, origin, "rules")
    add_sections(writer, origin, "rules", (([code] + list(p), t) for p, t in markdown(text)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["debs", "git"])
    parser.add_argument("folder")
    parser.add_argument("out")
    parser.add_argument("specs", nargs="*")
    parser.add_argument("--per-origin", type=int, default=4000)
    args = parser.parse_args()
    writer = PairWriter(args.out, "docs", per_origin=args.per_origin)
    if args.kind == "debs":
        run_debs(args.folder, writer)
    else:
        run_git(args.folder, args.specs, writer)
    writer.close()


if __name__ == "__main__":
    main()
