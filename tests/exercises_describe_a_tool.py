"""Right and wrong answers to the exercises of lesson 2: (exercise, arguments of the check) and, if wrong, words of the reason."""
import re

from agent_steps.describe_a_tool import SYSTEM_PROMPT
from agent_steps.plain_chat import Chat
from agent_steps.providers import connect


def asked():
    chat = Chat(connect(), SYSTEM_PROMPT)
    chat.send("Which files are in the folder data/harbour?")
    return chat


def cut_by_find(reply):
    place = reply.find("</tool_call>")
    return reply if place < 0 else reply[:place + len("</tool_call>")]


def cut_by_pattern(reply):
    found = re.match(r".*?</tool_call>", reply, re.S)
    return found[0] if found else reply


def cut_before_the_tag(reply):
    return reply.split("</tool_call>")[0]


def cut_always(reply):
    return reply[:reply.find("</tool_call>") + len("</tool_call>")]


def cut_after_the_last(reply):
    before, tag, after = reply.rpartition("</tool_call>")
    return before + tag or reply


def described(text):
    return Chat(connect(), SYSTEM_PROMPT + text)


READ_FILE = '{"name": "read_file", "description": "Read one text file.", "inputSchema": %s}'
PATH = '{"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}'
IN_FRONT = SYSTEM_PROMPT.replace("To use the tool", READ_FILE % PATH + "\n\nTo use a tool")

RIGHT = [
    (1, asked, "data/harbour/notes.txt\ndata/harbour/tides.csv\n"), (1, asked, "tides.csv\nnotes.txt"),
    (2, cut_by_find), (2, cut_by_pattern),
    (3, described(READ_FILE % PATH)), (3, Chat(connect(), IN_FRONT)),
]
WRONG = [
    (1, asked, "budget.xlsx\nholiday.jpg", "There is no file 'budget.xlsx'"), (1, asked, "data/harbour/tides.csv", "has 2 files"),
    (1, asked, "notes.txt, tides.csv", "one file a line"),
    (2, cut_before_the_tag, "closing tag is gone"), (2, cut_always, "should stay as it is"), (2, cut_after_the_last, "after the first"),
    (2, lambda reply: reply, "still there"),
    (3, described(READ_FILE % "{}"), "no property path"), (3, described((READ_FILE % PATH)[:-1]), "can be read as JSON"),
    (3, described(READ_FILE % PATH.replace('["path"]', "[]")), "under required"), (3, Chat(connect(), READ_FILE % PATH), "list_files is gone"),
]

# what the exercises' cells use of the lesson
PREPARE = "model = connect()"
