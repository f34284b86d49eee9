"""Lesson 16: the loop as a library would have it: limits, spend, history, and an answer to every call."""
import copy
import json
import time
import warnings
from dataclasses import dataclass, field, replace

from agent_steps.classroom.show_call import short_call, show_text
from agent_steps.native_tools import (
    anthropic_calls, anthropic_results, check_tools, openai_calls, openai_results, run_tool, to_anthropic, to_openai)
from agent_steps.providers import ModelError
from agent_steps.providers.formats import can_be_sent_back, ids_in, text_of
from agent_steps.providers.tools import EndsTheTurn, with_server
from agent_steps.providers.usage import Usage
from agent_steps.run_agent import Turn, approval, refusal

# for each format: how tools are described, calls read, results sent, and calls forbidden
FORMATS = {
    "openai": (to_openai, openai_calls, openai_results, {"tool_choice": "none"}),
    "anthropic": (to_anthropic, anthropic_calls, anthropic_results,
                  {"tool_choice": {"type": "none"}}),
}
# the columns of a tool history
HISTORY = ["round", "name", "arguments", "result"]
# how a reply ends that is whole, and how one ends that was broken off
FINISHED = {"end", "stop_sequence", "tool_calls", None}
UNFINISHED = {"length", "content_filter", "refusal"}
# why the last call of a cut reply is not run
CUT = "The reply was cut off, perhaps in the middle of this call. Nothing was run. Write less."
# what the model is told of the call that Ctrl-C fell into
INTERRUPTED = "Error: interrupted. It may have run in part."
# and of calls that were not reached any more
STOPPED = "Error: the run was stopped before. Nothing was run."
# what the model is told after its last round
LAST_WORD = "You have used up your rounds of tool calls. Now give your best answer, without one."


@dataclass
class ToolLoopResult:
    """What a loop leaves behind.

    text: of the last reply; it is the answer if stop_reason is "answer". messages: all of them, the
    answer too; the list to go on from. stop_reason: "answer", "max_rounds", "quit", "tool_limit",
    "error", "budget", "deferred" (lesson 21), or how the answer broke off. rounds: replies with calls.
    tool_calls: those that were approved. used: requests and tokens, None where a reply reported none.
    """

    messages: list
    text: str = ""
    stop_reason: str | None = None
    rounds: int = 0
    tool_calls: int = 0
    used: Usage = field(default_factory=Usage)
    rows: list = field(default_factory=list)
    left: object = None   # by a tool that ended the turn, for whoever called the loop

    @property
    def tool_history(self):
        """A pandas table with one row a call: round, name, arguments as JSON, result."""
        import pandas

        types = dict.fromkeys(HISTORY, str) | {"round": "int64"}   # also without rows
        return pandas.DataFrame(self.rows, columns=HISTORY).astype(types)

    @property
    def usage(self):
        """The tokens of all requests together, and their cost in dollars. None where unknown."""
        return self.used.to_dict()

    @property
    def spend(self):
        """What the loop took: model_calls, tokens sent and received, tool_calls."""
        return {"model_calls": self.used.calls, "sent": self.used.input_tokens,
                "received": self.used.output_tokens, "tool_calls": self.tool_calls}


class ToolLimitReached(RuntimeError):
    """The next tool call would be one too many. result: a ToolLoopResult to go on from."""

    def __init__(self, limit, result):
        super().__init__(f"The limit of {limit} tool calls is reached.")
        self.result = result


@dataclass
class ToolLoop:
    """One loop at work: what it was given, as for call_with_tools, and the result so far."""

    model: object
    tools: dict
    result: ToolLoopResult
    max_tool_calls: int | None = None
    tries: int = 1
    wait_seconds: float = 5.0
    approve: object = None
    on_append: object = None
    verbose: bool = False
    parameters: dict = field(default_factory=dict)

    def __post_init__(self):
        describe, self.calls_in, self.results_of, self.no_calls = FORMATS[self.model.wire]
        self.described = describe(self.tools.values())
        self.taken = ids_in(self.result.messages)   # no id is given twice


def request(loop, **more):
    """Make a request, and again if it failed for a reason that may pass. Return the message.

    Raises ModelError, which holds the result so far.
    """
    for tries_left in reversed(range(loop.tries)):
        try:
            return loop.model.native_reply(
                loop.result.messages, loop.described, **loop.parameters | more)
        except ModelError as error:
            if not tries_left or not error.may_pass:
                error.result = loop.result
                loop.result.stop_reason = error.stop_reason
                raise
            time.sleep(loop.wait_seconds)


def next_reply(loop, **more):
    """Get a reply and count what it took. Return the message, mended, and its calls."""
    message = can_be_sent_back(request(loop, **more))
    loop.result.used.count(loop.model.last_request)
    calls = loop.calls_in(message, loop.taken)
    if calls and loop.model.stop_reason in UNFINISHED:
        calls[-1] = replace(calls[-1], problem=CUT)
    loop.result.text = text_of(message)
    if not calls and not loop.result.text.strip():
        message = {"role": "assistant", "content": "(empty reply)"}
    return message, calls


def act(loop, call, note):
    """Ask about a call, run it, and return the text that answers it. Raises ToolLimitReached.

    note: takes the text that is to stand there, also in a saved history, if the tool never returns.
    """
    result, call = loop.result, replace(call, arguments=copy.deepcopy(call.arguments))
    if result.stop_reason:
        return STOPPED
    if call.problem:
        return run_tool(loop.tools, call)
    if loop.max_tool_calls is not None and result.tool_calls >= loop.max_tool_calls:
        result.stop_reason = "tool_limit"
        limit = ToolLimitReached(loop.max_tool_calls, result)
        note(f"Error: {limit} Nothing was run.")
        raise limit
    answer = approval(loop.approve, with_server(call, loop.tools)) if loop.approve else "y"
    if answer == "q":
        result.stop_reason = "quit"
    if answer != "y":
        return refusal(Turn(result.rounds, "", call=call, answer=answer))
    result.tool_calls += 1
    note(INTERRUPTED)
    try:
        return run_tool(loop.tools, call)
    except EndsTheTurn as last:
        result.stop_reason, result.left = last.stop_reason, last.left
        return last.text


def written(loop):
    """Tell on_append that the messages have changed. What it does wrong cannot break the run."""
    try:
        if loop.on_append:
            loop.on_append(list(loop.result.messages))
    except (Exception, SystemExit) as error:
        warnings.warn(f"on_append failed: {type(error).__name__}: {error}", stacklevel=2)


def answer_all(loop, message, calls):
    """Write a reply down, with one answer to each of its calls, and run these.

    The answers stand there from the beginning, as "not run", and each becomes what comes of its
    call. So the messages can be sent at every moment, whatever happens.
    """
    messages, texts = loop.result.messages, [STOPPED] * len(calls)
    rows = [{"round": loop.result.rounds, "name": call.name,
             "arguments": json.dumps(call.arguments, ensure_ascii=False), "result": STOPPED} for call in calls]
    place = len(messages) + 1   # of the answers
    messages += [message, *(loop.results_of(list(zip(calls, texts))) if calls else [])]
    loop.result.rows += rows
    written(loop)
    for number, call in enumerate(calls):
        def note(text):
            texts[number] = rows[number]["result"] = text
            messages[place:] = loop.results_of(list(zip(calls, texts)))
            written(loop)

        note(act(loop, call, note))
        if loop.verbose:
            print(f"{short_call(call)}\n{show_text(texts[number])}")


def best_answer(loop):
    """Ask once more after the last round, with the tools described but not allowed."""
    rounds = loop.result.rounds
    warnings.warn(f"The model called tools in all {rounds} rounds. Now it must answer.", stacklevel=3)
    loop.result.messages.append({"role": "user", "content": LAST_WORD})
    try:
        message, calls = next_reply(loop, **(loop.no_calls if loop.tools else {}))
    except BaseException:   # the question was for this reply only
        loop.result.messages.pop()
        raise
    loop.result.stop_reason = "max_rounds"
    answer_all(loop, message, calls)


def start(messages):
    """Return the list of messages to begin with. Raises TypeError for what is none."""
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    if not isinstance(messages, list) or not all(isinstance(each, dict) for each in messages):
        raise TypeError("messages is a text, or a list of messages, which are dicts.")
    return messages


def call_with_tools(model, messages, tools, *, handler=None, max_rounds=8, max_tool_calls=None,
                    tries=1, wait_seconds=5.0, approve=None, on_append=None, verbose=False,
                    **parameters):
    """Let a model call tools until it answers. Returns a ToolLoopResult.

    messages: a text, or a list in the model's own format. The list is extended in place and
    can be gone on from, whatever happens. tools, handler: as for check_tools; None: no tools.
    max_rounds: replies with calls; after them the model is asked for its best answer, with a warning.
    max_tool_calls: None for no limit. tries, wait_seconds: for requests that fail for a passing
    reason, on top of the client's own; a tool is never run again. approve: from a call to "y",
    "n", "n: a reason" or "q"; None asks nobody. on_append: called with a copy of the list after
    each change; the last message may have changed. parameters: more of the request.
    Raises ToolLimitReached and ModelError, which hold the result so far, ValueError for limits
    and tools that cannot be, and TypeError for messages that are none.
    """
    if max_rounds < 1 or tries < 1 or (max_tool_calls or 0) < 0:
        raise ValueError("max_rounds and tries are 1 or more, max_tool_calls is 0 or more.")
    if parameters.get("stream"):
        raise ValueError("call_with_tools does not stream. Lesson 17 does.")
    result = ToolLoopResult(start(messages), used=Usage(model=model))
    tools = {} if tools is None else check_tools(tools, handler)
    loop = ToolLoop(model, tools, result, max_tool_calls, tries, wait_seconds, approve, on_append,
                    verbose, parameters)
    while result.stop_reason is None and result.rounds < max_rounds:
        message, calls = next_reply(loop)
        if calls:
            result.rounds += 1
        else:
            result.stop_reason = "answer" if model.stop_reason in FINISHED else model.stop_reason
        answer_all(loop, message, calls)
    if result.stop_reason is None:
        best_answer(loop)
    return result
