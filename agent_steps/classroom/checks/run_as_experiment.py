"""The exercises of lesson 14."""
import dataclasses
import math
import tempfile
from pathlib import Path

from agent_steps.classroom.checks import want
from agent_steps.classroom.experiment.outcome import MISTAKES

FILES = {"penguins.csv": "species,mass_g\nAdelie,3750\n", "harbour/tides.csv": "hour,tide_m\n0,1.87\n", "notes.txt": "no table\n"}
DEEPER = {"harbour/2025/may/waves.csv": "hour,height_m\n0,0.4\n"}
PENGUINS, TIDES = "- penguins.csv: species, mass_g", "- harbour/tides.csv: hour, tide_m"
INDEXES = [   # the text of INDEX.md or None, whether it is right, and why
    (None, False, "There is no INDEX.md in this folder."),
    (f"{PENGUINS}\n{TIDES}\n", True, "Both files have their line."),
    (f"# Index\n\n{TIDES}\n{PENGUINS}", True, "Both files have their line; another order, a heading and no end of the last line do no harm."),
    (f"{PENGUINS}\n", False, "The line for harbour/tides.csv is missing."),
    (f"{TIDES}\n", False, "The line for penguins.csv is missing."),
    (f"{PENGUINS}\n{TIDES}\n- notes.txt: no table\n- end\n", True, "Both files have their line; other lines do no harm."),
    ("", False, "INDEX.md is empty."),
    (f"{PENGUINS}\n- harbour/tides.csv: hour\n", False, "In the line for harbour/tides.csv a column is missing."),
    (f"{PENGUINS}\n- harbour/tides.csv: tide_m, hour\n", False, "In the line for harbour/tides.csv the columns are in another order."),
    (f"- penguins.csv: species, mass_g, island\n{TIDES}\n", False, "The line for penguins.csv names a column that the file does not have."),
    (f"- penguins.csv: mass_g, species\n{TIDES}\n", False, "In the line for penguins.csv the columns are in another order."),
    (f"{PENGUINS[2:]}\n{TIDES}\n", False, "The line for penguins.csv does not begin with a dash."),
    (f"{TIDES}\nIn the first place\nsee {PENGUINS}\n", False, "What is to be the line for penguins.csv begins with other words."),
]


def exercise_1(check_columns):
    """check_columns(folder): whether INDEX.md has the right line for each CSV file of the folder."""
    with tempfile.TemporaryDirectory(dir=".", ignore_cleanup_errors=True) as top:
        for number, (index, right, reason) in enumerate(INDEXES):
            found = _found(check_columns, _folder(top, f"{number}", FILES, index))
            want(found is right, f"{reason} Then the answer is {right}, not {found}.")
        others = {"a.csv": "x\n1\n"}
        want(_found(check_columns, _folder(top, "other", others, "- a.csv: x\n")) is True,
             "In a folder with other CSV files their lines count. Find the files; do not write their names into the function.")
        want(_found(check_columns, _folder(top, "third", FILES | others, f"{PENGUINS}\n{TIDES}\n")) is False,
             "A third CSV file, a.csv, has no line. Then the answer is False.")
        want(_found(check_columns, _folder(top, "deeper", FILES | DEEPER, f"{PENGUINS}\n{TIDES}\n")) is False,
             "A CSV file in a folder of a folder, harbour/2025/may/waves.csv, has no line. Then the answer is False.")


def _folder(top, name, files, index):
    folder = Path(top, name).resolve()
    for path, text in (files | ({} if index is None else {"INDEX.md": index})).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def _found(check_columns, folder):
    try:
        found = check_columns(folder)
    except MISTAKES:
        raise   # the learner is told which
    except Exception:   # as in an experiment: a check that raises has found no success
        return False
    want(found in (True, False), "check_columns gives back neither True nor False.")
    return bool(found)


def exercise_2(conditions):
    """Two conditions with the example in the prompt that differ in max_steps only: 8 and 12."""
    want(isinstance(conditions, (list, tuple)) and len(conditions) == 2 and all(map(dataclasses.is_dataclass, conditions)),
         "Give a list of two conditions.")
    first, second = (dataclasses.asdict(each) for each in conditions)
    want(first["name"] != second["name"], "Both have the same name. The table could not tell them apart.")
    want("<tool_call>{" in first["system_prompt"] and "<tool_call>{" in second["system_prompt"], "Both need the prompt with the example.")
    want(first["options"] == second["options"] and first["options"].get("faults"), "Both need the same options, and slips among them: options=slipping.")
    differ = [name for name in first if name not in ("name", "prompt_name") and first[name] != second[name]]
    want("max_steps" in differ, "They have the same max_steps, so they cannot answer the question.")
    want(differ == ["max_steps"], f"They differ in {' and '.join(differ)}. If one is better, which of these was it? Change max_steps only.")
    want(sorted([first["max_steps"], second["max_steps"]]) == [8, 12], "The question is whether 12 steps help more than 8.")


def exercise_3(is_shown):
    """is_shown(line): True only where the whole interval of the difference lies above 0."""
    first = is_shown(_line(0.1, 0.05, 0.15))
    want(first is not None and first is not ..., "is_shown gave back nothing. Return True or False.")
    for difference, low, high, right, reason in [
            (0.1, 0.05, 0.15, True, "The whole interval lies above 0."), (0.01, 0.002, 0.02, True, "A small difference can be sure, too."),
            (0.1, -0.02, 0.22, False, "The interval goes below 0: no difference, or one to the other side, would go well with this."),
            (0.1, 0.0, 0.2, False, "The interval reaches 0."), (-0.1, -0.15, -0.05, False, "The second condition is worse."),
            (0.0, math.nan, math.nan, False, "There is no interval.")]:
        answer = is_shown(_line(difference, low, high))
        want(answer in (True, False), f"is_shown gave back {answer!r}. Return True or False.")
        want(bool(answer) is right, f"{reason} Then the answer is {right}, not {bool(answer)}.")


def _line(difference, low, high):
    """A line of the table that compare returns, with numbers as pandas has them."""
    import pandas

    shown = not low <= 0 <= high and low == low
    return pandas.Series({"pairs": 100, "no example": 0.7, "example": 0.7 + difference, "difference": difference, "low": low, "high": high,
                          "p": 0.004 if shown else 0.3})
