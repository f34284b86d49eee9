"""What the two forms of a report share: how its Markdown is read, its citations, its sources, how it was made.

Nothing in a report is trusted. Raw HTML in it is text, an image its description, and a link leads only where it may.
"""
import os
import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote as percent_encoded

import mistune
from mistune.plugins.table import table, table_in_list
from mistune.util import unescape

from agent_steps.classroom.show_call import count, cut_middle, visible

LEAD = ("A program wrote this report, with a person deciding on the way. "
        "Every number in brackets leads to the words of a page.")
WHO = "The program did what follows, where no person is named."
BY_A_PERSON = {   # an action, and how it is told
    "approved": "approved", "approve": "approved", "rejected": "rejected", "selected": "selected", "reviewed": "reviewed",
    "revise": "a change wished for", "expand": "more wished for", "shorten": "less wished for", "restart": "begun again"}
NUMBER = r"[0-9]+(?:\.[0-9]+)?"                          # 1.5 is no fact, and it is marked as such
ANY_CITATION = rf"!?\[{NUMBER}(?:, ?{NUMBER})*\]"            # [3] or [3, 5]; with "!" it is no image
NO_SUCH_FACT = "(no such fact)"
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|[/\\]{2}|[\\#]", re.I)     # another scheme, computer, place in here
LONGEST = 300                                            # characters of one entry in the trail of decisions


class Source(NamedTuple):
    """A cited fact as it is listed. address: where its link leads, empty if no link may lead there."""
    number: int
    title: str
    url: str
    address: str
    quote: str


class Citing:
    """The part of a renderer that knows the facts, and keeps which of them a text cites.

    base: what stands before the relative address of a local page, such as "../" if the report lies one folder deeper.
    """

    def __init__(self, report: dict, base: str):
        super().__init__()
        self.facts = {str(number): fact for number, fact in enumerate(report["facts"], start=1)}
        self.base = base
        self.cited = []      # the numbers of the cited facts, as texts, in the order in which they are first cited

    def write(self, text: str) -> str:
        """Read a text in Markdown and write it in the form of this renderer."""
        return reader(self)(unhidden(text)).strip("\n")

    def citations(self, text: str) -> list[tuple]:
        """Return of each number in a citation: the number, its fact or None, whether it is new in the report."""
        found = []
        for number in (digits.lstrip("0") or "0" for digits in re.findall(NUMBER, text)):
            fact = self.facts.get(number)
            is_first = fact is not None and number not in self.cited
            if is_first:
                self.cited.append(number)
            found.append((number, fact, is_first))
        return found


def reader(renderer) -> mistune.Markdown:
    """Return what reads Markdown: with tables and citations, without raw HTML, and without definitions of links.

    A definition such as "[3]: https://..." would lead every citation of fact 3 somewhere else.
    """
    rules = [rule for rule in mistune.BlockParser.DEFAULT_RULES if rule not in ("raw_html", "ref_link")]
    block = mistune.BlockParser(block_quote_rules=[*rules], list_rules=[*rules])
    block.rules = rules
    block.specification["block_html"] = "(?!)"      # matches nothing: behind a list mistune looks for it all the same
    inline = mistune.InlineParser()
    inline.rules.remove("inline_html")
    inline.register("citation", ANY_CITATION, read_citation, before="link")
    return mistune.Markdown(renderer, block, inline, [table, table_in_list])


def read_citation(inline, match, state) -> int:
    """Keep a citation as a token of its own; return where the reading goes on."""
    before, bracket, numbers = match[0].partition("[")
    if before:
        inline.process_text(before, state)
    state.append_token({"type": "citation", "raw": bracket + numbers})
    return match.end()


def unhidden(text: str) -> str:
    """Show what hides in a text of several lines, such as what turns its direction. All spaces become plain."""
    lines = str(text).replace("\r\n", "\n").replace("\r", "\n").expandtabs(4).split("\n")
    return "\n".join(visible(re.sub(r"\s", " ", line)) for line in lines)


def decoded(words: str) -> str:
    """Decode the entities in words that were read from Markdown, such as "&deg;". What hides in one is shown too."""
    return visible(re.sub(r"\s", " ", unescape(words)))


def in_one_line(text) -> str:
    """Write a text in one line, with nothing hidden in it."""
    return visible(" ".join(str(text).split()))


def safe_address(url: str, base: str = "") -> str:
    """Return an address that a link may lead to, or an empty text: http, https, or relative and behind the base."""
    url = str(url).strip()
    is_web = re.match(r"https?://[^/\\]", url, re.I)
    if not url or not is_web and ELSEWHERE.match(url) or not url.isprintable():
        return ""
    start = "" if is_web or url.startswith("/") else base
    address = percent_encoded(start + url, safe="%/:?#@!$&'*+,;=~", errors="replace")
    return re.sub(r"(&#?\w+);", r"\1%3B", address)      # a viewer of Markdown reads "&#106;" as "j": another scheme


def way_back(folder) -> str:
    """Return the base of a report that lies in a folder, if local addresses begin in the one at work: "../", for example."""
    try:
        way = Path(os.path.relpath(".", folder)).as_posix()
    except ValueError:      # on Windows none leads to another drive
        return ""
    return "" if way == "." else f"{way}/"


def sources(report: dict, text: Citing) -> list[Source]:
    """List the cited facts by their numbers, each with the title of its page."""
    titles = {page["url"]: in_one_line(page["title"]) for page in report["pages"]}
    listed = []
    for number in sorted(text.cited, key=int):
        fact = text.facts[number]
        url = fact["source_url"]
        title = titles.get(url) or in_one_line(url)
        listed.append(Source(int(number), title, in_one_line(url), safe_address(url, text.base), fact["quote"]))
    return listed


def how_it_was_made(report: dict, cited: list) -> list[str]:
    """Say in sentences what was asked for, what was read, and what it took, if that is told."""
    read = f"{count(len(report['pages']), 'page')} and noted {count(len(report['facts']), 'fact')}"
    took = f" It took {in_one_line(report['spent_text'])}." if report.get("spent_text") else ""
    topic = [f"Topic: {in_one_line(report['topic'])}"] if report["topic"] != report["title"] else []
    wanted = [f"Requirements: {in_one_line(report['requirements'])}"] if report["requirements"] else []
    return [*topic, *wanted,
            f"The program read {read}. The report cites {len(cited):,} of them.{took}", *([WHO] if report["decisions"] else [])]


def decision_line(decision: dict) -> tuple[str, str]:
    """Write one decision as two texts: what was done in which phase, and everything else that is known of it and not empty.

    Orders in pages are told under "Noticed", and that something changed is seen where it says what.
    """
    phase, action = name_text(decision["phase"]), decision["action"]
    done = f"{BY_A_PERSON[action]} by a person" if action in BY_A_PERSON else name_text(action)
    says_what = decision.get("removed") or decision.get("added")
    known = ("phase", "action", "orders", *(["changed"] if says_what else []))
    more = [f"{name_text(name)}: {value_text(value)}" for name, value in decision.items()
            if name not in known and (value or value == 0 and value is not False)]
    return f"{phase[:1].upper()}{phase[1:]}: {done}", "; ".join(more)


def name_text(name) -> str:
    """Write a name for people: "queries left" for queries_left."""
    return in_one_line(name).replace("_", " ")


def value_text(value) -> str:
    """Write a value of a decision for people: 18,204, yes or no, a list with commas. A long one is cut."""
    if isinstance(value, bool):
        text = "yes" if value else "no"
    elif isinstance(value, (int, float)):
        text = f"{round(value, 4):,}"
    elif isinstance(value, dict) and ("fact" in value or "title" in value):   # of a fact or a page, its words are enough
        why = f" ({in_one_line(value['problem'])})" if value.get("problem") else ""
        text = in_one_line(value.get("fact") or value["title"]) + why
    elif isinstance(value, dict):
        text = ", ".join(f"{name_text(name)} {value_text(each)}" for name, each in value.items())
    elif isinstance(value, (list, tuple)):
        text = ", ".join(map(value_text, value)) or "none"
    else:
        text = in_one_line(value)
    return cut_middle(text, LONGEST)
