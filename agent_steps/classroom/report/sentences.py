"""The sentences of a draft in Markdown, and their citations, whatever a model made of either."""
import re

CITATION = re.compile(r"\[(\d+)\]")
# what models write for it, too: [3, 5], [3-5], [ 3 ], [^3], \[3\], and brackets of other keyboards
CITED = re.compile(r"\\?[\[［【]\s*\^?(\d[\d\s,;^–-]*)\\?[\]］】]")
HEADING = r"^ {0,3}#{1,6}\s.*"
MARK = r"^[ \t]*(?:[-*+>|]|\d{1,2}[.)])(?=\s)"   # of an item of a list, a quotation, a row of a table
# after these a full stop ends no sentence
SHORT = ["[A-Z]", "Dr", "Mr", "Mrs", "Prof", "St", "No", "Fig", "ca", "cf", "vs", "approx", r"e\.g", r"i\.e"]
SENTENCE_END = re.compile(
    r"(?<=[.!?])" + "".join(rf"(?<!\b{word}\.)" for word in SHORT) + r"\s+(?=[^a-z\s])")


def one_by_one(found: re.Match) -> str:
    """Write what stands in brackets, a match of CITED, as citations: "[3-5]" as "[3][4][5]"."""
    numbers = re.sub(r"\b(\d\d?)\s*[–-]\s*(\d\d?)\b", lambda ends: " ".join(
        map(str, range(int(ends[1]), int(ends[2]) + 1) or ends.groups())), found[1])
    return "".join(f"[{number}]" for number in re.findall(r"\d+", numbers))


def tidy(draft: str) -> str:
    """Return a draft from its first heading on, with citations as in [3], within sentences, none in headings."""
    draft = CITED.sub(one_by_one, draft[max(0, draft.find("## ")):]).strip().removesuffix("```").rstrip()
    draft = re.sub(HEADING, lambda line: CITATION.sub("", line[0]).rstrip(), draft, flags=re.M)
    return re.sub(r"([.!?])((?:[ \t]*\[\d+\])+)\.?", r"\2\1", draft)


def sentences_of(draft: str) -> list[str]:
    """Return the sentences of a draft as they stand in it, without its headings."""
    parts = re.split(rf"\n\s*\n|{MARK}|{HEADING}", draft, flags=re.M)
    found = [each.strip() for part in parts for each in SENTENCE_END.split(part)]
    return [each for each in found if re.search(r"\w", each)]


def without(draft: str, sentences: list[str]) -> str:
    """Return a draft without some of its sentences, and without items, rows and sections that are empty then."""
    for sentence in sorted(sentences, key=len, reverse=True):   # one may be the end of another
        draft = re.sub(rf"{re.escape(sentence)}[ \t]*", "", draft)
    draft = re.sub(rf"{MARK}[ \t|]*$\n?", "", draft, flags=re.M)
    draft = re.sub(r"\n\s*\n", "\n\n", draft)
    return re.sub(r"^(#+) .*\n*(?=\1 |\Z)", "", draft, flags=re.M).strip()
