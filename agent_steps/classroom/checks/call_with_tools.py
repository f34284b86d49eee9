"""The exercises of lesson 16."""
from types import SimpleNamespace

from agent_steps.classroom.checks import want
from agent_steps.providers import connect
from agent_steps.providers.usage import Usage


def _result(calls, sent, received):
    total = None if None in (sent, received) else sent + received
    return SimpleNamespace(
        used=Usage(calls, sent, received), tool_calls=calls - 1, rounds=calls - 1, text="Done.", stop_reason="answer", messages=[], rows=[],
        usage={"input_tokens": sent, "output_tokens": received, "total_tokens": total},
        spend={"model_calls": calls, "sent": sent, "received": received, "tool_calls": calls - 1})


def exercise_1(say_spend):
    """say_spend(result): requests and tokens in a sentence, or that the tokens are unknown."""
    for calls, sent, received, tokens, reason in [
            (3, 380, 32, "412 tokens", "380 were sent and 32 received, which is 412 together"), (2, None, None, "tokens unknown", "None of them are known"),
            (4, 900, None, "tokens unknown", "900 were sent, and how many were received is not known. Then the sum is not known"),
            (2, None, 50, "tokens unknown", "How many were sent is not known. Then the sum is not known"),
            (2, 0, 0, "0 tokens", "It is known that there were none; 0 is not unknown")]:
        said = say_spend(_result(calls, sent, received))
        want(said is not None and said is not ..., "say_spend gave back nothing. Return a text.")
        want(said == f"{calls} requests, {tokens}", f"It says {said!r}. {reason}: '{calls} requests, {tokens}'.")


def exercise_2(at_most):
    """at_most(limit): an approve that allows each tool `limit` calls."""
    first, second = at_most(2), at_most(1)
    want(callable(first), "at_most gives back no function. Define one inside, and return it.")
    _asked(first, ["read_file", "list_files", "read_file"], "yyy", "Each tool may be called twice. This is read_file, list_files, read_file")
    _asked(first, ["read_file", "list_files", "list_files", "write_file"], "nyny", "After these three came read_file, list_files, list_files, write_file")
    _asked(second, ["read_file", "read_file", "read_file"], "ynn", "at_most(1) counts for itself, whatever at_most(2) has counted. read_file, three times")
    _asked(at_most(0), ["read_file"], "n", "at_most(0) allows nothing")


def _asked(approve, names, right, what):
    answers = [approve(SimpleNamespace(name=name, arguments={}, id=f"call_{place}", problem=None)) for place, name in enumerate(names)]
    for answer in answers:
        want(isinstance(answer, str), f"It answered {answer!r}. An answer is 'y', or 'n: ' and a reason.")
        want(answer == "y" or answer.startswith("n: ") and answer[3:].strip(), f"It answered {answer!r}. An answer is 'y', or 'n: ' and a reason.")
    came = "".join(answer[0] for answer in answers)
    want(came == right, f"{what}: the answers should be {', '.join(right)}, not {', '.join(came)}.")


def exercise_3(go_further):
    """go_further(model, task, tools, limit): the tool history of the run, and of its going on after the limit."""
    for wire in ("openai", "anthropic"):
        table, runs = _history(go_further, wire, limit=5)
        want(runs == 4 and len(table) == 4, f"With a limit of 5 the model made 4 calls and answered. The table has {len(table)} rows, and the tool ran {runs} times.")
        table, runs = _history(go_further, wire, limit=2)
        texts = list(table["result"])
        want("limit of 2" in "".join(texts), "The first part is missing: the calls before the limit, and the one that it stopped.")
        want(runs > 2, "The second part is missing: after the limit the loop goes on, and the tool runs again.")
        want(runs == 3, f"With a limit of 2 the tool ran {runs} times. It should be twice before the limit and once after it: go on from the messages, do not begin anew.")
        want(len(table) == 4, f"The table has {len(table)} rows. There were 4 calls: two that ran, one that the limit stopped, one after it.")
        want("limit of 2" in texts[2], "The rows are not in the order in which the calls came.")


def _history(go_further, wire, limit):
    import pandas

    ran = []

    def list_files(path: str = ".") -> str:
        """List all files in a folder."""
        ran.append(path)
        return "a.csv\nb.csv"

    model = connect("practice", wire=wire, faults={2: "repeat", 3: "repeat", 4: "repeat"})
    table = go_further(model, "How many CSV files are in this folder?", list_files, limit)
    want(table is not None and table is not ..., "go_further gave back nothing. Return a table.")
    want(isinstance(table, pandas.DataFrame), f"go_further gave back a {type(table).__name__}. Return a table: .tool_history is one.")
    want(list(table.columns) == ["round", "name", "arguments", "result"], "The table should have the columns of a tool history.")
    return table, len(ran)
