"""Lesson 25: phases that run in order and are not repeated, citations that hold, and a person who decides."""
import ast
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import httpx2
import pytest
from books import ROOT, book_definitions, cells_of, source_of
from scripted import types
from test_call_with_tools import WRITTEN, reply
from test_exercises import stubs_and_solutions, with_solution

from agent_steps import gather_sources
from agent_steps.classroom.pages.library import Library
from agent_steps.classroom.pages.problems import SourceError
from agent_steps.classroom.question_console import HumanInputUnavailable
from agent_steps.classroom.worker import Worker
from agent_steps.gather_sources import Outcome
from agent_steps.native_tools import tool
from agent_steps.practice.transport import answer
from agent_steps.providers import connect
from agent_steps.providers.clients import practice_client
from agent_steps.research_state import AgentPhase, HumanCheckpoint, ResearchState, StateError
from agent_steps.write_the_report import (
    MOST_CHANGES, PHASES, Limits, Phase, ResearchAgent, citation_problem, finished, read_draft, research,
    sentences_of, spent_by, take_draft, tidy)

TOPIC = "How are tides predicted, and how well?"
FUNDY = ("Say more about the Bay of Fundy", "expand")
APPROVE = ("", "approve")
WIRES = ("openai", "anthropic")
LIBRARY = Library()      # read once
both_wires = pytest.mark.parametrize("wire", WIRES)
links = pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
needs_signals = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch):
    """The addresses of the library's pages begin at the project's folder."""
    monkeypatch.chdir(ROOT)


class Run(HumanCheckpoint):
    """An agent, all that it does, and a person who decides as it is laid down.

    visits: what it did, in order. sent: pairs of a step and the body of a request. says: by step, the first replies; all others
    are the practice model's. stop_at: the number of the visit at which `stop` is called. reviews: what the person says to each draft.
    """

    def __init__(self, folder, wire="openai", *, says=None, stop_at=None, stop=None, reviews=(FUNDY, APPROVE), faults=None,
                 decide=None, sources=None, **options):
        self.visits, self.sent, self.printed, self.asked_about = [], [], [], []
        self.says, self.stop_at, self.stop, self.reviews = says or {}, stop_at, stop, reviews
        self.decide, self.faults, self.wire, self.sources = decide or {}, faults, wire, sources or LIBRARY
        model = connect("practice", wire=wire)
        model.client = practice_client(wire, httpx2.MockTransport(self.respond), model.base_url, 0)
        model.before_request = lambda *request: self.visit("request")
        self.agent = ResearchAgent(model, self, folder=folder, checkpoint=self, **{"approve": self.approve, **options})
        self.write = self.agent.workspace.call_tool
        self.agent.workspace.call_tool = self.call_tool

    def __call__(self, topic=TOPIC, **more):
        return self.agent.run(topic, **more)

    @property
    def step(self):
        return next(each["step"] for each in reversed(self.agent.state.feedback_history) if each["action"] == "began")

    @property
    def history(self):
        return self.agent.state.feedback_history

    def visit(self, kind):
        self.visits.append(f"{self.step}: {kind}")
        if len(self.visits) == self.stop_at:
            self.stop()

    def respond(self, request):
        self.sent.append((self.step, json.loads(request.content)))
        judged = answer(request, self.faults)
        waiting = self.says.get(self.step)
        if judged.status_code != 200 or not waiting:
            return judged
        said = waiting.pop(0)
        return httpx2.Response(200, json=judged.json() | WRITTEN[self.wire](reply(text=said) if isinstance(said, str) else said))

    def search(self, query, num_results=5):
        self.visit("search")
        return self.sources.search(query, num_results)

    def fetch(self, url):
        self.visit("fetch")
        return self.sources.fetch(url)

    def call_tool(self, name, arguments):
        self.visit(name)
        return self.write(name, arguments)

    def approve(self, call):
        self.asked_about.append(call)
        return self.decide.get(call.name, "n")

    def person(self, kind, usual):
        self.visits.append(kind)
        if len(self.visits) == self.stop_at:
            self.stop()
        return self.decide.get(kind, usual)

    def approve_plan(self, questions, queries, note=""):
        return self.person("approve_plan", (questions, queries, True))

    def select_sources(self, sources):
        return self.person("select_sources", sources)

    def review_facts(self, facts, note=""):
        self.note_on_facts = note
        return self.person("review_facts", facts)

    def approve_outline(self, outline):
        return self.person("approve_outline", (outline, True))

    def review_draft(self, draft, note=""):
        self.note_on_draft = note
        decided = sum("feedback" in each for each in self.history)
        return self.person("review_draft", self.reviews[decided % len(self.reviews)])

    def show_progress(self, phase, message):
        self.printed.append(f"[{phase}] {message}")

    def show_error(self, message):
        self.printed.append(f"Error: {message}")

    def show_success(self, message):
        self.printed.append(f"Done: {message}")


def raising(error):
    def stop():
        raise error
    return stop


def files_of(folder):
    """The names and contents of the files of a folder."""
    return {path.name: path.read_bytes() for path in Path(folder).iterdir() if path.is_file()}


def reports_of(folder):
    """The two reports, with the same addresses of local pages wherever they lie."""
    return {name: text.replace(b"../", b"") for name, text in files_of(folder).items() if name.startswith("report.")}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that nothing stopped, with one change of the draft."""
    here = os.getcwd()
    os.chdir(ROOT)
    run = Run(tmp_path_factory.mktemp("whole"))
    assert run() is Outcome.OK
    os.chdir(here)
    return run


def report_of_whole(whole):
    return reports_of(whole.agent.workspace.folder)


# ---- phases ----

def test_the_phases_run_in_order_and_the_report_is_there(whole):
    steps = ["plan", "search", "read", "facts", "outline", "draft", "review", "change", "finish"]
    assert [each["step"] for each in whole.history if each["action"] == "began"] == steps
    assert whole.printed[-1] == "Done: 16 facts from 15 pages, in report.md and report.html."
    assert [each for each, _ in itertools.groupby(whole.visits)] == [
        "plan: request", "approve_plan", "search: search", "select_sources", "read: fetch", "facts: request", "review_facts",
        "outline: request", "approve_outline", "draft: request", "review_draft", "change: request", "change: search",
        "change: request", "change: fetch", "change: request", "review_draft", "finish: request", "finish: write_file"]


def test_each_phase_has_a_conversation_of_its_own(whole):
    for step, sent in itertools.groupby(whole.sent, key=lambda each: each[0]):
        first = next(sent)[1]["messages"]
        assert [message["role"] for message in first] == ["system", "user"], step


@both_wires
def test_tools_are_sent_only_where_the_row_of_a_phase_allows_them(tmp_path, wire):
    run = Run(tmp_path, wire)
    assert run() is Outcome.OK
    names = {"openai": lambda each: each["function"]["name"], "anthropic": lambda each: each["name"]}[wire]
    offered = {step: sorted(map(names, body.get("tools", []))) for step, body in run.sent}
    assert offered.pop("change") == ["add_fact", "fetch_webpage", "read_file", "save_to_file", "web_search"]
    assert set(map(str, offered.values())) == {"[]"} and not any("tool_choice" in body for _, body in run.sent)


def test_both_formats_give_the_same_report(tmp_path, whole):
    assert Run(tmp_path, "anthropic")() is Outcome.OK
    assert reports_of(tmp_path) == report_of_whole(whole)


def test_a_phase_that_is_added_to_the_table_runs_in_its_place(tmp_path):
    counted = []

    def count_pages(agent, _):
        counted.append(len(agent.state.fetched_pages))
        return Outcome.OK

    run = Run(tmp_path, phases=[*PHASES[:3], Phase("count", AgentPhase.READING, count_pages), *PHASES[3:]], reviews=[APPROVE])
    assert run() is Outcome.OK and counted == [15]
    assert Run(tmp_path, phases=[*PHASES, Phase("again", AgentPhase.COMPLETE, count_pages)])() is Outcome.OK
    assert counted == [15, 15]


def test_a_phase_that_returns_no_outcome_is_an_error_and_not_repeated_for_ever(tmp_path):
    forgotten = Phase("count", AgentPhase.READING, lambda agent, _: None)
    with pytest.raises(TypeError, match="The phase 'count' returned no Outcome."):
        Run(tmp_path, phases=[forgotten])()
    undecided = Phase("count", AgentPhase.READING, lambda agent, _: Outcome.OK, checkpoint=lambda agent: None)
    with pytest.raises(TypeError, match="returned no Outcome"):
        Run(tmp_path, phases=[undecided])()


def test_a_tool_that_is_added_is_offered_where_a_row_allows_it_and_asked_about(tmp_path):
    @tool
    def tide_at(place: str) -> str:
        """Say how high the tide is now."""
        return "It is high."

    asks = Phase("ask", AgentPhase.READING, lambda agent, text: Outcome.OK, lambda state: "Hello", lambda text, state: text,
                 tools=("tide_at",))
    run = Run(tmp_path, phases=[asks], tools=[tide_at], decide={"tide_at": "y"},
              says={"ask": [reply(("1", "tide_at", '{"place": "Dover"}')), "It is high there."]})
    assert run() is Outcome.OK and [call.name for call in run.asked_about] == ["tide_at"]
    assert [each["function"]["name"] for each in run.sent[0][1]["tools"]] == ["tide_at"]
    assert "It is high." in json.dumps(run.sent[1][1]["messages"])


def test_two_tools_of_one_name_are_refused(tmp_path):
    @tool
    def save_to_file(filename: str, content: str) -> str:
        """Another one."""
        return ""

    with pytest.raises(ValueError, match="Two tools are called 'save_to_file'"):
        Run(tmp_path, tools=[save_to_file])()


def test_a_phase_makes_no_more_rounds_of_calls_than_its_row_allows(tmp_path):
    calls = [reply((str(number), "web_search", '{"query": "tides"}')) for number in range(9)]
    asks = Phase("ask", AgentPhase.READING, lambda agent, text: Outcome.OK, lambda state: "Hello", lambda text, state: text,
                 tools=("web_search",), max_rounds=2)
    run = Run(tmp_path, phases=[asks], says={"ask": calls})
    with pytest.warns(UserWarning, match="all 2 rounds"):
        assert run() is Outcome.OK
    assert run.visits == ["ask: request", "ask: search"] * 2 + ["ask: request"]


# ---- how a run ends ----

REJECTED = {"approve_plan": ([], [], False), "select_sources": [], "review_facts": [], "approve_outline": ([], False)}
AFTER = {"approve_plan": "plan: request", "select_sources": "search: search", "review_facts": "facts: request",
         "approve_outline": "outline: request"}


@pytest.mark.parametrize("where", REJECTED)
def test_what_the_person_rejects_is_made_anew_and_nothing_else(tmp_path, whole, where):
    run = Run(tmp_path, decide={where: REJECTED[where]})
    assert run() is Outcome.REJECTED
    assert run.visits[-1] == where and re.fullmatch(r"Error: The phase '\w+' ended as rejected\.", run.printed[-1])
    again = Run(tmp_path)
    assert again() is Outcome.OK and again.visits == whole.visits[whole.visits.index(AFTER[where]):]
    assert again.agent.state.report_draft == whole.agent.state.report_draft


@pytest.mark.parametrize("step, fails, line", [
    ("facts", "No.", "Error: The phase 'facts' ended as failed. The model's reply was not what it was asked for, twice."),
    ("outline", '{"sections": []}', "Error: The phase 'outline' ended as failed. The model's reply was not what it was asked for, twice."),
    ("draft", "Tides are high.", "Error: The phase 'draft' ended as failed. The model's reply was not what it was asked for, twice.")])
def test_replies_that_cannot_be_used_are_a_failure_and_the_next_run_asks_again(tmp_path, whole, step, fails, line):
    run = Run(tmp_path, says={step: [fails, fails]})
    assert run() is Outcome.FAILED and run.printed[-1] == line
    assert run.visits[-2:] == [f"{step}: request"] * 2
    again = Run(tmp_path)
    assert again() is Outcome.OK and again.visits == whole.visits[whole.visits.index(f"{step}: request"):]
    assert again.agent.state.report_draft == whole.agent.state.report_draft


def test_one_reply_that_cannot_be_used_is_asked_for_again_and_no_failure(tmp_path, whole):
    run = Run(tmp_path, says={step: ["Well."] for step in ("plan", "facts", "outline", "draft", "finish")})
    assert run() is Outcome.OK and reports_of(tmp_path) == report_of_whole(whole)


def test_a_plan_that_cannot_be_read_is_replaced_and_the_person_is_told(tmp_path):
    notes = []

    class Told(Run):
        def approve_plan(self, questions, queries, note=""):
            notes.append(note)
            return super().approve_plan(questions, queries, note)

    run = Told(tmp_path, says={"plan": ["No.", "No."]}, stop_at=3, stop=raising(KeyError))
    with pytest.raises(KeyError):
        run()
    assert run.visits == ["plan: request", "plan: request", "approve_plan"]
    assert Told(tmp_path, decide={"approve_plan": ([], [], False)})() is Outcome.REJECTED
    assert notes == [gather_sources.FALLBACK_NOTE] * 2   # also to whoever decides in the next session


@pytest.mark.parametrize("faults, line", [
    ("always overload", "overloaded or out of order (status 529)"), ("wrong_key", "key")])
def test_a_service_that_is_down_is_a_failure_and_what_is_finished_stays(tmp_path, whole, faults, line):
    run = Run(tmp_path, stop_at=whole.visits.index("outline: request") + 1, stop=lambda: setattr(run, "faults", faults))
    assert run() is Outcome.FAILED
    assert line in run.printed[-1] and run.printed[-1].endswith("All is saved: run again to go on.")
    again = Run(tmp_path)
    assert again() is Outcome.OK and again.visits == whole.visits[whole.visits.index("outline: request"):]
    assert reports_of(tmp_path) == report_of_whole(whole)


class Empty:
    """Sources that know nothing."""

    def search(self, query, num_results=5):
        return []


class Broken(Empty):
    """Sources that cannot be reached."""

    def search(self, query, num_results=5):
        raise SourceError("The search is out of order.")

    def fetch(self, url):
        raise SourceError("This page cannot be read.")


class Unread(Broken):
    """Sources whose pages cannot be read."""

    def search(self, query, num_results=5):
        return LIBRARY.search(query, num_results)


@pytest.mark.parametrize("sources, outcome, line", [
    (Empty, Outcome.NOTHING_FOUND, "The phase 'search' ended as nothing found."),
    (Broken, Outcome.FAILED, "The phase 'search' ended as failed."),
    (Unread, Outcome.FAILED, "The phase 'read' ended as failed.")])
def test_a_search_that_finds_nothing_is_told_from_one_that_fails(tmp_path, whole, sources, outcome, line):
    run = Run(tmp_path, sources=sources())
    assert run() is outcome and run.printed[-1].startswith(f"Error: {line}")
    assert ("out of order" in run.printed[-1]) == (sources is Broken) and ("cannot be read" in run.printed[-1]) == (sources is Unread)
    again = Run(tmp_path)
    assert again() is Outcome.OK and "plan: request" not in again.visits
    assert again.agent.state.report_draft == whole.agent.state.report_draft


def test_facts_of_which_none_stands_in_a_page_are_nothing_found(tmp_path):
    fact = {"fact": "Tides are made of cheese.", "source_url": "data/library/tide-gauges.html", "quote": "Tides are made of old cheese."}
    run = Run(tmp_path, says={"facts": [json.dumps({"facts": [fact]})]})
    assert run() is Outcome.NOTHING_FOUND and run.printed[-1] == "Error: The phase 'facts' ended as nothing found."
    assert "review_facts" not in run.visits and Run(tmp_path)() is Outcome.OK


# ---- stopped, and gone on with ----

def from_where(visits, place):
    """The number of the visit from which a run goes on that was stopped at this one: a decision is all that is asked again."""
    if ": " not in visits[place]:
        return place
    step = visits[place].partition(":")[0] + ":"
    while place and visits[place - 1].startswith(step):
        place -= 1
    return place


def check_resumed(folder, whole, place, first=None):
    """Go on with a run that was stopped at this visit of the whole run, and compare it with that."""
    again = Run(folder)
    assert again() is Outcome.OK
    assert again.visits == whole.visits[from_where(whole.visits, place):], whole.visits[place]
    assert reports_of(folder) == report_of_whole(whole), whole.visits[place]
    if first:
        assert spent_by(again.agent.state)["calls"] == len(first.sent) + len(again.sent)
    return again


def test_stopped_anywhere_a_run_is_gone_on_with_and_the_report_is_the_same(tmp_path, whole):
    repeated = {place for place, visit in enumerate(whole.visits) if visit == whole.visits[place - 1] and visit.endswith(("search", "fetch"))}
    places = [place for place in range(len(whole.visits)) if place not in repeated]
    assert len(places) > 20
    for place in places:
        folder = tmp_path / str(place)
        folder.mkdir()
        in_a_tool = whole.visits[place] in ("change: search", "change: fetch")   # another error would go to the model
        error = KeyboardInterrupt if in_a_tool or place % 2 else RuntimeError
        first = Run(folder, stop_at=place + 1, stop=raising(error))
        with pytest.raises(error):
            first()
        check_resumed(folder, whole, place, first)


def run_until(folder, place):
    """What a child process does: it works up to this visit and waits there for its end."""
    def wait():
        print("here", flush=True)
        threading.Event().wait(60)

    Run(folder, stop_at=int(place) + 1, stop=wait)()


@needs_signals
@pytest.mark.parametrize("sign, kind, which", [
    (signal.SIGINT, "select_sources", 0), (signal.SIGINT, "read: fetch", 7), (signal.SIGINT, "change: request", 3),
    (signal.SIGINT, "finish: write_file", 1), (getattr(signal, "SIGKILL", None), "facts: request", 0),
    (getattr(signal, "SIGKILL", None), "approve_outline", 0), (getattr(signal, "SIGKILL", None), "change: request", 0),
    (getattr(signal, "SIGKILL", None), "review_draft", 1)])
def test_a_process_that_was_interrupted_or_killed_is_gone_on_with(tmp_path, whole, sign, kind, which):
    place = [number for number, visit in enumerate(whole.visits) if visit == kind][which]
    code = "import sys, test_write_the_report; test_write_the_report.run_until(*sys.argv[1:])"
    path = os.pathsep.join([str(ROOT / "tests"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(place)], cwd=ROOT, env={**os.environ, "PYTHONPATH": path},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"here\n"
        child.send_signal(sign)
        _, complaint = child.communicate(timeout=30)
    assert child.returncode == -sign and (b"KeyboardInterrupt" in complaint) == (sign == signal.SIGINT)
    before = sum(visit.endswith(": request") for visit in whole.visits[:place])
    assert spent_by(ResearchState.load(tmp_path / "agent_state.json"))["calls"] == before   # not even a killed one forgets
    check_resumed(tmp_path, whole, place)


def test_a_change_that_is_stopped_twice_adds_its_facts_and_pages_once(tmp_path, whole):
    place = max(number for number, visit in enumerate(whole.visits) if visit == "change: request")   # the fact is added
    begin = from_where(whole.visits, place)
    for stop_at in (place + 1, place - begin + 1):
        run = Run(tmp_path, stop_at=stop_at, stop=raising(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run()
        assert len(run.agent.state.extracted_facts) == 16
    again = check_resumed(tmp_path, whole, place)
    assert len(again.agent.state.extracted_facts) == 16
    assert len({each["url"] for each in again.agent.state.fetched_pages}) == len(again.agent.state.fetched_pages)


def test_a_report_that_was_written_in_part_is_written_again(tmp_path, whole):
    def cut_off():
        (tmp_path / "report.md").write_text("# How", encoding="utf-8")
        raise OSError("the disk is full")

    place = whole.visits.index("finish: write_file")
    run = Run(tmp_path, stop_at=place + 1, stop=cut_off)
    assert run() is Outcome.FAILED and run.printed[-1] == "Error: the disk is full"
    check_resumed(tmp_path, whole, place)


@pytest.mark.parametrize("when", ["in between", "at the end"])
def test_a_state_that_cannot_be_saved_is_a_failure_in_a_sentence(tmp_path, monkeypatch, whole, when):
    from agent_steps import research_state

    def refuse(path, data):
        raise PermissionError(13, "Permission denied", str(path))

    stop_at = 1 + whole.visits.index("outline: request" if when == "in between" else "finish: write_file")
    run = Run(tmp_path, stop_at=stop_at, stop=lambda: monkeypatch.setattr(research_state, "write_new", refuse))
    with pytest.warns(UserWarning, match="on_append failed") if when == "in between" else monkeypatch.context():
        assert run() is Outcome.FAILED
    assert "Permission denied" in run.printed[-1] and "agent_state.json" in run.printed[-1]
    monkeypatch.undo()
    monkeypatch.chdir(ROOT)
    assert Run(tmp_path)() is Outcome.OK and reports_of(tmp_path) == report_of_whole(whole)


def test_a_run_after_the_last_one_changes_nothing_and_asks_nobody(tmp_path):
    assert Run(tmp_path, reviews=[APPROVE])() is Outcome.OK
    before, again = files_of(tmp_path), Run(tmp_path)
    assert again() is Outcome.OK and again.visits == [] and files_of(tmp_path) == before
    assert again.printed == ["Done: 15 facts from 15 pages, in report.md and report.html."]


@pytest.mark.parametrize("kept", [
    ResearchState(topic="Why is the sky blue?"), ResearchState(topic=TOPIC, requirements="In verse."), "no state at all",
    '{"research_state": 2}', ""])
def test_a_file_with_another_research_a_newer_form_or_none_is_left_as_it_is(tmp_path, kept):
    path = tmp_path / "agent_state.json"
    path.write_text(kept, encoding="utf-8") if isinstance(kept, str) else kept.save(path)
    before, run = files_of(tmp_path), Run(tmp_path)
    with pytest.raises(StateError, match=r"agent_state\.json"):
        run(requirements="Short.")
    assert files_of(tmp_path) == before and not run.visits


def test_other_requirements_are_named_where_they_are_why_the_file_is_left_alone(tmp_path):
    ResearchState(topic=TOPIC).save(tmp_path / "agent_state.json")
    with pytest.raises(StateError, match=r"holds other research \(topic: How are tides predicted, and how well\?; requirements: none\)"):
        Run(tmp_path)(requirements="Short.")


def test_a_memory_that_cannot_be_opened_is_a_failure_in_a_sentence(tmp_path):
    (tmp_path / "agent_state.json").mkdir()
    run = Run(tmp_path)
    assert run() is Outcome.FAILED and "agent_state.json" in run.printed[-1] and not run.visits


def test_requirements_are_kept_and_need_not_be_said_again(tmp_path):
    first = Run(tmp_path, stop_at=2, stop=raising(KeyError))
    with pytest.raises(KeyError):
        first(requirements="For sailors.")
    again = Run(tmp_path, reviews=[APPROVE])
    assert again() is Outcome.OK and "Requirements: For sailors." in (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "Requirements: For sailors." in again.sent[0][1]["messages"][1]["content"]


# ---- citations ----

MOON = {"title": "The moon", "url": "data/moon.html", "snippet": ""}
MOON_PAGE = "<html><head><title>The moon</title></head><body><main><p>The moon raises tides in every sea.</p></main></body></html>"

TABLES = {"fact": "A table of 1833 names four ports.", "source_url": "a.html", "quote": "The first table, of 1833, names four ports."}
HOURS = {"fact": "High water comes every 12.42 hours.", "source_url": "b.html", "quote": "High water comes every 12.42 hours, or 745 minutes."}
LOST = {"fact": "Tides are high.", "source_url": "c.html", "quote": "What stands in no page at all."}


@pytest.fixture
def knowing():
    """A state with three facts, the third of which stands in no page that was read."""
    pages = [{"url": each["source_url"], "title": "A page", "content": f"Before. {each['quote']} Behind."} for each in (TABLES, HOURS)]
    return ResearchState(topic=TOPIC, fetched_pages=pages, extracted_facts=[TABLES, HOURS, LOST])


HOLDS = [
    "The first table is of 1833 [1].", "It comes every 12.42 hours [2].", "Ports had tables [1][2].", "Four ports [1], then more [2].",
    "In 1833, every 12.42 hours [1, 2].", "In 1833, every 12.42 hours [1-2].", "In 1833, every 12.42 hours [1–2].",
    "In 1833, every 745 minutes [1; 2].", "In 1833 [ 1 ].", "In 1833 [^1].", "In 1833【1】.", "In 1833 ［1］.", r"In 1833 \[1\].", "In 1833. [1]", "In 1833.[1][2]",
    "In 1833. [1].", "It is so [01].", "In 1833 (see e.g. Dr. Doodson) four ports had tables [1].", "St. John had one of 1833 [1].",
    "Here `[1]` is code."]
FAILS = {
    "Tides are high [3].": "of the fact that it cites, no page of this address was read",
    "Tides are high [0].": "there is no fact [0]", "Tides are high [99].": "there is no fact [99]",
    "In 1834 [1].": "the words that it cites do not hold the number 1834", "In 1833 [2].": "the words that it cites do not hold the number 1833",
    "It is so [1, 99].": "there is no fact [99]", "It is so [98-99].": "there is no fact [98]", "It is so [2–4].": "there is no fact [4]",
    "It is so [1-9999].": "there is no fact [9999]", "It is so [ 99 ].": "there is no fact [99]", "It is so [^99].": "there is no fact [99]",
    "It is so【99】.": "there is no fact [99]", r"It is so \[99\].": "there is no fact [99]", "It is so. [99]": "there is no fact [99]", "It is so. [1] [99]": "there is no fact [99]",
    "Here `[99]` is code.": "there is no fact [99]", "It is so ![99].": "there is no fact [99]", "See [1833].": "there is no fact [1833]",
    "In 1834 Dr. Doodson came [1].": "the words that it cites do not hold the number 1834",
    "About 13 a.m., i.e. Monday, it came [1].": "the words that it cites do not hold the number 13",
    "In 1834,\nit came [1].": "the words that it cites do not hold the number 1834", f"It is so [{'9' * 5000}].": f"there is no fact [{'9' * 5000}]",
    "- It is so [99]": "there is no fact [99]", "| In 1834 | four ports [1] |": "the words that it cites do not hold the number 1834",
    "> It is so [99].": "there is no fact [99]"}


@pytest.mark.parametrize("text", HOLDS)
def test_a_citation_whose_words_hold_is_kept_in_any_form(knowing, text):
    draft = read_draft(f"## Tides\n\n{text}", knowing)
    assert set(re.findall(r"\[\D*(\d+)", draft)) <= {"1", "2", "01"} and len(sentences_of(draft)) == 1
    assert set("[]【】［］^") & set(re.sub(r"\[\d+\]", "", draft)) == set()   # all in one form


@pytest.mark.parametrize("text", FAILS, ids=lambda text: text[:40])
def test_a_citation_that_does_not_hold_is_found_in_any_form(knowing, text):
    [sentence] = sentences_of(tidy(f"## Tides\n\n{text}"))
    assert citation_problem(sentence, knowing) == FAILS[text]


def test_a_heading_cites_nothing():
    draft = tidy("Talk [1].\n\n## Tides [1][99]\nHigh [1].\n### Of [2, 3] ports\n\nLow. [2]\n```")
    assert draft == "## Tides\nHigh [1].\n### Of  ports\n\nLow [2]."
    assert sentences_of(draft) == ["High [1].", "Low [2]."]


def test_a_line_that_only_looks_like_a_heading_is_checked(knowing):
    assert [citation_problem(each, knowing) for each in sentences_of("#1 is so [99].")] == ["there is no fact [99]"]


def test_a_draft_is_parted_into_sentences_items_and_rows():
    draft = ("## A\nOne [1]. Two (e.g. Dr. Doodson, 12.42 hours) [2]! Is it 3? Yes.\n\n- An item\n- another [1]. And more.\n12. A twelfth\n\n"
             "| Place | Range |\n| --- | --- |\n| Dover | 6 m [1] |\n\n> Said\n## B\nTwo\nlines.")
    assert sentences_of(draft) == [
        "One [1].", "Two (e.g. Dr. Doodson, 12.42 hours) [2]!", "Is it 3?", "Yes.", "An item", "another [1].", "And more.", "A twelfth",
        "Place | Range |", "Dover | 6 m [1] |", "Said", "Two\nlines."]
    assert all(each in draft for each in sentences_of(draft))


@pytest.mark.parametrize("draft, left", [
    ("## A\n\nGood [1]. Bad [99]. Fine [2].", "## A\n\nGood [1]. Fine [2]."),
    ("## A\n\nBad [99]. Good [1].", "## A\n\nGood [1]."),
    ("## A\n\nGood [1].\n\nBad [99].\n\nFine [2].", "## A\n\nGood [1].\n\nFine [2]."),
    ("## A\n\n- Good [1].\n- Bad [99].\n  - Bad [98].\n- Fine [2].", "## A\n\n- Good [1].\n- Fine [2]."),
    ("## A\n\n1. Good [1].\n2. Bad [99]. Fine [2].", "## A\n\n1. Good [1].\n2. Fine [2]."),
    ("## A\n\n| a | b |\n| --- | --- |\n| Bad | [99] |\n| Good | [1] |", "## A\n\n| a | b |\n| --- | --- |\n| Good | [1] |"),
    ("## A\n\n| Bad [99]. |\n| Good [1]. |", "## A\n\n| Good [1]. |"),
    ("## A\n\nBad [99].\n\n## B\n\nGood [1].\n\n## C\n\nBad in 1834 [1].", "## B\n\nGood [1]."),
    ("## A\n\nIs it bad [99]? And it is bad [99]. It is bad [99]. Good [1].", "## A\n\nGood [1]."),
    ("## A\n\nGood [1]. So said Dr. Bad [99]. Uncited.", "## A\n\nGood [1]. Uncited.")])
def test_a_sentence_that_is_left_out_leaves_nothing_behind(tmp_path, knowing, draft, left):
    agent = ResearchAgent(None, folder=tmp_path)
    agent.state = knowing
    knowing.messages = [{"role": "assistant", "content": draft}]
    assert take_draft(agent, None) is Outcome.OK
    assert knowing.report_draft.replace(". \n", ".\n").strip() == left
    dropped = [each for each in sentences_of(draft) if citation_problem(each, knowing)]
    assert knowing.feedback_history[-1]["dropped"] == dropped != []


def test_whatever_a_draft_holds_no_citation_that_does_not_hold_is_left(tmp_path, knowing):
    agent, drawn = ResearchAgent(None, folder=tmp_path), random.Random(25)
    agent.state = knowing
    parts = [" [1]", "[2]", "[99]", "[0]", " [1, 3]", "[2-3]", "[^1]", "【99】", "[ 2 ]", ".", "! ", "? ", ". ", ".\n", "\n\n", "\n- ", "\n2. ", "\n| ",
             " | ", "\n## A ", "\n# [99] B\n", "`", "**", " In 1833", " in 1834", "12.42", " Dr. Doodson", " e.g. it", "\n> ", "(", ")", " text", "]", "["]
    for _ in range(1500):
        knowing.messages = [{"role": "assistant", "content": "".join(drawn.choices(parts, k=drawn.randint(1, 25)))}]
        knowing.report_draft = "## Old\n\nOld [1]."
        if take_draft(agent, None) is Outcome.FAILED:
            assert knowing.report_draft == "## Old\n\nOld [1]."
            continue
        draft = knowing.report_draft
        assert set(re.findall(r"\[\s*(\d+)\s*\]", draft)) <= {"1", "2"}, draft
        assert not [each for each in sentences_of(draft) if citation_problem(each, knowing)], draft
        assert tidy(draft).count("[") == draft.count("[")


def check_citations(folder):
    """Every citation of both forms of a report leads to a fact whose words stand in a page that was read."""
    state = ResearchState.load(folder / "agent_state.json")
    pages = {page["url"]: page["content"] for page in state.fetched_pages}
    text, html = ((folder / name).read_text(encoding="utf-8") for name in ("report.md", "report.html"))
    cited = re.findall(r"\[\[(\d+)\]\]\(#fact-(\d+)\)", text)
    assert cited and "no such fact" not in text + html and all(f'<a id="fact-{number}">' in text for number, _ in cited)
    assert {number for number, _ in cited} == {link for _, link in cited} == set(re.findall(r'href="#fact-(\d+)"', html))
    for number, _ in cited:
        fact = state.extracted_facts[int(number) - 1]
        assert fact["quote"] in pages[fact["source_url"]]
    return text


@pytest.mark.parametrize("fault", ["invented_citation", "invented_fact", "chatty"])
def test_what_a_model_makes_up_is_not_in_the_report(tmp_path, fault):
    run = Run(tmp_path, faults=fault, reviews=[APPROVE])
    assert run() is Outcome.OK
    text = check_citations(tmp_path)
    body = text.partition("## Sources")[0]
    assert "Most experts" not in body and "Of course" not in body and "21 or 31" not in body
    if fault == "invented_citation":
        assert r"dropped: Most experts agree on this \[22\]." in text and "Left out, since its citations do not hold: Most" in run.note_on_draft
    if fault == "invented_fact":
        assert "dropped: Tide predictions for a port" in text and "21 or 31" in run.note_on_facts
    if fault == "chatty":
        assert run.note_on_draft == "Without a source: I hope {this} helps."


def test_citations_in_all_forms_lead_to_their_words_in_the_report(tmp_path):
    draft = ("Here it is [99]:\n\n## The force [1][99]\n\nThe moon pulls. [1] The sun does, too [^2]. Both do [1, 2].\n\n"
             "- Great tides are spring tides [3-4]\n- Small ones are not 【4】\n\n| When | What |\n| --- | --- |\n| Always | tides [1–2] |\n")
    run = Run(tmp_path, says={"draft": [draft]}, reviews=[APPROVE])
    assert run() is Outcome.OK
    body = check_citations(tmp_path).partition("## The force")[2].partition("## Sources")[0]
    assert re.findall(r"\[\[(\d+)\]\]", body) == ["1", "2", "1", "2", "3", "4", "4", "1", "2"]
    assert run.note_on_draft == "Without a source: When | What |"


def test_a_summary_whose_citations_do_not_hold_is_left_out_and_the_person_is_told(tmp_path, whole):
    run = Run(tmp_path, says={"finish": ["Tides fell in 1999 [1].", "Tides fell in 1999 [1]."]})
    assert run() is Outcome.OK and "1999" not in check_citations(tmp_path).partition("## Sources")[0]
    assert "Error: The summary could not be used. The report has none." in run.printed and not any("Error" in each for each in whole.printed)


@pytest.mark.parametrize("step", ["draft", "change"])
def test_a_draft_that_was_cut_off_is_asked_for_again_and_never_taken(tmp_path, whole, step):
    cut = [reply(text="## Tides\n\nThe moon pulls [1]. The su", stop=stop) for stop in ("length", "length")]
    run = Run(tmp_path, says={step: cut[:1]}, reviews=[("Less of the sun", "shorten"), APPROVE])
    assert run() is Outcome.OK and "The su\n" not in run.agent.state.report_draft
    asked = [body["messages"][-1]["content"] for name, body in run.sent if name == step]
    assert asked[1] == "Your reply was cut off. Write less."
    folder = tmp_path / "twice"
    folder.mkdir()
    run = Run(folder, says={step: list(cut)}, reviews=[("Less of the sun", "shorten"), APPROVE])
    assert run() is (Outcome.FAILED if step == "draft" else Outcome.OK) and "The su\n" not in run.agent.state.report_draft + "\n"


def test_in_a_folder_of_its_own_the_links_of_a_report_lead_to_the_pages(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    Path("data", "moon.html").write_text(MOON_PAGE, encoding="utf-8")
    Path("of its own").mkdir()
    facts = json.dumps({"facts": [{"fact": "The moon raises tides.", "source_url": "data/moon.html", "quote": "The moon raises tides in every sea."}]})
    outline = json.dumps({"sections": [{"heading": "The moon", "facts": [1]}]})
    run = Run(Path("of its own"), sources=Library("data"), reviews=[APPROVE], decide={"select_sources": [MOON]},
              says={"facts": [facts], "outline": [outline], "draft": ["## The moon\n\nIt raises tides [1]."]})
    assert run() is Outcome.OK
    for name, link in {"report.md": r"\]\(([^#)]+)\)", "report.html": r'href="([^#"]+)#?:?~?'}.items():
        [address] = set(re.findall(link, (Path("of its own") / name).read_text(encoding="utf-8")))
        assert address == "../data/moon.html" and Path("of its own", address).is_file()


# ---- review ----

def began(run):
    return [each["step"] for each in run.history if each["action"] == "began"]


@pytest.mark.parametrize("wish, check", [
    (("Leave out what is said about the sun", "revise"), lambda old, new: "sun" in old and "The sun" not in new),
    (FUNDY, lambda old, new: "The Bay of Fundy lies" in new and "[16]" in new),
    (("Half of it", "shorten"), lambda old, new: len(new) < 0.7 * len(old))])
def test_a_wish_is_noted_and_the_draft_is_changed(tmp_path, wish, check):
    run = Run(tmp_path, reviews=[wish, APPROVE], stop_at=None)
    assert run() is Outcome.OK and began(run)[-3:] == ["review", "change", "finish"]
    [first, second] = [each for each in run.history if "feedback" in each]
    assert (first["feedback"], first["action"]) == wish and second["action"] == "approve"
    whole_draft = next(body for step, body in run.sent if step == "change")["messages"][1]["content"]
    assert check(whole_draft.partition("<draft>")[2].partition("</draft>")[0], run.agent.state.report_draft)
    assert f"feedback: {wish[0]}" in check_citations(tmp_path)


def test_a_second_wish_does_not_undo_the_first(tmp_path):
    run = Run(tmp_path, reviews=[("Leave out what is said about the sun", "revise"), ("Half of it", "shorten"), APPROVE])
    assert run() is Outcome.OK and run.agent.state.report_draft and not re.search(r"\bsun\b", run.agent.state.report_draft)


def test_the_closing_summary_holds_what_the_last_section_begins_with(whole):
    text = (Path(whole.agent.workspace.folder) / "report.md").read_text(encoding="utf-8")
    summary, *sections = text.partition("## Sources")[0].split("\n## ")
    assert re.split(r"(?<=\.) ", sections[-1].partition("\n\n")[2])[0] in summary


def test_an_approved_draft_is_the_report(tmp_path):
    run = Run(tmp_path, reviews=[APPROVE])
    assert run() is Outcome.OK and began(run) == ["plan", "search", "read", "facts", "outline", "draft", "review", "finish"]


def test_a_restart_opens_outline_draft_and_review_again_and_only_those(tmp_path):
    run = Run(tmp_path, reviews=[FUNDY, ("", "restart"), APPROVE])
    assert run() is Outcome.OK
    assert began(run)[-8:] == ["outline", "draft", "review", "change", "outline", "draft", "review", "finish"]
    assert began(run).count("facts") == 1 and finished(run.agent.state).keys() >= {each.name for each in PHASES}
    assert "[16]" in run.agent.state.report_draft   # the fact that the change added is known now


def test_a_restart_that_is_stopped_begins_with_the_outline(tmp_path, whole):
    run = Run(tmp_path, reviews=[("", "restart"), APPROVE], stop_at=whole.visits.index("review_draft") + 2, stop=raising(KeyError))
    with pytest.raises(KeyError):
        run()
    assert run.visits[-2:] == ["review_draft", "outline: request"]
    again = Run(tmp_path, reviews=[("", "restart"), APPROVE])
    assert again() is Outcome.OK and again.visits[:4] == ["outline: request", "approve_outline", "draft: request", "review_draft"]


@pytest.mark.parametrize("said", ["Nothing to see here.", "## Tides\n\nTides are high [77].", ""])
def test_a_change_that_fails_keeps_the_draft(tmp_path, said):
    run = Run(tmp_path, says={"change": [said, said]}, reviews=[("Say less", "shorten"), APPROVE])
    assert run() is Outcome.OK
    assert "Error: The draft could not be changed, and is as it was." in run.printed
    before = next(body for step, body in run.sent if step == "change")["messages"][1]["content"]
    assert f"<draft>\n{run.agent.state.report_draft}\n</draft>" in before


def test_after_too_many_changes_the_review_ends_and_the_next_run_goes_on_with_it(tmp_path):
    run = Run(tmp_path, reviews=[("Half of it", "shorten")])
    assert run() is Outcome.FAILED and began(run).count("change") == run.visits.count("review_draft") == MOST_CHANGES
    assert run.printed[-2].startswith(f"Error: {MOST_CHANGES} changes are enough for now.")
    again = Run(tmp_path, reviews=[APPROVE])
    assert again() is Outcome.OK and again.visits[0] == "review_draft"


def changing(folder, *calls, **options):
    """Run with a change in which the model makes these calls, one reply each, and then says what the practice model says."""
    replies = [reply((f"call_{number}", name, json.dumps(arguments))) for number, (name, arguments) in enumerate(calls)]
    run = Run(folder, says={"change": replies}, **options)
    assert run() is Outcome.OK
    told = [json.dumps(body["messages"][-1], ensure_ascii=False) for step, body in run.sent if step == "change"]
    return run, told[1:len(calls) + 1]


def test_add_fact_takes_what_stands_in_a_page_once_and_nothing_else(tmp_path):
    url = "data/library/bay-of-fundy.html"
    words = "The Bay of Fundy lies between New Brunswick and Nova Scotia in Canada and has some of the highest tides in the world."
    right = {"fact": "Fundy has high tides.", "source_url": url, "quote": words}
    run, told = changing(tmp_path, ("fetch_webpage", {"url": url}), ("add_fact", right), ("add_fact", right),
                         ("add_fact", right | {"quote": "Fundy is a bay full of chocolate."}),
                         decide={"select_sources": LIBRARY.search("tide gauges")})
    assert "This is fact [" in told[1] and told[1].partition("fact [")[2] == told[2].partition("fact [")[2]
    assert "its words do not stand in the page" in told[3]
    assert [each["fact"] for each in run.agent.state.extracted_facts].count("Fundy has high tides.") == 1


@pytest.mark.parametrize("wrong, problem", [
    ({"source_url": "data/library/no-such-page.html"}, "no page of this address was read"), ({"quote": "too short"}, "its quote is too short"),
    ({"fact": "Fundy has tides of 99 metres."}, "its words do not hold the number 99")])
def test_add_fact_says_why_it_does_not_take_a_fact(tmp_path, knowing, wrong, problem):
    from agent_steps.write_the_report import own_tools

    agent = ResearchAgent(None, folder=tmp_path)
    agent.state = knowing
    add_fact, *_ = own_tools(agent)
    with pytest.raises(ValueError, match=problem):
        add_fact(**TABLES | wrong)
    assert len(knowing.extracted_facts) == 3


# ---- limits ----

def test_the_request_that_would_be_one_too_many_is_not_made_and_larger_limits_go_on(tmp_path, whole):
    run = Run(tmp_path, limits=Limits(calls=3))
    assert run() is Outcome.FAILED and len(run.sent) == 3
    assert run.printed[-1] == "Error: The limit of 3 requests is reached. All is saved: run again with larger limits to go on."
    once_more = Run(tmp_path, limits=Limits(calls=3))
    assert once_more() is Outcome.FAILED and once_more.sent == []   # over all sessions
    again = Run(tmp_path, limits=Limits(calls=9))
    assert again() is Outcome.OK and len(again.sent) == 6 and reports_of(tmp_path) == report_of_whole(whole)
    assert spent_by(again.agent.state) == spent_by(whole.agent.state)


@pytest.mark.parametrize("kind, enough", [("tokens", 20000), ("dollars", 0.025)])
def test_tokens_and_dollars_are_limited_over_all_sessions(tmp_path, whole, kind, enough):
    run = Run(tmp_path, limits=Limits(**{kind: enough}))
    assert run() is Outcome.FAILED and 0 < spent_by(run.agent.state)[kind] <= enough
    assert "The next request might take" in run.printed[-1] and run.printed[-1].endswith("with larger limits to go on.")
    once_more = Run(tmp_path, limits=Limits(**{kind: enough}))
    assert once_more() is Outcome.FAILED and once_more.sent == []
    again = Run(tmp_path, limits=Limits(**{kind: 10 * enough}))
    assert again() is Outcome.OK and again.visits[0] == run.visits[-1]
    assert reports_of(tmp_path) == report_of_whole(whole) and spent_by(again.agent.state)[kind] > enough


def test_where_nobody_knows_what_a_reply_took_a_limit_of_tokens_ends_the_run(tmp_path):
    run = Run(tmp_path, faults="missing_usage", limits=Limits(tokens=10**9))
    assert run() is Outcome.FAILED and len(run.sent) == 1
    assert "Nobody knows what an earlier reply took, so nothing was sent." in run.printed[-1]
    assert spent_by(run.agent.state) == {"calls": 1, "tokens": None, "dollars": None}
    assert Run(tmp_path, faults="missing_usage", reviews=[APPROVE])() is Outcome.OK   # without one it goes on


def test_a_model_keeps_a_limit_of_its_own_and_counts_what_the_agent_took(tmp_path):
    run = Run(tmp_path, reviews=[APPROVE])
    own, run.agent.model.options = run.agent.model, {"max_tokens": 3000}
    assert run() is Outcome.OK and own.usage.calls == 5 == spent_by(run.agent.state)["calls"] and own.options == {"max_tokens": 3000}
    assert {body["max_tokens"] for _, body in run.sent} == {3000}


# ---- files, and pages that give orders ----

@links
def test_files_are_written_in_the_folder_only(tmp_path):
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    outside.mkdir()
    folder.mkdir()
    (folder / "link").symlink_to(outside)
    names = ["../x.txt", str(outside / "x.txt"), "link/x.txt", "~/x.txt"]
    run, told = changing(folder, *[("save_to_file", {"filename": name, "content": "x"}) for name in names], decide={"save_to_file": "y"})
    assert all("Error: write_file was not run" in each for each in told) and not list(outside.iterdir())
    assert sorted(files_of(folder)) == ["agent_state.json", "report.html", "report.md"]


def test_a_protected_file_is_not_written_and_a_plain_one_is_read_after_a_yes(tmp_path):
    calls = [("save_to_file", {"filename": ".env", "content": "x"}), ("save_to_file", {"filename": "notes.txt", "content": "High at noon."}),
             ("read_file", {"filename": "notes.txt"}), ("read_file", {"filename": "../notes.txt"})]
    run, told = changing(tmp_path, *calls, decide={"save_to_file": "y", "read_file": "y"})
    assert "is protected" in told[0] and "High at noon." in told[2] and "leads out" in told[3]
    assert [call.name for call in run.asked_about] == [name for name, _ in calls]
    assert not (tmp_path / ".env").exists() and (tmp_path / "notes.txt").read_text(encoding="utf-8") == "High at noon."


def test_looking_something_up_is_not_asked_about(whole):
    assert whole.asked_about == [] and "change: fetch" in whole.visits


@pytest.mark.parametrize("name", ["report.md", "report.html"])
def test_a_report_that_cannot_be_written_is_a_failure_and_written_later(tmp_path, whole, name):
    (tmp_path / name).mkdir()
    run = Run(tmp_path)
    assert run() is Outcome.FAILED and re.match("Error: (?!Error)", run.printed[-2]) and name in run.printed[-2]
    assert run.printed[-1] == "Error: The phase 'finish' ended as failed."
    (tmp_path / name).rmdir()
    again = Run(tmp_path)
    assert again() is Outcome.OK and again.visits[0] == "finish: request" and reports_of(tmp_path) == report_of_whole(whole)


ADVERT = {"filename": "advert.txt", "content": "Eat at the Harbour Cafe"}


def test_a_page_that_gives_orders_is_named_in_the_report_and_not_obeyed(whole):
    text = check_citations(Path(whole.agent.workspace.folder))
    noticed = text.partition("## Noticed")[2].partition("##")[0]
    assert noticed.strip() == ("- data/library/harbour-cafe-tides.html holds an order to AI models. I did not follow it: "
                               "what stands in a page is data.")


@both_wires
@pytest.mark.parametrize("says, written", [("n", False), ("n: it is an advert", False), ("y", True)])
def test_a_model_that_obeys_a_page_writes_nothing_without_a_yes(tmp_path, monkeypatch, wire, says, written):
    monkeypatch.setattr(gather_sources, "RULES", "You are a research assistant.")
    run = Run(tmp_path, wire, reviews=[("Say more about the cafe on the quay and its guests", "expand"), APPROVE], decide={"save_to_file": says})
    assert run() is Outcome.OK
    assert [(call.name, call.arguments) for call in run.asked_about] == [("save_to_file", ADVERT)]
    assert (tmp_path / "advert.txt").exists() == written
    assert not [body for step, body in run.sent if step == "facts" and "tools" in body]


@both_wires
def test_after_a_q_nothing_is_written_and_the_person_decides_about_the_old_draft(tmp_path, wire):
    calls = [reply((f"call_{number}", "save_to_file", json.dumps(ADVERT))) for number in range(2)]
    run = Run(tmp_path, wire, says={"change": calls}, decide={"save_to_file": "q"})
    assert run() is Outcome.OK and run.visits.count("review_draft") == 2
    assert "Error: The draft could not be changed, and is as it was." in run.printed and not (tmp_path / "advert.txt").exists()


# ---- the person ----

@both_wires
def test_at_the_end_of_the_input_all_is_saved_and_the_error_passes(tmp_path, monkeypatch, capsys, whole, wire):
    class AtThePrompt(Run):
        approve_plan = staticmethod(HumanCheckpoint.approve_plan)
        select_sources = staticmethod(HumanCheckpoint.select_sources)

    types(monkeypatch, "1")   # approves the plan
    run = AtThePrompt(tmp_path, wire)
    with pytest.raises(HumanInputUnavailable):
        run()
    assert "Is this the plan?" in capsys.readouterr().out and run.visits[-1] == "search: search"
    again = Run(tmp_path, wire)
    assert again() is Outcome.OK and again.visits == whole.visits[whole.visits.index("select_sources"):]
    assert reports_of(tmp_path) == report_of_whole(whole)


def test_in_a_panel_the_person_decides_in_a_form(tmp_path, capsys, whole):
    model = connect("practice")
    worker = Worker(research, model, TOPIC, sources=LIBRARY, folder=tmp_path)
    clicks = {"Plan": ["approve"], "Sources": ["all"], "Facts": ["none"], "Outline": ["yes"], "Change": [FUNDY[0]]}
    drafts = iter([["expand"], ["approve"]])
    worker.start()
    while worker.is_alive() or not worker.events.empty():
        try:
            event = worker.events.get(timeout=0.05)
        except Exception:
            continue
        if event.stage == "ASK":
            [question] = event.questions
            worker.answers.put({question["question"]: clicks.get(question["header"]) or next(drafts)})
    assert finished(worker.outcome().state).keys() >= {each.name for each in PHASES}
    assert reports_of(tmp_path) == report_of_whole(whole) and model.usage.calls == 9
    assert "Done: 16 facts" in capsys.readouterr().out


def test_what_the_person_changes_is_kept_and_told(tmp_path):
    questions = ["Why are there tides?", "Who predicts them?", "How well?"]
    decide = {"approve_plan": (questions, ["tide tables", "storm surges"], True), "select_sources": LIBRARY.search("history of tide tables")}
    run = Run(tmp_path, decide=decide, reviews=[APPROVE])
    assert run() is Outcome.OK and run.visits.count("search: search") == 2
    text = check_citations(tmp_path)
    assert "Planning: approved by a person.** removed: What makes the tide" in text and "changed" not in text
    assert all(f"- {question}" in run.sent[1][1]["messages"][1]["content"] for question in questions)


def test_decisions_without_news_are_told_without_noise(whole):
    made = check_citations(Path(whole.agent.workspace.folder)).partition("## How this report was made")[2]
    assert "**Planning: approved by a person.**\n" in made and "**Reviewing: more wished for by a person.** feedback: Say more" in made
    assert not re.search("none|changed|began|orders", made) and "**Writing: outlined.**\n" in made


@pytest.mark.parametrize("faults", ["rate_limit", "overload"])
def test_a_service_that_is_busy_for_a_moment_changes_nothing(tmp_path, faults, whole):
    model = connect("practice", faults=faults)
    run = Run(tmp_path)
    run.agent.model = model
    assert run() is Outcome.OK and reports_of(tmp_path) == report_of_whole(whole)


@pytest.mark.parametrize("fault", ["silence", "length_stop", "truncated_call"])
def test_replies_that_are_empty_or_cut_end_in_a_failure_and_nothing_is_lost(tmp_path, fault, whole):
    run = Run(tmp_path, faults={1: fault, 2: fault})
    assert run() is Outcome.FAILED and run.printed[-1].startswith("Error: The phase 'facts' ended as failed.")
    assert Run(tmp_path)() is Outcome.OK


def test_an_empty_topic_is_refused_before_anything_is_begun(tmp_path):
    agent = ResearchAgent(connect("practice"), folder=tmp_path)
    with pytest.raises(ValueError, match="The topic is empty"):
        agent.run(" ")
    assert not list(tmp_path.iterdir())


def test_the_folded_solutions_need_nothing_that_the_notebook_has_not_imported_or_defined(capsys):
    from agent_steps import write_the_report

    [book] = (ROOT / "notebooks").glob("*_write_the_report.ipynb")
    nodes = [node for cell in cells_of(book, "code") for node in ast.parse(source_of(cell)).body]
    stored = {each.id for node in nodes for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    known = {name: value for name, value in vars(write_the_report).items() if name in stored | book_definitions(book).keys()}
    exec("\n".join(ast.unparse(node) for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))), known)
    exercises = [each for each in stubs_and_solutions() if each[0] == "write_the_report"]
    for _, _, stub, solution in exercises:
        exec(with_solution(stub, solution), dict(known))
    assert capsys.readouterr().out.count("solved.") == len(exercises) == 3
