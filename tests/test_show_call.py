"""What a person sees before approving: the call that will run, and nothing that hides in it."""

import os
from types import SimpleNamespace

import pytest

from agent_steps.classroom.show_call import BIGGEST_FILE, short_call, show_call, show_text, visible, visible_lines


def call(name, **arguments):
    return SimpleNamespace(name=name, arguments=arguments)


def write(content, path="plot.py"):
    return call("write_file", path=path, content=content)


@pytest.mark.parametrize(("hidden", "shown"), [
    ("\x1b[2J", r"\x1b[2J"), ("\x00", r"\x00"), ("\r", r"\r"), ("\t", r"\t"), ("\x7f", r"\x7f"), ("\x9b", r"\x9b"),
    ("\u202e", r"\u202e"), ("\u2066", r"\u2066"), ("\u200b", r"\u200b"), ("\ufeff", r"\ufeff"), ("\u2028", r"\u2028"),
    ("\xad", r"\xad"), ("\xa0", r"\xa0"), ("\ufe0f", r"\ufe0f"), ("\u3164", r"\u3164"), ("\u2800", r"\u2800"),
    ("\U000e0041", r"\U000e0041"), ("\U000e0101", r"\U000e0101"), ("\ud800", r"\ud800"),
])
def test_what_cannot_be_seen_is_shown_as_an_escape(hidden, shown):
    assert visible(f"a{hidden}b") == f"a{shown}b"


def test_letters_of_all_languages_stay_readable():
    assert visible("café 你好 Ω עברית 🐧") == "café 你好 Ω עברית 🐧"


def test_only_line_ends_split_a_text_into_lines():
    assert visible_lines("a\nb\r\nc\x0bd\u2028e\rf\n") == ["a", "b", r"c\x0bd\u2028e\rf"]


def test_a_short_argument_stands_beside_its_name():
    assert show_call(call("list_files", path=".")) == "list_files\n  path: '.'"


def test_a_call_without_arguments_says_so():
    assert show_call(call("list_files")) == "list_files\n  (no arguments)"


def test_values_of_other_types_are_shown_as_python_writes_them():
    assert show_call(call("f", a=3, b=None, c=["x\u202e"])) == "f\n  a: 3\n  b: None\n  c: ['x\\u202e']"


def test_the_names_of_tool_and_arguments_are_escaped_too():
    assert show_call(call("list\x1bfiles", **{"pa\u200bth": "."})) == "list\\x1bfiles\n  pa\\u200bth: '.'"


def test_a_text_of_several_lines_is_a_block_under_its_size():
    assert show_call(call("run_python_code", code="import csv\n\nprint(1)\n")) == (
        "run_python_code\n  code: 3 lines, 21 characters\n    | import csv\n    |\n    | print(1)")


def test_a_long_text_shows_both_ends_and_how_much_is_between():
    shown = show_call(call("run_python_code", code="".join(f"line {n}\n" for n in range(505)))).splitlines()
    assert shown[1].startswith("  code: 505 lines")
    assert shown[121:124] == ["    | line 119", "    ... 325 lines NOT SHOWN; if you want to see all, answer n: send it in smaller parts ...", "    | line 445"]
    assert shown[-1] == "    | line 504"


def test_code_of_two_hundred_lines_is_shown_whole():
    assert len(show_call(call("run_python_code", code="x\n" * 200)).splitlines()) == 202


def test_a_script_that_is_to_run_is_shown_as_it_stands_now(tmp_path):
    (tmp_path / "plot.py").write_text("import os\nprint(1)\n", encoding="utf-8")
    shown = show_call(call("run_python_script", path="plot.py"), folder=tmp_path)
    assert shown.splitlines() == ["run_python_script", "  path: 'plot.py'", "    | import os", "    | print(1)"]


@pytest.mark.parametrize("path", ["missing.py", ".", "a\0b", 3])
def test_a_script_that_cannot_be_read_is_shown_by_its_name(path, tmp_path):
    assert show_call(call("run_python_script", path=path), folder=tmp_path).startswith("run_python_script\n  path: ")


def test_a_result_on_the_screen_is_cut_in_lines_and_in_length():
    shown = show_text("first\n" + "x" * 5000 + "\n" * 100 + "last").splitlines()
    assert len(shown) == 10 and shown[0] == "first" and shown[-1] == "last" and "not shown here" in shown[6]
    assert max(map(len, shown)) < 300


def test_a_reply_on_the_screen_hides_no_control_characters():
    assert show_text("\x1b[2JApprove? y") == "\\x1b[2JApprove? y"


def test_a_text_cannot_pretend_to_be_cut():
    assert "    | ... 480 lines ..." in show_call(call("run_python_code", code="a\n... 480 lines ...\nb"))


def test_nothing_hides_behind_the_end_of_a_very_long_line():
    code = "x = 1;" + " " * 1200 + "import os; os.remove('a')" + " " * 1200 + "#"
    assert "os.remove" in show_call(call("run_python_code", code=code))


def test_windows_line_ends_are_named():
    assert r"2 lines, 4 characters, line ends \r\n" in show_call(write("a\r\nb"))


def test_a_write_says_that_the_file_is_new(tmp_path):
    assert "content: 1 line, 5 characters (a new file)" in show_call(write("x = 1"), tmp_path)


def test_a_write_says_how_much_it_replaces(tmp_path):
    (tmp_path / "plot.py").write_text("old\n" * 500)
    assert "(replaces 500 lines with 3)" in show_call(write("a\nb\nc\n"), tmp_path)


def test_a_write_that_changes_nothing_says_so(tmp_path):
    (tmp_path / "plot.py").write_text("same", newline="")
    assert "(the file holds exactly this already)" in show_call(write("same"), tmp_path)


def test_a_write_over_an_empty_file_says_so(tmp_path):
    (tmp_path / "plot.py").touch()
    assert "(replaces an empty file)" in show_call(write("x"), tmp_path)


def test_a_write_over_a_binary_file_says_so(tmp_path):
    (tmp_path / "plot.py").write_bytes(b"\x89PNG\0\0")
    assert "(replaces a file that is not text, 6 bytes)" in show_call(write("x"), tmp_path)


def test_a_huge_file_is_not_read(tmp_path):
    with open(tmp_path / "plot.py", "wb") as file:
        file.truncate(BIGGEST_FILE + 1)
    assert "(replaces a file of 5,000,001 bytes)" in show_call(write("x"), tmp_path)


def test_a_write_onto_a_folder_says_so(tmp_path):
    (tmp_path / "plot.py").mkdir()
    assert "(a folder has this name)" in show_call(write("x"), tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "plot.py")
    assert "something that is not a file" in show_call(write("x"), tmp_path)


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000, "plot.py/below", "", 5, None, ["a"]])
def test_a_path_that_cannot_be_used_is_no_reason_to_fail(path, tmp_path):
    (tmp_path / "plot.py").touch()
    assert show_call(write("x", path), tmp_path).startswith("write_file\n  path: ")


def test_a_write_without_a_path_is_shown_all_the_same():
    assert show_call(call("write_file", content="x")) == "write_file\n  content: 1 line, 1 character\n    | x"


def test_an_edit_shows_old_and_new_lines_with_their_signs():
    assert show_call(call("edit_file", path="a.py", old="x = 1\ny", new="x = 2")) == (
        "edit_file\n  path: 'a.py'\n  old: 2 lines, 7 characters\n    - x = 1\n    - y\n"
        "  new: 1 line, 5 characters\n    + x = 2")


def test_an_edit_that_deletes_shows_an_empty_new_text():
    assert show_call(call("edit_file", path="a.py", old="x", new="")).endswith("  new: empty")


def test_a_value_that_cannot_be_shown_is_named_by_its_type():
    nested = []
    for _ in range(100_000):
        nested = [nested]
    assert "list that cannot be shown: RecursionError" in show_call(call("f", x=nested))
    while nested:                                    # taken apart by hand: freeing it at once would recurse as well
        nested = nested.pop()


def test_a_call_in_one_line():
    assert short_call(call("list_files", path=".")) == "list_files(path='.')"


def test_a_call_in_one_line_is_cut_in_its_middle_and_escaped():
    shown = short_call(call("write_file", path="a.py", content="\x1b\n" * 99 + "end"), width=40)
    assert len(shown) == 40
    assert shown.startswith("write_file(path='a.py'") and "…" in shown and shown.endswith("end')")
    assert shown.isprintable()
