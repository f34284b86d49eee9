"""Right and wrong answers to the exercises of lesson 3: (exercise, arguments of the check) and, if wrong, words of the reason."""
import os
from pathlib import Path

from agent_steps.describe_a_tool import SYSTEM_PROMPT
from agent_steps.plain_chat import Chat
from agent_steps.providers import connect
from agent_steps.write_the_tool import list_files


def count_by_except(path):
    try:
        with open(path, encoding="utf-8") as file:
            return f"{path} has {sum(1 for line in file)} lines."
    except FileNotFoundError:
        return f"Error: {path} does not exist."
    except OSError:
        return f"Error: {path} is a folder."


def count_by_os(path):
    if os.path.isdir(path):
        return "Error: that is a folder."
    if not os.path.isfile(path):
        return "Error: no such file."
    return str(Path(path).read_bytes().count(b"\n"))


def count_as_number(path):
    return len(Path(path).read_text(encoding="utf-8").splitlines())


def count_with_one_error(path):
    try:
        return f"{len(Path(path).read_text(encoding='utf-8').splitlines())} lines"
    except OSError:
        return f"Error: cannot read {path}."


def count_without_errors(path):
    return f"{len(Path(path).read_text(encoding='utf-8').splitlines())} lines" if Path(path).is_file() else "0 lines"


def kind_by_loop(path, ending):
    kept = ""
    for line in list_files(path).splitlines():
        if line.startswith("Error:") or line[0] == "(" or line.endswith(ending):
            kept += line + "\n"
    return kept if kept else "none"


def kind_by_steps(path, ending):
    listing = list_files(path)
    if not Path(path).is_dir() or listing.startswith("(there"):
        return listing
    lines = listing.splitlines()
    found = [name for name in lines if Path(name).suffix == ending]
    return "\n".join(found + [line for line in lines if line.startswith("(more")]) or "There are none."


def kind_that_says_nothing(path, ending):
    return "\n".join(line for line in list_files(path).splitlines() if line.endswith(ending))


def kind_that_hides_errors(path, ending):
    return kind_by_steps(path, ending) if Path(path).is_dir() else f"no {ending} files"


def kind_by_in(path, ending):
    return "\n".join(line for line in list_files(path).splitlines() if ending in line) or "none"


def kind_without_remarks(path, ending):
    listing = list_files(path)
    return listing if listing.startswith(("Error:", "(")) else kind_that_says_nothing(path, ending) or "none"


def ask_in_steps(chat, folder):
    chat.send(f"What files are in the folder {folder}?")
    result = list_files(folder)
    chat.send(result)
    return chat.messages[-1]["content"]


def ask_with_a_frame(chat, folder):
    chat.send(f"List the files in the folder {folder}, please.")
    return chat.send("The files:\n" + list_files(folder))


def ask_only(chat, folder):
    return chat.send(f"Which files are in the folder {folder}?")


def ask_about_data(chat, folder):
    chat.send(f"Which files are in the folder {folder}?")
    return chat.send(list_files("data"))


def ask_and_return_the_listing(chat, folder):
    chat.send(f"Which files are in the folder {folder}?")
    chat.send(list_files(folder))
    return list_files(folder)


def a_chat():
    return Chat(connect(), SYSTEM_PROMPT)


RIGHT = [
    (1, count_by_except), (1, count_by_os),
    (2, kind_by_loop), (2, kind_by_steps),
    (3, ask_in_steps, a_chat), (3, ask_with_a_frame, a_chat),
]
WRONG = [
    (1, count_as_number, "return a text"), (1, count_with_one_error, "same words"), (1, count_without_errors, "begin with 'Error:'"),
    (2, kind_that_says_nothing, "empty text"), (2, kind_that_hides_errors, "error of list_files is lost"), (2, kind_by_in, "old.csv.bak"),
    (2, kind_without_remarks, "had to cut its list"),
    (3, ask_only, a_chat, "no result was sent"), (3, ask_about_data, a_chat, "not in that folder"),
    (3, ask_and_return_the_listing, a_chat, "not the last reply"),
]

# what the exercises' cells use of the lesson
PREPARE = "model = connect()"
