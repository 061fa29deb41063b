"""Pairs from dialogue data sets in git repositories: a turn and the turns after it, a question and the dialogue that answers it.

    chat_pairs.py MIRRORS_FOLDER OUT.jsonl

MIRRORS_FOLDER holds one bare repository per data set, in a folder named OWNER+NAME.
"""

import argparse
import io
import json
import os
import re
import subprocess
import zipfile

from common import PairWriter, cut, squeeze, stable

ACKNOWLEDGEMENT = re.compile(r"^(ok(ay)?|yes|no|sure|thanks?( you)?|great|good|hi|hello|bye|goodbye|alright|perfect|that'?s (all|it|right)|you'?re welcome)\b.{0,25}$", re.IGNORECASE)


def git_dir(root, name):
    for place in (os.path.join(root, name, "repo"), os.path.join(root, name, "repo", ".git")):
        if os.path.exists(os.path.join(place, "HEAD")):
            return place
    return None


def blobs(root, name, pattern):
    """Yields (path, bytes) of the files of a repository's newest commit whose path matches, as far as the copy holds them."""
    place = git_dir(root, name)
    if not place:
        return
    listing = subprocess.run(["git", "-C", place, "ls-tree", "-r", "-z", "HEAD"], capture_output=True).stdout
    entries = [entry.split("\t", 1) for entry in listing.decode("utf-8", "replace").split("\0") if "\t" in entry]
    reader = subprocess.Popen(["git", "-C", place, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    for meta, path in entries:
        if not re.search(pattern, path):
            continue
        reader.stdin.write(meta.split()[2].encode() + b"\n")
        reader.stdin.flush()
        header = reader.stdout.readline().split()
        if len(header) != 3:
            continue
        data = reader.stdout.read(int(header[2]))
        reader.stdout.read(1)
        yield path, data
    reader.stdin.close()
    reader.stdout.close()
    reader.wait()


def dialogue_pairs(writer, turns, source, every=1):
    """Adds neighbouring turns: one turn → the next two turns; every fourth time a turn → the dialogue around it.

    `turns` is a list of (speaker, text).
    """
    turns = [(who, squeeze(text)) for who, text in turns if text and text.strip()]
    for at in range(len(turns) - 1):
        text = turns[at][1]
        minimum = 8 if max(text) > "\u2e80" else 25
        if len(text) < minimum or ACKNOWLEDGEMENT.match(text) or at % every:
            continue
        if stable(text, 4) == 0 and len(turns) > 5:
            around = turns[max(0, at - 3) : at] + turns[at + 1 : at + 6]
        else:
            around = turns[at + 1 : at + 3]
        right = "\n".join(f"{who}: {said}" for who, said in around)
        writer.add(text, right, source, source)


def render(turns):
    return "\n".join(f"{who}: {squeeze(text)}" for who, text in turns)


def schema_guided(root, writer):
    source = "schema-guided-dialogue"
    for path, data in blobs(root, "google-research-datasets+dstc8-schema-guided-dialogue", r"^(train|dev|test)/dialogues_\d+\.json$"):
        for dialogue in json.loads(data):
            turns = [(t["speaker"].lower().replace("system", "assistant"), t["utterance"]) for t in dialogue["turns"]]
            if stable(dialogue["dialogue_id"] + path, 2) == 0:
                dialogue_pairs(writer, turns, source, every=2)
            ask_slots(writer, dialogue, turns, source)


def ask_slots(writer, dialogue, turns, source):
    """Questions about what the user asked for or chose → the part of the dialogue where it was said."""
    for at, turn in enumerate(dialogue["turns"]):
        for frame in turn["frames"]:
            service = re.sub(r"_\d+$", "", frame["service"]).lower()
            service = re.sub(r"(?<=[a-z])s$", "", service)
            for action in frame.get("actions", []):
                slot, values = action.get("slot", "").replace("_", " "), action.get("values") or []
                key = f"{dialogue['dialogue_id']}{at}{slot}"
                if action["act"] not in ("INFORM", "OFFER", "CONFIRM") or not slot or not values or stable(key, 7):
                    continue
                value = values[0]
                form = stable(key, 9)
                asked = [
                    f"what {slot} did the user want for the {service}?",
                    f"which {slot} did we settle on for the {service}",
                    f"{service} with {slot} {value}",
                    f"when did I ask about a {service}, {slot} {value}?",
                    f"what did I say about the {slot} of the {service}?",
                    f"the conversation where the {slot} was {value}",
                    f"user looks for a {service}; {slot}: {value}",
                    f"did the user mention {value} as {slot}?",
                    f"{service} {value}",
                ][form]
                writer.add(asked, render(turns[max(0, at - 2) : at + 4]), source, source + "-questions")


def taskmaster(root, writer):
    for path, data in blobs(root, "google-research-datasets+Taskmaster", r"\.json$"):
        if "ontology" in path or "schema" in path or b"utterances" not in data[:5000]:
            continue
        content = json.loads(data)
        for dialogue in content if isinstance(content, list) else content.values():
            if not isinstance(dialogue, dict):
                continue
            turns = [(t["speaker"].lower(), t["text"]) for t in dialogue.get("utterances", [])]
            dialogue_pairs(writer, turns, "taskmaster", every=2)
            scenario = squeeze(dialogue.get("instructions") or "")
            if 20 < len(scenario) < 400 and turns:
                writer.add(scenario, render(turns[:10]), "taskmaster", "taskmaster")


def topical_chat(root, writer):
    for _, data in blobs(root, "alexa+Topical-Chat", r"^conversations/.*\.json$"):
        for dialogue in json.loads(data).values():
            dialogue_pairs(writer, [(t["agent"].replace("agent_", "person "), t["message"]) for t in dialogue["content"]], "topical-chat")


def crosswoz(root, writer):
    for _, data in blobs(root, "thu-coai+CrossWOZ", r"^data/crosswoz/(train|val|test)\.json\.zip$"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                if not name.endswith(".json") or name.startswith("__"):
                    continue
                for dialogue in json.loads(archive.read(name)).values():
                    turns = [({"usr": "用户", "sys": "助手"}.get(m["role"], m["role"]), m["content"]) for m in dialogue["messages"]]
                    dialogue_pairs(writer, turns, "crosswoz", every=2)
                    task = "".join(dialogue.get("task description", [])) or ""
                    task = re.sub(r"<[^>]+>", "", task)
                    if task:
                        writer.add(cut(task, 380), render(turns[:10]), "crosswoz", "crosswoz")


def kdconv(root, writer):
    for _, data in blobs(root, "thu-coai+KdConv", r"^data/(film|music|travel)/(train|dev|test)\.json$"):
        for dialogue in json.loads(data):
            turns = [("甲" if at % 2 == 0 else "乙", m["message"]) for at, m in enumerate(dialogue["messages"])]
            dialogue_pairs(writer, turns, "kdconv")
            for at, message in enumerate(dialogue["messages"]):
                for fact in message.get("attrs", []):
                    value = fact.get("attrvalue") or ""
                    if len(value) < 120 and stable(value + str(at), 4) == 0:
                        writer.add(f"{fact.get('name')}的{fact.get('attrname')}是什么？", render(turns[max(0, at - 1) : at + 3]), "kdconv", "kdconv")
    for _, data in blobs(root, "thu-coai+KdConv", r"^data/.*kb_.*\.json$"):
        for subject, facts in json.loads(data).items():
            for _, attribute, value in facts:
                if len(str(value)) > 30:
                    asked = f"介绍一下{subject}" if attribute == "Information" else f"{subject}的{attribute}"
                    writer.add(asked, str(value), "kdconv", "kdconv")


def chatterbot(root, writer):
    for path, data in blobs(root, "gunthercox+chatterbot-corpus", r"chatterbot_corpus/data/(english|german|french|spanish|chinese|russian|japanese|tchinese)/.*\.yml$"):
        turns = []
        for line in data.decode("utf-8", "replace").splitlines():
            start = re.match(r"^- - (.*)", line)
            follow = re.match(r"^  - (.*)", line)
            if start:
                dialogue_flush(writer, turns)
                turns = [start.group(1).strip("'\" ")]
            elif follow and turns:
                turns.append(follow.group(1).strip("'\" "))
        dialogue_flush(writer, turns)


def dialogue_flush(writer, turns):
    for left, right in zip(turns, turns[1:]):
        writer.add(left, right, "chatterbot", "chatterbot-corpus")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mirrors")
    parser.add_argument("out")
    parser.add_argument("--only", help="name of one reader")
    parser.add_argument("--per-set", type=int, default=90_000)
    args = parser.parse_args()
    writer = PairWriter(args.out, "chat", per_origin=args.per_set)
    for read in (chatterbot, topical_chat, kdconv, crosswoz, taskmaster, schema_guided):
        if args.only and read.__name__ != args.only:
            continue
        try:
            read(args.mirrors, writer)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            print(read.__name__, "stopped:", repr(error), flush=True)
        print(read.__name__, writer.count, flush=True)
    print(writer.origins)
    writer.close()


if __name__ == "__main__":
    main()
