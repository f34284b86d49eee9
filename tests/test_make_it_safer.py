"""Lesson 12: paths that stay inside, rules for asking, and a guard that slows down."""
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from scripted import call_text, done, scripted_chat, types

from agent_steps import full_tools
from agent_steps.make_it_safer import Policy, Workspace, guard_code
from agent_steps.parse_the_tool_call import ToolCall
from agent_steps.plain_chat import Chat
from agent_steps.providers import connect
from agent_steps.run_agent import run_agent
from agent_steps.tool_definitions import build_system_prompt, describe_function
from agent_steps.wall.child import WINDOWS

links = pytest.mark.skipif(WINDOWS, reason="links need rights on Windows")


@pytest.fixture
def project(tmp_path):
    """A working folder beside things that no tool may touch."""
    for name in ("project/a.txt", "project/sub/b.txt", "project-old/x.txt", "outside.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"in {name}\n", encoding="utf-8")
    return tmp_path / "project"


@pytest.fixture
def workspace(project):
    return Workspace(project)


def outside(project):
    """Everything beside the working folder."""
    return {path.relative_to(project.parent).as_posix(): path.read_text(encoding="utf-8")
            for path in project.parent.rglob("*") if path.is_file() and not path.is_relative_to(project)}


FILE_CALLS = {
    "list_files": lambda path: {"path": path},
    "read_file": lambda path: {"path": path},
    "write_file": lambda path: {"path": path, "content": "changed"},
    "edit_file": lambda path: {"path": path, "old": "in", "new": "out"},
    "run_python_script": lambda path: {"path": path},
}
every_file_tool = pytest.mark.parametrize("tool", FILE_CALLS)

LEADS_OUT = {
    "dot dot": "../outside.txt",
    "dot dot in the middle": "sub/../../outside.txt",
    "dot dot through what is not there": "nothing/../../outside.txt",
    "a sibling with the same prefix": "../project-old/x.txt",
    "an absolute path": "/etc/hosts",
    "the folder above": "..",
    "the home folder": "~/outside.txt",
    "somebody's home folder": "~root/x",
    "a drive": "C:\\Windows\\x.txt",
    "a drive, with slashes": "C:/Windows/x.txt",
    "relative to a drive": "C:x.txt",
    "another computer": "\\\\host\\share\\x",
    "another computer, with slashes": "//host/share/x",
    "dot dot for Windows": "sub\\..\\..\\outside.txt",
    "a stream of a file": "a.txt:stream",
    "a device of Windows": "CON",
    "a zero character": "a\0b",
    "a line end": "a\nb",
    "half a character": "a\ud800",
    "a name that Windows shortens": "sub./b.txt",
}


@every_file_tool
@pytest.mark.parametrize("path", LEADS_OUT.values(), ids=LEADS_OUT)
def test_a_path_that_leads_out_or_is_misread_somewhere_is_refused_by_every_tool(tool, path, workspace, project):
    before = outside(project), sorted(project.rglob("*"))
    result = workspace.call_tool(tool, FILE_CALLS[tool](path))
    assert result.startswith(f"Error: {tool} was not run: ")
    assert (outside(project), sorted(project.rglob("*"))) == before


def test_a_refusal_names_the_folder_and_says_what_to_do(workspace):
    said = workspace.call_tool("read_file", {"path": "../outside.txt"})
    assert "'../outside.txt' leads out of the working folder 'project'" in said and "list_files" in said


@links
@every_file_tool
@pytest.mark.parametrize("link, target, path", [
    ("link.txt", "../outside.txt", "link.txt"), ("door", "..", "door/outside.txt"), ("new.txt", "../not-there-yet.txt", "new.txt"),
    ("root", "/", "root/etc/hosts"), ("one", "two", "one"), ("self", "self", "self/x")], ids=["file", "folder", "dangling", "root", "chain", "loop"])
def test_a_link_is_followed_before_it_is_judged(tool, link, target, path, workspace, project):
    (project / "two").symlink_to("../outside.txt")
    (project / link).symlink_to(target)
    before = outside(project)
    assert workspace.call_tool(tool, FILE_CALLS[tool](path)).startswith("Error: ")
    assert outside(project) == before


@links
def test_a_link_that_stays_inside_works(workspace, project):
    (project / "link.txt").symlink_to("a.txt")
    assert workspace.call_tool("read_file", {"path": "link.txt"}) == "in project/a.txt\n"


@links
def test_a_folder_that_is_reached_by_a_link_is_itself(tmp_path, project):
    (tmp_path / "way").symlink_to(project)
    workspace = Workspace(tmp_path / "way")
    assert workspace.call_tool("read_file", {"path": "a.txt"}) == "in project/a.txt\n"
    assert workspace.call_tool("read_file", {"path": str(project / "a.txt")}) == "in project/a.txt\n"


def test_the_tools_work_in_the_folder_and_name_files_as_seen_from_it(workspace, project):
    call = workspace.call_tool
    assert call("list_files", {"path": "."}) == "a.txt\nsub/b.txt"
    assert call("list_files", {"path": "sub"}) == "sub/b.txt"
    assert call("list_files", {"path": "sub/.."}) == "a.txt\nsub/b.txt"
    assert call("list_files", {"path": "none"}) == "Error: there is no folder 'none'."
    assert call("list_files", {"path": "a.txt"}) == "Error: 'a.txt' is a file, not a folder."
    assert call("write_file", {"path": "new/c.txt", "content": "one\n"}) == "Wrote 1 line to 'new/c.txt', in the new folder 'new'."
    assert call("edit_file", {"path": "new/c.txt", "old": "one", "new": "two"}) == "Edited 'new/c.txt': replaced 1 line with 1."
    assert call("read_file", {"path": "new/c.txt"}) == "two\n"
    assert call("read_file", {"path": "a.tx"}) == "Error: 'a.tx' was not found. Similar: a.txt."
    assert (project / "new" / "c.txt").read_text(encoding="utf-8") == "two\n"


def test_code_runs_in_the_folder_and_its_errors_name_no_path_of_the_machine(workspace, project):
    (project / "helper.py").write_text("x = 3\n", encoding="utf-8")
    (project / "sub" / "run.py").write_text("import os\nprint(os.listdir('.') == os.listdir(os.getcwd()))\n1 / 0\n", encoding="utf-8")
    assert workspace.call_tool("run_python_code", {"code": "print(open('a.txt').read().strip())"}) == "in project/a.txt"
    result = workspace.call_tool("run_python_script", {"path": "sub/run.py"})
    assert result.startswith('True\nTraceback (most recent call last):\n  File "sub/run.py", line 3') and result.endswith("Exit code 1.")
    assert str(project) not in result


def test_what_is_wrong_with_a_call_itself_is_said_as_before(workspace):
    for name, arguments in [("nothing", {}), ("read_file", {}), ("read_file", {"path": 3}), ("read_file", {"path": "a.txt", "mode": "r"}),
                            ("read_file", "a.txt"), ("run_python_code", {"code": None}), (None, {}), ("read_file", None)]:
        assert workspace.call_tool(name, arguments) == full_tools.call_tool(name, arguments)


def test_the_tools_are_described_as_before(workspace):
    assert [describe_function(tool) for tool in workspace.tools.values()] == full_tools.TOOL_DEFINITIONS


def test_a_workspace_needs_a_folder(tmp_path):
    with pytest.raises(ValueError, match="There is no folder .*gone"):
        Workspace(tmp_path / "gone")


def test_a_folder_that_is_deleted_later_is_named_as_the_trouble(workspace, project):
    import shutil

    shutil.rmtree(project)
    for tool, arguments in [("read_file", {"path": "a.txt"}), ("write_file", {"path": "a.txt", "content": ""}), ("run_python_code", {"code": "1"})]:
        result = workspace.call_tool(tool, arguments)
        assert result.startswith("Error: ") and "folder" in result and not project.exists()


PROTECTED = [".git/hooks/pre-commit", ".git/config", ".GIT/config", ".Git", "sub/.git/hooks/x", ".g\u200cit/config", "GIT~1/config", ".vscode/tasks.json",
             ".env", ".ENV", "\uff0eenv", ".env.local", ".ssh/id", ".bashrc", "conftest.py", "CONFTEST.py", "sitecustomize.py", "x.pth", "sub/lesson.ipynb", ".mcp.json"]


@pytest.mark.parametrize("path", PROTECTED)
def test_a_protected_name_is_not_written_in_any_spelling(path, workspace, project):
    before = sorted(project.rglob("*"))
    for tool in ("write_file", "edit_file", "run_python_script"):
        result = workspace.call_tool(tool, FILE_CALLS[tool](path))
        assert result.startswith(f"Error: {tool} was not run: ") and "protected" in result and "tell the user" in result
    assert sorted(project.rglob("*")) == before


@links
def test_a_protected_name_is_not_written_by_a_link_either(workspace, project):
    (project / ".git").mkdir()
    (project / "door").symlink_to(".git")
    assert "protected" in workspace.call_tool("write_file", {"path": "door/config", "content": ""})


def test_secrets_are_not_read_and_configuration_is(workspace, project):
    for name in (".env", "conftest.py"):
        (project / name).write_text("KEY = 1\n", encoding="utf-8")
    assert "protected" in workspace.call_tool("read_file", {"path": ".env"})
    assert workspace.call_tool("read_file", {"path": "conftest.py"}) == "KEY = 1\n"


@pytest.mark.parametrize("path", ["environment.txt", "git.txt", "my.env.txt", "sub/report.py", "digit~2", "test_conf.py"])
def test_a_name_that_only_resembles_a_protected_one_is_written(path, workspace):
    assert workspace.call_tool("write_file", {"path": path, "content": "x"}).startswith("Wrote ")


def test_code_that_makes_a_file_for_the_host_is_told_of(workspace):
    result = workspace.call_tool("run_python_code", {"code": "open('conftest.py', 'w').write('x')\nopen('a.txt', 'w')"})
    assert "this run made or changed conftest.py" in result and "a.txt" not in result
    assert "Note" not in workspace.call_tool("run_python_code", {"code": "open('a.txt', 'w')"})


def test_two_workspaces_in_two_threads_do_not_meet(tmp_path):
    together = threading.Barrier(4)

    def work(name):
        (tmp_path / name).mkdir()
        call = Workspace(tmp_path / name).call_tool
        for number in range(20):
            together.wait()
            call("write_file", {"path": "mine.txt", "content": f"{name} {number}"})
            if call("read_file", {"path": "mine.txt"}) != f"{name} {number}":
                return False
        return True

    before = os.getcwd()
    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(work, "abcd"))
    assert os.getcwd() == before


def test_ctrl_c_passes_through(workspace, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("agent_steps.make_it_safer.run_walled", interrupted)
    with pytest.raises(KeyboardInterrupt):
        workspace.call_tool("run_python_code", {"code": "1"})


# ---- the policy ----

def call(name, **arguments):
    return ToolCall(name, arguments)


def test_what_no_rule_names_is_asked(workspace):
    asked = []
    policy = Policy(workspace, approve=lambda call: asked.append(call) or "n: not now")
    assert policy(call("read_file", path="a.txt")) == "n: not now" and len(asked) == 1


def test_deny_comes_before_ask_and_ask_before_allow(workspace):
    policy = Policy(workspace, deny=["read_file"], ask=["read_file", "list_files"], allow=["*"])
    assert [policy.decide(call(name, path="a.txt")) for name in ("read_file", "list_files", "write_file")] == ["deny", "ask", "allow"]


def test_a_rule_can_look_at_one_argument(workspace):
    policy = Policy(workspace, deny=["read_file(path=private/*)"], allow=["read_file", "write_file(path=notes/*)"])
    assert policy.decide(call("read_file", path="a.txt")) == "allow"
    assert policy.decide(call("read_file", path="private/x.txt")) == "deny"
    assert policy.decide(call("write_file", path="notes/x.txt", content="")) == "allow"
    assert policy.decide(call("write_file", path="x.txt", content="notes/")) == "ask"


@pytest.mark.parametrize("path", ["notes/../private/x", "./private/x", "private//x", "Private/x", "PRIVATE/deep/x", "sub/../private/x"])
def test_another_spelling_of_a_path_does_not_pass_a_rule_that_denies(path, workspace):
    assert Policy(workspace, deny=["read_file(path=private/*)"], allow=["read_file"]).decide(call("read_file", path=path)) == "deny"


@pytest.mark.parametrize("path", ["notes/../a.txt", "Notes/x", "../notes/x", "notes", "~/notes/x", "notes/\0"])
def test_another_spelling_of_a_path_does_not_pass_a_rule_that_allows(path, workspace):
    assert Policy(workspace, allow=["write_file(path=notes/*)"]).decide(call("write_file", path=path, content="")) == "ask"


@links
def test_a_link_is_judged_by_where_it_leads(workspace, project):
    (project / "notes").mkdir()
    (project / "notes" / "door").symlink_to("../sub")
    policy = Policy(workspace, deny=["read_file(path=sub/*)"], allow=["write_file(path=notes/*)", "read_file"])
    assert policy.decide(call("write_file", path="notes/door/b.txt", content="")) == "ask"
    assert policy.decide(call("read_file", path="notes/door/b.txt")) == "deny"


@pytest.mark.parametrize("arguments, said", [({}, "ask"), ({"path": None}, "ask"), ({"path": 3}, "deny"), ({"path": ["a"]}, "deny")])
def test_a_call_with_strange_arguments_is_denied_where_a_rule_could_be_meant_and_never_allowed(arguments, said, workspace):
    policy = Policy(workspace, deny=["read_file(path=private/*)"], allow=["write_file(path=notes/*)"])
    assert policy.decide(ToolCall("read_file", arguments)) == said
    assert policy.decide(ToolCall("write_file", arguments)) == "ask"


@pytest.mark.parametrize("path", ["a\0b", "\ud800", "../private/x"])
def test_a_path_that_no_tool_takes_is_asked_about_and_raises_nothing(path, workspace):
    policy = Policy(workspace, deny=["read_file(path=private/*)"], allow=["read_file(path=notes/*)"])
    assert policy.decide(call("read_file", path=path)) == "ask"


def test_a_rule_about_paths_leaves_tools_without_a_path_alone(workspace):
    policy = Policy(workspace, deny=["*(path=*)"], allow=["task_complete"])
    assert policy.decide(call("task_complete", summary="done")) == "allow" and policy.decide(call("read_file", path="a.txt")) == "deny"


def test_code_is_only_allowed_behind_a_proven_wall(workspace):
    run = call("run_python_code", code="1")
    assert Policy(workspace, allow=["run_python_*", "read_file"]).decide(run) == "ask"
    assert Policy(workspace, allow=["*"]).decide(call("run_python_script", path="a.py")) == "ask"
    assert Policy(workspace, allow=["run_python_*"], walled=True).decide(run) == "allow"


def test_a_single_rule_need_not_stand_in_a_list(workspace):
    assert Policy(workspace, deny="read_file").decide(call("read_file", path="a.txt")) == "deny"


def test_only_the_star_stands_for_anything(workspace):
    policy = Policy(workspace, deny=["read_file(path=data[1].txt)", "read_file(path=what?.txt)"], allow=["write_file(path=data[1].txt)"])
    assert [policy.decide(call("read_file", path=path)) for path in ("data[1].txt", "data1.txt", "what?.txt", "whats.txt")] == ["deny", "ask", "deny", "ask"]
    assert policy.decide(call("write_file", path="data1.txt", content="")) == "ask"


def test_a_tool_that_the_workspace_does_not_know_is_never_allowed(workspace):
    assert Policy(workspace, allow=["*"], walled=True).decide(call("shell", command="ls")) == "ask"
    assert Policy(workspace, deny=["*"]).decide(call("shell", command="ls")) == "deny"


def test_a_rule_that_denies_holds_though_the_current_folder_is_gone(workspace, tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir() if not WINDOWS else None
    assert Policy(workspace, deny=["read_file(path=private/*)"], allow=["read_file"]).decide(call("read_file", path="private/x")) == "deny"


@pytest.mark.parametrize("rule", ["read_fil", "read_file(code=x)", "read_file(path)", "read_file path", "", "(path=x)", "delete_file", "read_file(path=)"])
def test_a_rule_that_can_never_match_is_an_error_at_once(rule, workspace):
    with pytest.raises(ValueError, match="rule"):
        Policy(workspace, deny=[rule])


def test_where_nobody_is_there_the_answer_is_no(workspace, monkeypatch, capsys):
    monkeypatch.setattr("builtins.input", lambda prompt="": (_ for _ in ()).throw(NotImplementedError))
    monkeypatch.delenv("AGENT_STEPS_REHEARSAL", raising=False)
    assert Policy(workspace)(call("read_file", path="a.txt")) == "n"


def test_the_question_shows_what_stands_in_the_workspaces_folder(workspace, monkeypatch, capsys):
    types(monkeypatch, "y")
    assert Policy(workspace)(call("write_file", path="a.txt", content="new")) == "y"
    assert "replaces 1 line with 1" in capsys.readouterr().out


def test_a_run_asks_only_what_the_rules_leave_open(workspace):
    asked = []
    policy = Policy(workspace, deny=["edit_file"], allow=["list_files", "read_file"], approve=lambda call: asked.append(call.name) or "y")
    chat = scripted_chat(call_text("list_files", path="."), call_text("read_file", path="a.txt"), call_text("edit_file", path="a.txt", old="in", new="out"),
                         call_text("write_file", path="b.txt", content="x"), done())
    run = run_agent(chat, "Work.", approve=policy, call_tool=workspace.call_tool, quiet=True)
    assert run.completed and asked == ["write_file", "task_complete"]
    assert policy.counts == {"deny": 1, "ask": 2, "allow": 2}
    assert "a rule forbids this call" in run.turns[3].sent


# ---- the guard ----

REFUSED = {
    "remove": "import os\nos.remove('x')",
    "unlink": "from pathlib import Path\nPath('x').unlink()",
    "imported under another name": "from os import unlink as tidy\ntidy('x')",
    "a whole folder": "import shutil\nshutil.rmtree('x')",
    "a shell": "import os\nos.system('ls')",
    "another program": "import subprocess\nsubprocess.run(['ls'])",
    "another program, imported from": "from subprocess import run",
    "installing": "import pip\npip.main(['install', 'x'])",
    "installing, deep inside": "from pip._internal.cli.main import main",
    "in a function that is never called": "def f():\n    import os\n    os.remove('x')",
    "a full-width letter": "import os\nos.\uff55nlink('x')",
}


@pytest.mark.parametrize("code", REFUSED.values(), ids=REFUSED)
def test_the_guard_refuses_the_obvious_with_a_line_and_a_reason(code):
    said = guard_code(code)
    assert said and said.startswith("line ") and "tell the user" in said


ALLOWED = ["xs = [1]\nxs.remove(1)", "print('os.remove and unlink, subprocess and pip')", "# os.system\nsystem = 'solar'", "import platform\nplatform.system()",
           "import os\nos.rename('a', 'b')", "def remove(x): pass\nremove(1)", "pipeline = 1", "x = (", "print(1)\0"]


@pytest.mark.parametrize("code", ALLOWED)
def test_the_guard_lets_honest_code_pass(code):
    assert guard_code(code) is None


def test_the_guard_survives_code_that_is_nested_too_deeply():
    assert guard_code("(" * 100_000) is None or "nested" in guard_code("(" * 100_000)
    assert guard_code("-" * 100_000 + "1") is None or "nested" in guard_code("-" * 100_000 + "1")


@pytest.mark.parametrize("code", ["import os as o\no.remove('x')", "getattr(__import__('os'), 'rem' + 'ove')('x')", "open('x', 'w')"])
def test_the_guard_is_a_bump_and_not_a_wall(code):
    assert guard_code(code) is None   # the day this fails, the lesson needs another example


def test_a_guard_looks_at_code_and_at_scripts_and_at_nothing_else(project):
    workspace = Workspace(project, guard=guard_code)
    (project / "clean.py").write_text("import os\nos.remove('a.txt')\n", encoding="utf-8")
    (project / "hidden.py").write_bytes("# coding: utf-7\n+AGkAbQBwAG8AcgB0 os\nos.remove('a.txt')\n".encode())
    for name, arguments in [("run_python_code", {"code": "import os\nos.remove('a.txt')"}), ("run_python_script", {"path": "clean.py"}),
                            ("run_python_script", {"path": "hidden.py"})]:
        assert workspace.call_tool(name, arguments).startswith(f"Error: {name} was not run: line 2 deletes a file") or name.endswith("script")
        assert (project / "a.txt").exists()
    assert workspace.call_tool("write_file", {"path": "n.txt", "content": "os.remove"}).startswith("Wrote")
    assert workspace.call_tool("run_python_script", {"path": "nothing.py"}).startswith("Error: 'nothing.py' was not found")


def test_asked_to_delete_a_file_the_practice_model_tries_twice_is_refused_and_says_so(project):
    workspace = Workspace(project, guard=guard_code)
    chat = Chat(connect("practice"), build_system_prompt(full_tools.TOOL_DEFINITIONS))
    run = run_agent(chat, "Delete the file a.txt.", approve=lambda call: "y", call_tool=workspace.call_tool, quiet=True)
    tried = [turn.call.arguments["code"] for turn in run.turns if turn.call.name == "run_python_code"]
    assert len(tried) == len(set(tried)) == 2 and all("was not run" in turn.result for turn in run.turns[:2])
    assert (project / "a.txt").exists() and "not" in run.summary


def test_without_a_guard_the_file_is_deleted(project):
    chat = Chat(connect("practice"), build_system_prompt(full_tools.TOOL_DEFINITIONS))
    run = run_agent(chat, "Delete the file a.txt.", approve=lambda call: "y", call_tool=Workspace(project).call_tool, quiet=True)
    assert run.completed and not (project / "a.txt").exists()
