"""Right and wrong answers to the exercises of lesson 17: (exercise, arguments of the check) and, if wrong, words of the reason."""
import json

from agent_steps.sessions import openai_pieces


def with_stop(reply):
    return reply.finish_reason == "stop" and reply.content.strip() != ""


def step_by_step(reply):
    if reply.finish_reason in ("length", "tool", "filter", "other"):
        return False
    return not (reply.content.isspace() or reply.content == "")


def by_the_full_stop(reply):
    return reply.content.endswith(".")


def not_cut(reply):
    return reply.finish_reason != "length"


def only_the_reason(reply):
    return reply.finish_reason == "stop"


def the_text_itself(reply):
    return reply.finish_reason == "stop" and reply.content.strip()


def by_slices(pieces):
    line = ""
    for piece in pieces:
        line += piece
        while len(line) >= 40:
            yield line[:40]
            line = line[40:]
    if line:
        yield line


def by_characters(pieces):
    line = []
    for character in (each for piece in pieces for each in piece):
        line.append(character)
        if len(line) == 40:
            yield "".join(line)
            line.clear()
    if line:
        yield "".join(line)


def all_at_the_end(pieces):
    text = "".join(pieces)
    for start in range(0, len(text), 40):
        yield text[start:start + 40]


def without_the_rest(pieces):
    line = ""
    for piece in pieces:
        line += piece
        while len(line) >= 40:
            yield line[:40]
            line = line[40:]


def one_line_a_piece(pieces):
    line = ""
    for piece in pieces:
        line += piece
        if len(line) >= 40:
            yield line
            line = ""
    yield line


def with_an_empty_line(pieces):
    line = ""
    for piece in pieces:
        line += piece
        while len(line) >= 40:
            yield line[:40]
            line = line[40:]
    yield line


def a_full_line_held_back(pieces):
    line = ""
    for piece in pieces:
        line += piece
        while len(line) > 40:
            yield line[:40]
            line = line[40:]
    if line:
        yield line


def for_ever(pieces):
    while True:
        yield "".join(pieces)[:40]


def by_index(chunks):
    text, names, arguments = "", {}, {}
    for chunk in chunks:
        for choice in chunk["choices"]:
            text += choice["delta"].get("content") or ""
            for part in choice["delta"].get("tool_calls") or []:
                index, function = part["index"], part["function"]
                names[index] = names.get(index, "") + (function.get("name") or "")
                arguments[index] = arguments.get(index, "") + (function.get("arguments") or "")
    return text, [(names[index], json.loads(arguments[index])) for index in sorted(names)]


def with_the_lesson(chunks):
    message = {}
    text = "".join(openai_pieces(chunks, message))
    functions = [call["function"] for call in message.get("tool_calls", [])]
    return [text, [[function["name"], json.loads(function["arguments"])] for function in functions]]


def always_a_choice(chunks):
    for chunk in chunks:
        chunk["choices"][0]
    return by_index(chunks)


def one_call_only(chunks):
    for chunk in chunks:
        for choice in chunk["choices"]:
            for part in choice["delta"].get("tool_calls") or []:
                part["index"] = 0
    return by_index(chunks)


def to_the_last_call(chunks):
    text, names, arguments = "", [], []
    for chunk in chunks:
        for choice in chunk["choices"]:
            text += choice["delta"].get("content") or ""
            for part in choice["delta"].get("tool_calls") or []:
                if part["function"].get("name"):
                    names.append(part["function"]["name"])
                    arguments.append("")
                arguments[-1] += part["function"].get("arguments") or ""
    return text, [(name, json.loads(each)) for name, each in zip(names, arguments)]


def text_only(chunks):
    return by_index(chunks)[0]


def arguments_as_text(chunks):
    text, calls = by_index(chunks)
    return text, [(name, json.dumps(arguments)) for name, arguments in calls]


def last_piece(chunks):
    return by_index(chunks)[0][-3:], by_index(chunks)[1]


RIGHT = [
    (1, with_stop), (1, step_by_step), (2, by_slices), (2, by_characters), (3, by_index), (3, with_the_lesson),
]
WRONG = [
    (1, by_the_full_stop, "need not end"), (1, not_cut, "tool call"), (1, only_the_reason, "says nothing"), (1, the_text_itself, "Return True or False"),
    (1, lambda reply: None, "gave back nothing"),
    (2, all_at_the_end, "as soon as it is full"), (2, without_the_rest, "together"), (2, one_line_a_piece, "40 is the most"),
    (2, a_full_line_held_back, "After pieces of 40 characters"),
    (2, with_an_empty_line, "none is empty"), (2, for_ever, "together"), (2, lambda pieces: None, "gave back nothing"), (2, lambda pieces: 3, "generator"),
    (3, always_a_choice, "may be an empty list"), (3, one_call_only, "by index"), (3, to_the_last_call, "two calls, torn after every 100 characters"),
    (3, text_only, "Return two things"), (3, arguments_as_text, "the calls are"),
    (3, last_piece, "the text is"), (3, lambda chunks: None, "gave back nothing"),
]

# what the exercises' cells use of the lesson
PREPARE = """
import json
"""
