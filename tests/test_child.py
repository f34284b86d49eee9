"""How a child process is run: limits, output, what it inherits, and that nothing is left of it."""
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from agent_steps.wall import child
from agent_steps.wall.child import child_environment, run_child

posix_only = pytest.mark.skipif(os.name == "nt", reason="Windows has no process groups and signals of this kind")
LONG = 30   # seconds: no test waits that long, unless something is broken

STARTS_A_GRANDCHILD = """
import subprocess, sys
grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
open("pid.txt", "w").write(str(grandchild.pid))
"""


def run_code(code, **options):
    return run_child([sys.executable, "-c", code], **options)


def is_running(pid):
    """Say whether a process is there and not only a zombie that waits to be collected."""
    if os.name == "nt":   # there, os.kill with 0 would send Ctrl-C
        listed = subprocess.run(["tasklist", "/FI", f"PID eq {pid}"], capture_output=True, stdin=subprocess.DEVNULL)
        return str(pid).encode() in listed.stdout
    stat = Path(f"/proc/{pid}/stat")
    if Path("/proc/self/stat").exists():
        try:
            return stat.read_text(encoding="utf-8").rpartition(")")[2].split()[0] not in ("Z", "X")
        except (FileNotFoundError, ProcessLookupError):
            return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def ends_soon(pid):
    """Wait up to five seconds for a process to be gone."""
    deadline = time.monotonic() + 5
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_running(pid)


def wait_for(path):
    """Wait until a file has content, and return it."""
    deadline = time.monotonic() + LONG
    while time.monotonic() < deadline:
        if path.exists() and path.read_text(encoding="utf-8"):
            return path.read_text(encoding="utf-8")
        time.sleep(0.02)
    raise AssertionError(f"{path.name} was not written")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_output_and_exit_code_are_returned():
    result = run_code("print('hello')")
    assert (result.output, result.exit_code, result.timed_out, result.left_out) == ("hello\n", 0, False, 0)


def test_both_streams_come_in_the_order_of_printing():
    result = run_code("import sys; print('one'); print('two', file=sys.stderr); print('three')")
    assert result.output == "one\ntwo\nthree\n"


def test_the_exit_code_is_the_childs():
    assert run_code("raise SystemExit(3)").exit_code == 3


@posix_only
def test_a_signal_is_a_negative_exit_code():
    assert run_code("import os; os.kill(os.getpid(), 9)").exit_code == -9


def test_the_child_works_in_the_given_folder(folder):
    (folder / "sub").mkdir()
    run_code("open('here.txt', 'w').close()", folder="sub")
    assert (folder / "sub" / "here.txt").exists()


def test_a_missing_folder_is_named_and_not_the_program():
    with pytest.raises(FileNotFoundError, match="the working folder is gone"):
        run_code("print(1)", folder="nowhere")


@posix_only
def test_a_deleted_current_folder_is_reported(folder, monkeypatch):
    (folder / "gone").mkdir()
    monkeypatch.chdir(folder / "gone")
    (folder / "gone").rmdir()
    with pytest.raises(FileNotFoundError):
        run_code("print(1)")


def test_a_missing_program_is_reported(folder):
    with pytest.raises(FileNotFoundError):
        run_child([str(folder / "no-such-program")])


def test_there_is_nothing_on_standard_input():
    assert run_code("import sys; print(repr(sys.stdin.read()))").output == "''\n"


def test_a_text_can_be_given_as_standard_input():
    text = "é\n" * 100_000
    result = run_code("import sys; print(len(sys.stdin.read()))", stdin_text=text)
    assert result.output == "200000\n"


def test_half_a_character_for_standard_input_is_an_error_of_the_caller():
    with pytest.raises(UnicodeEncodeError):
        run_code("print(1)", stdin_text="\ud83d")


def test_a_full_error_stream_does_not_stop_the_child():
    result = run_code("import sys; sys.stderr.write('x' * 300_000); print('done')")
    assert result.exit_code == 0
    assert result.output.endswith("done\n")


def test_long_output_keeps_its_beginning_and_its_end_and_says_so():
    result = run_code("print('first'); print('x' * 300_000); print('last')")
    assert result.output.startswith("first\n") and result.output.endswith("last\n")
    assert result.left_out == 300_001 + 11 + 3 * (len(os.linesep) - 1) - child.OUTPUT_LIMIT
    assert f"[cut: {result.left_out:,} bytes of output are left out here]" in result.output
    assert len(result.output) < child.OUTPUT_LIMIT + 100


def test_no_half_character_is_shown_where_the_output_is_cut():
    result = run_code("print('x' + 'é' * 100_000)")
    assert "\ufffd" not in result.output


def test_endless_output_is_capped_and_ends_with_the_time():
    result = run_code("while True: print('x' * 10_000)", timeout=0.7)
    assert result.timed_out
    assert len(result.output) < child.OUTPUT_LIMIT + 100


def test_output_that_is_no_utf8_is_decoded_with_replacements():
    result = run_code(r"import sys; sys.stdout.buffer.write(b'caf\xe9')")
    assert result.output == "caf\ufffd"


def test_the_child_may_print_every_character(monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    assert run_code(r"print('\U0001F389')").output == "\U0001F389\n"


def test_an_endless_loop_is_killed():
    start = time.monotonic()
    result = run_code("while True: pass", timeout=0.5)
    assert (result.timed_out, result.exit_code) == (True, None)
    assert time.monotonic() - start < LONG


def test_what_was_printed_before_the_time_was_up_is_kept():
    result = run_code("import time; print('step 1'); time.sleep(60)", timeout=2)
    assert (result.output, result.timed_out) == ("step 1\n", True)


def test_a_grandchild_does_not_outlive_the_time_limit(folder):
    result = run_code(STARTS_A_GRANDCHILD + "grandchild.wait()", timeout=2)
    assert result.timed_out
    assert ends_soon(int(wait_for(folder / "pid.txt")))


@posix_only
def test_a_grandchild_does_not_outlive_the_child(folder):
    start = time.monotonic()
    result = run_code(STARTS_A_GRANDCHILD + "print('done')")
    assert (result.output, result.exit_code) == ("done\n", 0)
    assert time.monotonic() - start < LONG
    assert ends_soon(int(wait_for(folder / "pid.txt")))


@posix_only
def test_a_process_that_got_away_does_not_make_us_wait(folder):
    code = STARTS_A_GRANDCHILD.replace("time.sleep(60)\"]", "time.sleep(60)\"], start_new_session=True")
    start = time.monotonic()
    result = run_code(code + "print('done')")
    os.kill(int(wait_for(folder / "pid.txt")), signal.SIGKILL)
    assert result.output == "done\n"
    assert time.monotonic() - start < LONG


def test_ctrl_c_passes_through_and_kills_the_child(folder, monkeypatch):
    def interrupt(*_):
        wait_for(folder / "pid.txt")
        raise KeyboardInterrupt

    monkeypatch.setattr(child, "ends_within", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run_code(STARTS_A_GRANDCHILD + "grandchild.wait()")
    assert ends_soon(int((folder / "pid.txt").read_text(encoding="utf-8")))


@posix_only
def test_a_real_interrupt_reaches_us_while_we_wait(folder):
    def interrupt():
        wait_for(folder / "pid.txt")
        os.kill(os.getpid(), signal.SIGINT)

    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals are delivered to the main thread only")
    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=interrupt)
    try:
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            run_code(STARTS_A_GRANDCHILD + "grandchild.wait()")
    finally:
        thread.join()
        signal.signal(signal.SIGINT, old)
    assert ends_soon(int((folder / "pid.txt").read_text(encoding="utf-8")))


def test_a_key_of_the_parent_is_not_inherited(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.setenv("SOME_OTHER_NAME", "sk-very-secret")
    assert "sk-very-secret" not in run_code("import os; print(dict(os.environ))").output


def test_path_and_language_are_inherited(monkeypatch):
    monkeypatch.setenv("LC_NUMERIC", "C")
    environment = child_environment()
    assert environment["PATH"] == os.environ["PATH"]
    assert environment["LC_NUMERIC"] == "C"


def test_plots_need_no_window_and_matplotlib_has_one_folder_for_its_fonts(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "module://something_interactive")
    monkeypatch.delenv("MPLCONFIGDIR", raising=False)
    environment = child_environment()
    assert environment["MPLBACKEND"] == "Agg"
    assert environment["MPLCONFIGDIR"] == child_environment()["MPLCONFIGDIR"]


def test_no_compiled_files_appear_in_the_folder(folder):
    (folder / "helper.py").write_text("VALUE = 1\n", encoding="utf-8")
    run_code("import helper")
    assert [path.name for path in folder.iterdir()] == ["helper.py"]


def test_another_environment_can_be_given():
    environment = child_environment() | {"COLOUR": "green"}
    assert run_code("import os; print(os.environ['COLOUR'])", environment=environment).output == "green\n"


def test_windows_kills_the_tree_of_processes(monkeypatch):
    commands = []
    monkeypatch.setattr(child, "WINDOWS", True)
    monkeypatch.setattr(subprocess, "run", lambda arguments, **options: commands.append(arguments))

    class Process:
        pid = 123

    child.kill_group(Process)
    assert commands == [["taskkill", "/T", "/F", "/PID", "123"]]
