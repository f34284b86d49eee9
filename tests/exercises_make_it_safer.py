"""Right and wrong answers to the exercises of lesson 12: (exercise, arguments of the check) and, if wrong, words of the reason."""
import ast
import re

from agent_steps.make_it_safer import OS_FUNCTIONS, Policy, Workspace, guard_code

PREPARE = "workspace = Workspace('.')\n"
READING = ["list_files", "read_file", "task_complete"]
WRITING = ["write_file(path=notes/*)", "edit_file(path=notes/*)"]
SECRET = ["*(path=secret)", "*(path=secret/*)"]


def policy(**rules):
    """The argument of exercise 1, made in the lesson's folder."""
    return lambda: Policy(Workspace("."), **rules)


BY_STARS = '''
from os import *

remove("@VICTIM@")
'''
BY_NAME = '''
import os

path = "@VICTIM@"
delete = vars(os)["re" + "move"]
delete(path)
'''
MUSEUM_PIECE = '''
import os

getattr(os, "_".join(["un", "link"]).replace("_", ""))("@VICTIM@")
'''
TO_ONE_SIDE = '''
import os

os.replace("@VICTIM@", "mine.txt")
'''
FOLDER_TOO = '''
from os import *

remove("@VICTIM@")
mkdir("@OUTSIDE@")
'''


def guard_by_names(code):
    reason = guard_code(code)
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError):
        return reason
    names = {alias.asname for node in nodes if isinstance(node, ast.Import) for alias in node.names if alias.name == "os"}
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names and node.attr in OS_FUNCTIONS:
            return f"line {node.lineno} {OS_FUNCTIONS[node.attr]}"
    return reason


class PlainNames(ast.NodeTransformer):
    """Writes os again wherever a program has another name for it."""

    def __init__(self, names):
        self.names = names

    def visit_Name(self, node):
        return ast.Name("os", node.ctx) if node.id in self.names else node


def guard_by_rewriting(code):
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError):
        return None
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    names = {alias.asname for node in imports for alias in node.names if alias.name == "os" and alias.asname}
    return guard_code(ast.unparse(PlainNames(names).visit(tree)))


def guard_by_pattern(code):
    named = re.search(r"import os as (\w+)", code)
    if named and re.search(rf"\b{named[1]}\.(remove|system|popen)\(", code):
        return "os under another name"
    return guard_code(code)


def guard_by_substitution(code):
    for name in re.findall(r"\bos as (\w+)", code):
        code = re.sub(rf"\b{name}\.", "os.", code)
    return guard_code(code)


def guard_any_remove(code):
    return "remove" if re.search(r"\w\.(remove|system|popen)\(", code) else guard_code(code)


def guard_that_forgets(code):
    names = {alias.asname for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Import) for alias in node.names if alias.name == "os"}
    return "os has another name" if names - {None} else None


def guard_that_says_true(code):
    return bool(guard_by_names(code)) or None


def guard_that_says_false(code):
    return guard_by_names(code) or False


def guard_without_a_net(code):
    ast.parse(code)
    return guard_by_names(code)


RIGHT = [
    (1, policy(deny=SECRET, allow=READING + WRITING)),
    (1, policy(deny=SECRET, ask=["run_python_*"], allow=["*_file(path=notes/*)", *READING])),
    (2, BY_STARS, guard_code), (2, BY_NAME, guard_code),
    (3, guard_by_names, guard_code), (3, guard_by_rewriting, guard_code), (3, guard_by_substitution, guard_code),
]

WRONG = [
    (1, policy(), "comes to 'ask'. Reading outside of secret is free"), (1, policy(deny=SECRET, allow=READING), "'notes/today.txt' comes to 'ask'"),
    (1, policy(allow=READING + WRITING), "'secret/key.txt' comes to 'allow'"),
    (1, policy(deny=["*(path=secret/*)"], allow=READING + WRITING), "list_files of 'secret' comes to 'allow'"),
    (1, policy(deny=SECRET, allow=[*READING, "write_file", "edit_file"]), "'plan.txt' comes to 'allow'"),
    (1, policy(deny=SECRET, allow=[*READING, "*_file(path=notes*)"]), "'notes-2/plan.txt' comes to 'allow'"),
    (1, policy(deny=SECRET, allow=READING + WRITING, walled=True), "nobody has proven one"), (1, policy(deny=["*"]), "list_files of '.' comes to 'deny'"),
    (1, policy(deny=["*(path=secret*)"], allow=READING + WRITING), "'secretary.txt' comes to 'deny'"),
    (1, policy(deny=SECRET, allow=["list_files", "read_file(path=data/*)", "task_complete", *WRITING]), "'plan.txt' comes to 'ask'"),
    (1, policy(deny=SECRET, allow=[*READING, "*_file(path=notes/*.txt)"]), "'notes/table.csv' comes to 'ask'"),
    (1, policy(deny=["list_files(path=secret)", "*_file(path=secret/*)"], allow=READING + WRITING), "'secret/a' comes to 'allow'"),
    (1, READING, "Give the check a Policy"),
    (2, "import os\nos.remove('@VICTIM@')", guard_code, "The guard refuses it: line 2 deletes a file"), (2, MUSEUM_PIECE, guard_code, "in the museum already"),
    (2, "from os import *\nremove('old_notes.txt')", guard_code, "does not name @VICTIM@"), (2, "print('@VICTIM@'", guard_code, "SyntaxError"),
    (2, "with open('@VICTIM@', 'wb') as file:\n    pass", guard_code, "victim.txt: other content"),
    (2, FOLDER_TOO, guard_code, "More than the file was touched"), (2, "print('@VICTIM@')", guard_code, "the file is still there. The last words"),
    (2, TO_ONE_SIDE, guard_code, "moved, not deleted"), (2, "print('@VICTIM@', '@FILE@')", guard_code, "It was not run: there is no @FILE@"),
    (2, "", guard_code, "as a text"), (2, "pass   # @VICTIM@", guard_code, "(none)"),
    (3, guard_code, guard_code, 'It lets this pass: "import os as o'), (3, guard_by_pattern, guard_code, 'It lets this pass: "import sys, os as system'),
    (3, guard_any_remove, guard_code, "guard_code lets this pass, and yours says 'remove'"), (3, guard_that_forgets, guard_code, "It lets this pass"),
    (3, guard_that_says_true, guard_code, "Return the reason as a text"), (3, guard_without_a_net, guard_code, "It raised SyntaxError for"),
    (3, guard_that_says_false, guard_code, "return None, not False"),
]
