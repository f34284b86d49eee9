"""What a round of call_with_tools costs beyond the client's own request, and whether that grows with the history.

Processor time of this process. A transport inside the real client answers every request with one call, at once, so that nearly
all that is measured is the client and the loop. "bare" makes the same requests, the cheap way, and appends the same messages.
"""
import itertools
import json
import time

import httpx2

from agent_steps.call_with_tools import ToolLimitReached, call_with_tools
from agent_steps.native_tools import tool
from agent_steps.providers import connect
from agent_steps.providers.clients import practice_client

QUESTION = {"role": "user", "content": "List the files in this folder, again and again."}


@tool
def list_files(path: str) -> str:
    """List all files in a folder."""
    return "a.csv\nb.csv"


def openai_reply(number: int) -> dict:
    call = {"id": f"call_{number}", "type": "function", "function": {"name": "list_files", "arguments": '{"path": "."}'}}
    message = {"role": "assistant", "content": "I will look.", "tool_calls": [call]}
    return {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}


def anthropic_reply(number: int) -> dict:
    call = {"type": "tool_use", "id": f"call_{number}", "name": "list_files", "input": {"path": "."}}
    return {"id": "1", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": "I will look."}, call],
            "stop_reason": "tool_use", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}


REPLIES = {"openai": openai_reply, "anthropic": anthropic_reply}


def model_for(wire: str):
    """A model over the real client whose every reply is a call."""
    count = itertools.count(1)
    model = connect("practice", wire=wire)
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, json=REPLIES[wire](next(count))))
    model.client = practice_client(wire, transport, model.base_url, 0)
    return model


def loop(wire: str, rounds: int) -> float:
    """Seconds of processor time for a loop of so many rounds."""
    model = model_for(wire)
    start = time.process_time()
    try:
        call_with_tools(model, [QUESTION], list_files, max_tool_calls=rounds, max_rounds=rounds + 1)
    except ToolLimitReached as reached:
        assert reached.result.tool_calls == rounds
    return time.process_time() - start


def bare(wire: str, rounds: int) -> float:
    """Seconds of processor time for the same requests, and as many as the loop makes, without it."""
    client, messages = model_for(wire).client, [QUESTION]
    described = [{"type": "function", "function": {"name": "list_files", "description": "", "parameters": list_files.parameters}}] \
        if wire == "openai" else [{"name": "list_files", "description": "", "input_schema": list_files.parameters}]
    start = time.process_time()
    for _ in range(rounds + 1):
        if wire == "openai":
            body = {"messages": messages, "tools": described}
            message = client.chat.completions.create(model="m", messages=[], extra_body=body).choices[0].message.to_dict()
            call = message["tool_calls"][0]
            arguments = json.loads(call["function"]["arguments"])
            messages += [message, {"role": "tool", "tool_call_id": call["id"], "content": list_files(**arguments)}]
        else:
            reply = client.messages.create(model="m", max_tokens=100, messages=messages, tools=described)
            message = {"role": "assistant", "content": [block.to_dict() for block in reply.content]}
            call = message["content"][-1]
            result = {"type": "tool_result", "tool_use_id": call["id"], "content": list_files(**call["input"])}
            messages += [message, {"role": "user", "content": [result]}]
    return time.process_time() - start


if __name__ == "__main__":
    print("format      rounds   loop ms/round   bare ms/round   ratio")
    for wire in REPLIES:
        loop(wire, 3), bare(wire, 3)
        for rounds in (20, 100, 300):
            pairs = [(loop(wire, rounds), bare(wire, rounds)) for _ in range(5)]
            ours, theirs = min(a for a, _ in pairs) / rounds * 1000, min(b for _, b in pairs) / rounds * 1000
            print(f"{wire:10}  {rounds:6}   {ours:13.3f}   {theirs:13.3f}   {ours / theirs:5.2f}")
