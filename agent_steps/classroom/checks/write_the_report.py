"""The exercises of lesson 25."""
import re
import tempfile
from types import SimpleNamespace

from agent_steps.classroom.checks import NotYet, want
from agent_steps.providers import connect

NAMES = ["plan", "search", "read", "facts", "outline", "draft", "review", "finish"]


def exercise_1(counting_agent, phases):
    """counting_agent(model, folder): an agent with the tool count_words, which its phase "draft" may use. phases: PHASES."""
    before = list(phases)
    with tempfile.TemporaryDirectory() as folder:
        agent = counting_agent(connect("practice"), folder)
    want(agent is not None and agent is not ..., "counting_agent gave back nothing. Return a ResearchAgent.")
    want(hasattr(agent, "phases") and hasattr(agent, "tools"), f"counting_agent gave back {agent!r}. Return a ResearchAgent.")
    want(list(phases) == before, "PHASES has changed, and with it every other agent. Make a list of your own.")
    _count_with(_one_tool(agent.tools))
    named = {each.name: list(each.tools) for each in agent.phases}
    want([*named] == [each.name for each in before], f"The phases of your agent are {', '.join(named)}. They should be those of PHASES, in their order.")
    want("count_words" in named["draft"], 'The agent has the tool, but the phase draft may not use it: its tools are names, as in ("count_words",).')
    others = [name for name, tools in named.items() if "count_words" in tools and name != "draft"]
    want(not others, f"The phase {''.join(others[:1])} may use it as well. Only draft should.")


def _one_tool(tools):
    """The tool count_words among those of an agent."""
    want(tools, "Your agent has no more tools than before. Hand the tool over: ResearchAgent(..., tools=[...]).")
    plain = [each for each in tools if not hasattr(each, "name")]
    want(not plain, "What you handed over is no tool. Put @tool before the function.")
    names = [each.name for each in tools]
    want("count_words" in names, f"Your agent has the tool {names[0]}. It should be called count_words.")
    return tools[names.index("count_words")]


def _count_with(tool):
    for text, right in [("The moon raises the tides.", 5), ("two\nlines", 2), ("a  b", 2), ("", 0)]:
        try:
            came = tool(text=text)
        except TypeError as error:
            raise NotYet(f"count_words(text={text!r}) raised TypeError: {error}. It takes a text.") from None
        numbers = re.findall(r"\d+", str(came))
        want(numbers == [str(right)], f"For the text {text!r} count_words returned {came!r}. It has {right} words.")


def exercise_2(with_two_pages):
    """with_two_pages(phases): the phases with one more behind "draft", which looks at the pages that each section cites."""
    phases = [SimpleNamespace(name=name, tools=(), prompt=None, checkpoint=None) for name in NAMES]
    given = list(phases)
    came = with_two_pages(given)
    want(came is not None and came is not ..., "with_two_pages gave back nothing. Return a list of phases.")
    came = list(came)
    want(given == phases, "The list that your function was given has changed. Make another one.")
    more = [each for each in came if each not in phases]
    want(len(more) == 1 and len(came) == len(phases) + 1, f"The table has {len(came)} rows. It should have {len(phases) + 1}: those that were there, and one more.")
    want(hasattr(more[0], "take"), f"The new row is {more[0]!r}. It should be a Phase.")
    want(came.index(more[0]) == NAMES.index("draft") + 1, "The new row does not stand right behind draft.")
    want(more[0].name not in NAMES, f"The new phase is called {more[0].name}, as another one. What is finished is known by its name.")
    want(more[0].prompt is None and more[0].checkpoint is None, "The new phase should ask nobody: no prompt, no checkpoint.")
    _look_at_drafts(more[0].take)


def _look_at_drafts(take):
    moon = "## The moon\n\nIt pulls [1]. So does the sun [3]."
    for draft, right, why in [
        (moon, "ok", "Facts 1 and 3 are of two pages."),
        (f"{moon}\n\n## Tables\n\nThey are printed [2][4].", "ok", "Each section cites facts of two pages."),
        ("## The moon\n\nIt pulls [1], every day [2].", "failed", "Facts 1 and 2 are of one page."),
        (f"{moon}\n\n## Tables\n\nThey are printed [3]. Twice [4].", "failed", "In the second section both facts are of one page."),
        (f"## Tables\n\nThey are printed [3].\n\n{moon}", "failed", "The first section cites one fact."),
        (f"{moon}\n\n## Tables\n\nNobody knows.", "failed", "The second section cites nothing."),
    ]:
        came = take(SimpleNamespace(state=_state(draft)), None)
        want(came is not None, f"For this draft it ended with None. {why} {draft!r}")
        want(came == right, f"For this draft it ended as {came}, not {right}. {why} {draft!r}")


QUOTES = [
    ("page-1.html", "In 1683 John Flamsteed published a tide table for London Bridge."),
    ("page-1.html", "William Thomson, later Lord Kelvin, had a machine built in Glasgow."),
    ("page-2.html", "Spring tides come at new moon and at full moon."),
    ("page-2.html", "The Bay of Fundy lies between New Brunswick and Nova Scotia."),
]


def _state(draft=""):
    """As much of a state as the exercises need: four facts from two pages."""
    pages = [{"url": url, "title": url, "content": " ".join(quote for page, quote in QUOTES if page == url)} for url in ("page-1.html", "page-2.html")]
    facts = [{"fact": quote, "source_url": url, "quote": quote} for url, quote in QUOTES]
    return SimpleNamespace(report_draft=draft, extracted_facts=facts, fetched_pages=pages, feedback_history=[], phase=SimpleNamespace(value="writing"))


def exercise_3(stricter):
    """stricter(sentence, state): what is wrong with a sentence, names that its words do not hold included; or None."""
    for sentence, is_wrong, why in [
        ("In 1683 John Flamsteed published a tide table [1].", False, "Both names stand in the words of fact 1."),
        ("In 1683 Isaac Newton published a tide table [1].", True, "The words of fact 1 hold no Newton."),
        ("Later Lord Kelvin had a machine built [2].", False, "Later is the first word, and no name. Lord and Kelvin stand there."),
        ("Machines were built in Glasgow [2].", False, "Machines is the first word: its capital makes no name of it."),
        ("A machine was built in Paris [2].", True, "The words of fact 2 hold no Paris."),
        ("It was John Flamsteed and later William Thomson [1][2].", False, "One name is in fact 1, the other in fact 2. Look at all that is cited."),
        ("It was William Thomson [1].", True, "Thomson is in fact 2, and the sentence cites fact 1."),
        ("The tides are high in Nova Scotia, and in New Brunswick [4].", False, "A comma behind a name is no part of it."),
        ("It lies in Canada, by Nova Scotia [4].", True, "The words of fact 4 hold no Canada. A comma behind it changes nothing."),
        ("Most experts agree with Flamsteed [9].", True, "There is no fact 9: citation_problem finds that."),
        ("In 1783 John Flamsteed published a tide table [1].", True, "The words say 1683: citation_problem finds that."),
        ("Isaac Newton was born in England.", False, "It cites nothing, so there is nothing to compare it with."),
    ]:
        came = stricter(sentence, _state())
        want(came is None or isinstance(came, str) and came.strip(), f"For {sentence!r} it gave back {came!r}. Return a text that says what is wrong, or None.")
        want(came is None or is_wrong, f"For {sentence!r} it found a problem: {came}. {why}")
        want(came is not None or not is_wrong, f"For {sentence!r} it found nothing. {why}")
