"""A run as a table: for a notebook, a terminal and a screen reader."""

from html.parser import HTMLParser
from types import SimpleNamespace

import pytest

from agent_steps.classroom.run_table import columns, run_html, run_text
from agent_steps.providers import connect
from agent_steps.providers.usage import Usage


def turn(step, reply="a reply", sent="a message", call=None, answer=None, result=None, note=None, used=Usage(1, 10, 2, connect())):
    call = call and SimpleNamespace(name=call[0], arguments=call[1])
    return SimpleNamespace(step=step, sent=sent, reply=reply, call=call, answer=answer, result=result, note=note, used=used)


def a_chat(turns):
    """The list that a chat holds after these turns."""
    return [{"role": role, "content": text} for turn in turns for role, text in (("user", turn.sent), ("assistant", turn.reply))]


def a_run(*turns, **changes):
    values = {"task": "look around", "steps": len(turns), "tool_calls": 1, "turns": list(turns),
              "completed": True, "stop_reason": "completed", "summary": None, "system_prompt": "You have tools.", "messages": a_chat(turns)}
    return SimpleNamespace(**(values | changes))


LIST = ("list_files", {"path": "."})
MIXED = a_run(
    turn(1, call=LIST, answer="y", result="data\nnotes.txt"),
    turn(2, call=("read_file", {"path": "gone.csv"}), answer="y", result="Error: FileNotFoundError: gone.csv"),
    turn(3, reply="<tool_call>{", note="The call was cut."),
    turn(4, call=("write_file", {"path": "a.py", "content": "你" * 500}), answer="n: not now",
         note="The person said no."),
    turn(5, call=("task_complete", {"summary": "done"}), answer="y", result=None),
    summary="I did <everything> & more.", tool_calls=3)


class Outline(HTMLParser):
    """Collects the tags of a page, and fails where they do not match."""

    def __init__(self, page):
        super().__init__()
        self.open, self.seen = [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_headline_of_a_finished_run():
    run = a_run(steps=7, tool_calls=7)
    assert run_text(run).startswith("Completed in 7 steps with 7 tool calls: the model called task_complete.")
    assert "Completed in 7 steps with 7 tool calls: the model called task_complete." in run_html(run)


def test_one_step_and_one_call_are_not_plural():
    assert run_text(a_run(steps=1)).startswith("Completed in 1 step with 1 tool call: the model called task_complete.")


@pytest.mark.parametrize(("reason", "words"), [
    ("max_steps", "it reached the limit of steps"), ("quit", "the person stopped it"),
    ("error", "an error stopped it"), ("no_tool_calls", "without a call"),
    ("repeating", "repeated the same call"), ("out_of_money", "'out_of_money'"),
])
def test_the_headline_of_an_unfinished_run_says_why_in_words(reason, words):
    first = run_text(a_run(completed=False, stop_reason=reason, steps=3)).splitlines()[0]
    assert first.startswith("Not completed after 3 steps with 1 tool call: ") and words in first


def test_the_summary_is_marked_as_the_words_of_the_model():
    assert "The model says: I did <everything> & more." in run_text(MIXED)
    assert "The model says: <q>I did &lt;everything&gt; &amp; more.</q>" in run_html(MIXED)


def test_a_run_without_a_summary_claims_nothing():
    assert "The model says" not in run_text(a_run()) + run_html(a_run())


@pytest.mark.parametrize("show", [run_text, run_html])
def test_refusals_errors_and_broken_replies_are_counted_beside_the_summary(show):
    assert "Of its turns: 1 refused by the person, 1 ended in an error, 1 without a call that could run." in show(MIXED)


def test_nothing_is_counted_where_all_went_well():
    assert "Of its turns" not in run_text(a_run(turn(1, call=LIST, answer="y", result="data")))


def test_the_text_has_one_line_for_each_turn():
    rows = run_text(MIXED).splitlines()[-5:]
    assert [row.split()[0] for row in rows] == ["1", "2", "3", "4", "5"]
    assert "list_files(path='.')" in rows[0] and "data (and 1 more line)" in rows[0]
    assert "no call: <tool_call>{" in rows[2] and "not asked" in rows[2] and "The call was cut." in rows[2]
    assert "no: not now" in rows[3] and "nothing ran: The person said no." in rows[3]


def test_the_text_is_at_most_100_columns_wide():
    long = turn(1, call=("f", {"x": "你" * 900}), answer="n: " + "z" * 900, result="w" * 900)
    assert max(columns(line) for line in run_text(a_run(long, summary="word " * 90)).splitlines()) <= 100


def test_wide_letters_keep_the_columns_in_line():
    wide = turn(1, call=("f", {"x": "你好"}), answer="y", result="END")
    plain = turn(2, call=("f", {"x": "abcd"}), answer="y", result="END")
    one, other = run_text(a_run(wide, plain)).splitlines()[-2:]
    assert columns(one[:one.index("END")]) == columns(other[:other.index("END")])


def test_the_html_is_wellformed_and_has_one_row_for_each_turn():
    outline = Outline(run_html(MIXED))
    assert outline.open == []
    assert sum(tag == "tr" for tag, _ in outline.seen) == 1 + 5


def test_the_html_has_a_caption_and_scopes_for_screen_readers():
    outline = Outline(run_html(MIXED))
    scopes = [attributes["scope"] for tag, attributes in outline.seen if tag == "th"]
    assert scopes == ["col"] * 5 + ["row"] * 5
    assert sum(tag == "caption" for tag, _ in outline.seen) == 1


def test_the_html_has_no_script_and_no_id_and_leaves_the_colours_to_the_page():
    outline = Outline(run_html(MIXED))
    assert not any(tag == "script" or "id" in attributes for tag, attributes in outline.seen)
    styles = [attributes.get("style", "") for _, attributes in outline.seen]
    assert not any("background:#" in style or style.startswith("color:") or ";color:" in style for style in styles)


def test_whatever_comes_from_a_model_or_a_file_is_escaped():
    evil = "<script>alert('x')</script>\x1b[2J\u202e"
    run = a_run(turn(1, reply=evil, sent=evil, call=(evil, {evil: evil}), answer="n: " + evil, result=evil, note=evil),
                turn(2, reply=evil, sent=evil, note=evil), task=evil, summary=evil, completed=False, stop_reason=evil)
    for shown in (run_html(run), run_text(run)):
        assert "\x1b" not in shown and "\u202e" not in shown
    assert "<script" not in run_html(run)


def test_a_dollar_sign_is_no_formula():
    assert run_html(a_run()).startswith('<div class="mathjax_ignore tex2jax_ignore">')


def test_long_parts_are_folded_and_whole():
    long = turn(1, sent="sent\nwhole", reply="reply\nwhole", call=LIST, answer="y", result="first\nlast")
    page = run_html(a_run(long))
    folded = page[page.index("<details>"):]
    assert all(text in folded for text in ('"content": "sent\\nwhole"', "reply\nwhole", "first\nlast"))
    assert "first (and 1 more line)" in page


def test_a_short_result_is_not_folded_a_second_time():
    assert ">returned<" not in run_html(a_run(turn(1, call=LIST, answer="y", result="data")))


def test_a_long_summary_is_folded():
    page = run_html(a_run(summary="word " * 200))
    assert "…" in page and "word " * 200 in page[page.index("<details>"):]


def test_a_run_that_never_began_is_shown_too():
    run = a_run(completed=False, stop_reason="quit")
    assert "Not completed after 0 steps" in run_text(run) and Outline(run_html(run)).open == []


def test_an_empty_reply_is_named():
    assert "no call: (nothing)" in run_text(a_run(turn(1, reply="")))
