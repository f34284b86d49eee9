"""The walls themselves: what each keeps a program from, what it costs a harmless one, and what happens when there is none."""
import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from agent_steps.wall import bubblewrap, confined
from agent_steps.wall.canary import try_wall
from agent_steps.wall.child import WINDOWS
from agent_steps.wall.confined import WALLS, run_behind, run_walled, strongest_wall
from agent_steps.wall.fonts import font_list
from agent_steps.wall.place import PACKAGE, Place, is_inside

POSIX = pytest.mark.skipif(WINDOWS, reason="this is about POSIX")
HERE = [wall for wall in WALLS if strongest_wall((wall,))]
behind_each_wall = pytest.mark.parametrize("wall", HERE or [pytest.param(None, marks=pytest.mark.skip(reason="there is no wall on this machine"))])
with_and_without = pytest.mark.parametrize("wall", [None, *HERE])


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "work").mkdir()
    return os.path.realpath(tmp_path / "work")


def output(wall, code, folder, timeout=20.0, **options):
    return run_behind(wall, textwrap.dedent(code), folder, timeout, **options).output


@behind_each_wall
def test_a_wall_keeps_a_program_from_everything_that_the_canary_tries(wall):
    kept = asdict(try_wall(wall))
    assert all(kept.values()), kept


@POSIX
def test_without_a_wall_the_canary_gets_through_everywhere():
    kept = asdict(try_wall(None))
    assert kept.pop("ran") and not any(kept.values()), kept


@POSIX
def test_a_wall_that_runs_nothing_is_no_wall(tmp_path, monkeypatch):
    (tmp_path / "bwrap").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    strongest_wall.cache_clear()
    try:
        assert strongest_wall(("bubblewrap",)) is None
        assert strongest_wall() in (None, "landlock")
    finally:
        strongest_wall.cache_clear()


def test_a_wall_that_only_pretends_is_found_out(tmp_path, monkeypatch):
    monkeypatch.setattr(confined, "wall_command", lambda wall, place: [])
    monkeypatch.setattr(bubblewrap, "find", lambda: None if WINDOWS else "/usr/bin/bwrap")
    strongest_wall.cache_clear()
    try:
        assert strongest_wall() is None
    finally:
        strongest_wall.cache_clear()


def test_with_every_wall_switched_off_the_trip_wire_is_left(folder):
    child = run_walled("open('../outside.txt', 'w')", folder, walls=())
    assert "'../outside.txt' is outside the working folder" in child.output
    assert not Path(folder, "../outside.txt").exists()


@with_and_without
def test_a_program_works_in_its_folder_as_it_would_without_a_wall(wall, folder):
    code = """
        import asyncio, csv, json, multiprocessing, os, pickle, sqlite3, subprocess, sys, tempfile, threading

        class Point:
            x = 1

        def double(number):
            return 2 * number

        if __name__ == "__main__":
            os.makedirs("a/b")
            with open("a/b/c.txt", "w") as file:
                file.write("é")
            os.rename("a/b/c.txt", "d.txt")
            print(pickle.loads(pickle.dumps(Point())).x, open("d.txt").read(), tempfile.TemporaryFile("w").write("1"))
            with multiprocessing.get_context("spawn" if os.name == "nt" else "fork").Pool(2) as pool:
                print(pool.map(double, [1, 2]))
            base = sqlite3.connect("x.db")
            base.execute("create table t(x)")
            print(subprocess.run([sys.executable, "-c", "print(1 + 1)"], capture_output=True, text=True).stdout.strip())
            print(asyncio.run(asyncio.sleep(0, "slept")), sys.argv, input.__name__, __name__)
        """
    assert output(wall, code, folder) == "1 é 1\n[2, 4]\n2\nslept ['-'] input __main__\n"
    assert sorted(os.listdir(folder)) == ["a", "d.txt", "x.db"]


@behind_each_wall
def test_programs_behind_a_wall_can_talk_to_themselves(wall, folder):
    code = """
        import socket, threading
        server = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=lambda: server.accept()[0].sendall(b"hello"), daemon=True).start()
        print(socket.create_connection(server.getsockname()).recv(5))
        """
    assert output(wall, code, folder) == "b'hello'\n"


@with_and_without
def test_errors_are_shown_as_python_shows_them_without_the_way_into_the_program(wall, folder):
    assert output(wall, "def f():\n    1 / 0\nf()", folder).startswith('Traceback (most recent call last):\n  File "<stdin>", line 3, in <module>\n')
    assert output(wall, "x = (", folder).startswith('  File "<stdin>", line 1\n')
    assert output(wall, "import sys; sys.exit('that was all')", folder) == "that was all\n"


@with_and_without
def test_the_exit_code_or_the_signal_comes_through(wall, folder):
    assert run_behind(wall, "raise SystemExit(7)", folder, 20.0).exit_code == 7
    if not WINDOWS:
        assert run_behind(wall, "import os; os.kill(os.getpid(), 9)", folder, 20.0).exit_code == -signal.SIGKILL
        assert run_behind(wall, "import os; os.kill(os.getpid(), 15)", folder, 20.0).exit_code == -signal.SIGTERM


@with_and_without
def test_the_time_limit_kills_and_keeps_what_was_printed(wall, folder):
    child = run_behind(wall, "print('begun')\nwhile True: pass", folder, 1.5)
    assert child.timed_out and child.exit_code is None and child.output == "begun\n"


@POSIX
@with_and_without
def test_a_program_cannot_take_all_memory_or_write_a_huge_file(wall, folder):
    assert "MemoryError" in output(wall, "bytearray(5 * 1024**3)", folder)
    assert "OSError: [Errno 27] File too large" in output(wall, "open('big', 'wb').truncate(1024**3)", folder)


@with_and_without
def test_a_program_finds_no_keyboard_and_no_key(wall, folder, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-real-key")
    printed = output(wall, "import os\nprint(dict(os.environ))\nprint(open('/proc/self/environ').read() if os.name != 'nt' else '')\ninput()", folder)
    assert "EOFError" in printed and "not-a-real-key" not in printed


@behind_each_wall
def test_a_program_cannot_read_the_hosts_environment_or_files(wall, folder, tmp_path, monkeypatch):
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret", encoding="utf-8")
    code = f"""
        import os
        for path in ({str(secret)!r}, "/proc/{os.getpid()}/environ", "/proc/{os.getpid()}/cmdline", f"/proc/{{os.getppid()}}/environ"):
            try:
                print(open(path).read())
            except OSError as error:
                print(type(error).__name__)
        """
    printed = output(wall, code, folder)
    assert "the secret" not in printed and "pytest" not in printed


@behind_each_wall
def test_keys_in_the_folder_are_empty_and_hooks_can_only_be_read(wall, folder):
    for name in (".env", ".git/hooks/pre-commit", ".ssh/id", "sub/.env", "sub/.git/hooks/x"):
        Path(folder, name).parent.mkdir(parents=True, exist_ok=True)
        Path(folder, name).write_text("before", encoding="utf-8")
    code = """
        import os
        print(repr(open(".env").read()), os.listdir(".ssh"), open(".git/hooks/pre-commit").read(), repr(open("sub/.env").read()))
        for path in (".env", ".git/hooks/pre-commit", ".git/hooks/new", ".ssh/new", "sub/.env", "sub/.git/hooks/x"):
            try:
                open(path, "w")
                print("written", path)
            except OSError:
                pass
        """
    assert output(wall, code, folder, tripwire=False) == "'' [] before ''\n"
    assert Path(folder, ".env").read_text(encoding="utf-8") == Path(folder, ".git/hooks/pre-commit").read_text(encoding="utf-8") == "before"


@with_and_without
def test_a_script_finds_modules_beside_it_but_none_in_place_of_pythons_own(wall, folder):
    for name, text in {"sub/helper.py": "x = 3", "sub/json.py": "print('not the real one')", "json.py": "print('nor this')", "agent_steps.py": "y = 4"}.items():
        Path(folder, name).parent.mkdir(exist_ok=True)
        Path(folder, name).write_text(text, encoding="utf-8")
    Path(folder, "sub/run.py").write_text("import helper, json, sys\nprint(helper.x, json.dumps([1]), sys.argv, __file__)", encoding="utf-8")
    expected = os.path.join(folder, "sub", "run.py")
    assert output(wall, "", folder, script="sub/run.py") == f"3 [1] ['sub/run.py'] {expected}\n"


@with_and_without
def test_a_scripts_first_line_may_name_its_encoding(wall, folder):
    Path(folder, "old.py").write_bytes("# coding: latin-1\nprint('é')\n".encode("latin-1"))
    assert output(wall, "", folder, script="old.py") == "é\n"


@with_and_without
def test_what_a_program_leaves_in_its_home_or_its_temporary_folder_is_gone_afterwards(wall, folder):
    code = """
        import os, tempfile
        open(os.path.expanduser("~/.bashrc"), "w").close()
        closed = tempfile.mkdtemp()
        os.mkdir(f"{closed}/inner")
        os.chmod(closed, 0)
        print(os.path.expanduser("~"), closed)
        """
    places = output(wall, code, folder).split()
    assert len(places) == 2 and not any(map(os.path.exists, places))


@with_and_without
def test_a_plot_prints_nothing_and_cannot_change_the_list_of_fonts(wall, folder):
    pytest.importorskip("matplotlib")
    before = font_list().read_bytes()
    code = """
        import os, pathlib
        import matplotlib.pyplot as plt
        plt.plot([1, 2])
        plt.savefig("plot.png")
        for file in pathlib.Path(os.environ["MPLCONFIGDIR"]).glob("fontlist*"):
            file.write_text("spoiled")
        """
    assert output(wall, code, folder, 60.0) == output(wall, code, folder, 60.0) == ""
    assert Path(folder, "plot.png").read_bytes().startswith(b"\x89PNG")
    assert font_list().read_bytes() == before


@with_and_without
def test_two_runs_at_the_same_time_do_not_meet(wall, tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    folders = [os.path.realpath(tmp_path / name) for name in "abcd"]
    for each in folders:
        os.mkdir(each)
    code = "import os, time\nopen('mine.txt', 'x').write(os.getcwd())\ntime.sleep(0.2)\nprint(open('mine.txt').read())"
    with ThreadPoolExecutor(4) as threads:
        printed = list(threads.map(lambda each: output(wall, code, each), folders))
    assert printed == [f"{each}\n" for each in folders]


@with_and_without
def test_a_missing_folder_is_an_error_before_anything_runs(wall, tmp_path):
    with pytest.raises(FileNotFoundError, match="the working folder is gone"):
        run_walled("print(1)", str(tmp_path / "gone"))


LONG_RUN = """
import sys
from agent_steps.wall.confined import run_behind
run_behind({wall!r}, '''
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", "MARK-OF-THIS-TEST"])
if os.fork() == 0 and {daemon}:
    os.setsid()
open("begun", "w").close()
time.sleep(60)
''', sys.argv[1], 50.0)
"""


@POSIX
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "the host is killed"])
@with_and_without
def test_nothing_is_left_running_when_the_host_is_stopped_in_the_middle(wall, end, folder):
    if end == signal.SIGKILL and wall is None:
        pytest.skip("without a wall nobody is left to clear up")
    program = LONG_RUN.format(wall=wall, daemon=wall is not None)
    host = subprocess.Popen([sys.executable, "-c", program, folder], stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        until(lambda: Path(folder, "begun").exists())
        assert running_in(folder)
        host.send_signal(end)
        host.wait(timeout=10)
        until(lambda: not running_in(folder))
    finally:
        host.kill()
        host.wait()


def until(condition, seconds=10.0):
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def running_in(folder):
    """The processes whose current folder is this one."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(entry / "cwd") == folder:
                found.append(entry.name)
        except OSError:
            pass
    return found


@with_and_without
def test_the_course_need_not_be_installed(wall, folder, tmp_path):
    import venv

    venv.create(tmp_path / "bare", symlinks=not WINDOWS)
    python = tmp_path / "bare" / ("Scripts/python.exe" if WINDOWS else "bin/python")
    code = f"from agent_steps.wall.confined import run_behind\nprint(run_behind({wall!r}, 'import sys; print(sys.path[-1][-4:])', {folder!r}, 20.0))"
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run([python, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert "exit_code=0" in done.stdout, done.stdout + done.stderr


@POSIX
def test_an_ordinary_user_gets_the_same_walls(tmp_path):
    if os.getuid() != 0:
        pytest.skip("then all these tests were about an ordinary user")
    nobody = {"user": 65534, "group": 65534, "extra_groups": []}
    place = Path("/tmp") if os.access("/tmp", os.W_OK) else tmp_path
    code = ("from agent_steps.wall.canary import try_wall\nfrom agent_steps.wall.confined import is_there, WALLS\n"
            "print([try_wall(wall).holds for wall in WALLS if is_there(wall)])")
    root = Path(__file__).parents[1]
    environment = {"PYTHONPATH": str(root), "PATH": os.environ["PATH"], "HOME": str(place)}
    try:
        done = subprocess.run([sys.executable, "-c", code], env=environment, cwd=place, capture_output=True, text=True, timeout=60, **nobody)
    except PermissionError:
        pytest.skip("this Python cannot be run by others")
    if "PermissionError" in done.stderr or "ModuleNotFoundError" in done.stderr or done.returncode == 126:
        pytest.skip("this Python cannot be run by others")
    assert done.stdout.strip() == str([wall in HERE for wall in WALLS if confined.is_there(wall)]), done.stderr


def test_a_folder_with_a_longer_name_is_not_inside(tmp_path):
    assert is_inside(str(tmp_path / "work" / "a"), str(tmp_path / "work")) and not is_inside(str(tmp_path / "work-2"), str(tmp_path / "work"))


def test_folders_of_modules_that_hold_much_more_than_modules_are_not_opened(tmp_path, monkeypatch):
    home, project = tmp_path / "home", tmp_path / "home" / "project"
    modules = tmp_path / "home" / "modules"
    for each in (project, modules):
        each.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setattr(sys, "path", [*sys.path, str(home), str(project), str(modules), "", "relative"])
    packages = Place(os.path.realpath(project), str(tmp_path)).packages()
    assert str(modules) in packages
    assert not {str(home), str(project), "", "relative"} & set(packages)


@behind_each_wall
def test_a_program_sees_nothing_of_the_disk_but_what_it_needs(wall, folder, tmp_path):
    (tmp_path / "mine").mkdir()
    code = f"""
        import os
        print([path for path in ({str(tmp_path / "mine")!r}, "/run", "/var", "/boot", "/sys", "/dev/tty0", "/dev/sda") if os.path.lexists(path)])
        for path in ("/new", "/usr/new", {str(tmp_path / "new")!r}, "/etc/new", "/proc/sys/kernel/core_pattern"):
            try:
                open(path, "a")
                print("written", path)
            except OSError:
                pass
        """
    assert output(wall, code, folder, tripwire=False) == "[]\n"


@behind_each_wall
@pytest.mark.parametrize("way", ["relative", "renamed", "later", "in the folder"])
def test_a_socket_of_another_program_cannot_be_reached_whatever_its_name(way, wall, folder, tmp_path, monkeypatch):
    import socket
    import threading

    monkeypatch.chdir(tmp_path)
    place = Path(folder, "s") if way == "in the folder" else tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as listener:
        def listen():
            listener.bind({"renamed": "before", "relative": "s"}.get(way, str(place)))
            os.rename("before", "s") if way == "renamed" else None
            listener.listen()
        threading.Timer(0.3, listen).start() if way == "later" else listen()
        code = f"import socket, time\ntime.sleep({0.6 if way == 'later' else 0})\nsocket.socket(socket.AF_UNIX).connect({str(place)!r})\nprint('connected')"
        printed = output(wall, code, folder, tripwire=False)
    assert "connected\n" not in printed and "Error" in printed


@behind_each_wall
def test_a_socket_that_leads_to_the_host_of_a_virtual_machine_cannot_be_made(wall, folder):
    assert "PermissionError" in output(wall, "import socket\nsocket.socket(40, socket.SOCK_STREAM)", folder)   # 40: AF_VSOCK
    assert output(wall, "import socket, asyncio\nsocket.socketpair()\nsocket.socket()\nprint(asyncio.run(asyncio.sleep(0, 'OK')))", folder) == "OK\n"


@behind_each_wall
def test_keys_that_the_kernel_keeps_for_the_person_are_out_of_reach(wall, folder):
    number = {"x86_64": 250, "aarch64": 219}.get(os.uname().machine)
    code = f"import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nprint(libc.syscall({number}, 0, -3, 0), ctypes.get_errno())"   # the session's
    assert output(wall, code, folder) == "-1 13\n"


@behind_each_wall
def test_the_python_that_the_host_runs_cannot_be_changed_though_it_lies_in_the_folder(wall, folder, monkeypatch):
    for name in (".venv/lib/x.py", "project/agent_steps/wall/launch.py"):
        Path(folder, name).parent.mkdir(parents=True)
        Path(folder, name).write_text("before", encoding="utf-8")
    place = Place(folder, folder)
    monkeypatch.setattr(Place, "pythons", lambda self: [f"{folder}/.venv", f"{folder}/project/agent_steps", sys.prefix, sys.base_prefix, str(PACKAGE)])
    assert place.protected() == [f"{folder}/.venv", f"{folder}/project/agent_steps"]
    code = """
        for path in (".venv/lib/x.py", "project/agent_steps/wall/launch.py", ".venv/new"):
            try:
                open(path, "w")
            except OSError as error:
                print(error.strerror)
        """
    assert output(wall, code, folder).count("Read-only file system") == 3


@behind_each_wall
def test_an_environment_that_was_made_right_in_the_folder_leaves_the_folder_writable(wall, folder, monkeypatch):
    Path(folder, "bin").mkdir()
    monkeypatch.setattr(Place, "pythons", lambda self: [folder, sys.prefix, sys.base_prefix, str(PACKAGE)])
    assert output(wall, "open('a.txt', 'w')\nopen('bin/python', 'w')", folder).endswith("Read-only file system: 'bin/python'\n")
    assert Path(folder, "a.txt").exists()


@POSIX
def test_a_bubblewrap_that_code_could_have_made_is_not_run(folder, monkeypatch):
    Path(folder, "bwrap").write_text("#!/bin/sh\ntouch ran\n", encoding="utf-8")
    Path(folder, "bwrap").chmod(0o755)
    for path in (folder, ""):
        monkeypatch.setenv("PATH", path)
        monkeypatch.chdir(folder)
        with pytest.raises(FileNotFoundError):
            bubblewrap.command(Place(folder, folder))


def test_the_whole_disk_is_no_working_folder():
    with pytest.raises(ValueError, match="The whole disk cannot be a working folder"):
        run_walled("print(1)", os.path.abspath(os.sep))


@with_and_without
def test_exit_codes_that_are_no_signals_stay_what_they_are(wall, folder):
    assert [run_behind(wall, f"import sys\nsys.exit({code})", folder, 20.0).exit_code for code in (-1, 200, 255)] == [255, 200, 255]


@with_and_without
def test_code_finds_a_module_in_the_folder(wall, folder):
    Path(folder, "helper.py").write_text("x = 3", encoding="utf-8")
    assert output(wall, "import helper\nprint(helper.x)", folder) == "3\n"


@with_and_without
def test_a_program_that_leaves_a_mess_in_its_temporary_folder_does_not_make_the_run_fail(wall, folder):
    code = """
        import os
        os.chdir(os.environ["TMPDIR"])
        for _ in range(700):
            os.mkdir("d")
            os.chdir("d")
        os.chmod(os.environ["TMPDIR"], 0)
        print("OK")
        """
    assert output(wall, code, folder, tripwire=False) == "OK\n"


@with_and_without
def test_a_mistyped_name_still_gets_pythons_hint(wall, folder):
    assert "Did you mean: 'print'?" in output(wall, "pront(1)", folder)


@POSIX
def test_a_list_of_fonts_that_somebody_removed_is_made_again(folder):
    pytest.importorskip("matplotlib")
    for file in font_list().parent.glob("fontlist*"):
        file.unlink()
    assert output(None, "print(1)", folder) == output(None, "print(1)", folder) == "1\n"
    assert font_list().exists()


@with_and_without
def test_a_library_in_the_folder_is_not_taken_for_the_systems_own(wall, folder, monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", f"/usr/local/lib::{folder}:relative")
    assert output(wall, "import os\nprint(os.environ['LD_LIBRARY_PATH'])", folder) == "/usr/local/lib\n"
    monkeypatch.setenv("LD_LIBRARY_PATH", ":")
    assert output(wall, "import os\nprint('LD_LIBRARY_PATH' in os.environ)", folder) == "False\n"


@POSIX
@pytest.mark.parametrize("variable", ["TMPDIR", "MPLCONFIGDIR"])
def test_temporary_files_in_the_working_folder_are_an_error_that_says_what_to_do(variable, folder, monkeypatch):
    monkeypatch.setenv(variable, f"{folder}/tmp")
    if variable == "TMPDIR":
        monkeypatch.setattr("tempfile.tempdir", f"{folder}/tmp")
    with pytest.raises(ValueError, match="Set TMPDIR"):
        run_behind(None, "print(1)", folder, 20.0)


@POSIX
@pytest.mark.parametrize("place", ["/proc", "/sys", "/dev"])
def test_what_belongs_to_the_kernel_is_no_working_folder(place):
    with pytest.raises(ValueError, match="Choose another one"):
        run_behind(None, "print(1)", place, 20.0)


def test_too_much_to_look_at_is_an_error_and_not_a_hole(folder, monkeypatch):
    monkeypatch.setattr("agent_steps.wall.protected.MOST_LOOKED_AT", 5)
    Path(folder, "sub").mkdir()
    for number in range(6):
        Path(folder, "sub", f"{number}.txt").touch()
    with pytest.raises(ValueError, match="Choose a smaller one"):
        Place(folder, folder).protected()


def test_folders_nested_too_deep_are_an_error_and_not_a_hole(folder, monkeypatch):
    monkeypatch.setattr("agent_steps.wall.protected.DEEPEST", 3)
    Path(folder, "a/b/c/d/e").mkdir(parents=True)
    with pytest.raises(ValueError, match="Choose a smaller one"):
        Place(folder, folder).covers()


def test_more_protected_files_than_a_wall_can_be_told_of_are_an_error(folder, monkeypatch):
    monkeypatch.setattr("agent_steps.wall.place.MOST_MOUNTS", 2)
    for name in "abc":
        Path(folder, name, ".git").mkdir(parents=True)
    with pytest.raises(ValueError, match="protected files"):
        Place(folder, folder).protected()


def test_the_folder_that_a_git_file_names_is_protected_too(folder):
    Path(folder, "meta/hooks").mkdir(parents=True)
    Path(folder, "project").mkdir()
    Path(folder, "project/.git").write_text("gitdir: ../meta\n", encoding="utf-8")
    assert Place(folder, folder).protected() == [f"{folder}/meta", f"{folder}/project/.git"]


@behind_each_wall
def test_standard_output_has_its_usual_names(wall, folder):
    code = "import subprocess\nopen('/dev/stdout', 'w').write('one\\n')\nsubprocess.run(['sh', '-c', 'echo two > /dev/stderr'])"
    assert output(wall, code, folder) == "one\ntwo\n"


@behind_each_wall
def test_no_namespace_is_made_inside_and_threads_and_processes_are(wall, folder):
    code = """
        import ctypes, os, subprocess, threading
        libc = ctypes.CDLL(None, use_errno=True)
        print(libc.unshare(0x10000000), libc.mount(b"none", b".", b"tmpfs", 0, None), libc.mount(b"none", b".", b"cgroup2", 0, None))
        thread = threading.Thread(target=lambda: print(subprocess.run(["true"]).returncode))
        thread.start()
        thread.join()
        """
    assert output(wall, code, folder) == "-1 -1 -1\n0\n"


@behind_each_wall
def test_a_python_whose_folder_is_a_link_is_still_itself(wall, folder, tmp_path):
    (tmp_path / "link").symlink_to(sys.base_prefix)
    name = Path(os.path.realpath(sys.executable)).name
    subprocess.run([tmp_path / "link" / "bin" / name, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    code = f"from agent_steps.wall.confined import run_behind\nprint(run_behind({wall!r}, 'import os; print(os.__file__)', {folder!r}, 20.0).output)"
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run([tmp_path / "venv" / "bin" / "python", "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert os.path.realpath(done.stdout.strip()) == os.path.realpath(os.__file__), done.stdout + done.stderr
