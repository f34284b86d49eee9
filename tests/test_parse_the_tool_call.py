"""From a reply to a tool call: what runs, what is a plain answer, and what is refused with which words."""
import json
import random
import time

import pytest

from agent_steps.parse_the_tool_call import ToolCall, ToolCallError, parse_tool_call

JSON = '{"name": "list_files", "arguments": {"path": "harbour"}}'
CALL = f"<tool_call>{JSON}</tool_call>"
OTHER = '<tool_call>{"name": "write_file", "arguments": {"path": "a.txt", "content": "a"}}</tool_call>'
LIST = ToolCall("list_files", {"path": "harbour"})


def tagged(body):
    return f"<tool_call>{body}</tool_call>"


def writing(content):
    return tagged(json.dumps({"name": "write_file", "arguments": {"path": "a.txt", "content": content}}, ensure_ascii=False))


RUNS = {
    "a bare call": CALL,
    "reasoning before it": f"I need the names first.\n\n{CALL}",
    "JSON on many lines": 'First the folder.\n<tool_call>\n{\n  "name": "list_files",\n  "arguments": {\n    "path": "harbour"\n  }\n}\n</tool_call>\n',
    "CRLF line ends": 'Look:\r\n<tool_call>\r\n{"name": "list_files",\r\n "arguments": {"path": "harbour"}}\r\n</tool_call>\r\n',
    "no closing tag": f"<tool_call>{JSON}",
    "half a closing tag": f"<tool_call>{JSON}</tool",
    "a doubled opening tag": f"<tool_call>\n<tool_call>\n{JSON}\n</tool_call>",
    "a doubled pair of tags": f"<tool_call><tool_call>{JSON}</tool_call></tool_call>",
    "two closing tags": f"{CALL}\n</tool_call>",
    "text after it": f"{CALL}\nI wait for the result.",
    "text glued to it": f"well{CALL}well",
    "text between the JSON and the closing tag": f"<tool_call>{JSON} That should do.</tool_call>",
    "one brace too many": tagged(JSON + "}"),
    "a fence between the tags": f"<tool_call>\n```json\n{JSON}\n```\n</tool_call>",
    "a byte order mark": tagged("\ufeff" + JSON),
    "an end-of-turn token": f"{CALL}<|im_end|>",
    "a stray word before it": f"call\n{CALL}",
    "the tag named in a sentence before it": f"Now I send a <tool_call> block for the folder.\n{CALL}",
    "both tags named in a sentence before it": f"JSON goes between <tool_call> and </tool_call>:\n{CALL}",
    "another call in reasoning before it": f"<think>Or {OTHER}? No.</think>\n{CALL}",
    "calls in two thoughts before it": f"<think>{OTHER}</think>\nHm. <think>{OTHER}</think>\n{CALL}",
    "a thought without its opening tag": f"Perhaps {OTHER}. No.\n</think>\n{CALL}",
    "an example in a fence before it": f"The form:\n```xml\n{OTHER}\n```\nAnd now:\n{CALL}",
    "an example in a fence after it": f"{CALL}\nThe form was:\n```\n{OTHER}\n```",
    "an example in inline code before it": f"Not `{OTHER}` but\n{CALL}",
    "a fence in CRLF before it": f"```\r\nplan\r\n```\r\n{CALL}",
    "a fence of tildes before it": f"~~~\n```\n{OTHER}\n~~~\n{CALL}",
    "a back-tick that opens nothing": f"The ` stands alone.\n{CALL}",
    "a note on the result to come": f"{CALL}\nI wait for the <tool_response> now.",
    "an id and a type beside the name": tagged('{"id": "c1", "type": "function", ' + JSON[1:]),
    "a thought beside the name": tagged('{"thought": "look first", ' + JSON[1:]),
}


@pytest.mark.parametrize("reply", RUNS.values(), ids=RUNS)
def test_a_call_is_read_in_spite_of(reply):
    assert parse_tool_call(reply) == LIST


CONTENTS = {
    "a closing tag": "end with </tool_call>, always",
    "an opening tag": 'tag = "<tool_call>"',
    "both tags": f"so: {CALL}",
    "a code fence": "# Notes\n\n```python\nprint(1)\n```\n",
    "braces": "if (a) { b({}) }}}",
    "back-ticks": "``a`` and `b`",
    "reasoning tags": "<think>not closed, </think> </think>",
    "the frame of a result": "<tool_response>\nx\n</tool_response>",
    "other forms of calls": '[TOOL_CALLS] [{"name": "x", "arguments": {}}] <|python_tag|> <function=f>',
    "an apostrophe": "it's five o'clock",
    "curly quotes": "“yes”, „nein“",
    "a comment sign": "https://example.org // no comment",
    "emoji": "🎣 fish, 👩‍🚀, café, 你好",
    "entities": "a &lt; b &amp;&amp; c",
    "a line end": "one\ntwo\r\nthree",
}


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
def test_a_text_may_hold(content):
    assert parse_tool_call(writing(content)).arguments["content"] == content


@pytest.mark.parametrize("raw", ["a\tb", "a\nb", "a\u2028b"])
def test_a_control_character_that_is_not_escaped_is_kept(raw):
    call = parse_tool_call(tagged('{"name": "write_file", "arguments": {"path": "a.txt", "content": "' + raw + '"}}'))
    assert call.arguments["content"] == raw


def test_an_escaped_emoji_is_one_character():
    assert parse_tool_call(tagged(r'{"name": "f", "arguments": {"a": "\ud83c\udfa3"}}')).arguments == {"a": "🎣"}


@pytest.mark.parametrize("body", ['{"name": "list_files", "arguments": null}', '{"name": "list_files"}', '{"name": "list_files", "arguments": {}}'])
def test_missing_arguments_are_no_arguments(body):
    assert parse_tool_call(tagged(body)) == ToolCall("list_files", {})


def test_any_name_is_passed_on_as_it_stands():
    assert parse_tool_call(tagged('{"name": " List_Files:0", "arguments": {}}')).name == " List_Files:0"


PLAIN = {
    "an answer": "There are two files in the folder.",
    "the word in a sentence": "I write a <tool_call> block and you approve it.",
    "both tags in a sentence": "I write JSON between <tool_call> and </tool_call> when I need something.",
    "dots between the tags": "The form is <tool_call>...</tool_call> and nothing else.",
    "an ellipsis between the tags": "The form is <tool_call>…</tool_call>.",
    "words between the tags": "Write <tool_call> your JSON here </tool_call> and stop.",
    "a sentence that ends with the tag": "A call begins with <tool_call>",
    "the tag in quotes": 'Say "<tool_call>" first.',
    "the tag in inline code": "A call begins with `<tool_call>` and some JSON.",
    "a lone closing tag": "That was all.\n</tool_call>",
    "JSON that is data": 'The package file:\n\n```json\n{"name": "harbour-site", "private": true}\n```',
    "a table of names": '[{"name": "Ada"}, {"name": "Emil"}]',
    "code": "```python\nfor name in names:\n    print(name)\n```",
    "the word for results": "The answer comes in a <tool_response> block.",
    "a closed thought": "<think>Easy.</think>It is 3.",
    "an action in a sentence": "My next action: reading the file.",
    "comparisons": "a < b and tools > hands",
}


@pytest.mark.parametrize("reply", PLAIN.values(), ids=PLAIN)
def test_a_plain_answer_is_no_call(reply):
    assert parse_tool_call(reply) is None


SHOWN = {
    "a fence": (f"It looks like this:\n```\n{CALL}\n```\nShall I?", "fence"),
    "a fence that is the whole reply": (f"```xml\n{CALL}\n```", "fence"),
    "a fence on one line": (f"```{CALL}```", "fence"),
    "a fence of tildes": (f"~~~\n{CALL}\n~~~", "fence"),
    "a fence of five back-ticks": (f"`````\n```\n{CALL}\n```\n`````", "fence"),
    "a fence that is never closed": (f"Plan:\n```\n1. look\n\n{CALL}", "fence"),
    "a fence with a language inside a fence": (f"```md\nText\n```json\n{{}}\n```\n{CALL}\n```", "fence"),
    "after a fence with a language that closes nothing": (f"```\ntext\n```python\n{CALL}\n```", "fence"),
    "an indented fence": (f"1. So:\n   ```\n   {CALL}\n   ```", "fence"),
    "a fence behind a tab": (f"- so\n\t```\n\t{CALL}\n\t```", "fence"),
    "a fence in a list item": (f"- ```\n  {CALL}\n  ```", "fence"),
    "a fence in a numbered item": (f"2. ```\n   {CALL}\n   ```", "fence"),
    "a fence in a quotation": (f"> ```\n> {CALL}\n> ```", "fence"),
    "a fence with CRLF": (f"```\r\n{CALL}\r\n```\r\n", "fence"),
    "inline code": (f"At the end I send `{CALL}` and stop.", "inline code"),
    "inline code of two back-ticks": (f"At the end I send ``{CALL}`` and stop.", "inline code"),
    "inline code with a back-tick in it": (f"I send `` ` {CALL}`` then.", "inline code"),
    "inline code on several lines": (f"I send `<tool_call>\n{JSON}\n</tool_call>` then.", "inline code"),
    "reasoning": (f"<think>Maybe {CALL}</think>", "</think>"),
    "several thoughts": (f"<think>{CALL}</think> <think>{CALL}</think>\nDone.", "</think>"),
    "reasoning that is never closed": (f"<think>\nI will look.\n{CALL}", "</think>"),
    "reasoning under another name": (f"<thinking>{CALL}</thinking>", "reasoning"),
    "reasoning without its opening tag": (f"Maybe {CALL}? No.\n</think>\nThere are three.", "</think>"),
    "a thought in a thought": (f"<think>a <think>b</think> {CALL}</think>\nDone.", "</think>"),
}


@pytest.mark.parametrize(("reply", "words"), SHOWN.values(), ids=SHOWN)
def test_a_call_that_is_only_shown_is_not_run(reply, words):
    with pytest.raises(ToolCallError, match=words) as error:
        parse_tool_call(reply)
    assert "not run" in str(error.value) and "<tool_call>" in str(error.value)


SEVERAL = {
    "two different calls": f"{CALL}\n{OTHER}",
    "the same call twice": f"{CALL}\n{CALL}",
    "the end of the task beside the work": f'{OTHER}\n<tool_call>{{"name": "task_complete", "arguments": {{"summary": "x"}}}}</tool_call>',
    "two objects between the tags": tagged(f"{JSON}\n{JSON}"),
    "two objects with a comma": tagged(f"{JSON}, {JSON}"),
    "an object and a list": tagged(f"{JSON}\n[{JSON}]"),
    "a second one without tags": f"{CALL}\n{JSON}",
    "a second one that is cut": f'{CALL}\n<tool_call>{{"name": "write_file", "argu',
}


@pytest.mark.parametrize("reply", SEVERAL.values(), ids=SEVERAL)
def test_of_several_calls_none_is_run(reply):
    with pytest.raises(ToolCallError, match="none was run.*one call"):
        parse_tool_call(reply)


@pytest.mark.parametrize("reply", [tagged(f"[{JSON}, {JSON}]"), tagged(f"[{JSON}]"), tagged("[]")])
def test_a_list_is_no_call(reply):
    with pytest.raises(ToolCallError, match="one JSON object"):
        parse_tool_call(reply)


INVENTED = {
    "a result after the call": f"{CALL}\n<tool_response>\na.txt\n</tool_response>\nThere is one file.",
    "a result on the same line": f"{CALL} <tool_response> a.txt </tool_response>",
    "a result with the name of its tool": f'{CALL}\n<tool_response tool="list_files">\na.txt',
    "a result without an end": f"{CALL}<tool_response>\na.txt",
    "a result before the call": f"<tool_response>\na.txt\n</tool_response>\n{CALL}",
    "a whole invented turn": f"{CALL}<|im_end|>\n<|im_start|>user\n<tool_response>ok</tool_response><|im_end|>",
}


@pytest.mark.parametrize("reply", INVENTED.values(), ids=INVENTED)
def test_a_call_beside_an_invented_result_is_not_run(reply):
    with pytest.raises(ToolCallError, match="wrote the tool's result yourself"):
        parse_tool_call(reply)


def test_an_invented_turn_with_a_second_call_runs_neither():
    with pytest.raises(ToolCallError, match="none was run"):
        parse_tool_call(f"{CALL}\n<tool_response>\nx\n</tool_response>\n{OTHER}")


CUT = {
    "in a text": '<tool_call>{"name": "write_file", "arguments": {"path": "a.txt", "content": "once upon',
    "in a text that holds the closing tag": '<tool_call>{"name": "write_file", "arguments": {"path": "a.md", "content": "end with </tool_call>, th',
    "in a command": '<tool_call>{"name": "run_python_code", "arguments": {"code": "import shutil\\nshutil.rmtree(\'bui',
    "after a colon": '<tool_call>{"name": "list_files", "arguments":',
    "in a name": '<tool_call>{"na',
    "after the first brace": "<tool_call>{",
    "before the last brace": '<tool_call>{"name": "list_files", "arguments": {"path": "harbour"}',
    "before the last brace, with a line end": '<tool_call>{"name": "list_files", "arguments": {"path": "harbour"}\n',
}


@pytest.mark.parametrize("reply", CUT.values(), ids=CUT)
def test_a_call_that_was_cut_is_not_run(reply):
    with pytest.raises(ToolCallError, match="cut off.*smaller"):
        parse_tool_call(reply)


@pytest.mark.parametrize("reply", ["<tool_call>", "I will look.\n<tool_call>", "I will look.\n<tool_call>\n", "So:\n  <tool_call>  ", "<tool_call>\n```json\n"])
def test_a_reply_that_is_cut_after_the_opening_tag_on_a_line_of_its_own_is_an_attempt(reply):
    with pytest.raises(ToolCallError, match="no JSON object"):
        parse_tool_call(reply)


BROKEN = {
    "single quotes": ("{'name': 'list_files', 'arguments': {}}", "double quotes"),
    "Python's None": ('{"name": "list_files", "arguments": {"path": None}}', "broken"),
    "a comma at the end": ('{"name": "list_files", "arguments": {"path": "a",},}', "comma"),
    "quotes inside a text": ('{"name": "run_python_code", "arguments": {"code": "print("hi")"}}', "quote"),
    "triple quotes": ('{"name": "run_python_code", "arguments": {"code": """a\nb"""}}', r"line end as \n"),
    "back-ticks for quotes": ('{"name": "run_python_code", "arguments": {"code": `a`}}', "double quotes"),
    "a Windows path": (r'{"name": "list_files", "arguments": {"path": "C:\Users\ada"}}', "/"),
    "curly quotes": ("{“name”: “list_files”}", "double quotes"),
    "a German quotation": ('{"name": "write_file", "arguments": {"path": "a", "content": "Er sagte „ja" und ging."}}', "quote"),
    "hard spaces": ('{"name": "list_files",\u00a0"arguments": {}}', "plain spaces"),
    "a comment": ('{"name": "list_files", /* here */ "arguments": {}}', "broken"),
    "a missing brace": ('{"name": "list_files", "arguments": {"path": "a"}', "}"),
    "a missing colon": ('{"name" "list_files"}', "broken"),
}


@pytest.mark.parametrize(("body", "words"), BROKEN.values(), ids=BROKEN)
def test_broken_json_is_refused_with_a_hint(body, words):
    with pytest.raises(ToolCallError) as error:
        parse_tool_call(tagged(body))
    assert words in str(error.value) and "<tool_call>" in str(error.value)


SHAPES = {
    "nothing": ("", "name and arguments"),
    "white space": (" \n ", "name and arguments"),
    "a number": ("42", "JSON object"),
    "a text": ('"list_files"', "JSON object"),
    "null": ("null", "JSON object"),
    "true": ("true", "JSON object"),
    "a bare name": ("list_files", "JSON object"),
    "a Python call": ('list_files(path="harbour")', "JSON object"),
    "prose on lines of its own": ("\nlist the files\n", "JSON object"),
    "no name": ('{"arguments": {}}', "name"),
    "an empty object": ("{}", "name"),
    "an empty name": ('{"name": " ", "arguments": {}}', "name"),
    "null for a name": ('{"name": null, "arguments": {}}', "name"),
    "a list for a name": ('{"name": ["list_files"], "arguments": {}}', "name"),
    "another key for the name": ('{"function": "list_files", "arguments": {}}', "name"),
    "a function in the call": ('{"type": "function", "function": {"name": "list_files", "arguments": {}}}', "name"),
    "a message in the call": ('{"tool_calls": [{"function": {"name": "list_files"}}]}', "name"),
    "arguments as text": (r'{"name": "list_files", "arguments": "{\"path\": \"a\"}"}', "JSON object"),
    "arguments as a list": ('{"name": "list_files", "arguments": ["a"]}', "JSON object"),
    "arguments as a number": ('{"name": "list_files", "arguments": 1}', "JSON object"),
    "arguments beside the name": ('{"name": "list_files", "path": "a"}', "arguments"),
    "arguments under another key": ('{"name": "list_files", "parameters": {"path": "a"}}', "arguments"),
    "arguments under two keys": ('{"name": "list_files", "arguments": {"path": "a"}, "parameters": {"path": "b"}}', "arguments"),
    "the name twice": ('{"name": "list_files", "name": "write_file", "arguments": {}}', "twice"),
    "an argument twice": ('{"name": "list_files", "arguments": {"path": "a", "path": "b"}}', "twice"),
    "a very long number": ('{"name": "f", "arguments": {"n": ' + "9" * 5000 + "}}", "digits"),
}


@pytest.mark.parametrize(("body", "words"), SHAPES.values(), ids=SHAPES)
def test_a_call_of_the_wrong_shape_is_refused(body, words):
    with pytest.raises(ToolCallError, match=words):
        parse_tool_call(tagged(body))


DIALECTS = {
    "tags in capitals": f"<TOOL_CALL>{JSON}</TOOL_CALL>",
    "tags in mixed case": f"<Tool_Call>{JSON}</tool_call>",
    "a space in the tag": f"<tool_call >{JSON}</tool_call>",
    "a hyphen in the tag": f"<tool-call>{JSON}</tool-call>",
    "no underscore": f"<toolcall>{JSON}</toolcall>",
    "the plural": f"<tool_calls>{JSON}</tool_calls>",
    "an attribute": '<tool_call name="list_files">{"path": "a"}</tool_call>',
    "a tag that is not closed": f"<tool_call{JSON}</tool_call>",
    "the tag of the definitions": f"<tools>\n{JSON}\n</tools>",
    "square brackets": f"[tool_call]{JSON}[/tool_call]",
    "escaped tags": "&lt;tool_call&gt;{&quot;name&quot;: &quot;list_files&quot;}&lt;/tool_call&gt;",
    "no opening tag": f"{JSON}\n</tool_call>",
    "no tags at all": JSON,
    "no tags, in a fence": f"```json\n{JSON}\n```",
    "no tags, arguments first": '{"arguments": {"path": "a"}, "name": "list_files"}',
    "no tags, in single quotes": "{'name': 'list_files', 'arguments': {'path': 'a'}}",
    "no tags, parameters": '{"name": "list_files", "parameters": {"path": "a"}}',
    "an action in JSON": '{"action": "list_files", "action_input": {"path": "a"}}',
    "ReAct": 'Thought: look.\nAction: list_files\nAction Input: {"path": "a"}',
    "ReAct with CRLF": 'Thought: look.\r\nAction: list_files\r\nAction Input: {"path": "a"}',
    "ReAct with brackets": "Thought: look.\nAction: list_files[a]",
    "Qwen Coder": "<tool_call>\n<function=list_files>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>",
    "Qwen Coder without the outer tag": "<function=list_files>\n<parameter=path>\na\n</parameter>\n</function>",
    "GLM": "<tool_call>list_files\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>\n</tool_call>",
    "GLM with a long value": f"<tool_call>list_files\n<arg_key>path</arg_key>\n<arg_value>{'a' * 900}</arg_value>\n</tool_call>",
    "DeepSeek": '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>list_files\n```json\n{"path": "a"}\n```<｜tool▁call▁end｜>',
    "newer DeepSeek": '<｜DSML｜function_calls>\n<｜DSML｜invoke name="list_files">\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    "Kimi": '<|tool_calls_section_begin|><|tool_call_begin|>functions.list_files:0<|tool_call_argument_begin|>{"path": "a"}<|tool_call_end|>',
    "Mistral": f"[TOOL_CALLS] [{JSON}]",
    "newer Mistral": '[TOOL_CALLS]list_files[ARGS]{"path": "a"}',
    "Llama": '<|python_tag|>list_files.call(path="a")',
    "Liquid": "<|tool_call_start|>[list_files(path='a')]<|tool_call_end|>",
    "gpt-oss": '<|channel|>commentary to=functions.list_files <|constrain|>json<|message|>{"path": "a"}',
    "Claude": '<function_calls>\n<invoke name="list_files">\n<parameter name="path">a</parameter>\n</invoke>\n</function_calls>',
    "MiniMax": '<minimax:tool_call>\n<invoke name="list_files">\n<parameter name="path">a</parameter>\n</invoke>\n</minimax:tool_call>',
    "Gemma": '```tool_code\nlist_files(path="a")\n```',
}


@pytest.mark.parametrize("reply", DIALECTS.values(), ids=DIALECTS)
def test_a_call_in_another_form_is_refused_and_the_right_form_is_shown(reply):
    with pytest.raises(ToolCallError) as error:
        parse_tool_call(reply)
    assert '<tool_call>{"name": "...", "arguments": {...}}</tool_call>' in str(error.value)


@pytest.mark.parametrize("reply", [None, "", " ", "\n \t\n"])
def test_an_empty_reply_is_said_to_be_empty(reply):
    with pytest.raises(ToolCallError, match="empty"):
        parse_tool_call(reply)


@pytest.mark.parametrize("value", ["[" * 100_000 + "]" * 100_000, '{"a":' * 50_000, "[" * 500_000])
def test_deep_nesting_is_refused(value):
    with pytest.raises(ToolCallError):
        parse_tool_call('<tool_call>{"name": "f", "arguments": {"a": ' + value)


def megabyte(text):
    return text * (1_000_000 // len(text))


LONG = {
    "opening tags": megabyte("<tool_call>"),
    "opening tags with a letter between": megabyte("<tool_call>x"),
    "opening tags in sentences": megabyte("<tool_call> and so on\n"),
    "pairs of tags": megabyte("<tool_call> and </tool_call>"),
    "half calls": megabyte('<tool_call>{"name": "list_files", "arguments": {"path": "a'),
    "braces": "<tool_call>" + megabyte("{"),
    "closing tags": megabyte("</tool_call>"),
    "back-ticks": megabyte("`"),
    "back-ticks in pairs and alone": megabyte("` `` "),
    "a back-tick a line": megabyte("`\n"),
    "runs of back-ticks, each shorter": "x".join("`" * length for length in range(1400, 0, -1)),
    "quoted openings of a call": megabyte("`<tool_call>{"),
    "fences": megabyte("```\n"),
    "fences with a language": megabyte("```a\n"),
    "thoughts": megabyte("<think>"),
    "ends of thoughts": megabyte("</think>"),
    "results": megabyte("<tool_response>"),
    "spaces after a call": f"<tool_call>{JSON}" + megabyte(" ") + "x",
    "commas after a call": f"<tool_call>{JSON}" + megabyte(", ") + "x",
    "spaces in a call": "<tool_call>{" + megabyte(" "),
    "spaces after Mistral's mark": "[TOOL_CALLS]" + megabyte(" ") + "x",
    "lines after an action": "Action: x" + megabyte("\n") + "x",
    "openings of a tag": megabyte("< "),
    "signs of a quotation": megabyte(">"),
    "names": megabyte('"name": "'),
    "arguments": megabyte('"arguments":{'),
    "prose": megabyte("word after word, "),
}


@pytest.mark.parametrize("reply", LONG.values(), ids=LONG)
def test_a_megabyte_is_read_in_one_go_and_never_hangs(reply):
    start = time.process_time()   # of this process: others run beside it
    try:
        parse_tool_call(reply)
    except ToolCallError:
        pass
    assert time.process_time() - start < 5   # it takes under a second; reading every part again and again would take hours


FRAGMENTS = [
    "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>", "```", "~~~", "`", "``", "\n", "\r\n", " ", "> ", "- ",
    "{", "}", "[", "]", '"', ":", ",", "\\", '"name"', '"arguments"', '"list_files"', "null", "NaN", "-1e999", "9" * 4500, "\ud83d", "\x00", "\u202e",
    "word", JSON, CALL, "<function=f>", "[TOOL_CALLS]", "Action: f", "<|python_tag|>", "&lt;tool_call&gt;", "'", "<tools>", "\ufeff", "🎣",
]


@pytest.mark.parametrize("seed", range(4))
def test_whatever_a_model_writes_only_a_tool_call_error_is_raised(seed):
    draw = random.Random(seed)
    for _ in range(1500):
        reply = "".join(draw.choices(FRAGMENTS, k=draw.randint(1, 12)))
        try:
            call = parse_tool_call(reply)
        except ToolCallError as error:
            assert str(error)
        else:
            assert call is None or (isinstance(call.name, str) and isinstance(call.arguments, dict))


@pytest.mark.parametrize("place", range(1, len(CALL)))
def test_a_call_that_is_cut_anywhere_never_becomes_another_call(place):
    try:
        call = parse_tool_call(CALL[:place])
    except ToolCallError:
        call = None
    assert call in (None, LIST)


def test_a_call_can_not_be_changed_after_it_was_read():
    with pytest.raises(AttributeError):
        parse_tool_call(CALL).name = "write_file"
