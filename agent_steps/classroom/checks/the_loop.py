"""The exercises of lesson 5."""
from agent_steps.classroom.checks import NotYet, want

LOOK = 'I will look.\n<tool_call>{"name": "list_files", "arguments": {"path": "data/harbour"}}</tool_call>'
LOOK_AGAIN = 'Once more.\n<tool_call>{"name": "list_files", "arguments": {"path": "data"}}</tool_call>'


def exercise_1(is_yes):
    """is_yes(answer): True for y and yes in any case and with spaces around, False for everything else."""
    want(is_yes("y") is not None and is_yes("y") is not ..., "is_yes gave back nothing. Return True or False.")
    for answer in ("y", "yes", "Y", "YES", "Yes", " y ", "yes\t"):
        want(is_yes(answer), f"{answer!r} is a yes.")
    for answer in ("n", "no", "", " ", "yesterday", "maybe y", "not yet", "e", "ye", "yep", "yes, but not that folder", "yy"):
        want(not is_yes(answer), f"{answer!r} was taken for a yes, and a tool would run.")
    want(is_yes("n") is not None, "For a no, return False.")


def _messages(*replies):
    messages = [{"role": "user", "content": "task"}]
    for number, reply in enumerate(replies):
        messages += [{"role": "assistant", "content": reply}, {"role": "user", "content": f"result {number}"}]
    return messages


def exercise_2(is_stuck):
    """is_stuck(messages): True if the model's last two replies are the same text."""
    found = is_stuck(_messages("a", "b", "b"))
    want(found is not None and found is not ..., "is_stuck gave back nothing. Return True or False.")
    want(found, "The last two replies are the same, and it did not notice.")
    want(is_stuck(_messages("a", "b", "b")[:-1]), "The list may also end with a reply: there it did not notice.")
    differ = _messages("b", "a")
    differ[4]["content"] = differ[2]["content"]
    want(not is_stuck(differ), "The two replies differ. (The two results are the same, but the model did not write those.)")
    want(not is_stuck(_messages("a", "b", "a")), "The last reply stands further up too, but not right before. That is not stuck.")
    want(not is_stuck(_messages("a", "a", "b")), "The first two replies are the same, but the last one is new.")
    want(not is_stuck(_messages("a")), "The model has replied once. That is not stuck.")
    want(not is_stuck(_messages("task")), "That is one reply. (It has the same text as the task, but you wrote the task.)")
    want(not is_stuck([]), "Nothing was said yet. That is not stuck.")


class _Scripted:
    """A chat whose replies are laid down. It keeps what it was sent, and loses its patience in the end."""

    def __init__(self, *replies):
        self.replies, self.sent, self.messages = replies, [], []

    def send(self, text):
        self.sent.append(text)
        if len(self.sent) > 20:
            raise NotYet("The model was asked more than 20 times. Nothing ends your loop at max_steps.")
        reply = self.replies[min(len(self.sent), len(self.replies)) - 1]
        self.messages += [{"role": "user", "content": text}, {"role": "assistant", "content": reply}]
        return reply


def exercise_3(look_for_me):
    """look_for_me(chat, task, max_steps): the loop without questions; gives back the last reply."""
    chat = _Scripted(LOOK, "Two files.")
    found = look_for_me(chat, "my task")
    want(chat.sent, "The model was never asked. Begin with chat.send.")
    want(chat.sent[0] == "my task", f"The first message should be the task. It was {chat.sent[0]!r}.")
    want(len(chat.sent) > 1, "The model asked for a tool and never got the result. Send it as the next message.")
    want(isinstance(chat.sent[1], str) and chat.sent[1].startswith("data/harbour/"),
         f"The model asked for the files in data/harbour. It was sent {chat.sent[1]!r}.")
    want(len(chat.sent) == 2, "The second reply held no call, and yet the model was asked again.")
    want(found is not None and found is not ..., "look_for_me gave back nothing. Return the last reply.")
    want(found == "Two files.", f"The last reply was 'Two files.', but it gave {found!r}.")
    chat = _Scripted(LOOK, LOOK_AGAIN, "Found.")
    want(look_for_me(chat, "my task") == "Found.", "The model asked for two tools, one after the other, and the end was not reached.")
    want("data/penguins.csv" in chat.sent[2], "The second tool call asked for the folder data, and the model got something else.")
    chat = _Scripted(LOOK)
    found = look_for_me(chat, "my task", max_steps=3)
    want(len(chat.sent) == 3, f"With max_steps=3 the model was asked {len(chat.sent)} times.")
    want(found == LOOK, "When the steps are used up, return the last reply too.")
