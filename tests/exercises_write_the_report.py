"""Right and wrong answers to the exercises of lesson 25: (exercise, arguments of the check) and, if wrong, words of the reason."""
import re
from dataclasses import replace
from types import SimpleNamespace

from agent_steps.gather_sources import Outcome
from agent_steps.native_tools import tool
from agent_steps.research_state import AgentPhase, record
from agent_steps.write_the_report import CITATION, PHASES, Phase, ResearchAgent, citation_problem


@tool
def count_words(text: str) -> int:
    """Count the words of a text."""
    return len(text.split())


def allowed_in(*names):
    return [replace(each, tools=(*each.tools, "count_words")) if each.name in names else each for each in PHASES]


def counting_agent(model, folder):
    return ResearchAgent(model, folder=folder, phases=allowed_in("draft"), tools=[count_words])


class CountingAgent(ResearchAgent):
    """A kind of agent that always has the tool."""

    def __init__(self, model, folder):
        @tool(name="count_words")
        def count(text: str) -> str:
            """Count words."""
            return f"{len(re.findall('[^ ]+', text.replace(chr(10), ' ')))} words"

        super().__init__(model, folder=folder, tools=[count])
        place = [each.name for each in self.phases].index("draft")
        self.phases[place] = replace(self.phases[place], tools=("count_words",))


def not_allowed(model, folder):
    return ResearchAgent(model, folder=folder, tools=[count_words])


def not_handed_over(model, folder):
    return ResearchAgent(model, folder=folder, phases=allowed_in("draft"))


def allowed_everywhere(model, folder):
    return ResearchAgent(model, folder=folder, phases=allowed_in("draft", "finish"), tools=[count_words])


def one_phase(model, folder):
    return ResearchAgent(model, folder=folder, phases=[each for each in allowed_in("draft") if each.name == "draft"], tools=[count_words])


def plain_function(model, folder):
    return ResearchAgent(model, folder=folder, phases=allowed_in("draft"), tools=[lambda text: len(text.split())])


def with_tool(function, name="count_words"):
    return lambda model, folder: ResearchAgent(model, folder=folder, phases=allowed_in("draft"), tools=[tool(function, name=name)])


def characters(text: str) -> int:
    """Count."""
    return len(text)


def spaces(text: str) -> int:
    """Count."""
    return text.count(" ") + 1


def no_text() -> int:
    """Count."""
    return 5


def changes_the_table(table):
    def counting_agent(model, folder):
        place = [each.name for each in table].index("draft")
        table[place] = replace(table[place], tools=("count_words",))
        return ResearchAgent(model, folder=folder, phases=table, tools=[count_words])
    return counting_agent


def phase(take, name="two pages", **more):
    return Phase(name, AgentPhase.WRITING, take, **more)


def two_pages(agent, _):
    facts = agent.state.extracted_facts
    for section in agent.state.report_draft.split("## ")[1:]:
        if len({facts[int(number) - 1]["source_url"] for number in CITATION.findall(section)}) < 2:
            return Outcome.FAILED
    return Outcome.OK


def noted(agent, _):
    state, pages = agent.state, {}
    for line in state.report_draft.splitlines():
        if line.startswith("## "):
            cited = pages[line[3:]] = set()
        else:
            cited |= {state.extracted_facts[int(number) - 1]["source_url"] for number in re.findall(r"\[(\d+)\]", line)}
    few = [heading for heading, urls in pages.items() if len(urls) < 2]
    record(state, "counted", problems=few)
    return Outcome.FAILED if few else Outcome.OK


def behind_draft(take, name="two pages", **more):
    def with_two_pages(phases):
        place = [each.name for each in phases].index("draft") + 1
        return [*phases[:place], phase(take, name, **more), *phases[place:]]
    return with_two_pages


def in_a_loop(phases):
    table = []
    for each in phases:
        table.append(each)
        if each.name == "draft":
            table.append(phase(noted, "sources"))
    return table


def at_the_end(phases):
    return [*phases, phase(two_pages)]


def changes_what_it_gets(phases):
    phases.insert(6, phase(two_pages))
    return phases


def in_place_of_draft(phases):
    return [phase(two_pages) if each.name == "draft" else each for each in phases]


def no_phase(phases):
    return [*phases[:6], two_pages, *phases[6:]]


def the_whole_draft(agent, _):
    urls = {agent.state.extracted_facts[int(number) - 1]["source_url"] for number in CITATION.findall(agent.state.report_draft)}
    return Outcome.OK if len(urls) > 1 else Outcome.FAILED


def two_facts(agent, _):
    return Outcome.OK if all(len(CITATION.findall(each)) > 1 for each in agent.state.report_draft.split("## ")[1:]) else Outcome.FAILED


def from_zero(agent, _):
    facts = [{"source_url": ""}, *agent.state.extracted_facts]
    first = agent.state.report_draft.split("## ")[1]
    return Outcome.OK if len({facts[int(number) - 1]["source_url"] for number in CITATION.findall(first)}) > 1 else Outcome.FAILED


def a_bool(agent, _):
    return two_pages(agent, _) is Outcome.OK


def names_of(sentence):
    return re.findall(r"(?<=\s)[A-Z]\w*", sentence)


def held_by(sentence, state):
    return " ".join(state.extracted_facts[int(number) - 1]["quote"] for number in CITATION.findall(sentence))


def stricter(sentence, state):
    problem = citation_problem(sentence, state)
    if problem or not CITATION.search(sentence):
        return problem
    held = re.findall(r"\w+", held_by(sentence, state))
    missing = [name for name in names_of(sentence) if name not in held]
    return f"no {missing[0]}" if missing else None


def word_by_word(sentence, state):
    if (problem := citation_problem(sentence, state)) is not None:
        return problem
    numbers = [int(number) for number in CITATION.findall(sentence)]
    for word in CITATION.sub("", sentence).split()[1:]:
        word = word.strip(".,;:!?()")
        if numbers and word[:1].isupper() and not any(word in state.extracted_facts[number - 1]["quote"] for number in numbers):
            return f"The name {word} is invented."
    return None


def names_only(sentence, state):
    held = held_by(sentence, SimpleNamespace(extracted_facts=[*state.extracted_facts, *[{"quote": "Flamsteed"}] * 9]))
    missing = [name for name in names_of(sentence) if name not in held] if CITATION.search(sentence) else []
    return f"no {missing[0]}" if missing else None


def first_words_too(sentence, state):
    missing = [name for name in re.findall(r"[A-Z]\w*", sentence) if name not in held_by(sentence, state)]
    return citation_problem(sentence, state) or (f"no {missing[0]}" if missing else None)


def first_citation_only(sentence, state):
    first = CITATION.search(sentence)
    return stricter(CITATION.sub("", sentence) + first[0], state) if first else None


def any_fact(sentence, state):
    held = " ".join(each["quote"] for each in state.extracted_facts)
    missing = [name for name in names_of(sentence) if name not in held]
    return citation_problem(sentence, state) or (f"no {missing[0]}" if missing and CITATION.search(sentence) else None)


def with_commas(sentence, state):
    problem = citation_problem(sentence, state)
    held = held_by(sentence, state) if problem is None else ""
    return problem or next((word for word in sentence.split()[1:] if CITATION.search(sentence) and word[0].isupper() and word not in held), None)


def also_without_citation(sentence, state):
    problem = citation_problem(sentence, state)
    return problem or next((name for name in names_of(sentence) if name not in held_by(sentence, state)), None)


RIGHT = [
    (1, counting_agent, PHASES), (1, CountingAgent, PHASES), (1, with_tool(count_words.handler), PHASES),
    (2, behind_draft(two_pages)), (2, behind_draft(noted)), (2, in_a_loop), (3, stricter), (3, word_by_word),
]
OWN = list(PHASES)
WRONG = [
    (1, not_allowed, PHASES, "may not use it"), (1, not_handed_over, PHASES, "no more tools"), (1, allowed_everywhere, PHASES, "finish may use it"),
    (1, one_phase, PHASES, "They should be those of PHASES"), (1, plain_function, PHASES, "Put @tool"), (1, with_tool(characters), PHASES, "It has 5 words"),
    (1, with_tool(spaces), PHASES, "It has 2 words"), (1, with_tool(no_text), PHASES, "It takes a text"), (1, with_tool(count_words.handler, "count"), PHASES, "called count_words"),
    (1, changes_the_table(OWN), OWN, "PHASES has changed"), (1, lambda model, folder: None, PHASES, "gave back nothing"),
    (2, list, "The table has 8 rows"), (2, at_the_end, "right behind draft"), (2, changes_what_it_gets, "has changed"), (2, in_place_of_draft, "The table has 8 rows"),
    (2, no_phase, "should be a Phase"), (2, behind_draft(two_pages, "draft"), "as another one"), (2, behind_draft(two_pages, prompt=str), "ask nobody"),
    (2, behind_draft(the_whole_draft), "In the second section"), (2, behind_draft(two_facts), "of one page"), (2, behind_draft(from_zero), "of one page"),
    (2, behind_draft(a_bool), "not ok"), (2, behind_draft(lambda agent, _: None), "ended with None"), (2, lambda phases: None, "gave back nothing"),
    (3, citation_problem, "hold no Newton"), (3, names_only, "There is no fact 9"), (3, first_words_too, "is the first word"), (3, first_citation_only, "Look at all"),
    (3, any_fact, "cites fact 1"), (3, with_commas, "A comma behind"), (3, also_without_citation, "It cites nothing"),
    (3, lambda sentence, state: not citation_problem(sentence, state), "Return a text"),
]

# what the exercises' cells use of the lesson
PREPARE = """
from agent_steps.classroom import check
from agent_steps.research_state import AgentPhase

WRITING = AgentPhase.WRITING
"""
