"""The pictures of an experiment: their words hold the numbers, and they are small, repeatable and leave nothing behind."""
import struct
import subprocess
import sys

import pytest
from IPython.core.formatters import DisplayFormatter

from agent_steps.classroom.experiment.plots import plot_steps, plot_success
from agent_steps.classroom.experiment.statistics import success_table
from agent_steps.classroom.experiment.table import as_table

PNG = b"\x89PNG\r\n\x1a\n"
LONG = "a condition with a name of forty letters"


def runs_of(name, *steps, failed=(), limit=15):
    """One row a run: how many steps it took, None if that is unknown; `failed` are the numbers of those without success."""
    rows = []
    for number, taken in enumerate(steps, start=1):
        row = {"condition": name, "run": number, "seed": number, "max_steps": limit}
        if taken is None:
            rows.append(row | {"stop_reason": "error"})
            continue
        stop_reason = "max_steps" if taken == limit else "completed"
        rows.append(row | {"steps": taken, "tool_calls": taken, "no_call": 0, "stop_reason": stop_reason, "completed": stop_reason == "completed",
                           "success": number not in failed, "input_tokens": 100, "output_tokens": 10})
    return rows


def table_of(*conditions):
    return as_table(sum(conditions, []), [rows[0]["condition"] for rows in conditions])


def both(table):
    return [plot_success(success_table(table)), plot_steps(table)]


def words(image):
    return image.metadata["alt"]


def size(image):
    return struct.unpack(">II", image.data[16:24])


@pytest.fixture(scope="module")
def table():
    return table_of(runs_of("usual", 3, 4, 4, 6, 15, None, failed=[4, 5]), runs_of(LONG, 7, 7, 7, limit=50))


@pytest.fixture(scope="module")
def pictures(table):
    return both(table)


def test_the_words_of_the_successes_hold_the_counts_the_intervals_and_the_claims(pictures):
    assert "usual: 3 of 5 (23 to 88 %); in 4 the model said that it had completed the task. Note: Left out, for want of an outcome: 1." \
        in words(pictures[0])
    assert f"{LONG}: 3 of 3 (44 to 100 %); in 3 the model said" in words(pictures[0])


def test_the_words_of_the_steps_hold_the_median_the_range_and_the_share_at_the_limit(pictures):
    assert "usual: median 4 steps, from 3 to 15; 1 of 5 runs (20 %) ended at the limit of 15. (left out: 1 of 6 runs" in words(pictures[1])
    assert f"{LONG}: median 7 steps, from 7 to 7; 0 of 3 runs (0 %) ended at the limit of 50." in words(pictures[1])


def test_another_number_gives_other_words_and_another_picture():
    first, second = (both(table_of(runs_of("usual", 3, 4, last, failed=failed))) for last, failed in ((5, [1]), (6, [1, 2])))
    for before, after in zip(first, second):
        assert words(before) != words(after) and before.data != after.data


def test_a_picture_is_a_small_png_700_dots_wide_that_repeats_to_the_byte(table, pictures):
    for picture, again in zip(pictures, both(table)):
        assert picture.data.startswith(PNG) and len(picture.data) < 60_000
        assert size(picture)[0] == 700 and 150 < size(picture)[1] < 500
        assert picture.data == again.data


def test_six_conditions_have_room_and_the_picture_stays_small():
    table = table_of(*(runs_of(f"{LONG} {number}", *range(1, 51), failed=range(1, 50, number), limit=50) for number in range(1, 7)))
    for picture, least in zip(both(table), (350, 700)):
        assert len(picture.data) < 60_000 and size(picture)[1] > least


def test_a_notebook_saves_the_words_with_the_picture(pictures):
    for picture in pictures:
        data, metadata = DisplayFormatter().format(picture)
        assert data["image/png"] and metadata["image/png"]["alt"] == words(picture)


@pytest.mark.parametrize("steps", [(None, None), (1,), (15, 15)], ids=["nothing is known", "one run", "all at the limit"])
def test_a_table_of_few_values_is_drawn(steps):
    assert all(picture.data.startswith(PNG) for picture in both(table_of(runs_of("usual", *steps))))


def test_a_condition_without_known_steps_is_told_in_the_words():
    successes, steps = both(table_of(runs_of("usual", None, None)))
    assert "usual: no outcome;" in words(successes) and "usual: the steps are unknown." in words(steps)


def test_a_name_with_dollar_signs_is_not_read_as_a_formula():
    for picture in both(table_of(runs_of("$x^$ for $5", 3, 4))):
        assert "$x^$ for $5" in words(picture)


def test_nothing_to_plot_is_an_error_that_says_so(table):
    with pytest.raises(ValueError, match="There is nothing to plot"):
        plot_success(success_table(table)[:0])
    with pytest.raises(ValueError, match="There is nothing to plot"):
        plot_steps(table[:0])


def test_the_settings_of_the_reader_are_neither_used_nor_changed(table, pictures):
    import matplotlib

    with matplotlib.rc_context({"font.size": 20, "figure.facecolor": "black"}):
        assert [picture.data for picture in both(table)] == [picture.data for picture in pictures]
        assert matplotlib.rcParams["font.size"] == 20


def test_importing_loads_no_matplotlib_and_plotting_opens_no_figure_of_pyplot():
    code = """
import sys
from test_experiment_plots import both, runs_of, table_of
assert "matplotlib" not in sys.modules
both(table_of(runs_of("usual", 3, 4)))
assert "matplotlib" in sys.modules
from matplotlib import pyplot
assert pyplot.get_fignums() == []
"""
    subprocess.run([sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{code}"], check=True)
