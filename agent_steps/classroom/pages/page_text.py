"""From the HTML of a page to the text that a reader sees. The extraction itself is done by trafilatura."""
import logging
import re

from agent_steps.classroom.pages.charsets import characters

SHORT = 250              # characters: of a page with less trafilatura may miss a part
MOST_TITLE = 300         # characters of a title
# What trafilatura is given to read. It calls itself for each level, and its work grows with the square of the
# children of one element.
MOST_ELEMENTS, MOST_CHILDREN, DEEPEST = 30_000, 2_000, 200
BLOCKS = frozenset("address article aside blockquote body br caption dd details dialog div dl dt fieldset figcaption figure "
                   "footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tr ul".split())
NOT_OF_THE_PAGE = ("head", "nav", "aside", "footer", "button")
NOT_SHOWN = ("script", "style", "noscript", "template", "textarea", "select", "svg")
HIDDEN = "//body//*[@hidden or contains(translate(@style, ' ', ''), 'display:none')]"
# Control characters, soft hyphens and the like; also the marks that turn the direction of writing round, and the "tags"
# from U+E0000 on, in which a whole order can be written that no reader sees.
INVISIBLE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069"
                       "\ufeff\ufffe\uffff\U000e0000-\U000e007f]")
EARLY_ENDS = re.compile(r"</(?:body|html)\s*>", re.I)


def page_text(html: str | bytes, content_type: str = "text/html") -> tuple[str, str]:
    """Return the title and the readable text of a page.

    Each paragraph, list item and row of a table is a line, with single spaces: a sentence of the page stands in the text
    as a reader sees it. Menus and the like are left out, and what is hidden. text/plain has no title, and only what
    nobody sees is taken from it. The text is "" where the page has none; broken HTML is no error.
    """
    text = characters(html, content_type)
    if content_type.split(";")[0].strip().lower() == "text/plain":
        return "", INVISIBLE.sub("", text)
    tree = _tree(text)
    if tree is None:
        return "", ""
    _tidy(tree)
    title, text = _title(tree), _lines(_main_text(tree))
    return title, text if len(text) >= SHORT else _lines(_all_text(tree)) or text


# ---- the page as a tree ----

def _tree(text: str):
    """The elements of a page, None if there are none."""
    from lxml import etree
    from lxml.html import HTMLParser, document_fromstring

    text = EARLY_ENDS.sub("", INVISIBLE.sub("", text))   # libxml2 drops what follows them, and a browser does not
    # huge_tree lets libxml2 go down 2,048 elements; otherwise it drops what follows an old page's 256th open <font>
    parser = HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        return document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except (etree.LxmlError, ValueError, AssertionError):
        return None


def _title(tree) -> str:
    """The page's title in one line, or its first heading, or ""."""
    firsts = (next(tree.iter(name), None) for name in ("title", "h1"))
    found = (one_line("".join(element.itertext())) for element in firsts if element is not None)
    return next(filter(None, found), "")[:MOST_TITLE]


def one_line(text: str) -> str:
    """The text with single spaces and no line ends, and without characters that nobody sees."""
    return " ".join(INVISIBLE.sub("", text).split())


def _tidy(tree) -> None:
    """Empty what no reader sees, and make white space one space: a line end in the source is none on the page."""
    from lxml import etree

    for element in [*tree.iter(*NOT_SHOWN), *tree.xpath(HIDDEN)]:
        element.clear(keep_tail=True)
    inside = 0   # how many <pre>, where a line end is one
    for event, element in etree.iterwalk(tree, events=("start", "end")):
        if element.tag == "pre":
            inside += 1 if event == "start" else -1
        if event == "start" and element.text and not inside:
            element.text = _spaced(element.text)
        elif event == "end" and element.tail and not inside:
            element.tail = _spaced(element.tail)


def _spaced(text: str) -> str:
    return re.sub(r"\s+", " ", INVISIBLE.sub("", text))


# ---- the text of a tree ----

def _main_text(tree) -> str:
    """The text that trafilatura takes for the page's own; "" if it finds none, or if it would be busy for long."""
    from trafilatura import extract
    from trafilatura.settings import use_config

    if not _is_ordinary(tree):
        return ""
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    config = use_config()
    # for short texts trafilatura has another way, which breaks a line at each link and at each word in bold
    config.set("DEFAULT", "MIN_EXTRACTED_SIZE", "0")
    try:
        return extract(tree, include_comments=False, include_tables=True, include_links=False, config=config) or ""
    except Exception:   # whatever a strange page brings about in there: all of its text is better than none
        return ""


def _is_ordinary(tree) -> bool:
    """Whether trafilatura reads this page in seconds: on one made of thousands of links in a row it takes minutes."""
    from lxml import etree

    elements = depth = 0
    for event, element in etree.iterwalk(tree, events=("start", "end")):
        elements += event == "start"
        depth += 1 if event == "start" else -1
        if elements > MOST_ELEMENTS or depth > DEEPEST or event == "start" and len(element) > MOST_CHILDREN:
            return False
    return True


def _all_text(tree) -> str:
    """All text of a page but its menus and the like. Without recursion, so that no nesting is too deep."""
    from lxml import etree

    for element in tree.iter(*NOT_OF_THE_PAGE):
        element.clear(keep_tail=True)
    parts = []
    for event, element in etree.iterwalk(tree, events=("start", "end")):
        parts.append("\n" if element.tag in BLOCKS else " " if element.tag in ("td", "th") else "")
        parts.append((element.text if event == "start" else element.tail) or "")
    return "".join(parts)


def _lines(text: str) -> str:
    return "\n".join(filter(None, (one_line(line) for line in text.split("\n"))))
