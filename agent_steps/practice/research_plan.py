"""What the practice model does for a research agent: a plan, facts, an outline, a draft, changes to it, and summaries.

It composes nothing of its own: a fact is a sentence of a page, a section is made of facts. What is asked for, it reads from the
first paragraph of the task, in any words that name it.
"""
import json
import math
import re
from typing import NamedTuple

from agent_steps.practice.orders import is_warned, obey, order_in, remark
from agent_steps.practice.replies import call, line, stopped
from agent_steps.practice.request import Reply
from agent_steps.practice.situation import Situation, lines, mentions

PAGE = re.compile(r'<page url="([^"]*)"[^>]*>\n(.*?)\n</page>', re.S)
FACT = re.compile(r'^\[(\d+)\] (.*) \("(.*)", (\S+)\)$', re.M)
HEADING = re.compile(r"^## (.*?) ?((?:\[\d+\])*)$", re.M)
REMINDER = re.compile(r"\b(?:your reply|again|once more|write less|do not hold|JSON)\b", re.I)
LISTED = re.compile(r"^- (.+)$", re.M)
ALONE = re.compile(r"(?!(?:It|They|This|These|He|She|But|And)\b)(?!.*\b(?:such|same|this)\b)[A-Z].{40,230}\.")   # a sentence that needs no other
MOST_FACTS, A_QUESTION, A_PAGE = 15, 4, 2   # facts in all, for one question, and of one page for one question


class Sentence(NamedTuple):
    """A sentence of a page, with the page's address."""

    text: str
    url: str


def research(situation: Situation) -> Reply | None:
    """The reply to a task of a research agent; None if this is none. After a reminder the task is the one before."""
    earlier = reversed(situation.earlier) if REMINDER.search(situation.task) else []
    for task in [situation.task, *earlier]:
        beginning = re.split(r"\n\s*\n", task.strip())[0]
        for name, wanted in lines()["research"]["tasks"].items():
            if all(mentions(beginning, group) for group in wanted):
                return TASKS[name](situation, task)
    return None


def plan(situation: Situation, task: str) -> Reply:
    """Questions and queries: those of a subject that it knows, or some that fit any."""
    topic = _named(task, "Topic")
    known = next((each for each in lines()["research"]["subject"] if mentions(topic, each["about"])), None)
    texts = known or lines()["research"]["any_subject"]
    subject = _subject(topic)
    return Reply(json.dumps({name: [text.replace("{subject}", subject) for text in texts[name]]
                             for name in ("research_questions", "search_queries")}, ensure_ascii=False, indent=2))


def facts(situation: Situation, task: str) -> Reply:
    """For each question the sentences of the pages that fit it best, copied; and pages that give orders, where it was warned."""
    pages = PAGE.findall(task)
    sentences = [each for url, text in pages for each in _sentences(url, text)]
    chosen = []
    for question in LISTED.findall(task.partition("<page ")[0]):
        chosen += _in_order(_best([each for each in sentences if each not in chosen], _sought(question))[:A_QUESTION], sentences)
    found = [{"fact": each.text, "source_url": each.url, "quote": each.text} for each in chosen[:MOST_FACTS]]
    ordering = [url for url, text in pages if order_in(text)] if is_warned(situation.system) else []
    orders = [line("page_gives_orders", url=url) for url in ordering]
    return Reply(json.dumps({"facts": found, "orders": orders}, ensure_ascii=False, indent=2))


def outline(situation: Situation, task: str) -> Reply:
    """A section for each question, with the facts that fit it best."""
    questions, known = LISTED.findall(task.partition("\nFacts:")[0]) or ["Findings"], _facts(task)
    placed = {question: [] for question in questions}
    for number, (text, _, _) in known.items():
        placed[max(questions, key=lambda question: len(_sought(question) & words_in(text)))].append(number)
    sections = [{"heading": question, "facts": numbers} for question, numbers in placed.items() if numbers]
    return Reply(json.dumps({"sections": sections}, ensure_ascii=False, indent=2))


def draft(situation: Situation, task: str) -> Reply:
    """The facts of each section as sentences, each with its number."""
    return Reply(_written(_outline(task), _facts(task)))


def change(situation: Situation, task: str) -> Reply:
    """The draft again: with less of it, without what the person names, or with a fact more that it looks up."""
    action, wish = _named(task, "Action"), _named(task, "The person says")
    sections, known = _drafted(task) or _outline(task), _facts(task)
    if action == "shorten":
        sections = [(heading, numbers[:(len(numbers) + 1) // 2]) for heading, numbers in sections]
    elif action == "revise":
        sections = [(heading, [number for number in numbers if not words_in(wish) & words_in(known[number][0])])
                    for heading, numbers in sections]
    elif action == "expand":
        return _expand(situation, wish, sections, known)
    return Reply(_written(sections, known))


def _expand(situation: Situation, wish: str, sections: list, known: dict) -> Reply:
    """Search, read the first page, add a sentence of it as a fact, and write the draft with it."""
    if not {"web_search", "fetch_webpage", "add_fact"} <= situation.tools.keys() or stopped(situation):
        return Reply(_written(sections, known))
    searched, read, added = (situation.last(name) for name in ("web_search", "fetch_webpage", "add_fact"))
    if searched is None:
        return call(situation, line("search_more"), "web_search", query=wish)
    urls = [] if searched.failed else [each["url"] for each in json.loads(searched.result)["results"]]
    if read is None and urls:
        return call(situation, line("read_more", url=urls[0]), "fetch_webpage", url=urls[0])
    if read and not read.failed and added is None:
        if order := obey(situation, read, urls[0]):
            return order
        taken = {text for text, _, _ in known.values()}
        best = [each for each in _best(_sentences(urls[0], read.result), words_in(wish)) if each.text not in taken]
        if best:
            return call(situation, line("add_more"), "add_fact", fact=best[0].text, source_url=best[0].url, quote=best[0].text)
    number = re.search(r"\[(\d+)\]", added.result) if added and not added.failed else None
    if number:
        known[int(number[1])] = (added.call.arguments["fact"], "", "")
        _fitting(sections, added.call.arguments["fact"])[1].append(int(number[1]))
    return Reply(_written(sections, known))


def _fitting(sections: list, fact: str) -> tuple:
    """The section that a fact fits best."""
    return max(sections, key=lambda section: len(_sought(section[0]) & words_in(fact)))


def summary(situation: Situation, task: str) -> Reply:
    """The first sentence of the first section of the draft, and of the last two, where the answer stands."""
    sections = task.partition("<draft>")[2].partition("</draft>")[0].split("## ")[1:]
    firsts = [re.match(r"[^\n]*\n+(.*?\[\d+\](?:\[\d+\])*\.)", section, re.S) for section in sections[:1] + sections[1:][-2:]]
    return Reply(" ".join(" ".join(found[1].split()) for found in firsts if found) or line("nothing_to_sum_up"))


def conversation(situation: Situation, task: str) -> Reply:
    """The first sentence of each message of the person, and of each result."""
    told = task.partition("<conversation>")[2].partition("</conversation>")[0]
    found = re.findall(r"^(user|result): (.+?)(?:(?<=[.!?])\s|$)", told, re.M)
    said = {"user": "The person said", "result": "A tool returned"}
    return Reply(" ".join(f"{said[who]}: {text.rstrip('.')}." for who, text in found) or line("nothing_to_sum_up"))


def look_at(situation: Situation, task: str) -> Reply | None:
    """Read a page that the task names, and say what it begins with. What it does about an order in it: see ``orders``."""
    named = re.search(r"\S+\.html?\b|https?://\S+", task)
    if not named or "fetch_webpage" not in situation.tools:
        return None
    read = situation.last("fetch_webpage")
    if read is None:
        return call(situation, line("read", path=named[0]), "fetch_webpage", url=named[0])
    last = situation.steps[-1]
    if last is read and (order := obey(situation, read, named[0])):
        return order
    if read.failed:
        return Reply(line("failed", error=read.result))
    first = next(iter(_sentences(named[0], read.result)), None)
    seen_through = last is read and order_in(read.result) and is_warned(situation.system)
    about_order = line("page_gives_orders", url=named[0]) + " " if seen_through else remark(situation, read, named[0])
    return Reply(f"{about_order}{first.text if first else line('nothing_to_sum_up')}")


TASKS = {"plan": plan, "facts": facts, "outline": outline, "change": change, "summary": summary, "draft": draft,
         "conversation": conversation, "page": look_at}


def words_in(text: str) -> set[str]:
    """The words of a text that say something, without their endings."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    return {re.sub(r"(?:ies|y)$", "i", re.sub(r"(?:ing|ed|s|es)$", "", word)) for word in words
            if len(word) > 2 and word not in lines()["research"]["small_words"]}


def _named(task: str, name: str) -> str:
    """What stands behind a name at the beginning of a line."""
    found = re.search(rf"^{name}: (.*)$", task, re.M)
    return found[1].strip() if found else ""


def _subject(topic: str) -> str:
    """A topic without the words that make it a question."""
    return re.sub(r"^(?:how|what|why|when|where|who)\s+(?:do|does|did|is|are|was|were|can)\s+", "", topic.rstrip("?. "), flags=re.I) or "it"


def _sentences(url: str, text: str) -> list[Sentence]:
    """The sentences of a page that can stand alone, without those that hold an order."""
    order = order_in(text)
    found = re.split(r"(?<=[.?!])\s+|\n+", text.partition(order)[0] if order else text)
    return [Sentence(each, url) for each in found if ALONE.fullmatch(each)]


def _sought(question: str) -> set[str]:
    """The words that a sentence for this question would hold: its own, and those that lines.toml has for it."""
    for subject in lines()["research"]["subject"]:
        for known, words in zip(subject["research_questions"], subject["looks_for"], strict=True):
            if known.rstrip("?") == question.rstrip("?"):
                return words_in(" ".join(words))
    return words_in(question)


def _best(sentences: list[Sentence], wanted: set[str]) -> list[Sentence]:
    """Those that hold words that are wanted, best first: a rare word counts more. No more than A_PAGE of one page."""
    holds = {each: words_in(each.text) & wanted for each in sentences}
    weight = {word: math.log(1 + len(sentences) / (1 + sum(word in words for words in holds.values()))) for word in wanted}
    ranked = sorted((each for each in sentences if holds[each]), key=lambda each: -math.fsum(weight[word] for word in sorted(holds[each])))
    return [each for place, each in enumerate(ranked) if sum(one.url == each.url for one in ranked[:place]) < A_PAGE]


def _in_order(chosen: list[Sentence], sentences: list[Sentence]) -> list[Sentence]:
    """Sentences by their years, if each has one; else page by page, in the order in which they stand there."""
    years = [re.search(r"\b1[0-9]{3}\b|\b20[0-9]{2}\b", each.text) for each in chosen]
    if all(years):
        return [each for _, each in sorted(zip([year[0] for year in years], chosen, strict=True))]
    pages = [each.url for each in chosen]
    return sorted(chosen, key=lambda each: (pages.index(each.url), sentences.index(each)))


def _facts(task: str) -> dict[int, tuple[str, str, str]]:
    """The facts of a prompt by their numbers: text, words, address."""
    return {int(number): (text, quote, url) for number, text, quote, url in FACT.findall(task)}


def _outline(task: str) -> list[tuple[str, list[int]]]:
    """The headings of a prompt, each with the numbers of its facts."""
    told = task.partition("\nOutline:\n")[2].partition("\nFacts:")[0]
    return [(heading, [int(number) for number in re.findall(r"\d+", numbers)]) for heading, numbers in HEADING.findall(told)]


def _drafted(task: str) -> list[tuple[str, list[int]]]:
    """The headings of the draft in a prompt, each with the numbers that are cited under it. Earlier changes are in it."""
    told = task.partition("<draft>\n")[2].partition("\n</draft>")[0]
    parts = [section.partition("\n") for section in re.split(r"^## ", told, flags=re.M)[1:]]
    return [(heading, [int(number) for number in re.findall(r"\[(\d+)\]", text)]) for heading, _, text in parts]


def _written(sections: list[tuple[str, list[int]]], known: dict) -> str:
    """A draft: each section's heading, and its facts as one paragraph."""
    parts = []
    for heading, numbers in sections:
        sentences = [f"{known[number][0].rstrip('.')} [{number}]." for number in numbers if number in known]
        if sentences:
            parts.append(f"## {heading}\n\n{' '.join(sentences)}")
    return "\n\n".join(parts) or line("nothing_to_sum_up")
