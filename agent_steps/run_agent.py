"""Lesson 9: the whole agent in one function."""
from dataclasses import dataclass, field

from agent_steps.classroom.asking import ask_approval
from agent_steps.classroom.run_table import failed, run_html, run_text
from agent_steps.classroom.show_call import short_call, show_text
from agent_steps.dispatch_table import call_tool, observation
from agent_steps.parse_the_tool_call import ToolCall, ToolCallError, parse_tool_call
from agent_steps.providers import ModelError

# what a reply without a call is answered with
NUDGE = "Please call a tool, in the form <tool_call>{...}</tool_call>. Use task_complete when you are done."
# what is added to the third equal result in a row
ENOUGH = "\nThis is the third time that you made this call and got this result. Do something else, or call task_complete."


@dataclass
class Turn:
    """One step of a run: what was sent, what came back, what was done about it."""

    step: int
    sent: str
    reply: str = ""
    call: ToolCall | None = None
    answer: str | None = None
    result: str | None = None
    note: str | None = None
    used: object = None   # tokens of this one request, and their cost


@dataclass
class AgentRun:
    """What a run leaves behind. In a notebook it shows itself turn by turn.

    steps: replies asked for. tool_calls: calls that were approved. stop_reason: "completed", "max_steps", "quit",
    "no_tool_calls", "repeating", "budget" or "error". summary: what the model says that it did.
    """

    task: str
    steps: int = 0
    tool_calls: int = 0
    completed: bool = False
    stop_reason: str | None = None
    summary: str | None = None
    turns: list[Turn] = field(default_factory=list)
    system_prompt: str = ""
    messages: list = field(default_factory=list)   # the chat's own list, not a copy

    def to_row(self):
        """Return what is known about the run as a dict, one row of a table."""
        refused = sum(str(turn.answer).startswith("n") for turn in self.turns)
        return {"steps": self.steps, "tool_calls": self.tool_calls, "completed": self.completed, "stop_reason": self.stop_reason,
                "refused": refused, "errors": sum(failed(turn.result) for turn in self.turns), "summary": self.summary}

    def to_frame(self):
        """Return a pandas table of one row, so that the rows of many runs can be stacked."""
        import pandas

        return pandas.DataFrame([self.to_row()])

    def _repr_html_(self):
        return run_html(self)

    def __repr__(self):
        return run_text(self)


def run_agent(chat, task, max_steps=10, *, approve=ask_approval, call_tool=call_tool, quiet=False):
    """Work on a task until it is complete, the person quits, or nothing more can come of it.

    chat: a fresh Chat whose system prompt describes the tools. approve: from a ToolCall to "y", "n", "n: a reason" or "q".
    call_tool: from a name and arguments to the result as text. quiet: print nothing.
    Returns an AgentRun. Raises ValueError if the chat has a history.
    """
    if chat.messages:
        raise ValueError("This chat already has a history. Give each run a fresh one: Chat(model, system_prompt).")
    say = (lambda *words, **options: None) if quiet else print
    run, message = AgentRun(task, system_prompt=chat.system_prompt, messages=chat.messages), task
    while run.steps < max_steps and run.stop_reason is None:
        run.steps += 1
        say(f"\n===== Step {run.steps} | tool calls so far: {run.tool_calls} =====")
        turn = Turn(run.steps, message)
        run.turns.append(turn)

        # THINK
        think(chat, run, turn)
        say(show_text(turn.reply))
        if turn.call is None:
            message = nudge(chat, run, turn)
            say(message)
            continue

        # APPROVE
        turn.answer = approval(approve, turn.call)
        if turn.answer == "q":
            run.stop_reason = "quit"
        elif turn.answer != "y":
            message = refusal(turn)
        else:
            # ACT
            run.tool_calls += 1
            turn.result = call_tool(turn.call.name, turn.call.arguments)
            say(f"Result of {turn.call.name}:", show_text(turn.result), sep="\n")
            # OBSERVE
            message = observe(run, turn)
    run.stop_reason = run.stop_reason or "max_steps"
    return run


def think(chat, run, turn):
    """Ask for a reply and look for a call in it. What is wrong with the reply is kept in turn.note."""
    try:
        turn.reply = chat.send(turn.sent)
        turn.used = getattr(chat.model, "last_use", None)
        turn.call = parse_tool_call(turn.reply)
    except ToolCallError as error:
        turn.note = f"No tool was run. {error}"
    except ModelError as error:
        turn.note = str(error)
        run.stop_reason = error.stop_reason


def nudge(chat, run, turn):
    """Return what a reply without a usable call is answered with. The third such reply in a row ends the run."""
    if run.stop_reason is None and getattr(chat.model, "stop_reason", None) == "length":
        turn.note = f"{turn.note or ''} Your reply was cut off at the limit on its length. Write less, and end with a tool call.".strip()
    last = run.turns[-3:]
    if run.stop_reason is None and len(last) == 3 and all(each.call is None for each in last):
        run.stop_reason = "no_tool_calls"
    return turn.note or NUDGE


def approval(approve, call):
    """Ask, and take nothing but a clear answer: what is not understood must not count as yes."""
    answer = approve(call)
    if answer in ("y", "n", "q") or str(answer).startswith("n: "):
        return answer
    raise ValueError(f'approve must return "y", "n", "n: a reason" or "q", not {answer!r}.')


def refusal(turn):
    """Return what the model is told after "n": which call was not run, by whose will, and why if a reason was given."""
    reason = turn.answer.partition("n: ")[2]
    return f"Not run: the person refused {short_call(turn.call)}." + (f" The reason: {reason}" if reason else "")


def observe(run, turn):
    """Return the observation, and see whether the run is over: completed, or going round in circles."""
    if turn.call.name == "task_complete" and not turn.result.startswith("Error: "):
        run.completed, run.stop_reason, run.summary = True, "completed", turn.result
    repeats = 0
    for earlier in reversed(run.turns):
        if earlier.result is None:   # nothing ran in this turn
            continue
        if (earlier.call, earlier.result) != (turn.call, turn.result):
            break
        repeats += 1
    if repeats > 3:
        run.stop_reason = "repeating"
    return observation(turn.call.name, turn.result) + (ENOUGH if repeats == 3 else "")
