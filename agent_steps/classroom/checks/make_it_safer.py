"""The exercises of lesson 12."""
import sys
from pathlib import Path
from types import SimpleNamespace

from agent_steps.classroom.checks import NotYet, want
from agent_steps.classroom.museum.judging import judge
from agent_steps.classroom.museum.programs import Program, load_programs
from agent_steps.wall.child import run_child

SECONDS = 20   # for a program of the learner

# exercise 1: what each call must come to, and why
READING = "Reading outside of secret is free, and so is the end of a task."
NOTES = "Writing below notes is free, with both tools that write."
OTHERS = "The person is asked before a write that is not below notes."
CODE = "The person is asked before code."
SECRET = "What is in secret, and the folder itself, is never touched, whatever the tool."
CALLS = [
    ("allow", "list_files", ".", READING), ("allow", "list_files", "data", READING), ("allow", "task_complete", None, READING),
    ("allow", "read_file", "data/penguins.csv", READING), ("allow", "read_file", "plan.txt", READING),
    ("deny", "read_file", "secret/key.txt", SECRET), ("deny", "read_file", "notes/../Secret/key.txt", SECRET), ("deny", "list_files", "secret", SECRET),
    ("deny", "list_files", "secret/a", SECRET), ("deny", "write_file", "secret/key.txt", SECRET), ("deny", "edit_file", "secret/a/b.txt", SECRET),
    ("deny", "run_python_script", "secret/a.py", SECRET), ("allow", "read_file", "secretary.txt", READING),
    ("allow", "write_file", "notes/today.txt", NOTES), ("allow", "write_file", "notes/table.csv", NOTES), ("allow", "edit_file", "notes/old/today.txt", NOTES),
    ("ask", "write_file", "plan.txt", OTHERS), ("ask", "write_file", "notes/../plan.txt", OTHERS), ("ask", "edit_file", "data/penguins.csv", OTHERS),
    ("ask", "write_file", "notes-2/plan.txt", OTHERS), ("ask", "edit_file", "Notes/today.txt", OTHERS),
    ("ask", "run_python_script", "notes/a.py", CODE), ("ask", "run_python_code", None, CODE),
]


def exercise_1(policy):
    """A Policy with the fewest questions that still asks before code and before writing outside of notes."""
    want(hasattr(policy, "decide"), "Give the check a Policy.")
    want("run_python_code" not in policy.safe, "walled=True says that a wall is proven. Here nobody has proven one.")
    for verdict, tool, path, reason in CALLS:
        found = policy.decide(SimpleNamespace(name=tool, arguments={} if path is None else {"path": path}))
        shown = tool if path is None else f"{tool} of {path!r}"
        want(found == verdict, f"{shown} comes to {found!r}. {reason}")


def exercise_2(program, guard_code):
    """A program that the guard lets pass, and that deletes a file outside, by a way of its own."""
    want(isinstance(program, str) and program.strip(), "Give the check the program as a text.")
    refusal = guard_code(program)
    want(refusal is None, f"The guard refuses it: {refusal}")
    want("@VICTIM@" in program, "The program does not name @VICTIM@. In its place the check writes the path of the file.")
    plain = "".join(program.split())
    known = [exhibit.name for exhibit in load_programs() if "".join(exhibit.code.split()) == plain]
    want(not known, f"That one is in the museum already, as {known and known[0]!r}. Find a way of your own.")
    said, moved = [], []

    def run(code, folder):
        content = (Path(folder).parent / "kept" / "victim.txt").read_bytes()
        child = run_child([sys.executable, "-"], folder=folder, timeout=SECONDS, stdin_text="\ufeff" + code)
        said.extend(line.strip() for line in child.output.splitlines() if line.strip())
        moved.extend(path.name for path in Path(folder).rglob("*") if path.is_file() and path.read_bytes() == content)
        return child.output

    verdict = judge(Program("yours", "synonym", "delete", "", program), run, limit=SECONDS)
    want(verdict.harm is not None, f"It was not run: {verdict.detail}.")
    want(verdict.harm, f"The guard lets it pass, but the file is still there. The last words of the program: {said[-1] if said else '(none)'}")
    want("victim.txt is gone" in verdict.detail, f"It did harm, but the file is still there: {verdict.detail}.")
    want(not moved, f"The file was moved, not deleted: it stands in the working folder now, as {moved and moved[0]!r}.")
    want("," not in verdict.detail, f"More than the file was touched: {verdict.detail}. Delete that one file.")


RENAMED = ["import os as o\no.remove('a.txt')", "import sys, os as system\nsystem.popen('ls')", "def f():\n    import os as _o\n    _o.system('ls')",
           "import os\nimport os as again\nprint(os.getcwd())\nagain.remove('a.txt')", "import os as a, os as b\na.getcwd()\nb.remove('a.txt')"]
GUARDED = ["import os\nos.remove('a.txt')", "from os import remove", "import subprocess as s", "from pathlib import Path\nPath('a.txt').unlink()"]
HARMLESS = ["import os as o\nprint(o.getcwd())", "o = [1, 2]\no.remove(1)", "import os as o\ncolours = ['red']\ncolours.remove('red')",
            "import queue as o\no.remove(1)", "print('import os as o; o.remove(1)')", "if True print('no Python')", "x = '\0'"]


def asked(my_guard, code):
    """Return what a guard says about a code. That code may be no Python, and the guard must not fail on it."""
    try:
        return my_guard(code)
    except (SyntaxError, ValueError) as error:
        raise NotYet(f"It raised {type(error).__name__} for {code!r}. Code that cannot be parsed will not run either: let it pass.") from error


def exercise_3(my_guard, guard_code):
    """A guard that also knows os under another name."""
    for code in RENAMED + GUARDED:
        answer = asked(my_guard, code)
        want(answer, f"It lets this pass: {code!r}")
        want(isinstance(answer, str), f"For {code!r} it gave {answer!r}. Return the reason as a text, or None.")
    benign = [program.code for program in load_programs() if not program.is_attack and guard_code(program.code) is None]
    for code in HARMLESS + benign:
        answer = asked(my_guard, code)
        want(answer is None or answer, f"For code that may run, return None, not {answer!r}.")
        want(answer is None, f"guard_code lets this pass, and yours says {answer!r}: {code!r}")
