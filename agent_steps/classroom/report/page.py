"""A report as one HTML file: ``report_html(report)``. It loads and runs nothing, so it can be sent to anybody."""
import base64
import hashlib
import re
from html import escape
from pathlib import Path
from urllib.parse import quote as percent_encoded

import mistune
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from mistune.util import striptags

from agent_steps.classroom.report.parts import (
    LEAD, NO_SUCH_FACT, Citing, decision_line, decoded, how_it_was_made, in_one_line, safe_address, sources)

HERE = Path(__file__).parent
FEW = 4             # words at each end of a long quotation, by which a browser finds it
LONG = 10           # words; a longer quotation is looked for by its two ends
MANY = 2            # sections of the text; with more of them the page has a table of contents


def report_html(report: dict, base: str = "") -> str:
    """Write a report as one HTML file.

    report: see this package. base: what stands before the relative address of a local page, such as "../".
    """
    text = PageText(report, base)
    summary, draft = text.write(report["summary"]), text.write(report["draft"])
    style = (HERE / "report.css").read_text(encoding="utf-8")
    listed = [source._replace(address=address_of_words(source.address, source.quote), quote=in_one_line(source.quote))
              for source in sources(report, text)]
    return template().render(
        title=in_one_line(report["title"]), topic=in_one_line(report["topic"]), lead=LEAD,
        policy=policy(style), style=Markup(style), summary=Markup(summary), draft=Markup(draft),
        headings=text.headings if len(text.headings) > MANY else [],
        sources=listed, noticed=list(map(in_one_line, report["noticed"])),
        made=how_it_was_made(report, text.cited), decisions=list(map(decision_line, report["decisions"])))


def template():
    """Return the template of the page, which escapes all that is filled in."""
    environment = Environment(loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined,
                              trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    return environment.get_template("report.html.j2")


def policy(style: str) -> str:
    """Return what the page forbids a browser: everything but this one style."""
    digest = base64.b64encode(hashlib.sha256(style.encode("utf-8")).digest()).decode("ascii")
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def address_of_words(address: str, quote: str) -> str:
    """Lead an address to the quoted words: a browser that knows text fragments scrolls there and marks them.

    A quotation of several lines may stand in several paragraphs, where a browser finds it only by its two ends.
    """
    lines = [line.split() for line in str(quote).splitlines() if line.strip()]
    if not address or not lines:
        return address
    ends = [lines[0]]
    if len(lines) > 1 or len(lines[0]) > LONG:
        ends = [lines[0][:FEW], lines[-1][-FEW:]]
    fragment = ",".join(fragment_text(" ".join(words)) for words in ends)
    return f"{address}{'' if '#' in address else '#'}:~:text={fragment}"


def fragment_text(words: str) -> str:
    """Encode words for a text fragment, where "-", "," and "&" have a meaning of their own."""
    return percent_encoded(words, safe="", errors="replace").replace("-", "%2D")


class PageText(Citing, mistune.HTMLRenderer):
    """Writes what was read as HTML. headings: of each section its id and its words, for the table of contents."""

    def __init__(self, report: dict, base: str):
        super().__init__(report, base)
        self.headings = []

    def write(self, text: str) -> str:
        """Read a text in Markdown and write it as HTML. A raised number stands close to its word."""
        return re.sub(r'\s+(?=<sup class="cite">)', "", super().write(text))

    def text(self, text: str) -> str:
        """Write words."""
        return escape(decoded(text))

    def citation(self, text: str) -> str:
        """Write a citation: each number leads to its source and shows the quoted words."""
        return "".join(self.one_citation(*each) for each in self.citations(text))

    def one_citation(self, number: str, fact: dict | None, is_first: bool) -> str:
        """Write one number. The first citation of a fact can be led back to."""
        if fact is None:
            return f'<span class="missing">[{number}] {NO_SUCH_FACT}</span>'
        place = f' id="cite-{number}"' if is_first else ""
        words = escape(f"“{in_one_line(fact['quote'])}”")
        link = f'<a{place} href="#fact-{number}" role="doc-noteref" title="{words}">[{number}]</a>'
        return f'<sup class="cite">{link}</sup>'

    def link(self, text: str, url: str, title: str | None = None) -> str:
        """Write a link, or only its words: if it may not lead there, or if a citation in it is a link already."""
        address = safe_address(url, self.base)
        if "<a " in text:
            return text
        if address:
            return f'<a href="{escape(address)}">{text}</a>'
        return text if text == escape(url) else f"{text} ({escape(url)})"

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """Write the description of an image."""
        return text

    def heading(self, text: str, level: int, **attrs) -> str:
        """Write a heading below the title of the report."""
        level = max(2, level)
        if level > 2:
            return f"<h{level}>{text}</h{level}>\n"
        place = f"part-{len(self.headings) + 1}"
        words = striptags(re.sub(" *<sup.*?</sup>", "", text))      # no citations in the contents
        self.headings.append((place, Markup(words)))
        return f'<h2 id="{place}">{text}</h2>\n'

    def block_code(self, code: str, info: str | None = None) -> str:
        """Write a block of code. Its language is left out."""
        return f"<pre><code>{escape(code)}</code></pre>\n"

    def table(self, text: str) -> str:
        """Write a table in a frame, in which it can be moved sideways."""
        return f'<div class="table"><table>\n{text}</table></div>\n'

    def table_cell(self, text: str, align: str | None = None, head: bool = False) -> str:
        """Write a cell of a table."""
        tag = "th" if head else "td"
        return f'<{tag} class="{align}">{text}</{tag}>\n' if align else f"<{tag}>{text}</{tag}>\n"
