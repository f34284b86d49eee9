"""The exercises of lesson 6."""
from types import SimpleNamespace

from agent_steps.classroom.checks import want

LOOK = 'I will look.\n<tool_call>{"name": "list_files", "arguments": {"path": "data"}}</tool_call>'
DONE = 'Ready.\n<tool_call>{"name": "task_complete", "arguments": {"summary": "Four files."}}</tool_call>'
QUOTED = 'Ready.\n<tool_call>{"name": "task_complete", "arguments": {"summary": "The notes say \\"north pier\\"."}}</tool_call>'
REPORT = 'First a report.\n<tool_call>{"name": "write_report", "arguments": {"summary": "A draft."}}</tool_call>'
SOON = 'I will call task_complete with a "summary": "soon" later.'
TALK = "I will do that right away."
MENTION = "A call begins with <tool_call> and is written as JSON."


def _messages(*texts):
    """A conversation: the texts in turn by the user and the model."""
    return [{"role": role, "content": text} for role, text in zip(("user", "assistant") * len(texts), texts)]


def exercise_1(summary_in):
    """summary_in(messages): the summary of the model's task_complete, None if it never called it."""
    found = summary_in(_messages("task", LOOK, "files", DONE))
    want(found is not None and found is not ..., "The model called task_complete, and summary_in gave back nothing.")
    want(isinstance(found, str), f"Return the text of the summary, not {type(found).__name__}.")
    want(found == "Four files.", f"The summary is 'Four files.', but it gave {found!r}.")
    want(summary_in(_messages("task", LOOK, "files", TALK)) is None, "The model never called task_complete here, so it should give None.")
    want(summary_in(_messages("task", TALK, "Please call a tool.", DONE, "Thank you.")) == "Four files.",
         "It may not be the last message. Then it was not found.")
    want(summary_in(_messages(f"Repeat after me: {DONE}", TALK)) is None, "That call stands in a message of the user. Look at the role.")
    want(summary_in(_messages("task", REPORT)) is None,
         "A call of write_report has a summary too, and it was taken for the end. Look at the name of the call.")
    want(summary_in(_messages("task", SOON)) is None,
         "A reply only mentions task_complete and a summary in a sentence. That is no call: let the parser decide.")
    found = summary_in(_messages("task", QUOTED))
    want(found == 'The notes say "north pier".', f"There are quotes inside the summary, and it gave {found!r}. Let the parser read the JSON.")
    want(summary_in([]) is None, "For an empty list it should give None.")


def _call(name, **arguments):
    return SimpleNamespace(name=name, arguments=arguments)


def _acted(act, call):
    outcome = act(call)
    want(outcome is not None and outcome is not ..., f"For {call.name} it gave back nothing. Return two things: the result, and True or False.")
    want(isinstance(outcome, (tuple, list)) and len(outcome) == 2, f"For {call.name} return two things: the result, and True or False.")
    want(isinstance(outcome[0], str), f"For {call.name} the result should be text. It is of type {type(outcome[0]).__name__}.")
    return outcome


def exercise_2(act):
    """act(call): the result and whether the run is over."""
    result, over = _acted(act, _call("list_files", path="data/harbour"))
    want("data/harbour/tides.csv" in result, f"list_files was called for data/harbour, and the result is {result!r}.")
    want(over is False, "After list_files the run is not over.")
    result, over = _acted(act, _call("task_complete", summary="Four files."))
    want(result == "Four files.", f"The result of task_complete should be the summary. It is {result!r}.")
    want(over is True, "After task_complete with a summary the run is over.")
    for summary in ("", "  "):
        result, over = _acted(act, _call("task_complete", summary=summary))
        want(over is False, "The summary was empty and the tool gave an error, but the run ended all the same.")
        want(result.startswith("Error: "), "The summary was empty. Pass on the error that the tool gave.")
    want(_acted(act, _call("task_complete", summary="Error messages: none."))[1] is True,
         "A summary may speak of errors without being one. What stands at the beginning of a tool's error?")
    result, over = _acted(act, _call("read_file", path="data/README.md"))
    want(over is False, "After an unknown tool the run is not over: the model may choose another one.")
    want("read_file" in result, f"Nobody has written read_file. The result should say so, and name it. It is {result!r}.")
    want(result.startswith("Error"), "The result for an unknown tool should begin with Error, so that nobody takes it for a result.")


def exercise_3(only_talks):
    """only_talks(replies): True if there are three or more and none of the last three holds a call."""
    found = only_talks([TALK, TALK, TALK])
    want(found is not None and found is not ..., "only_talks gave back nothing. Return True or False.")
    want(found, "Three replies without a call, and it did not notice.")
    want(only_talks([LOOK, TALK, TALK, TALK]), "The call came before the last three. They hold none.")
    want(not only_talks([TALK, TALK, TALK, LOOK]), "The last reply holds a call.")
    want(not only_talks([TALK, DONE, TALK]), "One of the last three replies holds a call.")
    want(not only_talks([TALK, TALK]), "Two replies are not three.")
    want(not only_talks([]), "No replies are not three.")
    want(only_talks([TALK, MENTION, TALK]), "One reply only mentions <tool_call> in a sentence. That is no call: let the parser decide.")
