"""A report as Markdown: ``report_markdown(report)``. Its citations lead to the list of its sources."""
import re

from mistune.renderers.markdown import MarkdownRenderer

from agent_steps.classroom.report.parts import (
    LEAD, NO_SUCH_FACT, Citing, Source, decision_line, decoded, how_it_was_made, in_one_line, safe_address, sources)

# "!" makes an image of a link behind it, "$" begins a formula in many viewers, "&lt;" is an entity.
SPECIAL = re.compile(r"[\\`*_\[\]<>~|#$]|!(?=\[|$)|&(?=#?\w+;)")
# "- ", "+ " or "12. " begins a list, and a line of "-" or "=" makes a heading of the line above.
LINE_START = re.compile(r"^( *(?:\d{1,9}(?=[.)]))?)([-+=.)])(?=\s|$|[-= ]+$)", re.M)


def report_markdown(report: dict, base: str = "") -> str:
    """Write a report as Markdown.

    report: see this package. base: what stands before the relative address of a local page, such as "../".
    """
    text = MarkdownText(report, base)
    opening = [f"# {plain(report['title'])}", LEAD, text.write(report["summary"]), text.write(report["draft"])]
    listed = [source_entry(source) for source in sources(report, text)] or ["No fact is cited."]
    noticed = ["## Noticed", "\n".join(f"- {plain(line)}" for line in report["noticed"])] if report["noticed"] else []
    made = [plain(line) for line in how_it_was_made(report, text.cited)]
    trail = [f"{place}. {decision_entry(decision)}" for place, decision in enumerate(report["decisions"], start=1)]
    parts = [*opening, "## Sources", *listed, *noticed, "## How this report was made", *made, "\n".join(trail)]
    return "\n\n".join(part for part in parts if part) + "\n"


def plain(text) -> str:
    """Write a text in one line so that nothing in it is Markdown."""
    return line_starts(escaped(in_one_line(text)))


def escaped(text: str) -> str:
    """Put a backslash before every character that means something in Markdown, wherever it stands."""
    return SPECIAL.sub(r"\\\g<0>", text)


def line_starts(text: str) -> str:
    """Put a backslash where the beginning of a line means something in Markdown."""
    return LINE_START.sub(r"\1\\\2", text)


def source_entry(source: Source) -> str:
    """Write one source: its number, its page, and the quoted words. The place that citations lead to stands first."""
    if source.address:
        page = f"[{escaped(source.title)}]({source.address})"
    else:
        page = escaped(source.title if source.title == source.url else f"{source.title} ({source.url})")
    return f'<a id="fact-{source.number}"></a>{source.number}. {page}: “{escaped(in_one_line(source.quote))}”'


def decision_entry(decision: dict) -> str:
    """Write one decision."""
    done, more = map(escaped, decision_line(decision))
    return f"**{done}.** {more}".rstrip()


class MarkdownText(Citing, MarkdownRenderer):
    """Writes what was read as Markdown again, with links at its citations and nothing that a viewer mistakes."""

    def text(self, token, state) -> str:
        """Write words."""
        return escaped(decoded(token["raw"]))

    def citation(self, token, state) -> str:
        """Write a citation: each number leads to its source."""
        return "".join(f"[[{number}]](#fact-{number})" if fact else rf"\[{number}\] {NO_SUCH_FACT}"
                       for number, fact, _ in self.citations(token["raw"]))

    def link(self, token, state) -> str:
        """Write a link, or only its words: if it may not lead there, or if a citation in it is a link already."""
        words, url = self.render_children(token, state), token["attrs"]["url"]
        address = safe_address(url, self.base)
        if "](#fact-" in words:
            return words
        if address:
            return f"[{words}]({address})"
        return words if words == escaped(url) else f"{words} ({escaped(url)})"

    def image(self, token, state) -> str:
        """Write the description of an image."""
        return self.render_children(token, state)

    def heading(self, token, state) -> str:
        """Write a heading, in one line and below the title of the report."""
        words = self.render_children(token, state).replace("\n", " ")
        return f"{'#' * max(2, token['attrs']['level'])} {words}\n\n"

    def paragraph(self, token, state) -> str:
        """Write a paragraph."""
        return line_starts(self.render_children(token, state).strip(" ")) + "\n\n"

    def block_text(self, token, state) -> str:
        """Write the words of an entry of a list."""
        return line_starts(self.render_children(token, state).strip(" ")) + "\n"

    def block_code(self, token, state) -> str:
        """Write a block of code, in a fence that it does not hold. Its language is left out: viewers draw some."""
        code = token["raw"].rstrip("\n")
        fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", code))])
        return f"{fence}\n{code}\n{fence}\n\n"
