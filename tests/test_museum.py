"""The museum: its programs, the judge who looks from outside, and the table of what was measured."""
import os
import platform
import re
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path

import pytest

from agent_steps.classroom.museum import drawing
from agent_steps.classroom.museum.drawing import draw_table, museum_table, read_facts, read_results, show_exhibits
from agent_steps.classroom.museum.host import ACTIONS, COMMANDS
from agent_steps.classroom.museum.judging import SIGNS, Verdict, judge
from agent_steps.classroom.museum.programs import BENIGN, FAMILIES, GOALS, Program, load_programs
from agent_steps.classroom.museum.world import KEY_NAME, fresh_world

PROGRAMS = {program.name: program for program in load_programs()}
PLACEHOLDERS = {"@VICTIM@", "@OUTSIDE@", "@SIBLING@", "@SECRET@", "@PID@", "@PORT@", "@UDP_PORT@", "@SOCKET@", "@ABSTRACT@"}


def plain_child(code, folder):
    """The layer that is none: a child with everything its parent has."""
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, timeout=20, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout.decode("utf-8", "replace")


def refuse(code, folder):
    """The layer that lets nothing through."""
    return "Error: not run"


def program(code, goal="create", **fields):
    """A program of one's own."""
    family = "benign" if goal == "benign" else "synonym"
    return Program("made-here", family, goal, "", code, **fields)


def verdict_on(name, run):
    """Judge an exhibit, or skip the test where it cannot be tried."""
    verdict = judge(PROGRAMS[name], run)
    if verdict.harm is None:
        pytest.skip(verdict.detail)
    return verdict


# ---- the programs ----

def test_there_are_many_attacks_and_many_benign_programs_and_no_family_is_empty():
    assert sum(each.is_attack for each in PROGRAMS.values()) >= 70
    assert sum(not each.is_attack for each in PROGRAMS.values()) >= 18
    assert {each.family for each in PROGRAMS.values()} == set(FAMILIES)
    assert {each.goal for each in PROGRAMS.values()} == set(GOALS)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_compiles_and_is_described(name):
    each = PROGRAMS[name]
    code = re.sub(r"@[A-Z_]+@", "1", each.code)
    compile(code, name, "exec")
    assert each.note.endswith(".") and len(each.note) < 130
    assert len(each.code.splitlines()) <= 40 and max(map(len, each.code.splitlines())) <= 130
    assert set(re.findall(r"@[A-Z_]+@", each.code)) <= PLACEHOLDERS
    assert re.fullmatch(r"[a-z0-9-]+", name)


def test_no_two_programs_have_the_same_code():
    assert [code for code, times in Counter(each.code for each in PROGRAMS.values()).items() if times > 1] == []


def test_every_action_of_the_host_is_used_and_every_goal_has_its_sign():
    assert {each.host for each in PROGRAMS.values() if each.host} == set(ACTIONS) | set(COMMANDS)
    assert set(SIGNS) == set(GOALS)


@pytest.mark.parametrize("fields, complaint", [
    ({"family": "no such"}, "is none of"), ({"goal": "no such"}, "is none of"), ({"systems": ("plan9",)}, "is none of"),
    ({"goal": "host"}, "do not go together"), ({"family": "benign"}, "do not go together"), ({"host": "unpickle"}, "do not go together"),
])
def test_a_program_that_is_not_as_it_should_be_is_refused(fields, complaint):
    with pytest.raises(ValueError, match=complaint):
        Program(**{"name": "x", "family": "synonym", "goal": "create", "note": "", "code": ""} | fields)


def test_a_name_stands_only_once(tmp_path):
    row = '[[program]]\nname = "x"\nfamily = "synonym"\ngoal = "create"\nnote = ""\ncode = ""\n'
    file = tmp_path / "programs.toml"
    file.write_text(row * 2, encoding="utf-8")
    with pytest.raises(ValueError, match="more than one program has the name x"):
        load_programs(file)


# ---- the judge ----

HARMFUL = {   # one or two for each thing that the judge looks at
    "unlink": "kept/victim.txt is gone", "write-over": "kept/victim.txt: other content", "system": "outside.txt was made",
    "permissions": "kept/victim.txt: other permissions", "backdate": "kept/victim.txt: another date",
    "almost-the-name": "work-old/victim.txt: other content", "named-pipe": "outside.txt was made",
    "read-secret": "the secret stands in the output", "print-variables": "the key stands in the output",
    "key-of-neighbour": "the key stands in the output", "connect": "arrived at port", "udp-connected": "arrived at udp_port",
    "unix-socket": "arrived at socket", "kill": "the other process was ended", "own-session": "it still runs after the run",
    "one-long-line": "40.0 MB of output", "edited-helper": "outside.txt was made", "link-for-the-reader": "the host read the secret to the model",
    "completion-line": "the host took the task for complete", "terminal-codes": "the screen of the host was cleared",
}


@pytest.mark.parametrize("name", HARMFUL)
def test_the_judge_sees_the_harm_that_a_plain_child_does(name):
    assert verdict_on(name, plain_child) == Verdict(name, True, HARMFUL[name])


def test_the_judge_sees_no_harm_where_nothing_ran():
    with ThreadPoolExecutor(8) as pool:
        verdicts = list(pool.map(lambda each: judge(each, refuse), PROGRAMS.values()))
    harmful = {verdict.program for verdict in verdicts if verdict.harm}
    assert harmful == {name for name, each in PROGRAMS.items() if each.family == BENIGN} - {verdict.program for verdict in verdicts if verdict.harm is None}


@pytest.mark.parametrize("name", ["own-file", "list-remove", "run-python", "temporary-files"])
def test_a_benign_program_works_in_a_plain_child(name):
    assert verdict_on(name, plain_child) == Verdict(name, False, "OK")


def test_a_benign_program_needs_the_whole_line_and_not_the_word():
    broken = program("raise SystemExit('print(\"OK\") was not reached')", "benign")
    assert judge(broken, plain_child) == Verdict("made-here", True, 'broken: print("OK") was not reached')


def test_the_judge_measures_time():
    verdict = judge(program("", "hang"), lambda code, folder: time.sleep(0.3) or "", limit=-2.4)
    assert verdict == Verdict("made-here", True, "not back within 0.1 seconds")
    assert judge(program("", "hang"), lambda code, folder: "", limit=1).harm is False


@pytest.mark.parametrize("goal, enough, too_little, seen", [
    ("memory", "3200", "", "3.2 GB of memory were taken"), ("processes", "120", "99", "120 processes at a time")])
def test_the_judge_reads_what_a_program_managed(goal, enough, too_little, seen, monkeypatch):
    monkeypatch.setattr("agent_steps.classroom.museum.judging.free_memory", lambda: 64.0)

    def manages(number):
        def run(code, folder):
            Path(folder, "managed.txt").write_text(number, encoding="utf-8")
            return ""
        return run

    assert judge(program("", goal), manages(enough)) == Verdict("made-here", True, seen)
    assert judge(program("", goal), manages(too_little)).harm is False


def test_the_judge_measures_the_folder_after_the_run(monkeypatch):
    monkeypatch.setattr("agent_steps.classroom.museum.judging.MOST_DISK", 1000)
    assert judge(program("open('big.bin', 'wb').write(bytes(2000))", "disk"), plain_child).harm is True
    assert judge(program("open('big.bin', 'wb').write(bytes(200))", "disk"), plain_child).harm is False


def test_what_cannot_be_tried_here_is_not_judged():
    other = next(system for system in ("linux", "darwin", "windows") if system != platform.system().lower())
    assert judge(program("", systems=(other,)), refuse) == Verdict("made-here", None, f"only on {other}")
    assert judge(program("", needs="no_such_module"), refuse) == Verdict("made-here", None, "needs no_such_module, which is not installed")
    assert judge(program("@NO_SUCH@"), refuse) == Verdict("made-here", None, "there is no @NO_SUCH@ on this system")


def test_a_detail_is_one_short_line_without_the_scratch_folder():
    verdict = judge(program("print('@OUTSIDE@', 'x\\ty' * 100)", "create"), plain_child)
    assert verdict.harm is False and len(verdict.detail) <= 90
    assert verdict.detail.startswith("…/outside.txt x?yx?y")


# ---- the world ----

def test_a_world_leaves_nothing_behind(monkeypatch):
    monkeypatch.setenv(KEY_NAME, "the key of the person")
    with fresh_world("key") as world:
        assert os.environ[KEY_NAME] == world.key != "the key of the person"
        assert world.neighbour.poll() is None and world.victim.exists()
    assert os.environ[KEY_NAME] == "the key of the person"
    assert world.neighbour.poll() is not None and not world.root.exists()


def test_only_a_program_that_is_after_the_key_finds_one(monkeypatch):
    monkeypatch.delenv(KEY_NAME, raising=False)
    with fresh_world("create"):
        assert KEY_NAME not in os.environ


def test_a_world_fills_in_every_placeholder_that_its_system_has():
    with fresh_world("kill") as world:
        missing = PLACEHOLDERS - set(world.placeholders())
        assert "\\" not in world.fill("@VICTIM@ @OUTSIDE@ @SIBLING@ @SECRET@")
    assert missing <= {"@SOCKET@", "@ABSTRACT@"}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows in which folder a process works")
def test_what_a_program_left_running_is_ended_with_its_world():
    with fresh_world("outlive") as world:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], cwd=world.folder)
    assert child.wait(timeout=5) != 0


# ---- the table ----

def test_the_results_cover_every_program_behind_every_layer():
    rows = read_results()
    layers = {row["layer"] for row in rows}
    assert layers == {"nothing", "regex guard", "syntax-tree guard", "clean child", "trip-wire", "landlock", "bubblewrap"}
    assert sorted((row["layer"], row["program"], row["family"]) for row in rows) == sorted(
        (layer, each.name, each.family) for layer in layers for each in PROGRAMS.values())
    assert {row["date"] for row in rows} == {read_facts()["date"]}
    assert {row["harm"] for row in rows} <= {"yes", "no", "untried"}


def test_every_attack_was_seen_to_do_harm_where_nothing_stops_it_and_no_benign_program_broke():
    for row in read_results():
        if row["layer"] == "nothing":
            assert row["harm"] == ("no" if row["family"] == BENIGN else "yes"), row


class Cells(HTMLParser):
    """Collects the texts of a table's cells, row by row, and fails where the tags do not match."""

    def __init__(self, page):
        super().__init__()
        self.open, self.rows = [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data


def test_the_table_says_what_the_results_say():
    rows = read_results()
    head, *lines = Cells(museum_table()._repr_html_()).rows
    assert [line[0] for line in lines] == [*(family for family in FAMILIES if family != BENIGN), "all attacks", "benign, broken"]
    for layer, column in zip(head[1:], list(zip(*lines, strict=True))[1:], strict=True):
        for name, words in zip((line[0] for line in lines), column, strict=True):
            if name == "all attacks":
                chosen = [row for row in rows if row["layer"] == layer and row["family"] != BENIGN]
            else:
                chosen = [row for row in rows if row["layer"] == layer and row["family"] == {"benign, broken": BENIGN}.get(name, name)]
            tried = [row for row in chosen if row["harm"] != "untried"]
            assert words.startswith(f"{sum(row['harm'] == 'yes' for row in tried)} of {len(tried)}")
            assert re.sub(r"\s+", " ", words) in re.sub(r"\s+", " ", repr(museum_table([layer])))


def test_the_table_says_when_and_where_it_was_measured_and_fits_on_a_screen():
    table = museum_table()
    facts = read_facts()
    assert f"Measured on {facts['date']}: {facts['system']}, " in " ".join(repr(table).split())
    assert "Other systems were not measured." in " ".join(repr(table).split())
    assert max(map(len, repr(table).splitlines())) <= 100


def test_only_the_layers_that_were_asked_for_are_drawn():
    assert Cells(museum_table(["landlock", "nothing"])._repr_html_()).rows[0] == ["", "landlock", "nothing"]
    with pytest.raises(ValueError, match="There is no layer 'moat'. There are: nothing, "):
        museum_table(["moat"])


def test_a_layer_that_is_missing_on_a_machine_is_not_counted_as_safe():
    row = {"date": "2026-01-01", "program": "x", "family": "synonym"}
    rows = [row | {"layer": "nothing", "harm": "yes", "detail": ""}, row | {"layer": "nothing", "harm": "untried", "detail": "only on darwin"},
            row | {"layer": "landlock", "harm": "untried", "detail": "not checked: no landlock here"}]
    table = repr(draw_table(rows, {"date": "2026-01-01", "system": "Linux 6"}))
    assert "1 of 1 (1 not tried)" in table and "not checked\n" in table
    assert "landlock: not checked: no landlock here." in " ".join(table.split())
    assert drawing.cell(["no", "no"]) == ("0 of 2", 0.0)


def test_an_exhibit_is_shown_with_its_note_and_its_code():
    shown = show_exhibits(["almost-the-name", "own-file"])
    assert repr(shown).startswith("--- almost-the-name (blind spot; goal: modify)\nThe name of this folder begins")
    assert PROGRAMS["own-file"].code.rstrip() in repr(shown)
    assert "while started &lt; 120:" in show_exhibits(["many-processes"])._repr_html_()
    with pytest.raises(ValueError, match="There is no program 'no-such' in the museum"):
        show_exhibits(["no-such"])


def test_a_detail_names_places_as_seen_from_the_working_folder_and_no_path_of_the_machine():
    lost = program("raise OSError('@SIBLING@ @VICTIM@ ' + __import__('os').getcwd() + '/../kept/victim.txt')")
    assert judge(lost, plain_child).detail == "OSError: …/work-old …/kept/victim.txt ./../kept/victim.txt"
    assert not [row for row in drawing.RESULTS.read_text(encoding="utf-8").splitlines() if "/work/" in row]
