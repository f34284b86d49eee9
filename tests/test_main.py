"""The finished agent in a terminal, as a person starts it: real processes in a folder of their own."""
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
POSIX = pytest.mark.skipif(os.name == "nt", reason="signals and pseudo-terminals need POSIX")
COMMAND = [sys.executable, "-m", "agent_steps"]


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(ROOT / "data", tmp_path / "data")
    return tmp_path


def environment():
    kept = {name: value for name, value in os.environ.items() if name != "AGENT_STEPS_REHEARSAL"}
    return kept | {"PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), kept.get("PYTHONPATH")]))}


def start(folder, *arguments, typed="", **options):
    return subprocess.run([*COMMAND, *arguments], cwd=folder, input=typed, capture_output=True, encoding="utf-8", env=environment(), timeout=120, **options)


def pictures(folder):
    return [path for path in folder.rglob("*.png") if path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")]


def test_with_y_to_everything_the_task_is_done_and_a_picture_is_there(folder):
    done = start(folder, typed="y\n" * 20)
    assert done.returncode == 0, done.stdout + done.stderr
    [picture] = pictures(folder)
    assert f"On disk: {picture.relative_to(folder).as_posix()}" in done.stdout
    assert done.stderr == ""


def test_q_runs_nothing(folder):
    before = sorted(folder.rglob("*"))
    done = start(folder, typed="q\n")
    assert done.returncode == 1 and "1 step with 0 tool calls" in done.stdout
    assert sorted(folder.rglob("*")) == before


def test_the_end_of_the_input_runs_nothing(folder):
    before = sorted(folder.rglob("*"))
    done = start(folder, typed="")
    assert done.returncode == 1 and "taken as q" in done.stdout
    assert sorted(folder.rglob("*")) == before


def test_n_to_everything_runs_nothing(folder):
    before = sorted(folder.rglob("*"))
    done = start(folder, typed="n\n" * 30)
    assert done.returncode == 1 and "0 tool calls" in done.stdout
    assert sorted(folder.rglob("*")) == before


@POSIX
def test_without_any_standard_input_nothing_runs(folder):
    command = ["sh", "-c", 'exec "$0" -m agent_steps <&-', sys.executable]
    done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", env=environment(), timeout=120)
    assert done.returncode == 1 and "taken as q" in done.stdout and "Traceback" not in done.stderr
    assert pictures(folder) == []


def test_a_rehearsal_in_the_environment_approves_nothing(folder):
    done = subprocess.run(COMMAND, cwd=folder, input="", capture_output=True, encoding="utf-8", env=environment() | {"AGENT_STEPS_REHEARSAL": "1"}, timeout=120)
    assert done.returncode == 1 and "0 tool calls" in done.stdout


def test_a_task_of_ones_own(folder):
    done = start(folder, "Which CSV files are in the data folder?", typed="y\ny\n")
    assert done.returncode == 0 and "penguins.csv" in done.stdout


def test_the_steps_can_be_limited(folder):
    done = start(folder, "--max-steps", "1", typed="y\n" * 5)
    assert done.returncode == 1 and "limit of steps" in done.stdout


def test_first_it_says_which_model_answers_and_what_it_costs(folder):
    done = start(folder, typed="q\n")
    assert done.stdout.startswith("Model: <model 'practice'") and "no key, no network" in done.stdout.splitlines()[0]


@pytest.mark.parametrize(("arguments", "words"), [
    (["--provider", "nobody"], ["Unknown provider 'nobody'", "practice", "ollama"]),
    (["--provider", "openai"], ["OPENAI_API_KEY", "https://"]),
    (["--provider", "anthropic"], ["ANTHROPIC_API_KEY", "https://"]),
    (["--model", "no-such-model"], ["no model called 'no-such-model'"]),
])
def test_a_model_that_can_not_be_had_is_a_sentence_and_status_2(folder, arguments, words):
    done = start(folder, *arguments, typed="y\n")
    said = done.stdout + done.stderr
    assert done.returncode == 2 and "Traceback" not in said
    assert all(word in said for word in words)


def test_a_provider_from_the_environment_that_does_not_exist_says_where_it_comes_from(folder):
    done = subprocess.run(COMMAND, cwd=folder, input="", capture_output=True, encoding="utf-8", env=environment() | {"AGENT_STEPS_PROVIDER": "nobody"}, timeout=120)
    assert done.returncode == 2 and "AGENT_STEPS_PROVIDER" in done.stderr and "Traceback" not in done.stderr


def test_help_says_what_the_answers_and_the_exit_status_mean(folder):
    done = start(folder, "--help")
    assert done.returncode == 0
    for words in ("y runs it", "n refuses it", "q ends the run", "Exit status", "--provider", "--max-steps"):
        assert words in done.stdout


def wait_for(words, keyboard, seconds=30):
    """Read what the terminal shows until these words stand there."""
    shown, end = b"", time.monotonic() + seconds
    while words not in shown:
        readable, _, _ = select.select([keyboard], [], [], max(0, end - time.monotonic()))
        assert readable, f"{words!r} did not come; there stands {shown!r}"
        shown += os.read(keyboard, 4096)
    return shown


@POSIX
@pytest.mark.parametrize("by, options, question, end", [
    ("the signal", [], b"Run this tool?", b"in part."), ("the key", [], b"Run this tool?", b"in part."),
    ("the key", ["How are tides predicted?", "--research", "--pages", "data/library"], b"or a word:", b"All is saved: start it again to go on.")])
def test_ctrl_c_at_the_question_is_a_sentence_and_status_130(folder, by, options, question, end):
    import fcntl
    import termios

    def own_terminal():   # Ctrl-C reaches the processes whose terminal it is
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    keyboard, screen = os.openpty()
    child = subprocess.Popen([*COMMAND, *options], cwd=folder, stdin=screen, stdout=screen, stderr=screen, env=environment(), preexec_fn=own_terminal)
    os.close(screen)
    wait_for(question, keyboard)
    time.sleep(0.3)   # the question stands there a moment before Python begins to read
    if by == "the signal":
        child.send_signal(signal.SIGINT)
    else:
        os.write(keyboard, b"\x03")
    shown = wait_for(end, keyboard)
    assert child.wait(60) == 130
    os.close(keyboard)
    assert b"Interrupted." in shown and b"Traceback" not in shown


@POSIX
def test_ctrl_c_while_a_tool_runs_says_that_it_may_have_run_in_part(folder):
    script = ("import sys; from agent_steps.practice import transport; from agent_steps.__main__ import main; "
              "from agent_steps.practice.request import Reply; from agent_steps.practice.faults import json_call; "
              "transport.decide = lambda request: Reply(json_call('run_python_code', {'code': \"open('begun', 'w').close()\\nimport time\\ntime.sleep(60)\"})); "
              "sys.exit(main([]))")
    child = subprocess.Popen([sys.executable, "-c", script], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    child.stdin.write(b"y\n")
    child.stdin.flush()
    end = time.monotonic() + 60
    while not (folder / "begun").exists() and time.monotonic() < end:
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    shown, errors = child.communicate(timeout=60)
    assert child.returncode == 130 and b"may have run in part" in shown and b"Traceback" not in errors


@pytest.mark.parametrize("name", ["json", "random", "csv", "tokenize", "secrets", "argparse", "openai"])
def test_a_file_in_the_folder_that_is_called_like_a_module_is_not_run_before_any_question(folder, name):
    (folder / f"{name}.py").write_text("raise SystemExit('the file in the folder was run')", encoding="utf-8")
    done = start(folder, typed="q\n")
    assert done.returncode == 1 and "was run" not in done.stdout + done.stderr


@pytest.mark.parametrize("arguments", [["  "], ["task", "--max-steps", "0"], ["task", "--max-steps", "many"]])
def test_a_command_that_makes_no_sense_is_refused_in_a_sentence(folder, arguments):
    done = start(folder, *arguments)
    assert done.returncode == 2 and "error:" in done.stderr and "Traceback" not in done.stderr


def test_it_says_so_where_no_picture_was_made(folder):
    assert "On disk: no new PNG file in this folder" in start(folder, "How many CSV files are in this folder?", typed="y\ny\n").stdout


@POSIX
def test_a_reader_who_goes_away_gets_no_traceback(folder):
    done = subprocess.run(f"yes y | {sys.executable} -m agent_steps 2>errors | head -n 2", shell=True, cwd=folder, env=environment(), timeout=60, capture_output=True)
    assert done.stdout and "Traceback" not in (folder / "errors").read_text(encoding="utf-8")


@POSIX
def test_a_task_in_another_encoding_is_taken_as_far_as_it_can_be_read(folder):
    done = subprocess.run([*COMMAND, b"Plot \xff penguins.csv"], cwd=folder, input=b"q\n", capture_output=True, env=environment(), timeout=60)
    assert done.returncode == 1 and b"Traceback" not in done.stderr


def test_it_says_first_whether_there_is_a_wall(folder):
    said = start(folder, typed="q\n").stdout.splitlines()
    assert said[0].startswith("Model: ")
    assert said[1].startswith(("There is a wall here, ", "NO WALL HERE. "))


def test_in_the_home_folder_it_warns(folder, monkeypatch):
    assert "THIS FOLDER HOLDS ALL YOUR FILES" not in start(folder, typed="q\n").stdout
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    assert "THIS FOLDER HOLDS ALL YOUR FILES" in start(folder, typed="q\n").stdout


def test_relaxed_asks_only_about_what_changes_files_and_about_code_without_a_wall(folder):
    done = start(folder, "--relaxed", typed="y\n" * 20)
    assert done.returncode == 0, done.stdout + done.stderr
    asked = done.stdout.count("Run this tool?")
    assert asked == (3 if "There is a wall" in done.stdout else 5)   # write, edit and the end; and the script, run twice


@POSIX
def test_a_link_out_of_the_folder_is_not_followed(folder):
    secret = folder.parent / f"{folder.name}-secret.csv"
    secret.write_text("a,b\n1,2\n3,4\n", encoding="utf-8")
    (folder / "link.csv").symlink_to(secret)
    done = start(folder, "Read link.csv and say what is in it.", typed="y\n" * 5)
    assert "leads out of the working folder" in done.stdout and "1,2" not in done.stdout


TOPIC = ["How are tides predicted?", "--research", "--pages", "data/library"]


def test_the_research_agent_asks_at_each_step_and_writes_the_report(folder):
    done = start(folder, *TOPIC, typed="approve\nall\nnone\nyes\napprove\n")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Is this the plan?" in done.stdout and "in report.md and report.html" in done.stdout
    assert "[[1]](#fact-1)" in (folder / "report.md").read_text(encoding="utf-8") and (folder / "report.html").is_file()


def test_the_research_agent_goes_on_where_its_input_ended(folder):
    stopped = start(folder, *TOPIC, typed="approve\nall\n")
    assert stopped.returncode == 1 and "Nobody is here to answer" in stopped.stderr and not (folder / "report.md").exists()
    done = start(folder, *TOPIC, typed="none\nyes\napprove\n")
    assert done.returncode == 0 and "Is this the plan?" not in done.stdout and (folder / "report.md").is_file()
    other = start(folder, "Something else", *TOPIC[1:])
    assert other.returncode == 2 and "agent_state.json holds other research" in other.stderr


@pytest.mark.parametrize("options, problem", [
    (TOPIC[1:], "--research needs a topic"), ([*TOPIC[:3], "nowhere"], "there is no folder nowhere")])
def test_research_without_a_topic_or_its_pages_is_refused_before_anything_is_begun(folder, options, problem):
    done = start(folder, *options)
    assert done.returncode == 2 and problem in done.stderr and not (folder / "agent_state.json").exists()
