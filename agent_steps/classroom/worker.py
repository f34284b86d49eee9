"""A run in a thread of its own, which tells what it is doing and asks its questions from there.

The thread holds no widget and prints nothing: it puts events into a queue, and waits for answers in another one.
"""
import copy
import queue
import threading
from typing import NamedTuple

from agent_steps import CourseError
from agent_steps.providers.usage import shown_use
from agent_steps.wall.child import STOP_SIGNAL


class Event(NamedTuple):
    """Something that happened in the run.

    stage: "THINK", "APPROVE", "ACT" or "OBSERVE", the four stages of the loop; "RULE" where a rule answered for the person.
    call: at APPROVE, the call that is proposed. text: at APPROVE the model's reply, at OBSERVE what the model is told, at RULE the answer.
    took: the tokens so far, and their cost, in words; an empty text before the first reply.
    """

    stage: str
    call: object = None
    text: str = ""
    took: str = ""


class WatchedModel:
    """A model that tells a worker about each request, and is otherwise the model that it stands for."""

    def __init__(self, model, worker):
        self.model = model
        self.worker = worker

    def reply(self, system_prompt, messages):
        """Pass the request on. Raises KeyboardInterrupt once the worker was stopped, so that nothing follows."""
        self.worker.will_think(messages)
        text = self.model.reply(system_prompt, messages)
        self.worker.has_thought(text, getattr(self.model, "last_use", None))
        return text

    def __getattr__(self, name):
        if name == "model":   # asked for before there is one: while a copy is made
            raise AttributeError(name)
        return getattr(self.model, name)

    def __repr__(self):
        return repr(self.model)


class Worker(threading.Thread):
    """Calls ``function(chat_or_model, *arguments, approve=..., **options)`` in a thread.

    A chat is given as a copy, which the thread has to itself; ``hand_back`` gives the chat its messages,
    and nothing else that the function set on it.
    policy: what answers for the person, or None: ``policy.answer(call, ask)`` asks only where no rule decides.
    events: a queue of what happens, in order. answers: a queue for the answers to its questions.
    """

    def __init__(self, function, chat_or_model, *arguments, policy=None, **options):
        super().__init__(daemon=True)   # it must not keep the kernel from ending
        self.policy = policy
        self.function, self.arguments, self.options = function, arguments, options
        self.original, self.watched = chat_or_model, self.watch(chat_or_model)
        self.events, self.answers = queue.SimpleQueue(), queue.SimpleQueue()
        self.one_question, self.stopped = threading.Lock(), threading.Event()
        self.requests, self.last_reply, self.uses = 0, "", []
        self.result, self.error = None, None

    def watch(self, chat_or_model):
        """Return a model that is watched, or a copy of a chat that speaks to one."""
        if hasattr(chat_or_model, "reply"):
            return WatchedModel(chat_or_model, self)
        chat = copy.copy(chat_or_model)
        chat.model, chat.messages = WatchedModel(chat.model, self), list(chat.messages)
        return chat

    def run(self):
        """What the thread does. Whatever ends the function is kept, for the cell to return or to raise."""
        before = STOP_SIGNAL.set(self.stopped)   # a child process that a tool starts here is killed by stop()
        try:
            self.result = self.function(self.watched, *self.arguments, approve=self.approve, **self.options)
        except BaseException as error:
            self.error = error
        finally:
            STOP_SIGNAL.reset(before)

    def tell(self, stage, call=None, text=""):
        """Put an event into the queue."""
        self.events.put(Event(stage, call, text, shown_use(self.uses) if self.uses else ""))

    def will_think(self, messages):
        """The model is about to be asked. From the second time on that means: something was observed."""
        self.go_on()
        if self.requests and messages:
            self.tell("OBSERVE", text=messages[-1]["content"])
        self.requests += 1
        self.tell("THINK")

    def has_thought(self, text, use=None):
        """The model has answered. use: what the reply took, a Usage, or None for unknown."""
        self.go_on()
        self.uses.append(use)
        self.last_reply = text

    def approve(self, call):
        """Decide about a call: by the policy's rules where they answer, else by asking."""
        asked = []
        answer = self.policy.answer(call, lambda call: asked.append(call) or self.ask(call)) if self.policy else self.ask(call)
        if self.policy and not asked:
            self.tell("RULE", call, answer)
        if answer == "y":
            self.tell("ACT", call)
        return answer

    def ask(self, call):
        """Ask about a call, and wait for the answer as long as it takes. One question at a time: an answer belongs to one call."""
        with self.one_question:
            self.tell("APPROVE", call, self.last_reply)
            answer = self.answers.get()
            self.go_on()
            return answer

    def stop(self):
        """Let nothing more happen: an open question is not answered, a child process is killed, a late reply is dropped."""
        self.stopped.set()
        self.answers.put("q")

    def go_on(self):
        """Raises KeyboardInterrupt after stop()."""
        if self.stopped.is_set():
            raise KeyboardInterrupt

    def hand_back(self):
        """Give the chat what was said: everything after a whole run, the whole pairs of message and reply after a stop."""
        if not hasattr(self.original, "reply"):
            said = self.watched.messages
            self.original.messages = said[:len(said) // 2 * 2] if self.is_alive() else said

    def outcome(self):
        """Return what the function returned, or raise what it raised."""
        if self.error is None:
            return self.result
        if isinstance(self.error, Exception):
            raise self.error
        raise CourseError(f"The run ended with {type(self.error).__name__}.")   # itself it would end the kernel
