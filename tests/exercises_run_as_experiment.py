"""Right and wrong answers to the exercises of lesson 14: (exercise, arguments of the check) and, if wrong, words of the reason."""
import csv
import dataclasses

from agent_steps.full_tools import TOOL_DEFINITIONS
from agent_steps.run_as_experiment import Condition
from agent_steps.tool_definitions import build_system_prompt

SLIPPING = {"faults": {"claims_done": 0.03, "malformed_call": 0.12}}
EXAMPLE = Condition("example", prompt_name="with", max_steps=8, options=SLIPPING)
LONGER = Condition("longer", prompt_name="with", system_prompt=build_system_prompt(TOOL_DEFINITIONS), max_steps=12, options=SLIPPING)


def read_index(folder):
    return (folder / "INDEX.md").read_text(encoding="utf-8").splitlines()


def with_csv(folder):
    if not (folder / "INDEX.md").exists():
        return False
    lines = read_index(folder)
    for path in folder.rglob("*.csv"):
        with open(path, encoding="utf-8", newline="") as file:
            columns = next(csv.reader(file))
        if f"- {path.relative_to(folder).as_posix()}: " + ", ".join(columns) not in lines:
            return False
    return True


def with_sets(folder):
    wanted = {f"- {path.relative_to(folder).as_posix()}: {path.read_text(encoding='utf-8').splitlines()[0].replace(',', ', ')}"
              for path in folder.glob("**/*.csv")}
    return wanted <= set(read_index(folder))


def only_there(folder):
    return (folder / "INDEX.md").exists()


def two_known_names(folder):
    return {"- penguins.csv: species, mass_g", "- harbour/tides.csv: hour, tide_m"} <= set(read_index(folder))


def only_paths(folder):
    text = (folder / "INDEX.md").read_text(encoding="utf-8")
    return all(f"- {path.relative_to(folder).as_posix()}: " in text for path in folder.rglob("*.csv"))


def only_the_top(folder):
    return all(f"- {path.name}: {path.read_text(encoding='utf-8').splitlines()[0].replace(',', ', ')}" in read_index(folder)
               for path in folder.glob("*.csv"))


def beginnings(folder):
    """The line may go on after the columns."""
    text = (folder / "INDEX.md").read_text(encoding="utf-8")
    return all(f"- {path.relative_to(folder).as_posix()}: {path.read_text(encoding='utf-8').splitlines()[0].replace(',', ', ')}" in text
               for path in folder.rglob("*.csv"))


def says_nothing(folder):
    read_index(folder)


def one_level(folder):
    return all(line_for(folder, path) in read_index(folder) for pattern in ("*.csv", "*/*.csv") for path in folder.glob(pattern))


def line_for(folder, path):
    return f"- {path.relative_to(folder).as_posix()}: {path.read_text(encoding='utf-8').splitlines()[0].replace(',', ', ')}"


def ends_of_lines(folder):
    lines = read_index(folder)
    return all(any(line.endswith(line_for(folder, path)) for line in lines) for path in folder.rglob("*.csv"))


def without_dash(folder):
    lines = [line.removeprefix("- ") for line in read_index(folder)]
    return all(line_for(folder, path)[2:] in lines for path in folder.rglob("*.csv"))


def as_many_bullets(folder):
    bullets = [line for line in read_index(folder) if line.startswith("- ")]
    return sorted(bullets) == sorted(line_for(folder, path) for path in folder.rglob("*.csv"))


def with_a_slip(folder):
    return line_of(folder) in read_index(folder)   # no such function


def changed(**settings):
    return [EXAMPLE, dataclasses.replace(LONGER, **settings)]


RIGHT = [
    (1, with_csv), (1, with_sets),
    (2, [EXAMPLE, LONGER]), (2, (dataclasses.replace(LONGER, name="12"), dataclasses.replace(EXAMPLE, name="8"))),
    (3, lambda line: line["low"] > 0), (3, lambda line: bool(line["low"] > 0 and line["high"] > 0)),
    (3, lambda line: False if line["low"] != line["low"] else bool(line["low"] > 0)),
]
WRONG = [
    (1, only_there, "is missing"), (1, two_known_names, "do not write their names"), (1, only_paths, "a column is missing"),
    (1, only_the_top, "harbour/tides.csv is missing"), (1, beginnings, "does not have"), (1, says_nothing, "neither True nor False"),
    (1, one_level, "waves.csv"), (1, ends_of_lines, "other words"), (1, without_dash, "a dash"), (1, as_many_bullets, "other lines do no harm"),
    (1, with_a_slip, "NameError"), (1, "check", "not callable"),
    (2, [EXAMPLE], "two conditions"), (2, changed(deny=("edit_file",)), "Change max_steps only"), (2, changed(max_steps=8), "same max_steps"),
    (2, changed(name="example"), "same name"), (2, changed(system_prompt="Work."), "the example"), (2, changed(options={}), "same options"),
    (2, changed(max_steps=50), "12 steps"), (2, "conditions", "two conditions"),
    (3, lambda line: line["difference"] > 0, "goes below 0"), (3, lambda line: line["low"] >= 0, "reaches 0"),
    (3, lambda line: line["p"] < 0.05, "is worse"), (3, lambda line: not line["low"] <= 0, "no interval"),
    (3, lambda line: line["low"] > 0 or line["high"] < 0, "is worse"), (3, lambda line: None, "nothing"),
]

# what the exercises' cells use of the lesson
PREPARE = """
from agent_steps.run_as_experiment import Condition
slipping = {"faults": {"claims_done": 0.03, "malformed_call": 0.12}}
conditions = [None, Condition("example", prompt_name="with", max_steps=8, options=slipping)]
"""
