"""A picture of one or several lines, with their numbers in words for whoever does not see it."""
from .experiment.plots import DARK, DPI, STYLE, WIDTH, image_of

COLOURS = ("#0072B2", "#D55E00", "#117733", DARK)
MARKS = ("o", "s", "^", "D")   # not told apart by colour alone


def plot_lines(lines, across, up, form="{:,.0f}"):
    """Draw lines, each with its name at its end.

    lines: a dict from name to a dict from x to y, at most four, none of them empty. across, up: what the axes are. form: how a
    number is written. Returns an Image (PNG) with an alternative text. Raises ValueError for other lines.
    """
    from matplotlib import style
    from matplotlib.figure import Figure

    if not 1 <= len(lines) <= len(COLOURS) or not all(lines.values()):
        raise ValueError(f"Give 1 to {len(COLOURS)} lines, and to each at least one point.")
    with style.context(STYLE):
        figure = Figure(figsize=(WIDTH, 3.2), dpi=DPI, layout="constrained")
        axes = figure.subplots()
        for (name, points), colour, mark in zip(lines.items(), COLOURS, MARKS):
            axes.plot(points.keys(), points.values(), color=colour, marker=mark, markersize=5, clip_on=False)
            axes.annotate(name, list(points.items())[-1], (9, 0), textcoords="offset points", va="center", color=colour, annotation_clip=False)
        axes.set(xlabel=across, ylabel=up, ylim=(0, None), xticks=sorted({x for points in lines.values() for x in points}))
        axes.yaxis.set_major_formatter(lambda number, _: form.format(number))
        axes.grid(axis="y", color="#DDDDDD", linewidth=0.8)
        axes.tick_params(length=0)
        return image_of(figure, words_of(lines, across, up, form))


def words_of(lines, across, up, form) -> str:
    """Say what a picture shows: every number of every line."""
    words = [f"{up[:1].upper()}{up[1:]} over {across}."]
    for name, points in lines.items():
        words.append(f"{name}: " + ", ".join(f"{form.format(y)} at {x}" for x, y in points.items()) + ".")
    return " ".join(words)
