"""A call as HTML: everything that will run, arguments by name, long ones folded, edits and writes as differences."""
import os
import re
from html import unescape
from types import SimpleNamespace

import pytest

from agent_steps.classroom import call_view
from agent_steps.classroom.call_view import call_html, difference


def html_of(name, folder=".", **arguments):
    return call_html(SimpleNamespace(name=name, arguments=arguments), folder)


def lines_of(html):
    """The lines of the blocks, folded ones too."""
    return [unescape(line).rstrip("\n") for line in re.findall(r"<span[^>]*>(.*?)</span>", html, re.S)]


def folded(html):
    return lines_of(html[html.index("<details>"):])


def numbered(count):
    return "".join(f"line {number}\n" for number in range(1, count + 1))


def test_each_argument_stands_beside_its_name():
    html = html_of("list_files", path="data", deep=True)
    assert re.findall(r'scope="row"[^>]*>(\w+)<', html) == ["path", "deep"]
    assert "&#x27;data&#x27;" in html and "True" in html and "list_files" in html


def test_a_call_without_arguments_says_so():
    assert "(no arguments)" in html_of("task_complete")


def test_a_short_text_of_several_lines_is_seen_whole():
    html = html_of("run_python_code", code="import os\nprint(1)\n")
    assert lines_of(html) == ["| import os", "| print(1)"] and "<details>" not in html


def test_of_a_long_text_the_rest_is_folded_and_counted():
    html = html_of("run_python_code", code=numbered(40))
    assert len(lines_of(html)) == 40 and folded(html) == [f"| line {number}" for number in range(15, 41)]
    assert "26 more lines: open them before you approve" in html


def test_a_few_lines_are_not_folded():
    assert "<details>" not in html_of("run_python_code", code=numbered(20))


def test_what_is_left_out_of_a_very_long_text_is_said_where_no_text_can_pretend_it():
    lines = lines_of(html_of("run_python_code", code=numbered(900)))
    assert "... 720 lines NOT SHOWN" in "\n".join(line for line in lines if not line.startswith("|"))


def test_a_script_that_is_to_run_is_shown_as_it_stands_now(tmp_path):
    (tmp_path / "plot.py").write_text("print('now')\n", encoding="utf-8")
    assert lines_of(html_of("run_python_script", tmp_path, path="plot.py")) == ["| print('now')"]


def test_a_new_file_is_all_additions(tmp_path):
    html = html_of("write_file", tmp_path, path="new.txt", content="one\ntwo\n")
    assert lines_of(html) == ["+ one", "+ two"] and "(a new file)" in html


def test_a_write_over_a_file_shows_only_what_changes(tmp_path):
    (tmp_path / "a.txt").write_text(numbered(40), encoding="utf-8")
    html = html_of("write_file", tmp_path, path="a.txt", content=numbered(40).replace("line 20\n", "LINE TWENTY\n"))
    assert lines_of(html) == ["(from line 17)", "  line 17", "  line 18", "  line 19", "- line 20", "+ LINE TWENTY", "  line 21", "  line 22", "  line 23"]
    assert "replaces 40 lines with 40" in html


def test_a_write_that_changes_nothing_says_so(tmp_path):
    (tmp_path / "a.txt").write_text("same\n", encoding="utf-8")
    html = html_of("write_file", tmp_path, path="a.txt", content="same\n")
    assert lines_of(html)[0].startswith("(no line changes") and "exactly this already" in html


def test_a_write_over_something_that_is_no_text_shows_what_is_written(tmp_path):
    (tmp_path / "a.png").write_bytes(b"\x89PNG\xff\x00")
    html = html_of("write_file", tmp_path, path="a.png", content="text\n")
    assert lines_of(html) == ["+ text"] and "not text" in html


def test_an_edit_shows_the_change_in_its_place(tmp_path):
    (tmp_path / "a.py").write_text(numbered(9).replace("line 5\n", "x = 1\n"), encoding="utf-8", newline="\r\n")
    html = html_of("edit_file", tmp_path, path="a.py", old="x = 1", new="x = 2\ny = 3")
    assert lines_of(html) == ["(from line 2)", "  line 2", "  line 3", "  line 4", "- x = 1", "+ x = 2", "+ y = 3", "  line 6", "  line 7", "  line 8"]


@pytest.mark.parametrize("old, words", [("line", "was found 9 times in the file"), ("nowhere", "was found 0 times in the file")])
def test_an_edit_that_fits_no_single_place_says_so(tmp_path, old, words):
    (tmp_path / "a.txt").write_text(numbered(9), encoding="utf-8")
    html = html_of("edit_file", tmp_path, path="a.txt", old=old, new="x")
    assert words in html and lines_of(html) == [f"- {old}", "+ x"]


@pytest.mark.parametrize("arguments", [
    {"path": "gone.txt", "old": "a", "new": "b"}, {"path": 3, "old": "a", "new": "b"}, {"old": "a", "new": "b"}, {"path": "a.txt", "old": 1, "new": None},
    {"path": "\0", "old": "a", "new": "b"}, {"path": ".", "old": "", "new": ""},
])
def test_an_edit_that_cannot_work_is_shown_all_the_same(tmp_path, arguments):
    html = html_of("edit_file", tmp_path, **arguments)
    assert all(name in html for name in arguments)


def test_nothing_is_html_and_nothing_invisible_hides():
    evil = "<script>alert(1)</script>\x1b[2J\u202e\n"
    html = html_of(evil, **{evil: evil * 2, "path": evil})
    assert "<script" not in html and "\x1b" not in html and "\u202e" not in html and r"\u202e" in html


def test_a_very_long_line_is_wrapped_and_whole():
    html = html_of("run_python_code", code="x = 1" + " " * 3000 + "; evil()\n")
    assert "evil()" in html and max(map(len, lines_of(html))) < 200


def test_a_change_of_blanks_only_is_a_change():
    assert difference("a\n", "a \n") == ["    (from line 1)", "    - a", "    + a·"]


def test_an_edit_of_a_very_long_file_shows_the_change(tmp_path):
    (tmp_path / "a.py").write_text(numbered(9000), encoding="utf-8")
    html = html_of("edit_file", tmp_path, path="a.py", old="line 5000\n", new="evil()\n")
    assert lines_of(html) == ["(from line 4997)", "  line 4997", "  line 4998", "  line 4999", "- line 5000", "+ evil()", "  line 5001", "  line 5002", "  line 5003"]


def test_an_edit_at_both_ends_of_a_file_shows_the_change(tmp_path):
    (tmp_path / "a.py").write_text("one\ntwo", encoding="utf-8")
    assert lines_of(html_of("edit_file", tmp_path, path="a.py", old="one", new="1")) == ["(from line 1)", "- one", "+ 1", "  two"]
    assert lines_of(html_of("edit_file", tmp_path, path="a.py", old="two", new="2\n")) == ["(from line 1)", "  one", "- two", "+ 2"]
    assert lines_of(html_of("edit_file", tmp_path, path="a.py", old="one\ntwo", new="")) == ["(from line 1)", "- one", "- two", "+"]


@pytest.mark.parametrize("old", ["line 5\nline 6", "line 5\r\nline 6"])
@pytest.mark.parametrize("stored", [{"newline": "\r\n"}, {"newline": "\n"}, {"encoding": "utf-16"}, {"encoding": "utf-8-sig"}])
def test_an_edit_is_found_whatever_line_ends_and_encoding_the_file_has(tmp_path, old, stored):
    (tmp_path / "a.txt").write_text(numbered(9), **({"encoding": "utf-8"} | stored))
    assert {"- line 5", "- line 6", "+ new"} <= set(lines_of(html_of("edit_file", tmp_path, path="a.txt", old=old, new="new")))


def test_an_edit_of_a_file_that_cannot_be_looked_at_claims_nothing(tmp_path):
    (tmp_path / "a.bin").write_bytes(b"\0\xff")
    html = html_of("edit_file", tmp_path, path="a.bin", old="a", new="b")
    assert "cannot be looked at here" in html and lines_of(html) == ["- a", "+ b"]


def test_a_write_over_a_very_long_file_shows_what_is_written(tmp_path):
    (tmp_path / "a.txt").write_text(numbered(5000), encoding="utf-8")
    lines = lines_of(html_of("write_file", tmp_path, path="a.txt", content=numbered(5001)))
    assert all(line.startswith("+ ") or "NOT SHOWN" in line for line in lines)


def test_a_change_that_no_line_shows_is_said(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo")
    html = html_of("write_file", tmp_path, path="a.txt", content="one\ntwo\n")
    assert lines_of(html)[0].startswith("(no line changes: at most line ends")


def test_a_long_value_that_is_no_text_is_shown_whole_too():
    html = html_of("run", commands=["ls"] * 150 + ["evil"] + ["ls"] * 150)
    assert "evil" in html


def test_a_link_is_named_with_where_it_leads(tmp_path):
    (tmp_path / "real.txt").write_text("old\n", encoding="utf-8")
    try:
        (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    except OSError:
        pytest.skip("links are not allowed here")
    for name, arguments in (("edit_file", {"old": "old", "new": "new"}), ("run_python_script", {}), ("read_file", {})):
        assert "a link to" in html_of(name, tmp_path, path="link.txt", **arguments)
    html = html_of("write_file", tmp_path, path="link.txt", content="new\n")
    assert "a link to" in html and "real.txt)" in html and "replaces 1 line with 1" in html


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_looking_at_a_script_never_waits_for_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe.py")
    assert lines_of(html_of("run_python_script", tmp_path, path="pipe.py")) == []


@pytest.mark.parametrize("old", ["line 5\nline 6", "line 5\r\nline 6"])
@pytest.mark.parametrize("stored", [{"newline": "\r\n"}, {"newline": "\n"}])
def test_an_edit_stands_in_its_place_whatever_line_ends_there_are(tmp_path, old, stored):
    (tmp_path / "a.txt").write_text(numbered(9), encoding="utf-8", **stored)
    lines = lines_of(html_of("edit_file", tmp_path, path="a.txt", old=old, new="new\r\n"))
    assert lines[:4] == ["(from line 2)", "  line 2", "  line 3", "  line 4"] and "\\r" not in "".join(lines)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
@pytest.mark.parametrize("name, arguments", [("write_file", {"content": "a"}), ("edit_file", {"old": "a", "new": "b"})])
def test_looking_at_what_is_written_never_waits_for_a_pipe(tmp_path, name, arguments):
    os.mkfifo(tmp_path / "pipe")
    assert lines_of(html_of(name, tmp_path, path="pipe", **arguments))[-1][0] == "+"


def test_a_file_that_is_too_big_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(call_view, "BIGGEST_FILE", 10)
    (tmp_path / "a.txt").write_text(numbered(9), encoding="utf-8")
    assert "cannot be looked at here" in html_of("edit_file", tmp_path, path="a.txt", old="line 5", new="x")


def test_the_two_texts_of_a_very_long_edit_are_shown_and_not_compared(tmp_path):
    (tmp_path / "a.txt").write_text(numbered(1200), encoding="utf-8")
    lines = lines_of(html_of("edit_file", tmp_path, path="a.txt", old=numbered(1200), new="new\n"))
    assert lines[0] == "- line 1" and lines[-1] == "+ new"


@pytest.mark.parametrize("name, arguments", [("edit_file", {"old": "OLD", "new": "evil()"}),
                                             ("write_file", {"content": "y" * 40_000 + "\nevil()\n" + "z" * 40_000 + "\n"})])
def test_a_change_beside_very_long_lines_is_shown(tmp_path, name, arguments):
    (tmp_path / "a.txt").write_text("y" * 40_000 + "\nOLD\n" + "z" * 40_000 + "\n", encoding="utf-8")
    assert "+ evil()" in lines_of(html_of(name, tmp_path, path="a.txt", **arguments))


def test_an_edit_within_a_very_long_line_shows_what_is_put_there(tmp_path):
    (tmp_path / "a.json").write_text("y" * 20_000 + "OLD" + "z" * 20_000, encoding="utf-8")
    assert lines_of(html_of("edit_file", tmp_path, path="a.json", old="OLD", new="evil()")) == ["- OLD", "+ evil()"]


def test_two_places_that_overlap_are_two_places(tmp_path):
    (tmp_path / "a.txt").write_text("aXaXa", encoding="utf-8")
    assert "the old text was found" in html_of("edit_file", tmp_path, path="a.txt", old="aXa", new="b")


def test_blanks_in_a_short_value_are_kept():
    assert "white-space:pre-wrap" in html_of("read_file", path="a  b").partition("a  b")[0].rpartition("<code")[2]


def test_nothing_hides_in_a_difference():
    shown = difference("a\n", "\u202e\x1b[2J\n" + "x" + " " * 3000 + "evil()\n")
    assert r"    + \u202e\x1b[2J" in shown and shown[-1].endswith("evil()") and max(map(len, shown)) < 200


@pytest.mark.parametrize("before", [None, numbered(5)])
def test_of_a_very_long_write_the_view_says_how_much_it_leaves_out(tmp_path, before):
    if before:
        (tmp_path / "a.txt").write_text(before, encoding="utf-8")
    lines = lines_of(html_of("write_file", tmp_path, path="a.txt", content="x\n" * 900))
    assert len(lines) == 181 and "NOT SHOWN" in lines[120]


@pytest.mark.parametrize("first", ["# coding: utf-7", "#!/bin/python\n# -*- coding: unicode_escape -*-", "# coding: nonsense"])
def test_a_script_that_python_would_read_otherwise_than_it_is_shown_says_so(tmp_path, first):
    (tmp_path / "s.py").write_text(first + "\n# harmless\n", encoding="utf-8")
    assert lines_of(html_of("run_python_script", tmp_path, path="s.py"))[0].startswith("(THE FIRST LINES NAME AN ENCODING")
    (tmp_path / "s.py").write_text("# coding: utf-8\nprint('é')\n", encoding="utf-8")
    assert lines_of(html_of("run_python_script", tmp_path, path="s.py"))[0] == "| # coding: utf-8"
