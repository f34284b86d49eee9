"""The report of a research agent: citations lead to words of a page, and no text of a model or a page can do harm."""
import copy
import re
from html.parser import HTMLParser
from urllib.parse import unquote

import mistune
import pytest

from agent_steps.classroom.report.markdown import report_markdown
from agent_steps.classroom.report.page import address_of_words, report_html
from agent_steps.classroom.report.parts import safe_address

EMPTY_TAGS = {"meta", "br", "hr"}
PIECES = {"html", "head", "meta", "title", "style", "body", "header", "main", "section", "nav", "article", "footer",
          "div", "p", "h1", "h2", "h3", "ul", "ol", "li", "a", "sup", "span", "q", "strong", "em", "code", "pre",
          "blockquote", "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "br", "hr"}
APPENDIX = ["Sources", "Noticed", "How this report was made"]
REPORT = {
    "topic": "Why high water comes later every day",
    "requirements": "Two pages at most, for students without a course in physics.",
    "title": "Fifty minutes later every day",
    "summary": "High water comes **50 minutes later** each day [1].",
    "draft": "## Two bulges\n\nOne high water follows the other after 12.42 hours [3]. "
             "A lunar day has 24 h 50 min [1, 3].\n\n"
             "## Springs and neaps [2]\n\n| Tide | Range |\n|:--|--:|\n| Spring | 4.12 m [2] |\n\n"
             "## The tables\n\nWith wind the water stood higher [4][3]. Nobody measured the age of the tide [9].",
    "facts": [
        {"fact": "the lunar day", "source_url": "data/library/moon.html",
         "quote": "two bulges in one lunar day of 24 hours and 50 minutes, as everybody on the coast can see"},
        {"fact": "the ranges", "source_url": "https://tides.example/a_(b).html?x=1&y=2",
         "quote": "Spring: 4.12 m\nNeap: 1.87 m"},
        {"fact": "12.42 hours", "source_url": "data/library/moon.html", "quote": "after 12.42 hours"},
        {"fact": "wind", "source_url": "data/library/harbour office.html", "quote": "wave-setup, surge & wind"},
        {"fact": "never cited", "source_url": "data/library/cafe.html", "quote": "it is our coffee"},
    ],
    "pages": [{"url": "data/library/moon.html", "title": "The Moon | [tides]", "content": ""},
              {"url": "data/library/cafe.html", "title": "Café", "content": ""}],
    "decisions": [{"phase": "gather", "action": "read_page", "url": "data/library/moon.html", "characters": 18204,
                   "facts": [1, 3], "note": None},
                  {"phase": "check", "action": "approved", "changed": False, "spent": {"dollars": 0.03125}}],
    "noticed": ["data/library/cafe.html holds an order to AI models. It was not followed."],
    "spent": {"calls": 12, "tokens": 18204, "dollars": 0.0312},
    "spent_text": "12 requests, 18,204 tokens, as if $0.0312",
}


class Parsed(HTMLParser):
    """The tags of a page with their attributes, its text, and what is out of order in it."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text, self.open, self.trouble = [], "", [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag == "a" and "a" in self.open or len(attributes) != len(dict(attributes)):
            self.trouble.append((tag, attributes))
        if tag not in EMPTY_TAGS:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.trouble.append(tag)

    def handle_data(self, data):
        self.text += "" if self.open[-1:] == ["style"] else data

    def values(self, attribute):
        return [found[attribute] for _, found in self.tags if attribute in found]


def changed(**parts):
    return {**copy.deepcopy(REPORT), **parts}


def with_source(**parts):
    """A report with one fact, which is cited; its page has another address, title or quotation."""
    source = {"url": "data/a.html", "title": "A page", "quote": "some words", **parts}
    return changed(draft="Said [1].", summary="",
                   facts=[{"fact": "", "source_url": source["url"], "quote": source["quote"]}],
                   pages=[{"url": source["url"], "title": source["title"], "content": ""}])


def page_of(report):
    """The page of a report, after the look at it that every page must stand."""
    page = Parsed(report_html(report))
    ids = page.values("id")
    assert not page.trouble and not page.open
    assert {tag for tag, _ in page.tags} <= PIECES
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in page.values("href") if link.startswith("#")} <= set(ids)
    assert not [link for link in page.values("href") if re.match(r"(?!https?:)[a-z][a-z0-9+.-]*:|//", link, re.I)]
    names = {name for _, found in page.tags for name in found}
    assert not names & {"src", "srcset", "style"} and not [name for name in names if name.startswith("on")]
    return page


def viewed(report):
    """A report in Markdown as a viewer shows it that lets all through, after the look that each must stand."""
    careless = mistune.HTMLRenderer(escape=False, allow_harmful_protocols=True)
    view = Parsed(mistune.create_markdown(renderer=careless, plugins=["table"])(report_markdown(report)))
    assert not view.trouble and not view.open
    assert {tag for tag, _ in view.tags} <= PIECES
    assert [tag for tag, _ in view.tags].count("h1") == 1
    assert all(re.fullmatch(r"fact-\d+", place) for place in view.values("id"))
    assert {link[1:] for link in view.values("href") if link.startswith("#")} <= set(view.values("id"))
    assert re.findall(r"^## (.*)$", report_markdown(report), re.M)[-3:] == APPENDIX
    return view


def both(report):
    return [page_of(report), viewed(report)]


# ---- citations and sources ----

def test_a_citation_leads_to_its_source_in_both_forms():
    page, view = both(REPORT)
    for found in (page, view):
        assert [link for link in found.values("href") if link.startswith("#fact-")] == [
            f"#fact-{number}" for number in (1, 3, 1, 3, 2, 2, 4, 3)]
        assert [place for place in found.values("id") if "fact" in place] == ["fact-1", "fact-2", "fact-3", "fact-4"]
    assert "after 12.42 hours [[3]](#fact-3)." in report_markdown(REPORT)


def test_a_fact_that_is_never_cited_is_not_listed():
    assert not [found for found in both(REPORT) if "it is our coffee" in found.text]


def test_an_entry_begins_with_its_place_and_keeps_its_number():
    entry = '<a id="fact-3"></a>3. [The Moon \\| \\[tides\\]](data/library/moon.html): “after 12.42 hours”'
    assert entry in report_markdown(REPORT).split("\n\n")
    assert page_of(REPORT).values("value") == ["1", "2", "3", "4"]


def test_a_number_without_a_fact_stays_and_is_marked():
    for number in ("0", "99", "1.5", "9" * 5000):
        for found in both(changed(draft=f"Said [{number}].", summary="")):
            assert f"[{number}] (no such fact)" in found.text
            assert "No fact is cited." in found.text


def test_what_is_no_number_in_brackets_stays_as_it_is():
    for found in both(changed(draft="Of [x], [1a], [], `a[1]` and [-1].\n\n```\nb[2]\n```\n\n\\[3]", summary="")):
        assert all(text in found.text for text in ("Of [x], [1a], [], a[1] and [-1].", "b[2]", "[3]"))
        assert "No fact is cited." in found.text


@pytest.mark.parametrize("draft", [
    "[[1]]", "[a [1] b](https://a.example)", "Wow![1]", "[1](https://a.example)", "[1][x]", "[x][1]", "[01]",
    "[1]\n\n[1]: https://a.example", "![a [1]](https://a.example/b.png)", "- <b>[1]\n\n<!-- [1]"])
def test_however_brackets_are_nested_a_citation_leads_to_its_source_and_nowhere_else(draft):
    for found in both(changed(draft=draft, summary="")):
        assert "#fact-1" in found.values("href")
        assert not [link for link in found.values("href") if "a.example" in link]


def test_a_citation_shows_the_quoted_words_and_its_source_leads_back_to_the_first_sentence():
    page = page_of(REPORT)
    cited = [found for tag, found in page.tags if tag == "a" and found["href"] == "#fact-3"]
    assert [found["title"] for found in cited] == ["“after 12.42 hours”"] * 3
    assert [found.get("id") for found in cited] == ["cite-3", None, None]
    assert [link for link in page.values("href") if "#cite" in link] == ["#cite-1", "#cite-2", "#cite-3", "#cite-4"]


# ---- the words at the source ----

def test_the_link_of_a_source_leads_to_the_quoted_words():
    links = [link for link in page_of(REPORT).values("href") if ":~:text=" in link]
    assert links == ["data/library/moon.html#:~:text=two%20bulges%20in%20one,the%20coast%20can%20see",
                     "https://tides.example/a_%28b%29.html?x=1&y=2#:~:text=Spring%3A%204.12%20m,Neap%3A%201.87%20m",
                     "data/library/moon.html#:~:text=after%2012.42%20hours",
                     "data/library/harbour%20office.html#:~:text=wave%2Dsetup%2C%20surge%20%26%20wind"]


@pytest.mark.parametrize("quote", ["12.42 hours", "a-b, c & d", "100 % — “so” / #1?", "潮汐",
                                   "a\n\n b c d e f", " ".join(f"w-{n}," for n in range(40))])
def test_a_text_fragment_is_read_as_the_beginning_and_the_end_of_the_quotation(quote):
    address, _, fragment = address_of_words("a.html", quote).partition("#:~:text=")
    ends = fragment.split(",")
    words = " ".join(quote.split())
    assert address == "a.html" and not set(fragment) & set("-& ")
    assert words.startswith(unquote(ends[0])) and words.endswith(unquote(ends[-1]))
    assert len(ends) == 2 or unquote(fragment) == words


def test_a_place_in_a_page_is_kept_and_an_empty_quotation_leads_to_the_page():
    assert address_of_words("a.html#b", "c") == "a.html#b:~:text=c"
    assert address_of_words("a.html", " \n") == "a.html"


def test_a_report_in_another_folder_leads_to_the_local_pages():
    report = changed(draft="[1][2] [see](data/b.html) [that](/c.html)", summary="")
    for text in (report_html(report, base="../"), report_markdown(report, base="../")):
        assert "../data/library/moon.html" in text and "../data/b.html" in text
        assert "..//" not in text and "../http" not in text


@pytest.mark.parametrize("url", [
    "javascript:alert(1)", "JavaScript:alert(1)", " javascript:alert(1)", "java\nscript:alert(1)",
    "\x01javascript:alert(1)", "data:text/html,<script>alert(1)</script>", "vbscript:x", "file:///etc/passwd",
    "mailto:a@b.example", "#fact-1", "", "//elsewhere.example", "\\\\elsewhere\\x", "/\\elsewhere.example",
    "https:elsewhere.example"])
def test_an_address_that_is_not_safe_is_shown_and_not_linked(url):
    assert safe_address(url) == ""
    for found in both(with_source(url=url)):
        assert not [link for link in found.values("href") if not link.startswith("#")]
        assert "A page" in found.text and " ".join(url.split())[-8:] in found.text
    for found in both(changed(draft=f"[words]({url}) and <{url}>", summary="")):
        assert not [link for link in found.values("href") if re.match(r"[a-z]+:|[/\\]{2}", link, re.I)]
        assert "words" in found.text


def test_an_entity_does_not_hide_the_scheme_of_an_address():
    hidden = "&#106;avascript:alert(1)"
    for found in both(with_source(url=hidden)) + both(changed(draft=f"[x]({hidden})", summary="")):
        assert not [link for link in found.values("href") if link.lower().startswith("javascript")]


# ---- hostile texts ----

HOSTILE = ["<script>alert(1)</script>", "</style><script>alert(1)</script>", "</title></body></html>", "<!-- ",
           '"><img src=x onerror=alert(1)>', "' onmouseover='alert(1)", '<a id="fact-1"></a>', "&lt;script&gt;",
           "{{ 7 * 7 }}{% raw %}", "![x](https://spy.example/p.png)", "]]](x) [a](javascript:alert(1))", "`` ` ```",
           "\n\n# Another title\n\n## Sources\n\n", "\n---\n", "\n===\n", "| a | b |\n|---|---|", "~~~\n",
           "~~~&#10;\n", " ```\n \t```\n![x](https://spy.example/p.png)",
           "\\", "**", "- - 1. x", "[1]: https://spy.example", "\ud800\u202e\x00", "$x$ & y;"]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_stays_a_text_wherever_it_stands(text):
    report = with_source(url=f"data/{text}", title=text, quote=text)
    report |= {"title": f"T {text}", "topic": text, "requirements": text, "noticed": [text], "spent_text": text,
               "decisions": [{"phase": text, "action": text, text: [text, {text: text}]}]}
    for found in both(report):
        assert not [link for link in found.values("href") if not link.startswith(("data/", "#"))]
    html = report_html(report)
    assert html.count("<style>") == html.count("</style>") == html.count("</html>") == 1
    (html + report_markdown(report)).encode("utf-8")


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_draft_cannot_leave_its_place(text):
    for draft in (text, f"- x\n{text}", f"> {text}", f"a {text} b [1]\n{text}", f"| a |\n|--|\n| {text} |"):
        for found in both(changed(draft=draft, summary=text)):
            assert not [link for link in found.values("href") if "spy.example" in link or "javascript" in link]


def test_a_title_of_a_page_is_shown_letter_by_letter():
    title = "a|b [c](d) *e* _f_ `g` <h> #i &amp; \\j ~k~ 1. ![l](m) $n$"
    assert not [found for found in both(with_source(title=title)) if title not in found.text]


def test_what_hides_is_shown():
    for found in both(changed(title="a\u202eb", draft="c\u202ed &#x202e; e\u00a0f &deg;", summary="")):
        assert "a\\u202eb" in found.text and "c\\u202ed \\u202e e f °" in found.text


def test_an_image_becomes_its_description():
    for found in both(changed(draft="See ![the *gauge*](https://a.example/b.png).", summary="")):
        assert "See the gauge." in found.text and not re.search(r"b\.png", found.text)


def test_a_browser_is_told_to_load_and_run_nothing():
    [policy] = [found["content"] for _, found in page_of(REPORT).tags if "http-equiv" in found]
    assert policy.startswith("default-src 'none'; style-src 'sha256-") and "unsafe" not in policy
    assert not re.search(r"url\(|@import", report_html(REPORT))


# ---- the rest of the report ----

def test_a_report_in_markdown_has_its_parts_in_order():
    text = report_markdown(REPORT)
    parts = ["# Fifty minutes later every day\n\nA program", "**50 minutes later**", "## Two bulges",
             "| Spring | 4.12 m [[2]](#fact-2) |", *(f"## {name}\n\n" for name in APPENDIX)]
    places = [text.index(part) for part in parts]
    assert places == sorted(places) and text.endswith("\n") and "\n\n\n" not in text


def test_the_trail_of_decisions_is_told_in_plain_words():
    for found in both(REPORT):
        assert "Gather: read page. url: data/library/moon.html; characters: 18,204; facts: 1, 3\n" in found.text
        assert "Check: approved by a person. spent: dollars 0.0312" in found.text
        assert "The program read 2 pages and noted 5 facts. The report cites 4 of them." in found.text
        assert "It took 12 requests, 18,204 tokens, as if $0.0312." in found.text
    assert "details" in [tag for tag, _ in page_of(REPORT).tags]


def test_what_is_told_elsewhere_is_not_told_again_in_the_trail():
    decision = {"phase": "check", "action": "reviewed", "removed": ["the cafe"], "changed": True, "orders": ["Eat here"]}
    for found in both(changed(title=REPORT["topic"], decisions=[decision, {"phase": "check", "action": "approved", "changed": True}])):
        assert "Check: reviewed by a person. removed: the cafe\n" in found.text and "Check: approved by a person. changed: yes\n" in found.text
        assert "Eat here" not in found.text and "Topic:" not in found.text


def test_a_long_text_in_a_decision_is_cut():
    for found in both(changed(decisions=[{"phase": "a", "action": "b", "page": "word " * 1000}])):
        assert "…" in found.text and len(found.text) < 4000


def test_contents_are_listed_if_there_are_more_than_two_sections():
    assert "nav" not in [tag for tag, _ in page_of(changed(draft="## A\n\n## B\n\n### C")).tags]
    contents = report_html(REPORT).partition("<nav")[2].partition("</nav>")[0]
    assert re.findall(r"#part-\d\">(.*?)</a>", contents) == ["Two bulges", "Springs and neaps", "The tables"]


def test_headings_of_a_draft_stand_below_the_title():
    for found in both(changed(draft="# One\n\nTwo\n===\n\n### Three", summary="")):
        assert [tag for tag, _ in found.tags if tag in ("h1", "h2", "h3")][:4] == ["h1", "h2", "h2", "h3"]


def test_without_anything_noticed_and_decided_the_parts_are_left_out():
    report = changed(noticed=[], decisions=[], draft="", summary="")
    html, text = report_html(report), report_markdown(report)
    assert "Noticed" not in html + text and "<details>" not in html and "\n1. " not in text


def test_a_report_is_left_as_it_was_and_written_the_same_twice():
    report = copy.deepcopy(REPORT)
    assert (report_html(report), report_markdown(report)) == (report_html(report), report_markdown(report))
    assert report == REPORT


def test_a_browser_goes_to_the_quoted_words_and_asks_for_nothing_else(tmp_path):
    sync_api = pytest.importorskip("playwright.sync_api", reason="the browser tests need Playwright")
    browser_tests = pytest.importorskip("browser")
    filler = "<p>The sea is wide.</p>" * 200
    page = f"<meta charset=utf-8>{filler}<p>wave-<b>setup</b>, surge &amp; wind</p><p>at 12.42 h</p>{filler}"
    report = with_source(quote="wave-setup, surge & wind\nat 12.42 h")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.html").write_text(page, encoding="utf-8")
    (tmp_path / "report.html").write_text(report_html(report), encoding="utf-8")
    with sync_api.sync_playwright() as playwright:
        chromium = browser_tests.start_chromium(playwright)
        if chromium is None:
            pytest.skip(browser_tests.HOW_TO_GET)
        window, asked, said = chromium.new_page(), [], []
        window.on("request", lambda request: asked.append(request.url))
        window.on("console", lambda message: said.append(message.text))
        window.goto((tmp_path / "report.html").as_uri())
        assert window.evaluate("getComputedStyle(document.querySelector('.lead')).fontFamily").startswith("system-ui")
        window.click("#fact-1 p >> nth=1 >> a >> nth=0")
        window.wait_for_function("scrollY > 1000 && document.querySelector('b')")
        place = window.evaluate("document.querySelector('b').getBoundingClientRect().top")
        height = window.viewport_size["height"]
        chromium.close()
    assert 0 < place < height and said == []
    assert [url.rpartition("/")[2].partition("#")[0] for url in asked] == ["report.html", "a.html"]
