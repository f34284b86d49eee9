"""What many tests need: replies of a scripted model, a chat with it, and a person who types."""
import json

from agent_steps.plain_chat import Chat
from agent_steps.providers import connect


def call_text(name, **arguments):
    """A reply that calls one tool."""
    return f'I will use {name}.\n<tool_call>{json.dumps({"name": name, "arguments": arguments})}</tool_call>'


def done(summary="All is done."):
    """A reply that ends the task."""
    return call_text("task_complete", summary=summary)


def scripted_chat(*replies, system_prompt="You have tools.", **options):
    """A chat whose n-th reply is the n-th of these, through a real client."""
    return Chat(connect("practice", script=list(replies), **options), system_prompt)


def types(monkeypatch, *answers):
    """Let a person type these lines, and then close the input."""
    waiting = list(answers)

    def typed_line(prompt=""):
        if not waiting:
            raise EOFError
        return waiting.pop(0)

    monkeypatch.setattr("builtins.input", typed_line)
    return waiting
