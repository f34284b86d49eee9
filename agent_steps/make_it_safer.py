"""Lesson 12: rules for paths, rules for asking, and a guard that reads code, which is only a speed bump."""
import ast
import os
import re
from fnmatch import fnmatchcase
from functools import partial, wraps
from pathlib import Path

from agent_steps import dispatch_table
from agent_steps.classroom.asking import ask_approval
from agent_steps.full_tools import TIME_LIMIT, TOOL_DEFINITIONS, TOOLS, report
from agent_steps.wall.confined import run_walled
from agent_steps.wall.path_checks import Refused, check_file, check_path, error_text, working_in
from agent_steps.wall.protected import is_protected, is_secret, note_changes
from agent_steps.write_the_tool import list_files

# tools that run code
RUNS_CODE = {"run_python_script", "run_python_code"}


def place_in(folder, path):
    """Return where a path leads, links followed, as seen from the folder (a real path). Refuses what leads out."""
    check_path(path)
    if path.startswith("~"):
        raise Refused(f"{path!r}: ~ stands for no folder here.")
    place = Path(os.path.realpath(os.path.join(folder, path)))
    if not place.is_relative_to(folder):
        raise Refused(f"{path!r} leads out of the working folder {os.path.basename(folder)!r}. Use a path inside it (see list_files).")
    return place.relative_to(folder)


def check_names(path, place, is_closed):
    """Refuse a path with a protected name in it, as it is written or where it leads."""
    for name in [*Path(path).parts, *place.parts]:
        if is_closed(name):
            raise Refused(f"{name!r} is protected: it holds keys, or other programs run it. Leave it alone; tell the user.")


def list_in(folder, path):
    """List the files below a path of a folder, by their names as seen from the folder."""
    place = os.path.join(folder, place_in(folder, path))
    listing = list_files(place).replace(repr(place), repr(path))
    return "\n".join(line.removeprefix(f"{Path(folder).as_posix()}/") for line in listing.split("\n"))


def run_in(folder, seconds, code="", path=None):
    """Run code in a folder, or the script at a path of it. If that changes a protected file, the result says so."""
    try:
        if path is not None:
            check_file(path)
            code = Path(folder, path).read_text(encoding="utf-8", errors="replace")
    except (OSError, Refused) as error:
        return error_text(error, f"{path!r} could not be run")
    with note_changes(folder) as note:
        child = run_walled(code, folder, seconds, script=path)
    return report(child, code, folder, seconds) + note.text


class Workspace:
    """The seven tools, bound to one folder. No path leads out of it, and code runs behind the strongest wall of this machine.

    folder: the working folder. guard: from code to the reason why it must not run, or None. timeout: seconds for one run.
    Raises ValueError if there is no such folder.
    """

    def __init__(self, folder=".", guard=None, timeout=TIME_LIMIT):
        if not os.path.isdir(folder):
            raise ValueError(f"There is no folder {str(folder)!r}.")
        self.folder, self.guard = os.path.realpath(folder), guard
        run = partial(run_in, self.folder, timeout)
        own = {"list_files": partial(list_in, self.folder), "run_python_script": run, "run_python_code": run}
        self.tools = {name: self.checked(tool, own.get(name, tool)) for name, tool in TOOLS.items()}

    def call_tool(self, name, arguments):
        """Run a tool in this folder. Return its result as text, or what went wrong."""
        with working_in(self.folder):
            return dispatch_table.call_tool(name, arguments, self.tools)

    def checked(self, tool, function):
        """Return a function that is described as the tool is, and looks at each call first."""
        @wraps(tool)
        def run(**arguments):
            try:
                self.check_call(tool.__name__, **arguments)
            except Refused as refusal:
                return f"Error: {tool.__name__} was not run: {refusal}"
            return function(**arguments)
        return run

    def check_call(self, name, path=None, code="", **others):
        """Refuse a call whose path leads out of the folder or is protected, or whose code the guard refuses."""
        if path is not None:
            check_names(path, place_in(self.folder, path), is_secret if name in ("list_files", "read_file") else is_protected)
        if self.guard and name in RUNS_CODE:
            script = Path(self.folder, path or "")   # in bytes: its first line may name an encoding
            if reason := self.guard(script.read_bytes() if script.is_file() else code):
                raise Refused(reason)


def seen_from(folder, path):
    """Return where a path leads, as seen from the folder; an empty text if it leads out, which the tool will refuse."""
    try:
        with working_in(folder):
            return place_in(folder, path).as_posix()
    except Refused:
        return ""


class Policy:
    """Rules for which calls run, in this order: deny, ask, allow. What no rule names is asked. Give it to run_agent as approve.

    A rule is tool or tool(argument=pattern), with * for anything: read_file, write_file(path=notes/*).
    workspace: where the paths lead. walled: whether a wall around code is proven; if not, code is asked about, never allowed.
    approve: how to ask; None for the prompt. Raises ValueError for a rule that no call can match.
    """

    def __init__(self, workspace, deny=(), ask=(), allow=(), *, walled=False, approve=None):
        self.folder, self.safe = workspace.folder, set(TOOLS) - (set() if walled else RUNS_CODE)
        self.approve = approve or partial(ask_approval, folder=self.folder)
        ordered = {"deny": deny, "ask": ask, "allow": allow}
        self.rules = [(verdict, *read_rule(rule)) for verdict, rules in ordered.items()
                      for rule in ([rules] if isinstance(rules, str) else rules)]
        self.counts = dict.fromkeys(ordered, 0)

    def decide(self, call):
        """Return the verdict on a call: that of the first rule that matches."""
        for verdict, tool, argument, pattern in self.rules:
            if fnmatchcase(call.name, tool) and self.matches(call.arguments, argument, pattern, verdict):
                return "ask" if verdict == "allow" and call.name not in self.safe else verdict
        return "ask"

    def matches(self, arguments, argument, pattern, verdict):
        """Return whether an argument matches: of a path, where it leads. Only to allow, big and small letters differ."""
        if argument is None:
            return True
        value = arguments.get(argument)
        if not isinstance(value, str):   # not given, or of no use to any tool
            return value is not None and verdict != "allow"
        if argument == "path":
            value = seen_from(self.folder, value)
        return fnmatchcase(value, pattern) if verdict == "allow" else fnmatchcase(value.casefold(), pattern.casefold())

    def answer(self, call, approve):
        """Answer where a rule decides, and ask otherwise."""
        verdict = self.decide(call)
        self.counts[verdict] += 1
        if verdict == "ask":
            return approve(call)
        return "y" if verdict == "allow" else "n: a rule forbids this call. Do not try it again."

    def __call__(self, call):
        return self.answer(call, self.approve)


def read_rule(rule):
    """Split a rule into tool, argument and pattern. Raises ValueError for a rule that no call can match."""
    parts = re.fullmatch(r"([\w*]+)(?:\((\w+)=(.+)\))?", rule, re.S)
    if not parts:
        raise ValueError(f"A rule is tool or tool(argument=pattern), not {rule!r}.")
    known = [each for each in TOOL_DEFINITIONS if fnmatchcase(each["name"], parts[1])]
    if not any(parts[2] in (None, *each["inputSchema"]["properties"]) for each in known):
        raise ValueError(f"The rule {rule!r} matches no call.")
    return parts[1], parts[2], parts[3] and parts[3].replace("[", "[[]").replace("?", "[?]")   # only * is special


# what the guard looks for in os
OS_FUNCTIONS = {"remove": "deletes a file", "system": "starts a shell", "popen": "starts a shell"}
# in any module, and as a method
FUNCTIONS = {"unlink": "deletes a file", "rmtree": "deletes a folder", "rmdir": "deletes a folder"}
# modules that it refuses
MODULES = {"subprocess": "starts other programs", "pty": "starts a shell", "pip": "installs packages"}


def guard_code(code):
    """Return why this code must not run, as a message to act on, or None. A speed bump, not a wall."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError):   # Python will not run it either
        return None
    except (RecursionError, MemoryError):
        return "it is nested too deeply. Write it more simply."
    for node in ast.walk(tree):
        if found := forbidden(node):
            return f"line {node.lineno} {found}, and that is not done here. Leave it out, or tell the user why it is needed."
    return None


def forbidden(node):
    """Return what a node of the syntax tree does that it must not, or None."""
    names, known = [], {}
    if isinstance(node, ast.Attribute):
        of_os = isinstance(node.value, ast.Name) and node.value.id == "os"
        names, known = [node.attr], FUNCTIONS | (OS_FUNCTIONS if of_os else {})
    elif isinstance(node, ast.ImportFrom):
        names = [node.module or "", *(alias.name for alias in node.names)]
        known = MODULES | FUNCTIONS | (OS_FUNCTIONS if node.module == "os" else {})
    elif isinstance(node, ast.Import):
        names, known = [alias.name for alias in node.names], MODULES
    return next((known[root] for name in names if (root := name.partition(".")[0]) in known), None)
