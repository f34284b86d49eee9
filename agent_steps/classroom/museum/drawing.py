"""What was measured, as a table: how many attacks of each family still did harm behind each layer.

    museum_table()                        # all layers
    museum_table(["nothing", "landlock"])
    show_exhibits(["unlink", "daemon"])   # these programs, with their code
"""
import csv
import textwrap
import tomllib
from html import escape
from pathlib import Path

from agent_steps.classroom.museum.programs import BENIGN, FAMILIES, load_programs
from agent_steps.classroom.whats_new import View

RESULTS = Path(__file__).with_name("results.csv")
FACTS = Path(__file__).with_name("results.toml")
ALL_ATTACKS, BENIGN_BROKEN = "all attacks", "benign, broken"
CELL = "text-align:left;vertical-align:top;padding:0.4em 0.8em 0.4em 0;border-bottom:1px solid rgba(128,128,128,0.5)"
HARM = "rgba(248,81,73,0.75)"       # the part that did harm, for a light and a dark page; the number says the same
NO_HARM = "rgba(128,128,128,0.25)"
PRE = "white-space:pre-wrap;overflow-wrap:anywhere;background:none;margin:0.3em 0 0.6em 0"


def read_results(path=RESULTS) -> list[dict[str, str]]:
    """Return the rows of the results: date, layer, program, family, harm (yes, no or untried) and detail."""
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read_facts(path=FACTS) -> dict[str, str]:
    """Return what is known about the system that was measured, name to value."""
    return tomllib.loads(Path(path).read_text(encoding="utf-8"))


def museum_table(layers=None) -> View:
    """Show how many programs of each family did harm behind each layer, as measured for this version of the course.

    layers: the names of the layers to show, in this order; None for all. Raises ValueError for a layer that was not measured.
    """
    return draw_table(read_results(), read_facts(), layers)


def draw_table(rows, facts, layers=None) -> View:
    """Draw these results. rows: as read_results returns them; facts: as read_facts does; layers: as for museum_table."""
    measured = list(dict.fromkeys(row["layer"] for row in rows))
    layers = measured if layers is None else list(layers)
    unknown = [layer for layer in layers if layer not in measured]
    if unknown:
        raise ValueError(f"There is no layer {unknown[0]!r}. There are: {', '.join(measured)}.")
    groups = group(rows)
    title = " ".join([headline(facts), *unchecked(rows, layers)])
    return View(table_text(groups, layers, title), table_html(groups, layers, title))


def group(rows) -> dict[str, dict[str, list[str]]]:
    """Sort the rows: name of a line of the table to layer to the list of its yes, no and untried."""
    groups = {name: {} for name in (*FAMILIES, ALL_ATTACKS, BENIGN_BROKEN) if name != BENIGN}
    for row in rows:
        names = [BENIGN_BROKEN] if row["family"] == BENIGN else [row["family"], ALL_ATTACKS]
        for name in names:
            groups[name].setdefault(row["layer"], []).append(row["harm"])
    return {name: group for name, group in groups.items() if group}


def headline(facts) -> str:
    """Say what is counted, and where and when it was measured."""
    system = ", ".join(value for name, value in facts.items() if name != "date")
    return f"Programs that did harm, of those tried. Measured on {facts['date']}: {system}. Other systems were not measured."


def unchecked(rows, layers) -> list[str]:
    """Say for each layer behind which nothing was tried why not."""
    untried = {row["layer"]: row["detail"] for row in rows} | {row["layer"]: "" for row in rows if row["harm"] != "untried"}
    return [f"{layer}: {untried[layer]}." for layer in layers if untried[layer]]


def cell(harms) -> tuple[str, float]:
    """Return the words of a cell, and the share of what was tried that did harm."""
    tried = [harm for harm in harms if harm != "untried"]
    if not tried:
        return "not checked", 0.0
    harmful, left = tried.count("yes"), len(harms) - len(tried)
    return f"{harmful} of {len(tried)}" + (f" ({left} not tried)" if left else ""), harmful / len(tried)


def table_text(groups, layers, title) -> str:
    """Write the table as text. The name of a layer stands above its column, one word to a line."""
    height = max(len(layer.split()) for layer in layers)
    heads = [[""] * (height - len(words)) + words for words in map(str.split, layers)]
    columns = [[""] * height + list(groups)]
    columns += [head + [cell(group.get(layer, []))[0] for group in groups.values()] for head, layer in zip(heads, layers, strict=True)]
    widths = [max(map(len, column)) + 2 for column in columns]
    rows = ["".join(map(str.ljust, row, widths)).rstrip() for row in zip(*columns, strict=True)]
    return "\n".join([*textwrap.wrap(title, 100), "", *rows])


def table_html(groups, layers, title) -> str:
    """Write the table as HTML."""
    head = "".join(f'<th scope="col" style="{CELL}">{escape(layer)}</th>' for layer in ("", *layers))
    rows = "\n".join(row_html(name, group, layers) for name, group in groups.items())
    return "\n".join([
        '<div class="mathjax_ignore tex2jax_ignore" style="overflow-x:auto">', '<table style="border-collapse:collapse">',
        f'<caption style="text-align:left">{escape(title)}</caption>',
        f"<thead><tr>{head}</tr></thead>", f"<tbody>\n{rows}\n</tbody>", "</table></div>",
    ])


def row_html(name, group, layers) -> str:
    """Write one line of the table. The bar shows the share at a glance; the words say the same."""
    cells = "".join(f'<td style="{CELL}">{escape(words)}{bar(share)}</td>' for words, share in (cell(group.get(layer, [])) for layer in layers))
    return f'<tr><th scope="row" style="{CELL}">{escape(name)}</th>{cells}</tr>'


def bar(share) -> str:
    """Draw a share as a bar."""
    filled = f'<div style="background:{HARM};width:{100 * share:.0f}%;height:0.4em"></div>'
    return f'<div aria-hidden="true" style="background:{NO_HARM};width:6em;height:0.4em;margin-top:0.2em">{filled}</div>'


def show_exhibits(names) -> View:
    """Show these programs: what they are after, why they pass, and their code. Raises ValueError for a name that does not exist."""
    known = {program.name: program for program in load_programs()}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"There is no program {unknown[0]!r} in the museum. There are: {', '.join(known)}.")
    shown = [known[name] for name in names]
    text = "\n\n".join(f"--- {label(program)}\n{program.note}\n\n{program.code.rstrip()}" for program in shown)
    html = "\n".join(f"<div><strong>{escape(label(program))}</strong><br>{escape(program.note)}"
                     f'<pre style="{PRE}"><code>{escape(program.code, quote=False)}</code></pre></div>' for program in shown)
    return View(text, f'<div class="mathjax_ignore tex2jax_ignore">{html}</div>')


def label(program) -> str:
    """Name a program with its family and its goal."""
    return f"{program.name} ({program.family})" if program.family == program.goal else f"{program.name} ({program.family}; goal: {program.goal})"
