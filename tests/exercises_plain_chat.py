"""Right and wrong answers to the exercises of lesson 1: (exercise, arguments of the check) and, if wrong, words of the reason."""
from agent_steps.plain_chat import Chat
from agent_steps.providers import connect


def a_chat():
    chat = Chat(connect(), "Keep answers short.")
    chat.send("How do I list the files in a folder in Python?")
    return chat


def last_by_loop(messages):
    found = None
    for message in messages:
        if message["role"] == "user":
            found = message["content"]
    return found


def last_by_filter(messages):
    questions = [message["content"] for message in messages if message["role"] == "user"]
    return questions[-1] if questions else None


def last_of_all(messages):
    return messages[-1]["content"] if messages else None


def first_question(messages):
    return next((message["content"] for message in messages if message["role"] == "user"), None)


def fork_by_extend(chat):
    other = Chat(chat.model, chat.system_prompt)
    other.messages.extend(chat.messages)
    return other


def fork_by_copies(chat):
    other = Chat(chat.model, chat.system_prompt)
    other.messages = [dict(message) for message in chat.messages]
    return other


def fork_that_shares(chat):
    other = Chat(chat.model, chat.system_prompt)
    other.messages = chat.messages
    return other


def with_prompt(prompt):
    return Chat(connect(), prompt)


RIGHT = [
    (1, last_by_loop), (1, last_by_filter),
    (2, fork_by_extend, a_chat()), (2, fork_by_copies, a_chat()),
    (3, with_prompt("Write everything in upper case, please.")), (3, with_prompt("ANSWER ONLY IN CAPITAL LETTERS")), (3, with_prompt("shout!")),
]
WRONG = [
    (1, last_of_all, "role"), (1, first_question, "first question"),
    (2, fork_that_shares, a_chat(), "share one list"), (2, lambda chat: Chat(chat.model, chat.system_prompt), a_chat(), "does not know"),
    (2, lambda chat: chat, a_chat(), "same chat"),
    (3, with_prompt("Answer politely."), "The model answered"), (3, with_prompt("  "), "still empty"),
]

# what the exercises' cells use of the lesson
PREPARE = "model, chat = connect(), a_chat()"
