"""The exercises of lesson 3."""
import contextlib
import re
import shutil
from pathlib import Path

from agent_steps.classroom.checks import want


@contextlib.contextmanager
def _folder(files):
    """A folder of the check's own, with these files: name to content. It is removed again."""
    folder = Path("check")
    while folder.exists():
        folder = Path(f"{folder}_")
    try:
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content, encoding="utf-8")
        yield folder.name
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _want_text(found, name):
    want(found is not None and found is not ..., f"{name} gave back nothing. Return a text.")
    want(isinstance(found, str), f"{name} gave back {found!r}. A message is a text, so return a text.")
    want(found.strip(), f"{name} gave back an empty text, which the service refuses.")


def exercise_1(count_lines):
    """count_lines(path): how many lines a text file has, as text; an error text for a missing path and for a folder."""
    with _folder({"poem.txt": "one\ntwo\nthree\n", "blank.txt": "", "sub/note.txt": "a\n\nb\n"}) as folder:
        for name, lines in {"poem.txt": 3, "sub/note.txt": 3, "blank.txt": 0}.items():
            found = count_lines(f"{folder}/{name}")
            _want_text(found, "count_lines")
            want(str(lines) in re.findall(r"\d+", found), f"For a file with {lines} lines it gave {found!r}.")
        missing, no_file = count_lines(f"{folder}/missing.txt"), count_lines(f"{folder}/sub")
    for case, found in {"a path that does not exist": missing, "a folder": no_file}.items():
        want(str(found).startswith("Error:"), f"For {case} the text should begin with 'Error:', but it was {found!r}.")
    want(missing.replace("missing.txt", "sub") != no_file, "A missing file and a folder get the same words. The model cannot tell them apart.")


def exercise_2(find_kind):
    """find_kind(path, ending): the files of that kind, or a text that says there are none, or the error of list_files."""
    with _folder({"a.csv": "", "old.csv.bak": "", "csv.md": "", "sub/b.csv": ""}) as folder:
        found = find_kind(folder, ".csv")
        _want_text(found, "find_kind")
        wanted = [f"{folder}/a.csv", f"{folder}/sub/b.csv"]
        others = [line for line in found.splitlines() if line not in wanted]
        want(not others, f"It also gave {', '.join(others)}, which should not be there.")
        want(found.splitlines() == wanted, f"Of the files a.csv and sub/b.csv it found {len(found.splitlines())}.")
        want(find_kind(folder, ".md").strip() == f"{folder}/csv.md", "Asked for '.md', it did not give the one file that ends so.")
        none = find_kind(folder, ".png")
    with _folder({"sub/.hidden": ""}) as folder:
        empty = find_kind(folder, ".csv")
    with _folder({f"{number}.txt": "" for number in range(600)}) as folder:
        cut = find_kind(folder, ".txt")
    _want_text(none, "For an ending that no file has, find_kind")
    want(not none.startswith("Error:"), "That no file has this ending is an answer, not an error.")
    want("there are no files" in str(empty), "What list_files says of an empty folder is lost.")
    want("more than" in str(cut), "list_files had to cut its list and said so, but the model is not told.")
    want(str(find_kind("nowhere", ".csv")).startswith("Error: there is no folder"), "For a folder that does not exist, the error of list_files is lost.")


def exercise_3(ask_about, chat):
    """ask_about(chat, folder): ask, send the tool's result, return the last reply."""
    for folder, other in (("data", ""), ("data/harbour", "data/penguins.csv")):
        fresh = type(chat)(chat.model, chat.system_prompt)
        reply = ask_about(fresh, folder)
        want(reply is not None and reply is not ..., "ask_about gave back nothing. Return the last reply.")
        want(fresh.messages, "Nothing was sent in the chat that it was given.")
        want(len(fresh.messages) > 2, "The model asked for a tool, and no result was sent back.")
        asked, sent = fresh.messages[0]["content"], fresh.messages[-2]["content"]
        want(re.search(rf"(?<![\w/]){re.escape(folder)}(?![\w/])", asked), f"Asked about {folder!r}, it sent the question {asked!r}.")
        files = [path.as_posix() for path in Path(folder).rglob("*") if path.is_file()]
        want(all(name in sent for name in files), f"The result for {folder!r} does not name the files in it: {sent[:80]!r}")
        want(not other or other not in sent, f"The result for {folder!r} names {other}, which is not in that folder.")
        want(reply == fresh.messages[-1]["content"], "That is not the last reply.")
