"""Right and wrong answers to the exercises of lesson 21: (exercise, arguments of the check) and, if wrong, words of the reason."""
import json
import re

from agent_steps.classroom.question_console import chosen


def with_a_loop(line, labels):
    if len(line) > 2 and line[0] == line[-1] == '"':
        return [line[1:-1]]
    found = []
    for part in line.split(","):
        if not part.strip().isdecimal():
            return [line]
        number = int(part)
        if number < 1 or number > len(labels):
            raise ValueError("There is no such option.")
        found.append(labels[number - 1])
    return list(dict.fromkeys(found))


def by_the_console(line, labels):
    options = [{"label": label, "description": label} for label in labels]
    return chosen(line, {"multiSelect": True, "options": options})


def by_pattern(line, labels):
    if quoted := re.fullmatch(r'"(.+)"', line):
        return [quoted[1]]
    if not re.fullmatch(r"\d+(\s*,\s*\d+)*", line):
        return [line]
    numbers = dict.fromkeys(int(number) for number in re.findall(r"\d+", line))
    if not all(1 <= number <= len(labels) for number in numbers):
        raise ValueError(line)
    return [labels[number - 1] for number in numbers]


def from_zero(line, labels):
    return [labels[int(part)] for part in line.split(",")]


def numbers_only(line, labels):
    return [labels[int(part) - 1] for part in line.split(",")]


def twice(line, labels):
    if line.startswith('"'):
        return [line[1:-1]]
    parts = line.split(",")
    if not all(part.strip().isdecimal() for part in parts):
        return [line]
    return [labels[int(part) - 1] for part in parts]


def rounded(line, labels):
    try:
        return [labels[int(float(line)) - 1]]
    except ValueError:
        return with_a_loop(line, labels)


def drops(line, labels):
    try:
        return with_a_loop(line, labels)
    except ValueError:
        return [labels[int(part) - 1] for part in line.split(",") if 1 <= int(part) <= len(labels)]


def index_error(line, labels):
    parts = line.split(",")
    if '"' in line or not all(part.strip().isdecimal() for part in parts):
        return [line.strip('"')]
    return list(dict.fromkeys(labels[int(part) - 1] for part in parts))


def with_quotes(line, labels):
    return [line] if '"' in line else with_a_loop(line, labels)


def quotes_are_numbers(line, labels):
    return with_a_loop(line.strip('"'), labels)


def torn_at_commas(line, labels):
    came = with_a_loop(line, labels)
    return line.split(", ") if came == [line] else came


def one_text(line, labels):
    return ", ".join(with_a_loop(line, labels))


def by_first(rules):
    def callback(questions, context):
        answers = {}
        for question in questions:
            labels = [option["label"] for option in question["options"]]
            for wish in rules.get(question["header"], ()):
                if wish in labels:
                    answers[question["question"]] = wish
                    break
        return answers
    return callback


class ByRules:
    def __init__(self, rules):
        self.rules = rules

    def __call__(self, questions, context):
        return {question["question"]: self.fitting(question)[:1] for question in questions}

    def fitting(self, question):
        labels = {option["label"] for option in question["options"]}
        return [wish for wish in self.rules.get(question["header"], []) if wish in labels]


def by_header(rules):
    callback = by_first(rules)
    return lambda questions, context: {question["header"]: answer for question in questions for answer in callback([question], context).values()}


def the_first_wish(rules):
    return lambda questions, context: {each["question"]: rules[each["header"]][0] for each in questions if each["header"] in rules}


def the_first_option(rules):
    def callback(questions, context):
        answers = {each["question"]: each["options"][0]["label"] for each in questions}
        return answers | by_first(rules)(questions, context)
    return callback


def all_that_fit(rules):
    return lambda questions, context: {each["question"]: ByRules(rules).fitting(each) for each in questions}


def used_up(rules):
    def callback(questions, context):
        answers = by_first(rules)(questions, context)
        rules.clear()
        return answers
    return callback


def the_order_of_the_options(rules):
    def callback(questions, context):
        answers = {}
        for question in questions:
            for option in question["options"]:
                if option["label"] in rules.get(question["header"], []):
                    answers.setdefault(question["question"], option["label"])
        return answers
    return callback


def none_if_open(rules):
    return lambda questions, context: {each["question"]: by_first(rules)([each], context).get(each["question"]) for each in questions}


def one_question_only(rules):
    def callback(questions, context):
        for question in questions:
            if answers := by_first(rules)([question], context):
                return answers
        return {}
    return callback


def the_answers(rules):
    return by_first(rules)([], {})


def no_callback(rules):
    return None


def in_steps(text):
    if text.startswith("Error: "):
        return text
    result, parts = json.loads(text), []
    for question in result["questions"]:
        if result.get("status") == "deferred":
            said = "later"
        else:
            answer = result["answers"][question["question"]]
            own = f'"{answer["other_text"]}"' if answer["other_text"] else None
            said = ", ".join(filter(None, [*answer["selected"], own])) or "open"
        parts.append(f"{question['header']}: {said}")
    return "; ".join(parts)


def with_try(text):
    try:
        result = json.loads(text)
    except ValueError:
        return text
    headers = {question["question"]: question["header"] for question in result["questions"]}
    said = dict.fromkeys(headers, "later")
    for asked, answer in result.get("answers", {}).items():
        words = list(answer["selected"])
        if answer["other_text"] is not None:
            words.append('"' + answer["other_text"] + '"')
        said[asked] = ", ".join(words) if words else "open"
    return "; ".join(f"{headers[asked]}: {words}" for asked, words in said.items())


def always_json(text):
    json.loads(text)
    return in_steps(text)


def always_answers(text):
    if not text.startswith("Error"):
        json.loads(text)["answers"]
    return in_steps(text)


def without_quotes(text):
    return text if text.startswith("Error") else in_steps(text).replace('"', "")


def first_only(text):
    return text if text.startswith("Error") else in_steps(text).split(";")[0]


def never_open(text):
    return in_steps(text).replace("open", "")


def in_lines(text):
    return in_steps(text).replace("; ", "\n")


def a_list(text):
    return in_steps(text).split("; ")


RIGHT = [
    (1, with_a_loop), (1, by_the_console), (1, by_pattern), (2, by_first), (2, ByRules), (3, in_steps), (3, with_try),
]
WRONG = [
    (1, from_zero, "the first is 1"), (1, numbers_only, "Each label once"), (1, twice, "Each label once"), (1, rounded, "not the number 1 either"),
    (1, drops, "a number that is none of them"), (1, index_error, "is a ValueError"), (1, with_quotes, "without them"),
    (1, quotes_are_numbers, "in quotes is an own answer"), (1, torn_at_commas, "also with a comma in it"), (1, one_text, "Return a list"),
    (1, lambda line, labels: None, "gave back nothing"),
    (2, by_header, "not by its header"), (2, the_first_wish, "notes.txt is no option here"), (2, the_first_option, "stays open"), (2, all_that_fit, "next best"),
    (2, none_if_open, "An open question is left out"), (2, one_question_only, "both have an answer"),
    (2, used_up, "has changed the rules"), (2, the_order_of_the_options, "next best"), (2, the_answers, "Return a function"), (2, no_callback, "Return a function"),
    (2, lambda rules: lambda questions, context: None, "Return a dict"), (2, lambda rules: lambda questions, context: {"File": 1}, "not by its header"),
    (2, lambda rules: lambda questions, context: {"Which?": "tides.csv"}, "text of no question"),
    (2, lambda rules: lambda questions, context: {each["question"]: True for each in questions}, "a list of texts"),
    (3, always_json, "no JSON"), (3, always_answers, "no answers yet"), (3, without_quotes, "in double quotes"), (3, first_only, "Two questions"),
    (3, never_open, "the question is open"), (3, in_lines, "Two questions"), (3, a_list, "Return a text"), (3, lambda text: None, "gave back nothing"),
]

# what the exercises' cells use of the lesson
PREPARE = """
import json
"""
