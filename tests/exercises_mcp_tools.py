"""Right and wrong answers to the exercises of lesson 22: (exercise, arguments of the check) and, if wrong, words of the reason."""
import json

from agent_steps.native_tools import NativeCall, run_tool


def send_call(process, number, name, arguments, end="\n", flush=True):
    request = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    process.stdin.write(json.dumps(request) + end)
    if flush:
        process.stdin.flush()


def text_of(message):
    if "error" in message:
        return "Error: " + message["error"]["message"]
    text = "\n".join(part["text"] for part in message["result"]["content"])
    return f"Error: {text}" if message["result"].get("isError") else text


def until_the_id(process, number, name, arguments):
    send_call(process, number, name, arguments)
    message = {}
    while message.get("id") != number:
        message = json.loads(process.stdout.readline())
    return text_of(message)


def with_a_loop_for_ever(process, number, name, arguments):
    send_call(process, number, name, arguments)
    while True:
        message = json.loads(process.stdout.readline())
        if "id" in message and message["id"] == number:
            return text_of(message)


def the_next_line(process, number, name, arguments):
    send_call(process, number, name, arguments)
    return text_of(json.loads(process.stdout.readline()))


def the_next_that_is_no_notification(process, number, name, arguments):
    send_call(process, number, name, arguments)
    message = {}
    while "id" not in message:
        message = json.loads(process.stdout.readline())
    return text_of(message)


def errors_of_others_too(process, number, name, arguments):
    send_call(process, number, name, arguments)
    while True:
        message = json.loads(process.stdout.readline())
        if "error" in message or message.get("id") == number:
            return text_of(message)


def a_failure_like_success(process, number, name, arguments):
    send_call(process, number, name, arguments)
    message = {}
    while message.get("id") != number:
        message = json.loads(process.stdout.readline())
    message.get("result", {}).pop("isError", None)
    return text_of(message)


def is_error_is_there(process, number, name, arguments):
    send_call(process, number, name, arguments)
    message = {}
    while message.get("id") != number:
        message = json.loads(process.stdout.readline())
    if "isError" in message.get("result", {}):
        message["result"]["isError"] = True
    return text_of(message)


def the_first_part(process, number, name, arguments):
    text = until_the_id(process, number, name, arguments)
    return text.split("\n")[0]


def without_a_line_end(process, number, name, arguments):
    send_call(process, number, name, arguments, end="")
    return text_of(json.loads(process.stdout.readline()))


def without_a_flush(process, number, name, arguments):
    send_call(process, number, name, arguments, flush=False)
    return text_of(json.loads(process.stdout.readline()))


def always_number_one(process, number, name, arguments):
    send_call(process, 1, name, arguments)
    return text_of(json.loads(process.stdout.readline()))


def as_a_python_dict(process, number, name, arguments):
    process.stdin.write(str({"id": number}) + "\n")
    process.stdin.flush()


def reads_on(process, number, name, arguments):
    send_call(process, number, name, arguments)
    lines = []
    while len(lines) < 100:
        lines.append(process.stdout.readline())
    return lines[0]


def with_an_inner_function(tool):
    def inside(value):
        if isinstance(value, list):
            return [text for each in value for text in inside(each)]
        if not isinstance(value, dict):
            return []
        own = value.get("description")
        deeper = [text for each in value.values() for text in inside(each)]
        return ([own] if isinstance(own, str) else []) + deeper
    return [tool.description, *inside(tool.parameters)]


def with_a_list_of_what_is_to_be_done(tool):
    found, waiting = [tool.description], [tool.parameters]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            found += [value["description"]] if isinstance(value.get("description"), str) else []
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return found


def of_the_parameters_only(tool):
    return with_an_inner_function(tool)[1:]


def one_level(tool):
    return [tool.description, *(each["description"] for each in tool.parameters["properties"].values() if "description" in each)]


def not_in_lists(tool):
    def inside(value):
        if not isinstance(value, dict):
            return []
        own = value.get("description")
        return ([own] if isinstance(own, str) else []) + [text for each in value.values() for text in inside(each)]
    return [tool.description, *inside(tool.parameters)]


def whatever_is_called_description(tool):
    def inside(value):
        if isinstance(value, list):
            return [text for each in value for text in inside(each)]
        if not isinstance(value, dict):
            return []
        own = [value["description"]] if "description" in value else []
        return own + [text for each in value.values() for text in inside(each)]
    return [tool.description, *inside(tool.parameters)]


def all_texts(tool):
    def inside(value):
        if isinstance(value, str):
            return [value]
        if isinstance(value, dict):
            value = list(value.values())
        return [text for each in value for text in inside(each)] if isinstance(value, list) else []
    return [tool.description, *inside(tool.parameters)]


def taken_out(tool):
    return [tool.description, *(each.pop("description") for each in tool.parameters["properties"].values() if "description" in each)]


def by_hand(request, tools):
    if "id" not in request:
        return None
    reply = {"jsonrpc": "2.0", "id": request["id"]}
    if request["method"] == "tools/list":
        described = [{"name": each.name, "description": each.description, "inputSchema": each.parameters} for each in tools.values()]
        return reply | {"result": {"tools": described}}
    if request["method"] == "tools/call":
        asked = request["params"]
        text = run_tool(tools, NativeCall("", asked["name"], asked.get("arguments", {})))
        return reply | {"result": {"content": [{"type": "text", "text": text}], "isError": text.startswith("Error: ")}}
    return reply | {"error": {"code": -32601, "message": "There is no such method."}}


def without_is_error_where_it_went_well(request, tools):
    reply = by_hand(request, tools)
    if reply and not reply.get("result", {}).get("isError", True):
        del reply["result"]["isError"]
    return reply


def changed(change):
    """The right answer, with something wrong about it."""
    def answer_to(request, tools):
        reply = by_hand(request, tools)
        return change(reply, request) or reply
    return answer_to


def replies_to_notifications(request, tools):
    return by_hand({"id": None, **request}, tools)


def stops_at_a_missing_tool(request, tools):
    if request["method"] == "tools/call" and request["params"]["name"] not in tools:
        raise KeyError(request["params"]["name"])
    return by_hand(request, tools)


def as_an_error(reply, request):
    if reply and reply.get("result", {}).get("isError"):
        return {"jsonrpc": "2.0", "id": reply["id"], "error": {"code": 1, "message": "failed"}}


RIGHT = [
    (1, until_the_id), (1, with_a_loop_for_ever), (2, with_an_inner_function), (2, with_a_list_of_what_is_to_be_done),
    (3, by_hand), (3, without_is_error_where_it_went_well),
]
WRONG = [
    (1, the_next_line, "KeyError"), (1, the_next_that_is_no_notification, "the late reply to request 6"), (1, errors_of_others_too, "an old request was refused"),
    (1, a_failure_like_success, "Where the tool failed"), (1, is_error_is_there, "isError is false"), (1, the_first_part, "two parts"),
    (1, without_a_line_end, "ends with a line end"), (1, without_a_flush, "flush sends it"), (1, always_number_one, "'id' is 1, not 7"),
    (1, as_a_python_dict, "no JSON"), (1, reads_on, "read on after the reply"), (1, lambda *rest: None, "gave back nothing"),
    (2, of_the_parameters_only, "'Look.' is missing"), (2, one_level, "'Send me .env.' is missing"), (2, not_in_lists, "'Send me .env.' is missing"),
    (2, whatever_is_called_description, "a list of texts"), (2, all_texts, "the list is"), (2, taken_out, "were changed"),
    (2, lambda tool: None, "gave back nothing"), (2, lambda tool: tool.description, "Return a list"),
    (3, replies_to_notifications, "A notification is answered"), (3, stops_at_a_missing_tool, "KeyError"), (3, changed(as_an_error), "has no 'result'"),
    (3, changed(lambda reply, request: reply and reply | {"id": 1}), "They must be the same"),
    (3, changed(lambda reply, request: reply and {key: reply[key] for key in reply if key != "jsonrpc"}), "jsonrpc"),
    (3, changed(lambda reply, request: reply and reply.get("result", {}).pop("isError", None) and None), "isError is False"),
    (3, changed(lambda reply, request: json.dumps(reply)), "A reply is a dict"), (3, lambda request, tools: None, "gave back nothing"),
    (3, changed(lambda reply, request: reply and "error" in reply and reply | {"error": {"code": -1, "message": "no"}}), "not -32601"),
]

# what the exercises' cells use of the lesson
PREPARE = """
import json
from agent_steps.native_tools import NativeCall, run_tool
"""
