"""The three things that a plan can do next: say something, call a tool, finish."""
import dataclasses

from agent_steps.practice.request import Call, Reply, Request
from agent_steps.practice.situation import Situation, json_call, lines, read_situation


def line(key: str, **values) -> str:
    """A sentence from lines.toml with its {names} filled in."""
    return lines()["says"][key].format(**values)


def say(key: str, **values) -> Reply:
    """A reply in plain text."""
    return Reply(line(key, **values))


def call(situation: Situation, thought: str, name: str, /, **arguments) -> Reply:
    """A tool call after a sentence of reasoning: natively where tools came natively, in <tool_call> tags otherwise."""
    known = situation.tools.get(name, {}).get("properties", {})
    if len(known) == len(arguments) == 1:   # a single argument has the name that its description gives it
        arguments = dict(zip(known, arguments.values()))
    if situation.native:
        return Reply(thought, (Call(name, arguments, f"call_{situation.turn}"),), "tool_calls")
    if "<tool_call>" not in situation.system:
        return say("how_to_ask", tool=name)
    return Reply(f"{thought}\n{json_call(name, arguments)}")


def finish(situation: Situation, text: str, done: bool = True) -> Reply:
    """End the task: by task_complete where there is such a tool, by a plain answer otherwise.

    done: False where the task was not fulfilled; the reply and its text say so.
    """
    if "task_complete" in situation.tools:
        return call(situation, "The task is finished." if done else "I have to stop here.", "task_complete", summary=text)
    return Reply(text)


def first_listing(situation: Situation) -> str | Reply:
    """The first listing of the working folder; or the reply that asks for it, or that ends the task because it failed."""
    step = next((step for step in situation.steps if step.call.name == "list_files"), None)
    if step is None:
        return call(situation, line("look", folder="the current folder"), "list_files", path=".")
    return finish(situation, line("failed", error=step.result), done=False) if step.failed else step.result


def stopped(situation: Situation) -> Reply | None:
    """The reply to a refusal, or None if nothing was refused. A refused call is not asked for again."""
    if not situation.steps or not situation.steps[-1].refused:
        return None
    name, reason = situation.steps[-1].call.name, reason_in(situation.steps[-1].result)
    if name == "task_complete":
        return say("refused_end")
    return finish(situation, line("refused_why" if reason else "refused", tool=name, reason=reason), done=False)


def think_aloud(reply: Reply, request: Request) -> Reply:
    """The same reply with the thoughts before it."""
    situation = read_situation(request)
    plan = f"I call {reply.calls[0].name}." if reply.calls else "I write my reply."
    return dataclasses.replace(reply, thinking=line("thinks", task=situation.task, steps=len(situation.steps), plan=plan))


def reason_in(refusal: str) -> str:
    """The reason that the person gave, or an empty text."""
    return refusal.partition("The reason: ")[2].strip()
