"""Lesson 20: a history that is repaired, kept on disk as it grows, trimmed, and read as a table."""
import os
import warnings
from pathlib import Path

from agent_steps.providers.formats import (
    as_list, call_parts, calls_in, results_in, role_of, text_in)
from agent_steps.providers.jsonl import (
    HistoryError, changes, cut_off, json_line, put_entry, read_lines, write_new, write_on)
from agent_steps.providers.mending import (
    as_id, lost_result, open_results, put_result, shape_of, taken_apart)

# what the model is told of a call whose result was not saved
UNSAVED = "Error: interrupted before the result was saved. It may have run."
# and in the place of a task that is missing
NO_TASK = {"role": "user", "content": "(The beginning is missing.)"}


def repair_history(messages):
    """Return a new list that an API takes, whatever the given list looks like.

    Each call has one result, in order, right behind it. A result belongs to the first call of
    its id before it that has none; without such a call it becomes a text of the user. If the
    formats are mixed, the more frequent one is kept. What an API takes comes back equal.
    """
    repaired, waiting, taken = [], {}, set()   # waiting: by id, results to be filled in
    shape = shape_of(as_list(messages))
    for entry in as_list(messages):
        message, results = taken_apart(entry, shape)
        for call_id, result in results:
            if waiting.get(call_id):
                put_result(waiting[call_id].pop(0), result)
            else:
                repaired.append(lost_result(call_id, result))
        if message and results and results_in(repaired[-1]):   # a text behind them
            repaired[-1]["content"] += message["content"]
        elif message:
            repaired += [message, *open_results(message, shape, UNSAVED, waiting, taken)]
    first = next((at for at, each in enumerate(repaired) if each["role"] != "system"), None)
    if shape != "openai" and first is not None and repaired[first]["role"] == "assistant":
        repaired.insert(first, dict(NO_TASK))   # OpenAI's format may begin with a reply
    return repaired


def read_history(path):
    """Return a file's folder, messages, and how many bytes are whole. Raises HistoryError."""
    (header, whole), *lines = read_lines(path)
    messages, one_save = [], []
    for number, (entry, end) in enumerate(lines, start=2):
        one_save.append((number, entry))
        if not entry.get("more"):   # more: the save goes on in the next line
            for each in one_save:
                put_entry(path, *each, messages)   # messages[at:] = [message]
            one_save, whole = [], end
    return header["folder"], messages, whole


class History:
    """A history in a file that grows with it, for one process: on_append=history.save.

    path: begun if it is missing or empty. folder: where the tools work; a file from another
    one is a warning. messages: the list to go on from, repaired. Messages are replaced, never
    changed: a change inside one is not noticed. Raises HistoryError.
    """

    def __init__(self, path, folder="."):
        self.path, folder = Path(path).absolute(), os.path.realpath(folder)
        if not self.path.exists() or not self.path.stat().st_size:
            write_new(self.path, json_line({"history": 1, "folder": folder}))
        if (begun_in := self.read()) != folder:
            warnings.warn(f"{self.path.name} was begun in the folder {begun_in}, and this is "
                          f"{folder}. The same names may mean other files.", stacklevel=2)
        self.messages = repair_history(self.saved)
        self.save(self.messages)

    def read(self):
        """See what is on disk, and cut off what is not whole. Return the folder."""
        folder, self.saved, self.size = read_history(self.path)
        cut_off(self.path, self.size)
        self.sure = True   # that saved and size are what is on disk
        return folder

    def save(self, messages):
        """Write what has changed. Raises ValueError for no JSON, HistoryError and OSError."""
        self.messages[:] = messages
        if not self.sure:   # a save was interrupted
            self.read()
        if self.path.stat().st_size != self.size:
            raise HistoryError(f"Another program has changed {self.path.name}. Nothing was "
                               "written. Open it anew, or give each program a file of its own.")
        if lines := changes(self.saved, self.messages):
            self.sure = False
            write_on(self.path, lines)
            self.saved, self.size = list(self.messages), self.size + len(lines)
            self.sure = True

    def append(self, message):
        """Add a message and save, for a loop written by hand. Raises what save raises."""
        json_line(message)   # what can never be saved is not added
        self.messages.append(message)
        self.save(self.messages)


def turns_of(messages):
    """Part messages into turns: a reply with all its results, or another message."""
    turns = []
    for message in messages:
        if not turns or not results_in(message):
            turns.append([])
        turns[-1].append(message)
    return turns


def trim_history(messages, max_messages=40):
    """Return a new list: the system's messages, the task, the newest question and turns.

    At most max_messages, if these allow it; ValueError below 1. Repair a broken list first.
    """
    if max_messages < 1:
        raise ValueError("max_messages is 1 or more.")
    turns = turns_of(messages or [])
    asked = [at for at, turn in enumerate(turns) if role_of(turn[0]) == "user"]
    kept = {at for at, turn in enumerate(turns) if role_of(turn[0]) == "system"}
    kept |= {*asked[:1], *asked[-1:], *range(len(turns))[-1:]}   # and the newest turn
    room = max_messages - sum(len(turns[at]) for at in kept)
    for at in sorted({*range(len(turns))} - kept, reverse=True):
        room -= len(turns[at])
        if room < 0:
            break
        kept.add(at)
    return [message for at in sorted(kept) for message in turns[at]]


def history_tool_calls(history):
    """Return a dict for each call in a history of either format, in the order of the calls.

    Keys: id, name, arguments, result, completed, call_message_index, result_message_index,
    provider_shape. Indices count from 0; without a result, it and its index are None. A result
    belongs to the first call of its id without one. What cannot be read is passed over.
    """
    records, waiting = [], {}
    for index, message in enumerate(as_list(history)):
        for call in calls_in(message):
            name, arguments, shape = call_parts(call)
            records.append({
                "id": as_id(call.get("id")), "name": name, "arguments": arguments,
                "result": None, "completed": False, "call_message_index": index,
                "result_message_index": None, "provider_shape": shape})
            waiting.setdefault(records[-1]["id"], []).append(records[-1])
    for index, message in enumerate(as_list(history)):
        for call_id, result in results_in(message):
            if call_id and waiting.get(as_id(call_id)):
                record, text = waiting[as_id(call_id)].pop(0), text_in(result.get("content"))
                record |= {"result": text, "completed": True, "result_message_index": index}
    return records


def history_count_tool_calls(history, completed_only=False):
    """Return how many calls a history holds; with completed_only, how many have a result."""
    return sum(call["completed"] or not completed_only for call in history_tool_calls(history))
