"""The exercises of lesson 1."""
from agent_steps.classroom.checks import want

CONVERSATION = [
    {"role": "user", "content": "first question"},
    {"role": "assistant", "content": "first answer"},
    {"role": "user", "content": "second question"},
    {"role": "assistant", "content": "second answer"},
]


def exercise_1(last_question):
    """last_question(messages): the content of the last message with the role "user", None if there is none."""
    found = last_question(list(CONVERSATION))
    want(found is not None and found is not ..., "last_question gave back nothing. Return a text.")
    want(found != "second answer", "That is the last message, but the model wrote it. Look at the role.")
    want(found != "first question", "That is the first question, not the last one.")
    want(found == "second question", f"For a list whose last question is 'second question', it gave {found!r}.")
    found = last_question(CONVERSATION[:3])
    want(found == "second question", f"If the question has no answer yet, it gave {found!r}.")
    want(last_question([]) is None, "For an empty list it should give None.")


def exercise_2(fork, chat):
    """fork(chat): a second chat with the same past, whose future is its own."""
    before = [dict(message) for message in chat.messages]
    want(before, "Give the check a chat in which something was said: fork(chat) should have a past to take over.")
    other = fork(chat)
    want(type(other) is type(chat), "fork should give back a Chat.")
    want(other is not chat, "That is the same chat. Make a new one.")
    want(other.messages == before, "The new chat does not know what was said before.")
    want(other.system_prompt == chat.system_prompt, "The new chat has another system prompt.")
    other.send("Hello")
    shared, chat.messages[:] = chat.messages != before, before
    want(not shared, "A message to the new chat turned up in the old one: both share one list.")


def exercise_3(chat):
    """A chat whose system prompt makes the model answer in capital letters."""
    want(chat.system_prompt.strip(), "The system prompt is still empty.")
    reply = chat.send("How do I list the files in a folder in Python?")
    want(reply.isupper(), f"The model answered: {reply[:40]}... It looks for words such as 'capitals' or 'upper case'.")
