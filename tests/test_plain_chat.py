"""Lesson 1: a chat keeps what was said, and sends all of it."""
import httpx2
import pytest

from agent_steps.plain_chat import Chat
from agent_steps.practice import transport
from agent_steps.providers import ModelError, connect
from scripted import scripted_chat

WIRES = pytest.mark.parametrize("wire", ["openai", "anthropic"])


class Recording:
    """A model that keeps what it was sent."""

    def __init__(self, reply="yes"):
        self.sent, self.answer = [], reply

    def reply(self, system_prompt, messages):
        self.sent.append((system_prompt, [dict(message) for message in messages]))
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


def test_send_returns_the_text_of_the_reply():
    assert scripted_chat("Good day.").send("Hello") == "Good day."


def test_the_messages_are_a_plain_list_of_roles_and_contents():
    chat = scripted_chat("one", "two")
    chat.send("a")
    chat.send("b")
    assert chat.messages == [
        {"role": "user", "content": "a"}, {"role": "assistant", "content": "one"},
        {"role": "user", "content": "b"}, {"role": "assistant", "content": "two"},
    ]


def test_all_that_was_said_is_sent_again():
    model = Recording()
    chat = Chat(model, "Be brief.")
    chat.send("a")
    chat.send("b")
    assert model.sent == [
        ("Be brief.", [{"role": "user", "content": "a"}]),
        ("Be brief.", [{"role": "user", "content": "a"}, {"role": "assistant", "content": "yes"}, {"role": "user", "content": "b"}]),
    ]


@WIRES
def test_a_chat_remembers_because_its_history_is_sent(wire):
    chat = Chat(connect("practice", wire=wire))
    chat.send("My name is Ada.")
    assert "Ada" in chat.send("What is my name?")


@WIRES
def test_without_the_history_the_model_does_not_know(wire):
    chat = Chat(connect("practice", wire=wire))
    chat.send("My name is Ada.")
    chat.messages.clear()
    assert "Ada" not in chat.send("What is my name?")


@pytest.mark.parametrize("error", [ModelError("It did not answer."), KeyboardInterrupt(), RuntimeError("broken")])
def test_a_request_that_fails_leaves_the_messages_as_they_were(error):
    chat = Chat(Recording(), "")
    chat.send("a")
    before = list(chat.messages)
    chat.model.answer = error
    with pytest.raises(type(error)):
        chat.send("b")
    assert chat.messages == before


@WIRES
def test_a_refusal_by_the_service_leaves_the_messages_as_they_were(wire):
    chat = Chat(connect("practice", wire=wire, faults={2: "always rate_limit"}, max_retries=0))
    chat.send("hello")
    with pytest.raises(ModelError):
        chat.send("hello")
    assert len(chat.messages) == 2
    with pytest.raises(ModelError):
        chat.send("hello")
    assert len(chat.messages) == 2


@WIRES
def test_a_chat_goes_on_after_a_request_that_failed(wire):
    chat = Chat(connect("practice", wire=wire, faults={1: "wrong_key"}, max_retries=0))
    with pytest.raises(ModelError):
        chat.send("hello")
    chat.model = connect("practice", wire=wire)
    assert chat.send("hello").startswith("Hello")


@WIRES
@pytest.mark.parametrize("empty", ["", " ", "\n\n"])
def test_an_empty_reply_does_not_spoil_the_conversation(wire, empty):
    chat = scripted_chat(empty, "Here I am.", wire=wire)
    assert chat.send("a").strip() == ""
    assert chat.messages[-1] == {"role": "assistant", "content": "(empty reply)"}
    assert chat.send("b") == "Here I am."


@WIRES
def test_half_a_character_in_a_reply_does_not_spoil_the_conversation(wire, monkeypatch):
    real = transport.answer

    def answer(*request):
        body = real(*request).text.replace("HALF", r"\ud83d")   # as a service may write it in its JSON
        return httpx2.Response(200, content=body.encode(), headers={"content-type": "application/json"})

    monkeypatch.setattr(transport, "answer", answer)
    chat = scripted_chat("a HALF b", "Here I am.", wire=wire)
    assert chat.send("a") == "a ? b"
    assert chat.send("b") == "Here I am."


def test_printing_a_chat_shows_the_conversation():
    chat = scripted_chat("Good day.", system_prompt="Be kind.")
    chat.send("Hello")
    assert repr(chat) == "system: Be kind.\nuser: Hello\nassistant: Good day."


def test_two_chats_share_no_messages():
    one, two = scripted_chat("x"), scripted_chat("x")
    one.send("a")
    assert two.messages == []
