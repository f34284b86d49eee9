"""A run in a thread of its own, which tells what it is doing and asks its questions from there.

The thread holds no widget and prints nothing: it puts events into a queue, and waits for answers in another one.
"""
import copy
import queue
import threading
from typing import NamedTuple

from agent_steps import CourseError
from agent_steps.classroom.question_console import QUESTIONER
from agent_steps.providers.formats import text_of, told_in
from agent_steps.providers.usage import shown_use
from agent_steps.wall.child import STOP_SIGNAL


class Event(NamedTuple):
    """Something that happened in the run.

    stage: "THINK", "APPROVE", "ACT" or "OBSERVE", the four stages of the loop; "RULE" where a rule answered for the person;
    "ASK" where the model has questions.
    call: at APPROVE, the call that is proposed. text: at APPROVE the model's reply, at OBSERVE what the model is told, at RULE the answer.
    took: the tokens so far, and their cost, in words; an empty text before the first reply.
    questions: at ASK, those of the model.
    """

    stage: str
    call: object = None
    text: str = ""
    took: str = ""
    questions: list = ()


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

    def native_reply(self, messages, tools=(), **parameters):
        """As reply, for messages and tools in the model's own format."""
        self.worker.will_think(messages)
        message = self.model.native_reply(messages, tools, **parameters)
        self.worker.has_thought(text_of(message), getattr(self.model, "last_use", None))
        return message

    def __getattr__(self, name):
        if name == "model":   # asked for before there is one: while a copy is made
            raise AttributeError(name)
        return getattr(self.model, name)

    def __setattr__(self, name, value):
        place = self.__dict__ if name in ("model", "worker") else self.model.__dict__
        place[name] = value

    def __copy__(self):
        """A copy of the model that is watched too: within_budget (lesson 18) makes one, and sets limits on it."""
        return WatchedModel(copy.copy(self.model), self.worker)

    def __repr__(self):
        return repr(self.model)


class Worker(threading.Thread):
    """Calls ``function(chat_or_model, *arguments, approve=..., **options)`` in a thread.

    A chat is given as a copy, which the thread has to itself; ``hand_back`` gives the chat its messages,
    and nothing else that the function set on it.
    policy: what answers for the person, or None: ``policy.answer(call, ask)`` asks only where no rule decides.
    A tool that asks the person asks here as well, in this thread only (see `question_console`).
    events: a queue of what happens, in order. answers: a queue for the answers to its questions.
    """

    def __init__(self, function, chat_or_model, *arguments, policy=None, **options):
        super().__init__(daemon=True)   # it must not keep the kernel from ending
        self.policy = policy
        self.function, self.arguments, self.options = function, arguments, options
        self.original, self.watched = chat_or_model, self.watch(chat_or_model)
        self.events, self.answers = queue.SimpleQueue(), queue.SimpleQueue()
        self.one_question, self.stopped = threading.Lock(), threading.Event()
        self.is_thinking, self.last_reply, self.uses = False, "", []
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
        nobody = QUESTIONER.set(self.ask_person)
        try:
            self.result = self.function(self.watched, *self.arguments, approve=self.approve, **self.options)
        except BaseException as error:
            self.error = error
        finally:
            STOP_SIGNAL.reset(before)
            QUESTIONER.reset(nobody)

    def tell(self, stage, call=None, text="", questions=()):
        """Put an event into the queue."""
        self.events.put(Event(stage, call, text, shown_use(self.uses) if self.uses else "", questions))

    def will_think(self, messages):
        """The model is about to be asked. From the second reply on that means: something was observed."""
        self.go_on()
        if self.is_thinking:   # the request before has failed, and this is another try
            return
        if self.uses and messages:
            self.tell("OBSERVE", text=told_in(messages))
        self.is_thinking = True
        self.tell("THINK")

    def has_thought(self, text, use=None):
        """The model has answered. use: what the reply took, a Usage, or None for unknown."""
        self.go_on()
        self.is_thinking = False
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
        """Ask about a call, and wait for the answer."""
        return self.wait_for_answer("APPROVE", call, self.last_reply)

    def ask_person(self, questions):
        """Ask the questions of the model, and wait for the answers: from the text of each question to a list."""
        return self.wait_for_answer("ASK", questions=questions)

    def wait_for_answer(self, stage, *event, **more):
        """Tell that there is a question, and wait as long as it takes. One question at a time: an answer belongs to one of them."""
        with self.one_question:
            self.tell(stage, *event, **more)
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
