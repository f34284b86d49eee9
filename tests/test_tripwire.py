"""The trip-wire: it sees what Python's own functions do, wherever the words come from, and says what is wrong."""
import os
import textwrap
from pathlib import Path

import pytest

from agent_steps.wall.child import WINDOWS
from agent_steps.wall.confined import run_behind


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work-2").mkdir()
    for name in ("victim.txt", "work-2/victim.txt"):
        (tmp_path / name).write_text("precious", encoding="utf-8")
    return os.path.realpath(tmp_path / "work")


def output(code, folder):
    return run_behind(None, textwrap.dedent(code), folder, 20.0).output


REFUSED = {
    "opening for writing": "open('../victim.txt', 'w')",
    "opening by another module": "import json\njson.codecs.open('../victim.txt', 'w')",
    "removing": "import os\nos.remove('../victim.txt')",
    "a name that was put together": "getattr(__import__('o' + 's'), 'rem' + 'ove')('../victim.txt')",
    "a path object": "from pathlib import Path\nPath('../victim.txt').unlink()",
    "bytes": "import os\nos.remove(b'../victim.txt')",
    "renaming": "import os\nos.rename('../victim.txt', 'mine.txt')",
    "truncating": "import os\nos.truncate('../victim.txt', 0)",
    "changing rights": "import os\nos.chmod('../victim.txt', 0o777)",
    "a sibling folder whose name begins the same": "open('../work-2/victim.txt', 'w')",
    "removing a folder": "import shutil\nshutil.rmtree('../work-2')",
    "making a folder": "import os\nos.mkdir('../new')",
}


@pytest.mark.parametrize("code", REFUSED.values(), ids=REFUSED)
def test_what_leads_outside_is_refused_with_a_message(code, folder):
    printed = output(code, folder)
    assert "is outside the working folder. Only the working folder can be written to. Use a relative path inside it." in printed
    assert {path.name for path in Path(folder).parent.iterdir()} == {"work", "work-2", "victim.txt"}
    assert Path(folder, "../victim.txt").read_text(encoding="utf-8") == Path(folder, "../work-2/victim.txt").read_text(encoding="utf-8") == "precious"


def test_a_connection_is_refused_and_says_where_to(folder):
    assert "not connected: there is no network here (127.0.0.1)" in output("import socket\nsocket.create_connection(('127.0.0.1', 9), 1)", folder)


@pytest.mark.skipif(WINDOWS, reason="links need rights on Windows")
def test_a_link_that_leads_outside_does_not_help(folder):
    assert "is outside" in output("import os\nos.symlink('../victim.txt', 'link')\nopen('link', 'w')", folder)


ALLOWED = {
    "its own files": "open('a.txt', 'w').close()\nimport os\nos.rename('a.txt', 'b.txt')\nos.remove('b.txt')\nprint('OK')",
    "a folder of its own, removed": "import os, shutil\nos.makedirs('a/b')\nshutil.rmtree('a')\nprint('OK')",
    "reading outside": "print('OK' if open('../victim.txt').read() == 'precious' else '')",
    "the empty device": "import os\nopen(os.devnull, 'w').write('x')\nprint('OK')",
    "a temporary file": "import tempfile\ntempfile.NamedTemporaryFile('w').write('x')\nprint('OK')",
    "another program": "import subprocess, sys\nprint(subprocess.run([sys.executable, '-c', 'print(\"OK\")'], capture_output=True, text=True).stdout.strip())",
    "shared memory": "from multiprocessing import Array, Lock\nwith Lock():\n    print('OK', end='' if len(Array('d', 10)) else 'not')\nprint()",
}


@pytest.mark.parametrize("code", ALLOWED.values(), ids=ALLOWED)
def test_what_stays_inside_works(code, folder):
    assert output(code, folder).strip() == "OK"


@pytest.mark.skipif(WINDOWS, reason="dir_fd is for POSIX")
def test_it_is_a_bump_and_not_a_wall(folder):
    output("import os\nd = os.open('..', os.O_RDONLY)\nos.remove('victim.txt', dir_fd=d)", folder)
    assert not Path(folder, "../victim.txt").exists()   # the day this fails, the lesson needs another way round
