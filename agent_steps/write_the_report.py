"""Lesson 25: a research agent: phases as data, one loop that runs them, citations that lead to words."""
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, Field

from agent_steps.classroom.asking import ask_approval
from agent_steps.classroom.pages.library import Library
from agent_steps.classroom.pages.shapes import Section
from agent_steps.classroom.report.markdown import report_markdown
from agent_steps.classroom.report.page import report_html
from agent_steps.classroom.report.parts import way_back
from agent_steps.classroom.report.sentences import CITATION, sentences_of, tidy, without
from agent_steps.gather_sources import (
    FALLBACK_NOTE, FoundFacts, Outcome, Plan, ReplyError, as_json, ask_for, check_facts, choose_facts,
    choose_sources, facts_prompt, numbers_in, plan_prompt, read_sources, search_sources, source_tools,
    take_facts, take_plan, topic_lines)
from agent_steps.make_it_safer import Workspace
from agent_steps.native_tools import check_tools, tool
from agent_steps.providers import ModelError
from agent_steps.providers.formats import text_of
from agent_steps.providers.usage import total
from agent_steps.research_state import (
    AgentPhase, HumanCheckpoint, ResearchState, StateError, record, saved_at_the_end)
from agent_steps.usage_and_cost import BudgetReached, check_room, within_budget

OUTLINE_PROMPT = """\
Make an outline of the report: the headings of its sections, and for each the numbers of its
facts. Write only JSON of this form:
{"sections": [{"heading": "...", "facts": [1, 2]}]}"""
DRAFT_PROMPT = """\
Write the report, in Markdown, by this outline: each heading after ##, then full sentences.
After each sentence stands the number of its fact in brackets, as in [3]. Say nothing for
which there is no fact. Write no list of sources: it is added."""
CHANGE_PROMPT = """\
Change the draft as the person wishes, and write the whole of it again, by the same rules.
For what no fact says yet, search, read a page, and add a fact."""
SUMMARY_PROMPT = "Write a closing summary of this report: two or three sentences, each with the number of its fact."
MOST_CHANGES = 10        # of one draft, in one run
LONGEST_REPLY = 4000     # tokens


class Outline(BaseModel):
    """The sections of a report."""

    sections: list[Section] = Field(min_length=1)


@dataclass(frozen=True)
class Limits:
    """What a whole report may take, over all sessions. None is no limit."""

    calls: int | None = 40
    tokens: int | None = None
    dollars: float | None = None


@dataclass(frozen=True)
class Phase:
    """One step of the work, as data."""

    name: str
    phase: AgentPhase
    take: Callable                       # from the agent and what was read to an Outcome
    prompt: Callable | None = None       # from the state to the task. None: no model is asked
    read: Callable | None = None         # from a reply to what it holds: see ask_for
    tools: tuple = ()                    # the names of those that it may use
    max_rounds: int = 4                  # as for call_with_tools
    checkpoint: Callable | None = None   # from the agent to an Outcome. None: no person is asked


def fact_lines(state):
    """Write the facts with their numbers and the words that they rest on."""
    return "\n".join(
        f"[{number}] {each['fact']} (\"{' '.join(each['quote'].split())}\", {each['source_url']})"
        for number, each in enumerate(state.extracted_facts, 1))


def outline_lines(state):
    """Write the outline with the numbers of the facts."""
    return "\n".join(f"## {each['heading']} {''.join(f'[{number}]' for number in each['facts'])}"
                     for each in state.report_outline)


def outline_prompt(state):
    """Return the task of making an outline."""
    questions = "\n".join(f"- {question}" for question in state.research_questions)
    return f"{OUTLINE_PROMPT}\n\n{topic_lines(state)}\n{questions}\n\nFacts:\n{fact_lines(state)}"


def draft_prompt(state):
    """Return the task of writing the draft."""
    return (f"{DRAFT_PROMPT}\n\n{topic_lines(state)}\n\nOutline:\n{outline_lines(state)}\n\n"
            f"Facts:\n{fact_lines(state)}")


def change_prompt(state):
    """Return the task of changing the draft, as the last decision says."""
    wish = next(each for each in reversed(state.feedback_history) if "feedback" in each)
    return (f"{CHANGE_PROMPT}\n\nAction: {wish['action']}\nThe person says: {wish['feedback']}\n\n"
            f"<draft>\n{state.report_draft}\n</draft>\n\n{draft_prompt(state)}")


def summary_prompt(state):
    """Return the task of writing the closing summary."""
    return f"{SUMMARY_PROMPT}\n\n<draft>\n{state.report_draft}\n</draft>\n\nFacts:\n{fact_lines(state)}"


def citation_problem(sentence, state):
    """Say what is wrong with the citations of a sentence, or return None. It may have none."""
    facts = {str(number): fact for number, fact in enumerate(state.extracted_facts, 1)}
    cited = [number.lstrip("0") for number in CITATION.findall(sentence)]
    if unknown := [number for number in cited if number not in facts]:
        return f"there is no fact [{unknown[0] or 0}]"
    if not cited:
        return None
    kept, dropped = check_facts([facts[number] for number in cited], state.fetched_pages)
    if dropped:
        return f"of the fact that it cites, {dropped[0]['problem']}"
    held = set().union(*(numbers_in(each["quote"]) for each in kept))
    missing = numbers_in(CITATION.sub("", sentence)) - held
    return f"the words that it cites do not hold the number {min(missing)}" if missing else None


def read_draft(text, state):
    """Return a draft whose citations hold. Raises ReplyError, which says which do not."""
    text = tidy(text)
    problems = [f"- {problem}: {sentence}" for sentence in sentences_of(text)
                if (problem := citation_problem(sentence, state))]
    if problems or not CITATION.search(text):
        raise ReplyError("\n".join(["These citations do not hold. Write the whole again, without them.",
                                    *(problems or ["- no sentence cites a fact"])]))
    return text


def take_draft(agent, draft):
    """Put a draft, or what holds of the last reply, into the state. Return an Outcome."""
    state, dropped = agent.state, []
    if draft is None:
        draft = tidy(text_of(state.messages[-1]))
        dropped = [sentence for sentence in sentences_of(draft) if citation_problem(sentence, state)]
        draft = without(draft, dropped)
    if not CITATION.search(draft):
        return Outcome.FAILED
    state.report_draft = draft
    record(state, "drafted", dropped=dropped)
    return Outcome.OK


def take_outline(agent, outline):
    """Put an outline into the state, without numbers that are no fact's. Return an Outcome."""
    if not outline:
        return Outcome.FAILED
    facts = range(1, len(agent.state.extracted_facts) + 1)
    agent.state.report_outline = [
        each | {"facts": [number for number in each["facts"] if number in facts]} for each in outline.sections]
    record(agent.state, "outlined")
    return Outcome.OK


def keep_plan(agent, plan):
    """Put a plan, or the fallback, into the state. Return an Outcome."""
    take_plan(agent.state, plan)
    return Outcome.OK


def decide_plan(agent):
    """Let the person decide about the plan. Return an Outcome."""
    state = agent.state
    note = FALLBACK_NOTE if state.feedback_history[-1]["action"] == "fallback" else ""
    before = state.research_questions + state.search_queries
    questions, queries, approved = agent.checkpoint.approve_plan(
        state.research_questions, state.search_queries, note)
    if not approved:
        record(state, "rejected")
        return Outcome.REJECTED
    state.research_questions, state.search_queries = questions, queries
    record(state, "approved", before, questions + queries)
    return Outcome.OK


def decide_outline(agent):
    """Let the person decide about the outline. Return an Outcome."""
    before = agent.state.report_outline
    outline, approved = agent.checkpoint.approve_outline(before)
    agent.state.report_outline = outline
    headings = [[each["heading"] for each in sections] for sections in (before, outline)]
    record(agent.state, "approved" if approved else "rejected", *headings)
    return Outcome.OK if approved else Outcome.REJECTED


def draft_note(state):
    """Return a note for the person: which sentences were left out, and which cite nothing."""
    last = next(each for each in reversed(state.feedback_history) if each["action"] == "drafted")
    out = [f"Left out, since its citations do not hold: {each}" for each in last["dropped"]]
    bare = [f"Without a source: {each}" for each in sentences_of(state.report_draft) if not CITATION.search(each)]
    return "\n".join(out + bare)


def has_open_wish(state):
    """Return whether the person's last wish was not seen to, since the change was stopped."""
    known = [each["action"] for each in state.feedback_history
             if "feedback" in each or each.get("step") == CHANGE.name]
    return bool(known) and known[-1] not in ("approve", "restart", "ended")


def review(agent):
    """Have the draft changed until it is approved. Return an Outcome, or None: restart."""
    state = agent.state
    for _ in range(MOST_CHANGES):
        if not has_open_wish(state):
            feedback, action = agent.checkpoint.review_draft(state.report_draft, draft_note(state))
            record(state, action, feedback=feedback)
            if action in ("approve", "restart"):
                return Outcome.OK if action == "approve" else None
        if run_phase(agent, CHANGE) is not Outcome.OK:
            agent.checkpoint.show_error("The draft could not be changed, and is as it was.")
    agent.checkpoint.show_error(f"{MOST_CHANGES} changes are enough for now. Run again to go on.")
    return Outcome.FAILED


def finish(agent, summary):
    """Write the report, of the draft and a summary, as Markdown and HTML. Return an Outcome."""
    parts = [[each for each in sentences_of(part) if CITATION.search(each)]
             for part in (summary or "").split("\n\n")]
    if not summary:
        agent.checkpoint.show_error("The summary could not be used. The report has none.")
    report = report_of(agent.state, " ".join(max(parts, key=len)))   # without talk around it
    base = way_back(agent.workspace.folder)   # local pages lie where it was started
    agent.state.final_report, html = report_markdown(report, base), report_html(report, base)
    for name, text in {"report.md": agent.state.final_report, "report.html": html}.items():
        result = agent.workspace.call_tool("write_file", {"path": name, "content": text})
        if result.startswith("Error: "):
            agent.checkpoint.show_error(result.removeprefix("Error: "))
            return Outcome.FAILED
    return Outcome.OK


def report_of(state, summary):
    """Return all parts of the report, as report_markdown and report_html take them."""
    decisions = [each for each in state.feedback_history if "step" not in each]
    noticed = list(dict.fromkeys(order for each in decisions for order in each.get("orders", [])))
    return {"title": state.topic, "topic": state.topic, "requirements": state.requirements,
            "summary": summary, "draft": state.report_draft, "facts": state.extracted_facts,
            "pages": state.fetched_pages, "decisions": decisions, "noticed": noticed}


WRITING, REVIEWING = AgentPhase.WRITING, AgentPhase.REVIEWING
LOOK_UP = ("web_search", "fetch_webpage", "add_fact")
PHASES = [
    Phase("plan", AgentPhase.PLANNING, keep_plan, plan_prompt, as_json(Plan), checkpoint=decide_plan),
    Phase("search", AgentPhase.SEARCHING, lambda agent, _: search_sources(agent.state, agent.sources.search),
          checkpoint=lambda agent: choose_sources(agent.state, agent.checkpoint)),
    Phase("read", AgentPhase.READING, lambda agent, _: read_sources(agent.state, agent.sources.fetch)),
    Phase("facts", AgentPhase.SYNTHESIZING, lambda agent, found: take_facts(agent.state, found),
          facts_prompt, as_json(FoundFacts), checkpoint=lambda agent: choose_facts(agent.state, agent.checkpoint)),
    Phase("outline", WRITING, take_outline, outline_prompt, as_json(Outline), checkpoint=decide_outline),
    Phase("draft", WRITING, take_draft, draft_prompt, read_draft),
    Phase("review", REVIEWING, lambda agent, _: review(agent)),
    Phase("finish", AgentPhase.COMPLETE, finish, summary_prompt, read_draft),
]
CHANGE = Phase("change", REVIEWING, take_draft, change_prompt, read_draft,
               tools=(*LOOK_UP, "read_file", "save_to_file"), max_rounds=8)


def allow_reading(ask):
    """Return an approve function that asks about every call but those that look something up.

    It asks about read_file, too: what a file says could leave in the next query or address.
    """
    return lambda call: "y" if call.name in LOOK_UP else ask(call)


def own_tools(agent):
    """Return add_fact, save_to_file and read_file. Files are those of the agent's folder."""
    @tool
    def add_fact(fact: str, source_url: str, quote: str) -> str:
        """Add a fact from a page that was read. Returns its number.

        quote: the words of the page that it rests on, copied exactly
        """
        state, row = agent.state, {"fact": fact, "source_url": source_url, "quote": quote}
        kept, dropped = check_facts([row], state.fetched_pages)
        if dropped:
            raise ValueError(dropped[0]["problem"])
        if kept[0] not in state.extracted_facts:
            state.extracted_facts.append(kept[0])
        return f"This is fact [{state.extracted_facts.index(kept[0]) + 1}]."

    @tool
    def save_to_file(filename: str, content: str) -> str:
        """Save a text in a file of the working folder."""
        return agent.workspace.call_tool("write_file", {"path": filename, "content": content})

    @tool
    def read_file(filename: str) -> str:
        """Read a file of the working folder."""
        return agent.workspace.call_tool("read_file", {"path": filename})

    return [add_fact, save_to_file, read_file]


def spent_by(state):
    """Return what the whole research took so far, all sessions together."""
    entries = [each["spent"] for each in state.feedback_history if "spent" in each]
    return {kind: total(each[kind] for each in entries) for kind in ("calls", "tokens", "dollars")}


def limited(agent):
    """Return a copy of the agent's model that keeps to what is left. Raises BudgetReached."""
    spent, limits, left = spent_by(agent.state), agent.limits, {}
    for kind, limit in (("tokens", limits.tokens), ("dollars", limits.dollars)):
        check_room(kind, limit, spent[kind], 0)   # what earlier phases took may be unknown
        left[kind] = None if limit is None else limit - spent[kind]
    model = within_budget(agent.model, **left, longest_reply=LONGEST_REPLY)
    look_ahead = model.before_request

    def count_calls(*request):
        if limits.calls is not None and spent["calls"] + model.usage.calls >= limits.calls:
            raise BudgetReached(f"The limit of {limits.calls} requests is reached.")
        look_ahead(*request)

    model.before_request = count_calls
    return model


def run_phase(agent, phase):
    """Do a phase's work, let the person decide. Return an Outcome, or None: to be done again."""
    state, outcome = agent.state, Outcome.OK
    last = next((each for each in reversed(state.feedback_history) if each.get("step") == phase.name), {})
    if not last.get("made"):   # else it was stopped when the person was to decide
        began = begin(state, phase, last)
        agent.save()
        outcome = phase.take(agent, ask_phase(agent, phase, began) if phase.prompt else None)
        began["made"] = outcome is Outcome.OK
        agent.save()
    if outcome is Outcome.OK and phase.checkpoint:
        outcome = phase.checkpoint(agent)
    if outcome is None and state.feedback_history[-1]["action"] != "restart":
        raise TypeError(f"The phase {phase.name!r} returned no Outcome.")   # not for ever
    record(state, "ended", step=phase.name, outcome=outcome)
    agent.save()
    return outcome


def begin(state, phase, last):
    """Note that a phase begins, and return the entry. last: the one before of this phase."""
    if phase.tools and last.get("action") == "began":   # stopped: they will add it anew
        state.extracted_facts = state.extracted_facts[:last["facts"]]
        state.fetched_pages = state.fetched_pages[:last["pages"]]
    state.phase = phase.phase
    record(state, "began", step=phase.name, facts=len(state.extracted_facts), pages=len(state.fetched_pages))
    return state.feedback_history[-1]


def ask_phase(agent, phase, began):
    """Ask the model for what a phase wants, with the tools that it allows. Return what was read.

    None: it could not be used. "": it was cut off. began: the entry that gets what it took.
    """
    state, model = agent.state, limited(agent)
    known = check_tools([*source_tools(agent.sources, state.fetched_pages), *own_tools(agent), *agent.tools])

    def keep(messages=None):
        used = model.usage
        began["spent"] = {"calls": used.calls, "dollars": used.cost,
                          "tokens": total([used.input_tokens, used.output_tokens])}
        agent.save()

    def read(text, state):
        if model.stop_reason == "length":
            raise ReplyError("Your reply was cut off. Write less.")
        return phase.read(text, state)

    try:
        found = ask_for(model, state, phase.prompt(state), read, [known[name] for name in phase.tools] or None,
                        max_rounds=phase.max_rounds, approve=agent.approve, on_append=keep)
    finally:
        keep()
    if found is not None:
        return found
    began["problems"] = ["The model's reply was not what it was asked for, twice."]
    return "" if model.stop_reason == "length" else None


def finished(state):
    """Return the names of the finished phases. A restart opens writing and reviewing again."""
    names = {}
    for entry in state.feedback_history:
        if entry["action"] == "ended" and entry["outcome"] == Outcome.OK:
            names[entry["step"]] = entry["phase"]
        elif entry["action"] == "restart":
            names = {name: names[name] for name in names if names[name] not in (WRITING, REVIEWING)}
    return names


def begin_or_resume(path, topic, requirements):
    """Return the state in a file, or a fresh one. Raises StateError and ValueError."""
    if not topic.strip():
        raise ValueError("The topic is empty. Say what is to be found out.")
    if not path.exists():
        return ResearchState(topic=topic, requirements=requirements)
    state = ResearchState.load(path)
    if state.topic != topic or requirements not in ("", state.requirements):
        raise StateError(f"{path.name} holds other research (topic: {state.topic}; requirements: "
                         f"{state.requirements or 'none'}). Go on with that, or move the file away.")
    return state


class ResearchAgent:
    """An agent that researches a topic and writes a report of it, with a person deciding.

    sources: a Library or a Web. folder: for its files, the report too. phases: what it does, in
    order. tools: more tools, for phases that name them. approve: asks about calls that may do
    harm. limits: over all sessions. filename: of its memory, in the folder.
    """

    def __init__(self, model, sources=None, *, folder=".", checkpoint=HumanCheckpoint, limits=Limits(),
                 phases=PHASES, tools=(), approve=ask_approval, filename="agent_state.json"):
        self.model, self.sources, self.checkpoint = model, sources or Library(), checkpoint
        self.workspace, self.limits, self.phases, self.tools = Workspace(folder), limits, list(phases), list(tools)
        self.approve, self.path, self.state = allow_reading(approve), Path(folder, filename), ResearchState()

    def save(self):
        """Save what the agent knows."""
        self.state.save(self.path)

    def run(self, topic, requirements=""):
        """Research a topic, or go on with it. Return the first Outcome that is not ok, or ok.

        Raises StateError for a file of other research, and HumanInputUnavailable. All is saved.
        """
        try:
            self.state = begin_or_resume(self.path, topic, requirements)
            with saved_at_the_end(self.state, self.path):
                return run_phases(self)
        except OSError as error:   # a file cannot be read or written, or the disk is full
            self.checkpoint.show_error(str(error))
            return Outcome.FAILED


def run_phases(agent):
    """Run the phases that are not finished. Return an Outcome."""
    show = agent.checkpoint
    try:
        while phase := next((each for each in agent.phases if each.name not in finished(agent.state)), None):
            show.show_progress(phase.phase, phase.name)
            outcome = run_phase(agent, phase)
            if outcome not in (Outcome.OK, None):
                show.show_error(f"The phase {phase.name!r} ended as {outcome}.{why(agent.state)}")
                return outcome
    except ModelError as error:
        how = "with larger limits " if isinstance(error, BudgetReached) else ""
        show.show_error(f"{error} All is saved: run again {how}to go on.")
        return Outcome.FAILED
    facts, pages = len(agent.state.extracted_facts), len(agent.state.fetched_pages)
    show.show_success(f"{facts} facts from {pages} pages, in report.md and report.html.")
    return Outcome.OK


def why(state):
    """Say what went wrong in the last phase, behind a space, or nothing."""
    problems = []
    for entry in state.feedback_history:
        problems = ([] if entry["action"] == "began" else problems) + entry.get("problems", [])
    return " ".join(["", *problems[:1]] + [f"(and {len(problems) - 1} more)"] * (len(problems) > 1))


def research(model, topic, requirements="", *, approve=ask_approval, **options):
    """Let a ResearchAgent with these options research a topic, and return it. For in_panel."""
    agent = ResearchAgent(model, approve=approve, **options)
    agent.run(topic, requirements)
    return agent
