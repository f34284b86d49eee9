"""The exercises of lesson 19."""
import copy
import os

from agent_steps.classroom.checks import want


def exercise_1(requests_until_it_pays):
    """requests_until_it_pays(written, read): after how many requests a prefix that is kept is cheaper than one that is not."""
    for written, read, right in [(1.25, 0.1, 2), (2, 0.1, 3), (2, 0.5, 4), (1.25, 0.75, 3), (5, 0.5, 10), (0.5, 0.1, 1), (1, 0.5, 2)]:
        came = requests_until_it_pays(written, read)
        want(came is not None and came is not ..., "requests_until_it_pays gave back nothing. Return a number of requests.")
        want(isinstance(came, int) and not isinstance(came, bool), f"requests_until_it_pays gave back {came!r}. Return a whole number.")
        want(came >= 1, f"For {written} and {read} it says {came}. There is at least one request: the first, which writes.")
        cost = written + (came - 1) * read
        numbers = f"For {written} and {read} it says {came}: then it costs {cost:g} with the mark, and {came} without."
        want(cost < came, f"{numbers} That is not cheaper yet.")
        want(came == right, f"{numbers} But it was cheaper before: after {right} already.")


RULES, DATE, TOOLS, USER = "Be kind.", "It is Monday.", "You have tools.", "Ada asks."


def exercise_2(stable_first):
    """stable_first(before, now): the parts of now, those that did not change first."""
    _sorted(stable_first, [DATE, RULES, TOOLS], ["It is Tuesday.", RULES, TOOLS], [RULES, TOOLS, "It is Tuesday."])
    _sorted(stable_first, [TOOLS, DATE, RULES, USER], [TOOLS, "It is Tuesday.", RULES, "Bob asks."], [TOOLS, RULES, "It is Tuesday.", "Bob asks."])
    _sorted(stable_first, ["z", "1", "a", "2"], ["z", "9", "a", "3"], ["z", "a", "9", "3"])
    _sorted(stable_first, [RULES, TOOLS], [TOOLS, RULES], [TOOLS, RULES])   # both places changed
    _sorted(stable_first, ["a", "b", "a"], ["c", "b", "a"], ["b", "a", "c"])
    _sorted(stable_first, ["a", "a"], ["a", "a"], ["a", "a"])
    _sorted(stable_first, [], [], [])


def _sorted(stable_first, before, now, right):
    given = copy.deepcopy((before, now))
    came = stable_first(*given)
    want(came is not None and came is not ..., "stable_first gave back nothing. Return a list of texts. (list.sort gives back nothing, sorted a list.)")
    want(isinstance(came, (list, tuple)), f"stable_first gave back {came!r}. Return a list of texts.")
    want(given == (before, now), "stable_first changed a list that it was given. Make a new one.")
    where = f"Before: {before}. Now: {now}. It gave back {list(came)}."
    want(sorted(map(str, came)) == sorted(now), f"{where} Each part of now belongs there once, and nothing else.")
    same = [new for old, new in zip(before, now) if old == new]
    kept = len(os.path.commonprefix([list(came), same]))
    want(kept == len(same), f"{where} Unchanged, in this order, are {same}: these come first.")
    want(list(came) == right, f"{where} The changed parts, too, keep their order: {right}.")


HISTORY = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "What is 2 and 2?"},
    {"role": "assistant", "content": "Four.", "reasoning_content": "2 and 2."},
    {"role": "user", "content": "<think>Is it?</think> Are you sure?"},
    {"role": "assistant", "content": "<think>He doubts.</think>\nYes."},
    {"role": "user", "content": [{"type": "text", "text": "List the files."}]},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "list_files", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "a", "content": "tides.csv"},
    {"role": "assistant", "content": [{"type": "thinking", "thinking": "One file.", "signature": "x"}, {"type": "text", "text": "One: tides.csv."}]},
    {"role": "user", "content": "And now?"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "b", "name": "list_files", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "b", "content": "tides.csv"}]},
    {"role": "assistant", "content": [{"type": "thinking", "thinking": "The same as", "signature": "x"}]},
    {"role": "user", "content": "Well?"},
    {"role": "assistant", "content": "<think>I should"},
    {"role": "user", "content": "Thank you."},
    {"role": "assistant", "content": "You are welcome."},
]
ANSWERS = ["Four.", "Yes.", "One: tides.csv.", "You are welcome."]


def exercise_3(answers_only):
    """answers_only(messages): the texts of all answers, without thoughts."""
    messages = copy.deepcopy(HISTORY)
    came = answers_only(messages)
    want(came is not None and came is not ..., "answers_only gave back nothing. Return a list of texts.")
    want(isinstance(came, (list, tuple)), f"answers_only gave back {came!r}. Return a list of texts.")
    want(messages == HISTORY, "answers_only changed the history. Thoughts must go back with it, so make new texts.")
    pairs = [each for each in came if isinstance(each, tuple)]
    want(not pairs, f"{pairs and pairs[0]!r} is two texts, as split_thinking gives them back. The second one is the answer.")
    other = [each for each in came if not isinstance(each, str)]
    want(not other, f"{other and other[0]!r} is no text. A reply with a call may have none (None), and Anthropic's are lists of blocks.")
    want(all(each.strip() for each in came), "One of the texts is empty. Leave out replies without an answer: calls, and nothing but thoughts.")
    asked = [each for each in came if "sure" in each or each in ("tides.csv", "And now?", "Thank you.", "Be kind.")]
    want(not asked, f"{asked and asked[0]!r} is no answer. Take the messages of role assistant only.")
    thoughts = [each for each in came if "think>" in each or each in ("2 and 2.", "One file.", "The same as", "He doubts.")]
    want(not thoughts, f"There is a thought in {thoughts and thoughts[0]!r}. split_thinking tells it from the answer.")
    want([each.strip() for each in came] == ANSWERS, f"It gave back {list(came)}. The answers are {ANSWERS}.")
    want(list(answers_only([])) == [], "In a history without messages there is no answer: return an empty list.")
