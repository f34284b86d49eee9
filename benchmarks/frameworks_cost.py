"""What a step costs on the client's side: call_with_tools beside frameworks that build on the same openai client.

Processor time. Each contender works in a process of its own and makes the same run: so many steps, each one call of
list_files, then an answer. A transport inside the real client answers every request at once. What is measured is the
run alone, without imports and without building the agent. It takes six minutes.
"""
import argparse
import itertools
import json
import os
import platform
import subprocess
import sys
import time
from importlib.metadata import version

LENGTHS = (20, 100, 300)   # steps of a run
COMPARED = 100             # the length at which the ratio is taken
ROUNDS = 3
ADDRESS = "http://practice.invalid/v1"
QUESTION = "List the files in this folder, again and again."
# the only variables that a contender gets: no key, and nothing that would switch a framework's tracing on
KEPT = ("PATH", "HOME", "PYTHONPATH", "SYSTEMROOT")
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "LANGSMITH_TRACING": "false"}
calls_run = 0


def list_files(path: str) -> str:
    """List all files in a folder.

    Args:
        path: The folder.
    """
    global calls_run
    calls_run += 1
    return "a.csv\nb.csv"


def reply(number: int, steps: int) -> dict:
    """The reply to a request: a call, or after so many steps an answer."""
    function = {"name": "list_files", "arguments": '{"path": "."}'}
    message = {"role": "assistant", "content": "I will look."}
    if number <= steps:
        message["tool_calls"] = [{"id": f"call_{number}", "type": "function", "function": function}]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if number <= steps else "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "usage": usage, "choices": [choice]}


def transport(steps: int):
    """A transport for a run of so many steps. Both kinds of client take it."""
    import httpx2

    count = itertools.count(1)
    return httpx2.MockTransport(lambda request: httpx2.Response(200, json=reply(next(count), steps)))


def http_client(steps: int):
    """What a synchronous client of openai sends its requests with."""
    import httpx2

    return httpx2.Client(transport=transport(steps))


def async_client(steps: int):
    """The asynchronous client of openai, for the frameworks that want one."""
    from httpx2 import AsyncClient
    from openai import AsyncOpenAI

    return AsyncOpenAI(api_key="practice", base_url=ADDRESS, http_client=AsyncClient(transport=transport(steps)))


# Each contender prepares a run of so many steps and returns a function that makes it.

def ours(steps: int):
    from agent_steps.call_with_tools import call_with_tools
    from agent_steps.native_tools import tool
    from agent_steps.providers import connect
    from agent_steps.providers.clients import practice_client

    model, described = connect("practice", wire="openai"), tool(list_files)
    model.client = practice_client("openai", transport(steps), ADDRESS, 0)
    return lambda: call_with_tools(model, QUESTION, described, max_rounds=steps + 1)


def pydantic_ai(steps: int):
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.usage import UsageLimits

    model = OpenAIChatModel("m", provider=OpenAIProvider(openai_client=async_client(steps)))
    agent = Agent(model, tools=[list_files])
    return lambda: agent.run_sync(QUESTION, usage_limits=UsageLimits(request_limit=None))


def langchain(steps: int):
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(model="m", api_key="practice", base_url=ADDRESS, http_client=http_client(steps))
    agent = create_agent(model, [list_files])
    return lambda: agent.invoke({"messages": [("user", QUESTION)]}, {"recursion_limit": 2 * steps + 2})


def openai_agents(steps: int):
    import agents

    agents.set_tracing_disabled(True)
    model = agents.OpenAIChatCompletionsModel("m", async_client(steps))
    agent = agents.Agent("lister", model=model, tools=[agents.function_tool(list_files)])
    return lambda: agents.Runner.run_sync(agent, QUESTION, max_turns=steps + 1)


def smolagents(steps: int):
    """It demands a call in every reply, but not after its last step; so its run ends there."""
    from smolagents import OpenAIModel, ToolCallingAgent, tool

    model = OpenAIModel("m", api_base=ADDRESS, api_key="practice", client_kwargs={"http_client": http_client(steps)})
    agent = ToolCallingAgent([tool(list_files)], model, max_steps=steps, verbosity_level=-1)
    return lambda: agent.run(QUESTION)


CONTENDERS = {"ours": ours, "pydantic-ai-slim": pydantic_ai, "langchain": langchain, "openai-agents": openai_agents,
              "smolagents": smolagents}   # by the names of their packages


def seconds(prepare, steps: int) -> float:
    """The processor time of a run of so many steps."""
    global calls_run
    calls_run, run = 0, prepare(steps)
    start = time.process_time()
    run()
    taken = time.process_time() - start
    assert calls_run == steps, f"{calls_run} calls were run instead of {steps}."
    return taken


def contend(name: str) -> None:
    """The work of a child: say what it is, then answer each number of steps with the seconds that they take."""
    try:
        versions = {"version": version(name)} if name != "ours" else {}
        versions |= {"openai": version("openai"), "Python": platform.python_version()}
        seconds(CONTENDERS[name], 3)   # what is loaded late is loaded now
    except Exception as error:   # not installed, or in a version that is used otherwise
        print(json.dumps({"problem": f"not measured, {type(error).__name__}: {error}"}), flush=True)
        return
    print(json.dumps({"versions": versions}), flush=True)
    for line in sys.stdin:
        print(json.dumps(seconds(CONTENDERS[name], int(line))), flush=True)


def answer(child):
    """What a child says next. Raises RuntimeError if it has ended."""
    line = child.stdout.readline()
    if not line:
        raise RuntimeError("A contender has ended; its error stands above.")
    return json.loads(line)


def ask(child, steps: int) -> float:
    """Milliseconds a step in a run of so many steps."""
    print(steps, file=child.stdin, flush=True)
    return answer(child) / steps * 1000


def start_all(python: str) -> dict:
    """The children that can contend, by name. Says which versions they use, and who is missing and why."""
    environment = {name: os.environ[name] for name in KEPT if name in os.environ} | OFFLINE
    children = {}
    for name in CONTENDERS:
        command = [sys.executable if name == "ours" else python, __file__, "--contend", name]
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        said = answer(child)
        if "versions" in said:
            children[name] = child
        print(f"{name}:", said.get("problem") or ", ".join(map(" ".join, said["versions"].items())), flush=True)
    return children


def compare(python: str) -> None:
    """Measure all contenders in turns, and print the best of the rounds."""
    children, best = start_all(python), {}
    for _, steps, name in itertools.product(range(ROUNDS), LENGTHS, children):
        best[name, steps] = min(ask(children[name], steps), best.get((name, steps), float("inf")))
    for child in children.values():
        child.communicate()
    print(f"\nms a step at     {''.join(f'{steps:4} steps' for steps in LENGTHS)}   ours/theirs at {COMPARED} steps")
    for name in children:
        figures = "".join(f"{best[name, steps]:10.2f}" for steps in LENGTHS)
        print(f"{name:17}{figures}   {best['ours', COMPARED] / best[name, COMPARED]:10.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", default=sys.executable, help="the Python in whose environment the frameworks are")
    parser.add_argument("--contend", choices=CONTENDERS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    contend(given.contend) if given.contend else compare(given.python)
