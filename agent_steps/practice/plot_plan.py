"""The plan for "find a CSV file and plot it": list, read, write a script, run it, mend it, finish.

Nothing in it is made for one file. It takes the table and the columns that the task names, or else the first table with
numbers in it, and it mends its script according to what the error says (``repairs``).
"""
import re
import string
from pathlib import PurePosixPath

from agent_steps.practice import wishes
from agent_steps.practice.names import is_cut, tables_in
from agent_steps.practice.repairs import last_words, repair
from agent_steps.practice.replies import call, finish, first_listing, line, say, stopped
from agent_steps.practice.request import Reply
from agent_steps.practice.situation import Situation, lines
from agent_steps.practice.tables import Table, read_table


def plot(situation: Situation) -> Reply:
    """The next reply on the way to a picture."""
    if "list_files" not in situation.tools:
        return say("cannot_look")
    if reply := stopped(situation):
        return reply
    if phrase := wishes.beyond(situation.task):
        return finish(situation, line("beyond", phrase=phrase.strip()), done=False)
    listing = first_listing(situation)
    return listing if isinstance(listing, Reply) else _choose_file(situation, listing)


def _choose_file(situation: Situation, listing: str) -> Reply:
    named = wishes.wanted_file(situation.task)
    listed, tables = [path.strip() for path in listing.splitlines()], tables_in(listing)
    if named:
        found = [path for path in listed if path == named or path.endswith("/" + named)]
        names = ", ".join(tables) or "no CSV file"
        return _read_next(situation, listed, found) if found else finish(situation, line("no_such_file", name=named, names=names), done=False)
    if not tables:
        return finish(situation, line("cut_listing" if is_cut(listing) else "no_csv"), done=False)
    return _read_next(situation, listed, wishes.in_order(situation.task, tables))


def _read_next(situation: Situation, listed: list[str], paths: list[str]) -> Reply:
    """Read one file after the other until one has numbers in it."""
    if "read_file" not in situation.tools:
        return finish(situation, line("no_reader", path=paths[0]), done=False)
    for path in paths:
        text = _text_of(situation, path)
        if isinstance(text, Reply):
            return text
        if table := read_table(text):
            return _draw(situation, path, table, set(listed))
    step = situation.last("read_file", path=paths[-1])
    if step.failed:
        return finish(situation, line("unreadable", path=paths[-1], error=last_words(step.result)), done=False)
    return finish(situation, line("no_table", paths=", ".join(paths)), done=False)


def _text_of(situation: Situation, path: str) -> str | Reply:
    """The text of a file, or the call that gets it. A file that is not UTF-8 is read as Latin-1."""
    step = situation.last("read_file", path=path)
    if step is None:
        return call(situation, line("read", path=path), "read_file", path=path)
    if not step.failed:
        return step.result
    if "run_python_code" not in situation.tools or "UTF-8" not in step.result:
        return ""
    code = f"print(open({path!r}, encoding='latin-1').read()[:5000])"
    second = situation.last("run_python_code", code=code)
    if second is None:
        return call(situation, line("read_latin", path=path), "run_python_code", code=code)
    return "" if second.failed else second.result


def _draw(situation: Situation, path: str, table: Table, taken: set[str]) -> Reply:
    if name := wishes.missing_column(situation.task, table):
        return finish(situation, line("no_column", path=path, name=name, names=", ".join(table.columns)), done=False)
    if name := wishes.text_column(situation.task, table):
        return finish(situation, line("no_numbers", path=path, name=name, names=", ".join(table.numbers)), done=False)
    values = _values(situation, path, table, taken)
    template = string.Template(lines()["scripts"]["histogram" if values["histogram"] else "scatter"])
    script = template.substitute({name: value if name == "draw" else repr(value) for name, value in values.items()}).lstrip()
    if {"write_file", "run_python_script"} <= situation.tools.keys():
        return _draw_by_script(situation, values, script)
    if "run_python_code" in situation.tools:
        return _draw_by_code(situation, values, script)
    return finish(situation, line("no_runner", **values), done=False)


def _values(situation: Situation, path: str, table: Table, taken: set[str]) -> dict:
    """What the script and the sentences are filled in with."""
    x, y = wishes.axes(situation.task, table)
    histogram = situation.habit("histogram") or len(table.numbers) == 1
    stem = PurePosixPath(path).stem
    return {
        "path": path, "x": x, "y": y, "title": f"{x} in {path}" if histogram else f"{y} against {x}", "histogram": histogram,
        "picture": wishes.picture_name(situation.task, stem, taken), "script": wishes.free_name(f"plot_{stem}", ".py", taken),
        "delimiter": table.delimiter, "decimal_comma": table.decimal_comma, "draw": "plot" if situation.habit("line") else "scatter",
    }


def _draw_by_script(situation: Situation, values: dict, script: str) -> Reply:
    name = values["script"]
    written = situation.last("write_file", path=name)
    if written is None:
        key = "choose_histogram" if values["histogram"] else "choose"
        return call(situation, line(key, **values), "write_file", path=name, content=script)
    last = next(step for step in reversed(situation.steps) if step.call.name != "list_files")
    if last.call.name in ("write_file", "edit_file"):
        if last.failed:
            return finish(situation, line("failed", error=last.result), done=False)
        key = "run" if last.call.name == "write_file" else "run_again"
        return call(situation, line(key, path=name), "run_python_script", path=name)
    if last.failed:
        return _mend_script(situation, values, situation.written(name), last.result)
    return _check(situation, values, last.result)


def _mend_script(situation: Situation, values: dict, script: str, error: str) -> Reply:
    thought, old, new = repair(script, error, values["decimal_comma"])
    if not old:
        return finish(situation, line("failed", error=last_words(error)), done=False)
    if "edit_file" in situation.tools:
        return call(situation, thought, "edit_file", path=values["script"], old=old, new=new)
    return call(situation, thought, "write_file", path=values["script"], content=script.replace(old, new))


def _draw_by_code(situation: Situation, values: dict, script: str) -> Reply:
    drawn = [step for step in situation.steps if "savefig" in step.call.arguments.get("code", "")]
    if not drawn:
        return call(situation, line("run_code", **values), "run_python_code", code=script)
    if not drawn[-1].failed:
        return _check(situation, values, drawn[-1].result)
    script = drawn[-1].call.arguments["code"]
    thought, old, new = repair(script, drawn[-1].result, values["decimal_comma"])
    if not old:
        return finish(situation, line("failed", error=last_words(drawn[-1].result)), done=False)
    return call(situation, thought, "run_python_code", code=script.replace(old, new))


def _check(situation: Situation, values: dict, result: str) -> Reply:
    """The script ran. Look at what it drew, and whether the picture is there if that is asked for, then finish."""
    counted = re.search(r"with (\d+) of (\d+) rows", result)
    if counted and counted[1] == "0":
        return finish(situation, line("no_rows", **values), done=False)
    if situation.habit("verify"):
        last = situation.steps[-1]
        if last.call.name != "list_files":
            return call(situation, line("look_again"), "list_files", path=".")
        if values["picture"] not in last.result:
            return finish(situation, line("picture_missing", **values), done=False)
    text = line("plotted_histogram" if values["histogram"] else "plotted", **values)
    if counted:
        text += " " + line("all_rows" if counted[1] == counted[2] else "some_rows", shown=counted[1], total=counted[2])
    return finish(situation, text)
