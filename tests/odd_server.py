"""An MCP server written by hand, for the tests: it does what it is told to do wrong. Its one argument is a dict as JSON.

before: lines that it prints first, instead of messages. error: a line for standard error. end: "start" or "call", where it dies.
hang: "start". tools: a list of descriptions, or of lists of them, one a page. endless: its list of tools never ends.
answers: from the name of a tool to its result; "late": the answer comes after as many seconds; "noise": a line that comes before
the answer; "foreign": an answer to nobody comes first; "refuse": an error instead. stays: it does not end when its input does.
modern: it speaks the protocol of 2026, without a handshake. The answer "pid" (of a tool, or a tool of this name) is its process
id, "environment" the names and values of its variables.
"""
import json
import os
import sys
import time

do = json.loads(sys.argv[1])
pages = do.get("tools", [])
pages = pages if pages and isinstance(pages[0], list) else [pages]
common, cached = ({"resultType": "complete"}, {"cacheScope": "private", "ttlMs": 0}) if do.get("modern") else ({}, {})


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def answer_call(request):
    name, arguments = request["params"]["name"], request["params"].get("arguments", {})
    if do.get("end") == "call":
        print("it was too much for me", file=sys.stderr, flush=True)
        os._exit(3)
    known = {"pid": str(os.getpid()), "environment": json.dumps(dict(os.environ))}
    answer = do.get("answers", {}).get(name, name)
    if isinstance(answer, str):
        answer = {"content": [{"type": "text", "text": known.get(answer, f"{name} got {json.dumps(arguments)}")}]}
    time.sleep(answer.pop("late", 0))
    if "noise" in answer:
        print(answer["noise"], flush=True)
        del answer["noise"]
    if answer.pop("foreign", False):
        send({"id": 4711, "result": {"content": [{"type": "text", "text": "an answer to somebody else"}]}})
        send({"method": "notifications/message", "params": {"level": "info", "data": "by the way"}})
    if "refuse" in answer:
        send({"id": request["id"], "error": {"code": -32000, "message": answer["refuse"]}})
    else:
        send({"id": request["id"], "result": {**common, **answer}})


def answer(request):
    method, number = request["method"], request.get("id")
    if number is None:
        return
    if method == "server/discover" and do.get("modern"):
        send({"id": number, "result": {**common, **cached, "capabilities": {"tools": {}}, "supportedVersions": ["2026-07-28"]}})
    elif method == "initialize":
        version = request["params"]["protocolVersion"]
        send({"id": number, "result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "odd", "version": "1"}}})
    elif method == "tools/list":
        page = int((request.get("params") or {}).get("cursor") or 0)
        more = {"nextCursor": str(page + 1)} if do.get("endless") or page + 1 < len(pages) else {}
        send({"id": number, "result": {**common, **cached, "tools": pages[page % len(pages)], **more}})
    elif method == "tools/call":
        answer_call(request)
    else:
        send({"id": number, "error": {"code": -32601, "message": "Method not found"}})


for line in do.get("before", []):
    print(line, flush=True)
if "error" in do:
    print(do["error"], file=sys.stderr, flush=True)
if do.get("end") == "start":
    sys.exit(2)
if do.get("hang") == "start":
    time.sleep(60)
for line in sys.stdin:
    answer(json.loads(line))
if do.get("stays"):
    time.sleep(60)
