"""Lesson 23: what a research agent knows, kept in a file; what of it a prompt holds; and where a person decides."""
import copy
import json
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from textwrap import shorten

from pydantic import BaseModel, ConfigDict, ValidationError

from agent_steps.classroom.choosing import choose, choose_many, own_words
from agent_steps.classroom.pages.full_text import FullText
from agent_steps.classroom.pages.shapes import Fact, Page, Result, Section
from agent_steps.classroom.show_call import cut_middle, visible
from agent_steps.interrupt_and_resume import trim_history, turns_of
from agent_steps.providers.formats import call_parts, calls_in, role_of, text_of, told_in
from agent_steps.providers.jsonl import write_new

VERSION = 1   # of the form of a saved state
LEFT_ALONE = "Nothing was changed. Mend it, or move it away to begin anew."   # said of a file that cannot be read
# what a model is asked for, before the older turns
SUMMARY_PROMPT = "Summarise this conversation in a few sentences. Keep names, numbers and decisions."


class AgentPhase(StrEnum):
    """What a research agent is doing."""

    PLANNING = "planning"
    SEARCHING = "searching"
    READING = "reading"
    SYNTHESIZING = "synthesizing"
    WRITING = "writing"
    REVIEWING = "reviewing"
    COMPLETE = "complete"


class StateError(ValueError):
    """A state that cannot be saved, or a file that holds none. The file was not changed."""


class StateFields(BaseModel):
    """All that a research agent knows. Raises pydantic's ValidationError for a wrong value.

    messages is its short-term memory: the conversation of the phase at work.
    feedback_history is its long-term memory: what was decided, in order.
    """

    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    topic: str = ""
    requirements: str = ""
    phase: AgentPhase = AgentPhase.PLANNING
    research_questions: list[str] = []
    search_queries: list[str] = []
    search_results: list[Result] = []
    fetched_pages: list[Page] = []
    extracted_facts: list[Fact] = []
    report_outline: list[Section] = []
    report_draft: str = ""
    final_report: str = ""
    messages: list[dict] = []
    feedback_history: list[dict] = []


class ResearchState(StateFields):
    """What a research agent knows, what of it goes into a prompt, and how it is kept."""

    def to_context_string(self):
        """Return what a prompt says: topic and questions in full, of all else the number."""
        return "\n".join([
            f"Topic: {self.topic}",
            f"Requirements: {self.requirements or 'none'}",
            f"Phase: {self.phase}",
            f"Research questions ({len(self.research_questions)}):",
            *[f"- {question}" for question in self.research_questions],
            f"Search queries: {len(self.search_queries)}",
            f"Search results: {len(self.search_results)}",
            f"Pages read: {len(self.fetched_pages)}",
            f"Facts: {len(self.extracted_facts)}",
            f"Outline sections: {len(self.report_outline)}",
            f"Draft: {'yes' if self.report_draft else 'no'}"])

    def summarize_for_context(self):
        """Return one line that says how far the research is. No model is asked."""
        return (f"{self.phase}: {len(self.research_questions)} questions, {len(self.search_results)} results, "
                f"{len(self.fetched_pages)} pages read, {len(self.extracted_facts)} facts")

    def trim_messages(self, max_messages=20):
        """Keep the task and the newest turns. Raises ValueError below 1."""
        self.messages[:] = trim_history(self.messages, max_messages)   # a loop may hold this list

    def save(self, filename="agent_state.json"):
        """Write the state into a file, whole or not at all. Raises StateError and OSError."""
        save_state(self, filename)

    @classmethod
    def load(cls, filename="agent_state.json"):
        """Return the state in a file. Raises StateError for what holds none, and OSError."""
        return load_state(cls, filename)


def first_problem(error):
    """Say in a line what pydantic, or JSON, found wrong first."""
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


def save_state(state, filename):
    """Write a state into a file, whole or not at all. Raises StateError and OSError."""
    try:
        fields = type(state).model_validate(dict(state)).model_dump()   # a list may have been changed in place
        text = json.dumps({"research_state": VERSION, **fields}, ensure_ascii=False, indent=2, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        problem = first_problem(error)   # raised below, so that a Ctrl-C before it still shows
    else:
        return write_new(Path(filename), text.encode("utf-8", "replace"))
    raise StateError(f"The state was not saved: {problem}. The file is as it was.")


def load_state(kind, filename):
    """Return a state of this kind. Raises StateError if the file holds none, and OSError."""
    name = Path(filename).name
    try:
        saved = json.loads(Path(filename).read_text(encoding="utf-8-sig"))
        json.dumps(saved, allow_nan=False)   # NaN would spoil the next save
        version = saved.pop("research_state")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise StateError(f"{name} holds no whole research state. {LEFT_ALONE}") from None
    if version is True or version != VERSION:   # True == 1
        raise StateError(f"{name} has form {version!r}, and this program reads form {VERSION}. "
                         "Nothing was changed. Another version of the course may read it.")
    if missing := kind.model_fields.keys() - saved.keys():
        raise StateError(f"{name} lacks {', '.join(sorted(missing))}. {LEFT_ALONE}")
    try:
        return kind.model_validate(saved)
    except ValidationError as error:
        raise StateError(f"{name}: {first_problem(error)}. {LEFT_ALONE}") from None


@contextmanager
def saved_at_the_end(state, filename="agent_state.json"):
    """Save a state when a block ends, by whatever: also by an error, or by Ctrl-C."""
    try:
        yield state
    finally:
        state.save(filename)


def record(state, action, before=None, after=None, **more):
    """Add a decision to the long-term memory; of two lists, what was taken out and put in."""
    entry = {"phase": state.phase.value, "action": action, **more}
    if before is not None:
        entry |= {"removed": [each for at, each in enumerate(before) if before[:at].count(each) >= after.count(each)],
                  "added": [each for at, each in enumerate(after) if after[:at].count(each) >= before.count(each)],
                  "changed": before != after}   # counted: of two equal ones, one may go
    state.feedback_history.append(copy.deepcopy(entry))


def in_parts(messages, keep):
    """Part messages: up to the task (without one, the rules), the older turns, the newest `keep`."""
    turns = turns_of(messages)
    begin = next((at for at, turn in enumerate(turns, 1) if role_of(turn[0]) == "user"), 0)
    begin = begin or next((at for at, turn in enumerate(turns) if role_of(turn[0]) != "system"), len(turns))
    newest = max(begin, len(turns) - 1)   # one stays, however long
    while newest > begin and sum(map(len, turns[newest - 1:])) <= keep:
        newest -= 1
    return sum(turns[:begin], []), turns[begin:newest], sum(turns[newest:], [])


def as_lines(turn):
    """Write a turn as text: who said, called and returned what. Half a character becomes "?"."""
    calls = [f"call: {name} {json.dumps(arguments, ensure_ascii=False)}"
             for name, arguments, _ in map(call_parts, calls_in(turn[0]))]
    lines = [f"{role_of(turn[0])}: {text_of(turn[0])}", *calls, *[f"result: {told_in([each])}" for each in turn[1:]]]
    return "\n".join(lines).encode("utf-8", "replace").decode()


def with_note(beginning, note):
    """Return the beginning of a conversation, with a note behind the task or in its place."""
    *before, task = beginning if "user" in map(role_of, beginning) else [*beginning, {"role": "user", "content": ""}]
    return [*before, {**task, "content": f"{text_of(task)}\n\n{note}".lstrip()}]


def summarised(model, messages, keep=10):
    """Return the task with a summary of the older turns, by the model, and the newest turns."""
    beginning, older, newest = in_parts(messages, keep)
    if not older:
        return list(messages)
    prompt = "\n".join([SUMMARY_PROMPT, "", "<conversation>", *map(as_lines, older), "</conversation>"])
    summary = model.reply("", [{"role": "user", "content": prompt}])
    return [*with_note(beginning, f"What was said since then, in short: {summary}"), *newest]


def retrieved(messages, question, keep=4, top=5):
    """Return the task, the older turns that fit a question best, and the newest turns."""
    beginning, older, newest = in_parts(messages, keep)
    found = sorted(FullText([as_lines(turn) for turn in older]).best(question, top))
    return [*beginning, *sum([older[place] for place in found], []), *newest]


def layered(state, keep=6):
    """Return the task with the facts and decisions of a state, and the newest turns."""
    beginning, _, newest = in_parts(state.messages, keep)
    facts = [f"- {each['fact']} ({each['source_url']})" for each in state.extracted_facts]
    decisions = [f"- {json.dumps(each, ensure_ascii=False)}" for each in state.feedback_history]
    note = "\n".join(["Facts so far:", *facts, "Decisions so far:", *decisions])
    return [*with_note(beginning, note), *newest]


def numbered(lines):
    """Write lines with their numbers before them, each on one line; "(none)" for no lines."""
    return "\n".join(f"  {number}. {visible(line)}" for number, line in enumerate(lines, 1)) or "  (none)"


def parts_of(line):
    """Return the parts of a line that stand between semicolons."""
    return [part.strip() for part in line.split(";") if part.strip()]


def approve_plan(questions, queries, note=""):
    """Return questions, queries and True; or [], [] and False. note: shown first."""
    options = {"approve": "go on", "modify": "write all anew", "add": "add some", "reject": "stop here"}
    questions, queries = list(questions), list(queries)
    while True:
        lists = f"Questions:\n{numbered(questions)}\nSearch queries:\n{numbered(queries)}"
        action = choose("Plan", f"{note}\n{lists}\nIs this the plan?".lstrip(), options)
        if action == "approve":
            return questions, queries, True
        if action == "reject":
            return [], [], False
        how = f"{options[action].capitalize()}, with ; between them. Nothing: as they are."
        more = [parts_of(own_words(kind, how)) for kind in ("Questions", "Queries")]
        if action == "add":
            questions, queries = questions + more[0], queries + more[1]
        else:
            questions, queries = more[0] or questions, more[1] or queries


def select_sources(sources):
    """Return those search results that the person chooses."""
    lines = [f"{cut_middle(each['title'], 80)} ({each['url']}) {shorten(each['snippet'], 60, placeholder=' …')}"
             for each in sources]
    words = {"all": "read all of them", "none": "read none"}
    return [sources[place] for place in choose_many("Sources", "Which of these shall be read?", lines, words)]


def review_facts(facts, note=""):
    """Return the facts without those that the person takes out. note: shown first."""
    lines = [f"{each['fact']} ({each['source_url']})" for each in facts]
    lines = [line if each["quote"] == each["fact"] else f"{line} rests on: {each['quote']}"
             for line, each in zip(lines, facts)]
    text = f"{note}\nWhich of these shall be taken out?".lstrip()
    out = choose_many("Facts", text, lines, {"none": "keep all of them"})
    return [fact for place, fact in enumerate(facts) if place not in out]


def approve_outline(outline):
    """Return the outline, and whether it is approved. A heading that was there keeps its facts."""
    options = {"yes": "write it so", "modify": "change the headings", "no": "stop here"}
    outline = copy.deepcopy(list(outline))
    old = {each["heading"].strip(): each for each in outline}
    while True:
        headings = numbered([each["heading"] for each in outline])
        action = choose("Outline", f"Headings:\n{headings}\nIs this the outline?", options)
        if action != "modify":
            return outline, action == "yes"
        wanted = parts_of(own_words("Headings", "All headings in order, with ; between them, old ones by number."))
        known = {str(number): each for number, each in enumerate(outline, 1)} | old
        if all(each in known or any(map(str.isalpha, each)) for each in wanted):   # a wrong number is no heading
            outline = [known.get(each, {"heading": each, "facts": []}) for each in wanted] or outline


def review_draft(draft, note=""):
    """Return what to change, and the action: approve, revise, expand, shorten or restart."""
    options = {"approve": "this is the report", "revise": "change something", "expand": "say more about something",
               "shorten": "say less", "restart": "begin again with the outline"}
    quoted = "| " + draft.replace("\n", "\n| ")   # no line of it may pass for an option
    while True:
        action = choose("Draft", f"{note}\n{quoted}\nWhat shall be done with this draft?".lstrip(), options)
        if action in ("approve", "restart"):
            return "", action
        if feedback := own_words("Change", f"What shall be changed, to {action} it?"):
            return feedback, action


class HumanCheckpoint:
    """Where a person decides: at the prompt, or in a form. Enter alone approves nothing.

    What is given is not changed. Where nobody answers, HumanInputUnavailable is raised.
    """

    approve_plan = staticmethod(approve_plan)
    select_sources = staticmethod(select_sources)
    review_facts = staticmethod(review_facts)
    approve_outline = staticmethod(approve_outline)
    review_draft = staticmethod(review_draft)

    @staticmethod
    def get_user_input(prompt, default=""):
        """Return what the person writes; the default if that is nothing."""
        return own_words("Input", prompt) or default

    @staticmethod
    def confirm(question):
        """Return whether the person says yes."""
        return choose("Confirm", question, {"yes": "", "no": ""}) == "yes"

    @staticmethod
    def show_progress(phase, message):
        """Print what is being done."""
        print(f"[{phase}] {message}")

    @staticmethod
    def show_error(message):
        """Print what went wrong."""
        print(f"Error: {message}")

    @staticmethod
    def show_success(message):
        """Print what was reached."""
        print(f"Done: {message}")
