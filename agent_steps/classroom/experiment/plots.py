"""Pictures of an experiment. Each carries its numbers in words, for whoever does not see it."""
import io
import textwrap

WIDTH, DPI = 7, 100   # inches, dots per inch: 700 dots, and 10 points are as large as a notebook's text
STYLE = ["default", {"font.size": 10, "text.parse_math": False, "hatch.linewidth": 0.6,   # a $ in a name is a $
                     "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": "#666666"}]
SOLID, LIGHT, DARK = "#0072B2", "#E6E6E6", "#222222"   # SOLID and LIGHT differ in grey, too
INTERVAL = {"color": SOLID, "alpha": 0.5, "linewidth": 6, "solid_capstyle": "butt"}
FACT = {"marker": "o", "markersize": 6, "color": SOLID, "linestyle": "none"}
CLAIM = {"marker": "D", "markersize": 9, "markerfacecolor": "white", "markeredgecolor": DARK, "linestyle": "none"}   # FACT fits into it
SUCCESS = {"facecolor": SOLID, "edgecolor": SOLID, "linewidth": 0.8}
OTHER = {"facecolor": LIGHT, "edgecolor": DARK, "linewidth": 0.8, "hatch": "////"}
LONGEST_NAME, LONGEST_TITLE = 22, 70   # characters in one line


def plot_success(lines):
    """Show how often each condition succeeded, its 95 % interval, and how often the model said that it was done.

    lines: what success_table gives. Returns an Image (PNG) with an alternative text. Raises ValueError if there are no lines.
    """
    from matplotlib import style
    from matplotlib.figure import Figure

    if len(lines) == 0:
        raise ValueError("There is nothing to plot: no condition is in these lines.")
    names = [_wrapped(name, LONGEST_NAME) for name in lines.index]
    height = 1.15 + len(names) * (0.27 + 0.17 * max(name.count("\n") + 1 for name in names))
    with style.context(STYLE):
        figure = Figure(figsize=(WIDTH, height), dpi=DPI, layout="constrained")
        axes = figure.subplots()
        for place, (_, line) in enumerate(lines.iterrows()):
            _draw_line(axes, place, line)
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.5, -0.5)   # the first on top
        axes.set_xlim(-2, 102)
        axes.set_xticks(range(0, 101, 20), [f"{percent} %" for percent in range(0, 101, 20)])
        axes.set_xlabel("share of the runs")
        _without_chart_junk(axes)
        _legend_of_success(figure)
        return image_of(figure, _words_of_success(lines))


def _draw_line(axes, place: int, line) -> None:
    """Draw a condition: the interval, the claim over it, the rate over both, and the numbers at the right."""
    axes.plot([100 * line["low"], 100 * line["high"]], [place, place], zorder=2, **INTERVAL)
    if line["runs"]:
        axes.plot(100 * line["completed"] / line["runs"], place, zorder=3, clip_on=False, **CLAIM)
    axes.plot(100 * line["rate"], place, zorder=4, clip_on=False, **FACT)
    axes.text(1.035, place, _numbers(line), transform=axes.get_yaxis_transform(), va="center")


def _legend_of_success(figure) -> None:
    from matplotlib.lines import Line2D

    marks = {"succeeded (the check)": Line2D([], [], **FACT), "95 % interval": Line2D([], [], **INTERVAL),
             "completed (what the model says)": Line2D([], [], **CLAIM)}
    _legend(figure, marks)


def _legend(figure, marks: dict) -> None:
    figure.legend(marks.values(), marks.keys(), loc="outside upper left", ncols=len(marks), frameon=False, fontsize=9, handlelength=1.5)


def _numbers(line) -> str:
    if not line["runs"]:
        return "no outcome"
    found = f"{line['succeeded']} of {line['runs']}"
    if line["low"] != line["low"]:   # not a number: all runs are equal
        return f"{found}, all equal"
    return f"{found} ({100 * line['low']:.0f} to {100 * line['high']:.0f} %)"


def _words_of_success(lines) -> str:
    words = ["How many runs of each condition succeeded, with a 95 % interval."]
    for name, line in lines.iterrows():
        words.append(f"{name}: {_numbers(line)}; in {line['completed']} the model said that it had completed the task."
                     + (f" Note: {line['note']}" if line["note"] else ""))
    return " ".join(words)


def plot_steps(table):
    """Show for each condition how many runs took how many steps, and how many of them succeeded.

    table: what run_experiment gives. Returns an Image (PNG) with an alternative text. Raises ValueError for an empty table.
    """
    from matplotlib import style
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    if len(table) == 0:
        raise ValueError("There is nothing to plot: the table has no runs.")
    groups = dict(list(table.groupby("condition", sort=False)))
    most = int(max(table["max_steps"].max(), table["steps"].fillna(1).max()))
    with style.context(STYLE):
        figure = Figure(figsize=(WIDTH, 1.1 + 1.15 * len(groups)), dpi=DPI, layout="constrained")
        panels = figure.subplots(len(groups), sharex=True, sharey=True, squeeze=False)[:, 0]
        for axes, (name, rows) in zip(panels, groups.items()):
            _draw_steps(axes, rows)
            axes.set_title(_wrapped(name, LONGEST_TITLE), loc="left", fontsize=10)
        _scale_steps(panels, most)
        panels[-1].set_xlabel("steps" + _left_out(table))
        _legend(figure, {"succeeded": Patch(**SUCCESS), "did not succeed": Patch(**OTHER)})
        return image_of(figure, _words_of_steps(groups))


def _draw_steps(axes, rows) -> None:
    """Draw a condition: bars of successes, other runs stacked on them, and the limit."""
    known = rows.dropna(subset="steps")
    good = known["success"].fillna(False).astype(bool)
    below = known[good]["steps"].value_counts()
    above = known[~good]["steps"].value_counts()
    axes.bar(below.index.astype(int), below.astype(int), **SUCCESS)
    axes.bar(above.index.astype(int), above.astype(int), bottom=[int(below.get(steps, 0)) for steps in above.index], **OTHER)
    limit = rows["max_steps"].max()
    axes.axvline(limit + 0.5, color=DARK, linewidth=0.9, linestyle="--")
    axes.annotate("limit", (limit + 0.5, 1), (4, 0), xycoords=axes.get_xaxis_transform(), textcoords="offset points", va="top", fontsize=9)


def _scale_steps(panels, most: int) -> None:
    """Give the panels whole numbers on both axes: steps from 1 to `most`, and runs from 0."""
    from matplotlib.ticker import MaxNLocator

    for axes in panels:
        _without_chart_junk(axes)
        axes.yaxis.set_major_locator(MaxNLocator(nbins=3, steps=[1, 2, 5, 10], integer=True))
        axes.set_ylabel("runs")
    apart = 1 if most <= 20 else 5 if most <= 60 else -(-most // 100) * 10
    panels[0].set_xticks([1, *range(apart if apart > 1 else 2, most + 1, apart)])
    panels[0].set_xlim(0.4, most + 0.6)
    panels[0].set_ylim(0, max(1, panels[0].get_ylim()[1]))


def _left_out(table) -> str:
    unknown = int(table["steps"].isna().sum())
    return f"\n(left out: {unknown} of {len(table)} runs, whose steps are unknown)" if unknown else ""


def _words_of_steps(groups) -> str:
    words = ["How many steps the runs of each condition took."]
    for name, rows in groups.items():
        steps = rows["steps"].dropna()
        if len(steps) == 0:
            words.append(f"{name}: the steps are unknown.")
            continue
        at_limit = int((rows["stop_reason"] == "max_steps").sum())
        words.append(f"{name}: median {steps.median():g} steps, from {steps.min()} to {steps.max()}; {at_limit} of {len(steps)} runs "
                     f"({100 * at_limit / len(steps):.0f} %) ended at the limit of {rows['max_steps'].max()}."
                     + _left_out(rows).replace("\n", " "))
    return " ".join(words)


def _without_chart_junk(axes) -> None:
    axes.grid(axis="x", color="#DDDDDD", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0)


def _wrapped(name, width: int) -> str:
    return "\n".join(textwrap.wrap(str(name), width)) or str(name)


def image_of(figure, words: str):
    """Return the figure as it is shown and saved in a notebook."""
    from IPython.display import Image
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from numpy import asarray
    from PIL.Image import Dither, fromarray

    canvas, data = FigureCanvasAgg(figure), io.BytesIO()
    canvas.draw()
    picture = fromarray(asarray(canvas.buffer_rgba())).convert("RGB").quantize(64, dither=Dither.NONE)   # a third of the bytes, and looks the same
    picture.save(data, format="png", optimize=True)
    return Image(data=data.getvalue(), metadata={"alt": words})
