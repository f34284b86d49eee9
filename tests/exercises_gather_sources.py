"""Answers to the exercises of lesson 24."""
import re
from collections import Counter, defaultdict

from agent_steps.classroom.pages.addresses import plain_address
from agent_steps.gather_sources import ReplyError


def with_a_loop(row):
    in_quote = re.findall(r"\w+", row["quote"])
    for word in re.findall(r"\w+", row["fact"])[1:]:
        if word[0].isupper() and word not in in_quote:
            return f"its words do not hold the name {word}"


def with_next(row):
    known = set(re.split(r"\W+", row["quote"]))
    words = [word for word in re.split(r"\W+", row["fact"]) if word]
    missing = next((word for word in words[1:] if word[:1] != word[:1].lower() and word not in known), None)
    return missing and f"its words do not hold the name {missing}"


def first_word_too(row):
    for word in re.findall(r"\w+", row["fact"]):
        if word[0].isupper() and word not in re.findall(r"\w+", row["quote"]):
            return f"its words do not hold the name {word}"


def parts_of_words(row):
    for word in re.findall(r"\w+", row["fact"])[1:]:
        if word[0].isupper() and word not in row["quote"]:
            return f"its words do not hold the name {word}"


def with_commas(row):
    for word in row["fact"].split()[1:]:
        if word[0].isupper() and word not in row["quote"].split():
            return f"its words do not hold the name {word}"


def plain_letters_only(row):
    for word in re.findall(r"\b[A-Z][a-z]+", row["fact"])[1:] if row["fact"].startswith("The") else re.findall(r"\b[A-Z][a-z]+", row["fact"][2:]):
        if word not in re.findall(r"\w+", row["quote"]):
            return f"its words do not hold the name {word}"


def the_last(row):
    names = [word for word in re.findall(r"\w+", row["fact"])[1:] if word[0].isupper() and word not in re.findall(r"\w+", row["quote"])]
    return f"its words do not hold the name {names[-1]}" if names else None


def the_name_alone(row):
    problem = with_a_loop(row)
    return problem and problem.split()[-1]


def by_pattern(text):
    items = re.findall(r"^\s*\d+[.)]\s*(\S.*?)\s*$", text, re.M)
    if not 3 <= len(items) <= 5:
        raise ReplyError(f"There are {len(items)} lines with a number. Write 3 to 5.")
    return items


def line_by_line(text):
    items = []
    for line in text.splitlines():
        number, mark, item = line.strip().partition(".") if "." in line[:5] else line.strip().partition(")")
        if mark and number.isdigit():
            items.append(item.strip())
    if len(items) < 3 or len(items) > 5:
        raise ReplyError(f"I found {len(items)} lines with a number, and need 3 to 5.")
    return items


def all_lines(text):
    return [line.lstrip("0123456789.) ") for line in text.splitlines()]


def dots_only(text):
    return by_pattern(text) if ")" not in text else [line for line in text.splitlines() if re.match(r"\d+\.", line)]


def without_limits(text):
    return re.findall(r"^\s*\d+[.)]\s*(\S.*?)\s*$", text, re.M)


def value_error(text):
    try:
        return by_pattern(text)
    except ReplyError as error:
        raise ValueError(str(error)) from None


def says_nothing(text):
    try:
        return by_pattern(text)
    except ReplyError:
        raise ReplyError("Write the list again.") from None


def with_its_spaces(text):
    items = re.findall(r"^\s*\d+[.)](.*)$", text, re.M)
    return by_pattern(text) and items


def greedy(text):
    items = re.findall(r"\d+[.)]\s*(\S.*?)\s*$", text, re.M)
    items = [re.sub(r".*\d+[.)] ?", "", item) for item in items]
    return by_pattern(text) and items


def with_a_counter(facts, most=3):
    seen, kept = Counter(), []
    for fact in facts:
        page = plain_address(fact["source_url"])
        seen[page] += 1
        if seen[page] <= most:
            kept.append(fact)
    return kept


def by_place(facts, most=3):
    places = defaultdict(list)
    for place, fact in enumerate(facts):
        places[plain_address(fact["source_url"])].append(place)
    chosen = {place for each in places.values() for place in each[:most]}
    return [fact for place, fact in enumerate(facts) if place in chosen]


def as_written(facts, most=3):
    seen = Counter()
    kept = []
    for fact in facts:
        seen[fact["source_url"]] += 1
        if seen[fact["source_url"]] <= most:
            kept.append(fact)
    return kept


def sorted_by_page(facts, most=3):
    pages = defaultdict(list)
    for fact in facts:
        pages[plain_address(fact["source_url"])].append(fact)
    return [fact for page in pages.values() for fact in page[:most]]


def the_last_ones(facts, most=3):
    return with_a_counter(facts[::-1], most)[::-1]


def always_three(facts, most=3):
    return with_a_counter(facts)


def in_place(facts, most=3):
    facts[:] = with_a_counter(facts, most)
    return facts


def one_too_few(facts, most=3):
    return with_a_counter(facts, most - 1)


RIGHT = [
    (1, with_a_loop), (1, with_next), (2, by_pattern), (2, line_by_line), (3, with_a_counter), (3, by_place),
]
WRONG = [
    (1, first_word_too, "The first word of a fact"), (1, parts_of_words, "compare whole words"), (1, with_commas, "no part of a name"),
    (1, plain_letters_only, "a capital letter, too"), (1, the_last, "the first"), (1, the_name_alone, "The quote names Newton"),
    (1, lambda row: None, "The quote names Newton"), (1, lambda row: ..., "gave back nothing"),
    (2, all_lines, "Lines without a number are talk"), (2, dots_only, "may have a bracket"), (2, without_limits, "Two are too few"),
    (2, value_error, "knows what to do with a ReplyError"), (2, says_nothing, "how many lines"), (2, with_its_spaces, "it gave back [' Who?'"),
    (2, greedy, "part of it"), (2, lambda text: None, "gave back nothing"), (2, lambda text: text, "Return a list of texts"),
    (3, as_written, "four addresses of one page"), (3, sorted_by_page, "The fifth is the fourth"), (3, the_last_ones, "The fifth is the fourth"),
    (3, always_three, "With most=1"), (3, in_place, "has changed the facts"), (3, one_too_few, "The fifth is the fourth"), (3, lambda facts, most=3: None, "Return a list of facts"),
]

# what the exercises' cells use of the lesson
PREPARE = """
import re

from agent_steps.classroom.pages.addresses import plain_address
from agent_steps.gather_sources import ReplyError
"""
