"""What a lesson adds, read from its module's source file; the module itself is not imported.

    new_names("run_agent")                                    # the names it defines, each with its first line
    stage_diff("the_loop.run_loop", "run_agent.run_agent")    # what changed from one stage to the next
    show_module("run_agent")                                  # the whole source, folded under one line
"""

import ast
import difflib
import textwrap
from html import escape
from pathlib import Path

from .lines_html import line_html

LESSONS = Path(__file__).parents[1]
CELL = 'style="text-align:left;vertical-align:top;padding:0.3em 1.2em 0.3em 0"'
SOURCE = 'style="white-space:pre;overflow-x:auto;padding:0.6em 0"'      # code is not wrapped


class View:
    """Something that a notebook shows as HTML and everything else as text."""

    def __init__(self, text, html):
        self.text = text
        self.html = html

    def _repr_html_(self):
        return self.html

    def __repr__(self):
        return self.text


def new_names(slug, folder=LESSONS) -> View:
    """List the public functions, classes and CONSTANTS that a module defines, in its order."""
    found = public_names(read_source(slug, folder))
    if not found:
        return View(f"No new names in {slug}.", f"<p>No new names in <code>{escape(slug)}</code>.</p>")
    return View(names_text(slug, found), names_html(slug, found))


def stage_diff(earlier, later, folder=LESSONS) -> View:
    """Compare two functions, each named "slug.function": what the later stage adds and what it takes away."""
    lines = compare(source_of(earlier, folder), source_of(later, folder))
    title = f"From {earlier} to {later}: {describe_changes(lines)}."
    return View("\n".join([title, "", *lines]), diff_html(title, lines))


def show_module(slug, folder=LESSONS) -> View:
    """Show the whole source of a module, folded under one line."""
    source = read_source(slug, folder)
    title = f"The whole module: {Path(folder).name}/{slug}.py, {len(source.splitlines())} lines"
    code = f'<pre {SOURCE}><code style="white-space:pre">{escape(source)}</code></pre>'
    html = f"<details><summary>{escape(title)}</summary>{code}</details>"
    return View(f"{title}.", html)   # as text its name is enough: the file is at hand, and a notebook would store it twice


def read_source(slug, folder=LESSONS) -> str:
    """Read the source file of a lesson."""
    path = Path(folder) / f"{slug}.py"
    if not path.is_file():
        raise ValueError(f"There is no module {slug!r}: no file {Path(folder).name}/{slug}.py.")
    return path.read_text(encoding="utf-8")


def public_names(source) -> list:
    """Return (name, kind, first line) of what a source defines at its top level; a name without a text stays."""
    found = {}
    for node in ast.parse(source).body:
        for name, kind in defined_by(node):
            if not name.startswith("_"):
                found.setdefault(name, (name, kind, first_line(node, source)))
    return list(found.values())


def defined_by(node) -> list:
    """Return (name, kind) of what one statement defines."""
    if isinstance(node, ast.ClassDef):
        return [(node.name, "class")]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return [(node.name, "function")]
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
        return [(name, "constant") for name in names if name.isupper()]
    return []


def first_line(node, source) -> str:
    """Return the first line of a docstring; of a constant, the comment on its line or right above it."""
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return comment_of(node, source.splitlines())
    return (ast.get_docstring(node) or "").partition("\n")[0]


def comment_of(node, lines) -> str:
    """Return the comment that explains an assignment: at the end of it, or the first line of those above."""
    own = lines[node.end_lineno - 1].encode()[node.end_col_offset:].decode().strip()
    if own.startswith("#"):
        return own.lstrip("# ")
    number = node.lineno - 1
    while number and lines[number - 1].startswith("#"):
        number -= 1
    return lines[number].lstrip("# ") if number < node.lineno - 1 else ""


def names_text(slug, found) -> str:
    """Write the new names as a table of text."""
    width = max(len(name) for name, _, _ in found)
    rows = [f"  {name:<{width}}  {kind:<8}  {line}".rstrip() for name, kind, line in found]
    return "\n".join([f"New in {slug}:", *rows])


def names_html(slug, found) -> str:
    """Write the new names as a table of HTML."""
    rows = "\n".join(f'<tr><th scope="row" {CELL}><code>{escape(name)}</code></th><td {CELL}>{kind}</td>'
                     f"<td {CELL}>{escape(line)}</td></tr>" for name, kind, line in found)
    head = "".join(f'<th scope="col" {CELL}>{title}</th>' for title in ("Name", "Kind", "What it is"))
    return (f'<table class="mathjax_ignore tex2jax_ignore" style="table-layout:auto">\n'
            f'<caption style="text-align:left">New in <code>{escape(slug)}</code></caption>\n'
            f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>")


def source_of(place, folder=LESSONS) -> str:
    """Return the source of "slug.function" (or "slug.Class.method") without its docstring."""
    slug, *names = place.split(".")
    source = read_source(slug, folder)
    node = ast.parse(source)
    for name in names:
        node = definition_in(node, name, place)
    if not names:
        raise ValueError(f"{place!r} names no function. Write it as \"slug.function\".")
    return textwrap.dedent("\n".join(lines_without_docstring(node, source.splitlines())))


def definition_in(node, name, place):
    """Return the function or class of that name, or say which ones there are."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    inside = {child.name: child for child in node.body if isinstance(child, kinds)}
    if name not in inside:
        raise ValueError(f"There is no {name!r} for {place!r}. There is {', '.join(inside) or 'nothing'}.")
    return inside[name]


def lines_without_docstring(node, lines) -> list:
    """Return the lines of a definition, decorators included, its docstring and the empty line after it left out."""
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    left_out = set()
    if ast.get_docstring(node) is not None and node.body[0].lineno > node.lineno:
        left_out = set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
        after = node.body[0].end_lineno + 1
        if after <= node.end_lineno and not lines[after - 1].strip():
            left_out.add(after)
    return [lines[number - 1] for number in range(first, node.end_lineno + 1) if number not in left_out]


def compare(before, after) -> list:
    """Return all lines of both texts, each behind a sign: + added, - taken away, a space where nothing changed."""
    before, after = before.splitlines(), after.splitlines()
    lines = []
    for change, i, j, k, m in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if change == "equal":
            lines += [f"  {line}".rstrip() for line in before[i:j]]
        else:
            lines += [f"- {line}".rstrip() for line in before[i:j]] + [f"+ {line}".rstrip() for line in after[k:m]]
    return lines


def describe_changes(lines) -> str:
    """Count the lines of a comparison by their signs."""
    signs = [line[:1] or " " for line in lines]
    return f"{signs.count('+')} lines added, {signs.count('-')} taken away, {signs.count(' ')} unchanged"


def diff_html(title, lines) -> str:
    """Write a comparison as HTML: the signs carry the meaning, a tint helps the eye."""
    rows = "".join(line_html(line) for line in lines)
    code = f'<code style="display:inline-block;min-width:100%;white-space:pre">{rows}</code>'
    return (f'<figure style="margin:0"><figcaption>{escape(title)}</figcaption>\n'
            f"<pre {SOURCE}>{code}</pre></figure>")
