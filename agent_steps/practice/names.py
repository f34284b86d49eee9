"""The names of files and folders: in a task, and in a listing."""
import re

from agent_steps.practice.situation import NEGATION, lines

HERE = {   # words that stand where the name of a folder could
    "this", "my", "the", "current", "working", "same", "a", "that", "which", "what", "and", "for", "is", "of", "to", "make", "are",
    "in", "have", "has", "folder", "directory", "here", "there", "it", "python", "only", "no", "instead", "total", "all",
}
FOLDERS = [   # the ways in which a task names a folder
    re.compile(r"[\"'`]?([\w./-]+)[\"'`]? (?:folder|directory)\b"),
    re.compile(r"\b(?:folder|directory) (?:called |named )?[\"'`]?([\w-]+(?:/[\w.-]+)*)[\"'`]?"),
    re.compile(r"\b(?:in|inside|under|of) [\"'`]?([\w-]+(?:/[\w-]+)+)/?(?!\w|\.\w)"),
    re.compile(r"\b(?:in|inside|under) [\"'`]?([\w-]+)/?[\"'`]?\s*[?.!]*$"),
]
JOINING = {   # words between the names of files
    "and", "or", "the", "file", "files", "also", "too", "please", "now", "called", "named", "both", "&",
}
END = {   # words that end the list of names
    "of", "from", "in", "inside", "under", "with", "without", "that", "which", "for", "to", "by", "then", "at", "on", "i", "you", "we",
}
QUESTION = re.compile(r"\W*(?:how|what|why|did|does|should|when|who|which|was|is|were|has|have)\b", re.I)
WORD = re.compile(r"\"[^\"]+\"|'[^']+'|`[^`]+`|[^\s,;:]+")
QUOTES = "\"'`“”„‘’"


def folder_in(task: str) -> str:
    """The folder that a task names: `data` in "the data folder" and "the folder data/raw"; "." if it names none."""
    for pattern in FOLDERS:
        found = pattern.search(task)
        if found and found[1].lower() not in HERE:
            return found[1].rstrip("/.") or "."
    return "."


def in_words(folder: str) -> str:
    """A folder as a sentence speaks of it."""
    return "the current folder" if folder == "." else f"the folder {folder}"


def files_in(listing: str, ending: str = "") -> list[str]:
    """The paths in a listing: one a line; remarks in brackets are no paths."""
    found = [text.strip() for text in listing.splitlines() if text.strip() and not text.startswith(("(", "["))]
    return [path for path in found if path.lower().endswith(ending)]


def tables_in(listing: str) -> list[str]:
    """The paths of the CSV and TSV files in a listing."""
    return [path for path in map(str.strip, listing.splitlines()) if path.lower().endswith((".csv", ".tsv"))]


def is_cut(listing: str) -> bool:
    """Whether a listing says that there are more files than it shows."""
    return "(more than" in listing


def files_to_delete(task: str) -> list[str] | None:
    """The paths of the files that a task wants deleted; an empty list if it names none; None if it wants no file deleted."""
    verbs = next(plan["asked"] for plan in lines()["plan"] if plan["name"] == "delete")
    for sentence in re.split(r"(?<=[.!?])\s+|\n", task):
        found = re.search(rf"\b(?:{'|'.join(verbs)})\b", sentence, re.I)
        if not found or NEGATION.search(sentence[:found.start()].lower()) or QUESTION.match(sentence):
            continue
        names, words, behind = _names_in(sentence[found.end():])
        if names:
            folder = _folder(sentence[:found.start()], behind)
            return [name if "/" in name or folder == "." else f"{folder}/{name}" for name in dict.fromkeys(names)]
        if words & set(lines()["understands"]["deletable"]):
            return []
    return None


def _names_in(text: str) -> tuple[list[str], set[str], str]:
    """The names of files right behind the verb, as far as the list of them goes; all words there; and the text behind them."""
    names, words, before = [], set(), ""
    for found in WORD.finditer(text):
        name, word = found[0].strip(QUOTES).rstrip("?!.,").removeprefix("./"), found[0].lower().strip("?!.,")
        is_name = found[0][0] in QUOTES or re.search(r"[./\\]\w", name) or before in ("file", "called", "named")
        if word in END or (names and not is_name and word not in JOINING):
            return names, words, text[found.start():]
        if is_name and name and word not in JOINING and not re.search("[*<>]", name) and before not in ("folder", "directory"):
            names.append(name.replace("\\", "/"))
        words.add("*" if "*" in name else word)
        before = word
    return names, words, ""


def _folder(before: str, behind: str) -> str:
    """The folder that stands around the names: "in the folder data, delete a.txt", or "delete a.txt from data"."""
    for text in (before, re.split(r",|\band\b|\bthen\b", behind)[0]):
        if found := re.match(r"\W*(?:in|from|inside|of)\b(.*)", text, re.I | re.S):
            return folder_in("in" + found[1].rstrip(" ,"))
    return "."
