"""The exercises of lesson 4."""
from agent_steps.classroom.checks import want

CALL = '<tool_call>{"name": "list_files", "arguments": {"path": "harbour"}}</tool_call>'
ANSWER = "There are three files in the folder."
CUT = CALL[:40]
TWO = f"{CALL}\n{CALL}"


def exercise_1(reply, parse_lazy, parse_tool_call):
    """A reply with both tags that the lazy pattern cannot read, and that parse_tool_call reads as a call of list_files."""
    want(isinstance(reply, str), "A reply is a text.")
    want(reply.strip(), "The reply is still empty.")
    want("<tool_call>" in reply and "</tool_call>" in reply, "It should have both tags, the opening and the closing one.")
    call, problem = _read(parse_tool_call, reply)
    want(not problem, f"parse_tool_call does not read it either. It says: {problem}")
    want(call, "parse_tool_call finds no call in it: for it, this is a plain answer.")
    want(call.name == "list_files", f"parse_tool_call reads a call of {call.name}, not of list_files.")
    lazy, problem = _read(parse_lazy, reply)
    want(problem or lazy != call, "parse_lazy reads the same call. It takes what stands between the first opening tag and the first closing one.")


def exercise_2(sort_reply):
    """sort_reply(reply): ("call", call), ("answer", reply) or ("error", message)."""
    pairs = {}
    for name, reply in {"one call": CALL, "a plain answer": ANSWER, "a call that is cut off": CUT, "two calls": TWO}.items():
        pairs[name], problem = _read(sort_reply, reply)
        want(not problem, f"For {name} it raised an error: {problem}")
        want(isinstance(pairs[name], tuple) and len(pairs[name]) == 2, f"For {name} it gave {pairs[name]!r}. Give back a pair.")
    _, problem = _read(sort_reply, 3)
    want(problem, "It also catches errors that are no ToolCallError, such as a reply that is no text. Those are bugs: let them through.")
    kinds = {name: pair[0] for name, pair in pairs.items()}
    wanted = {"one call": "call", "a plain answer": "answer", "a call that is cut off": "error", "two calls": "error"}
    for name in wanted:
        want(kinds[name] == wanted[name], f"For {name} the first of the pair is {kinds[name]!r}.")
    want(getattr(pairs["one call"][1], "name", "") == "list_files", "With \"call\" should come the ToolCall itself.")
    want(pairs["a plain answer"][1] == ANSWER, "With \"answer\" should come the reply, unchanged.")
    message = pairs["two calls"][1]
    want(isinstance(message, str), "With \"error\" should come the message as text: str(error).")
    want("several" in message, "With \"error\" should come the words of the ToolCallError: the model is to read them.")


def exercise_3(parse_known):
    """parse_known(reply, names): as parse_tool_call, but tools that are not in names are refused with a message that names them."""
    names = ["read_file", "task_complete"]
    known, problem = _read(parse_known, CALL, ["read_file", "list_files"])
    want(not problem, f"list_files was in names, but the call was refused: {problem}")
    want(getattr(known, "name", "") == "list_files", f"For a call of a tool that is in names it gave {known!r}.")
    plain, problem = _read(parse_known, ANSWER, names)
    want(not problem and plain is None, f"A plain answer should still give None. It gave {problem or repr(plain)}.")
    want(_error(parse_known, TWO, names), "Two calls were no error any more. Let parse_tool_call read the reply first.")
    error = _error(parse_known, CALL, names)
    want(error, f"list_files is not in {names}, but the call was not refused.")
    want(type(error).__name__ == "ToolCallError", f"It raised a {type(error).__name__}. The model is to hear of it, so raise a ToolCallError.")
    want(all(name in str(error) for name in names), f"The message says {str(error)!r}. How should the model know which tools there are?")


def _read(parser, *arguments):
    """What a parser gives back, and the words of its error."""
    try:
        return parser(*arguments), ""
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"


def _error(parser, *arguments):
    try:
        parser(*arguments)
    except Exception as error:
        return error
    return None
