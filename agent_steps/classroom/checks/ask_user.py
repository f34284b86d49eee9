"""The exercises of lesson 21."""
import copy
import json

from agent_steps.classroom.checks import NotYet, want

COLOURS = ["red", "green", "blue"]


def exercise_1(read_line):
    """read_line(line, labels): the labels that the numbers mean, or an own answer."""
    for line, right, why in [
        ("2", ["green"], "A number chooses an option, and the first is 1."),
        ("3, 1", ["blue", "red"], "Several numbers, with commas between them, in their order."),
        ("1,3", ["red", "blue"], "There need not be a space behind a comma."),
        ("1,1", ["red"], "Each label once."),
        ("1.7", ["1.7"], "That is no option, and not the number 1 either."),
        ("the sky, please", ["the sky, please"], "What is no number is an own answer, also with a comma in it."),
        ("1 and 2", ["1 and 2"], "Not all of it is numbers with commas, so it is an own answer."),
        ("1, green", ["1, green"], "Not all of it is numbers, so the whole line is an own answer."),
        ('"7"', ["7"], "A text in quotes is an own answer, without them."),
        ('"2"', ["2"], "A text in quotes is an own answer, also if it is the number of an option."),
    ]:
        _read(read_line, line, right, why)
    for line in ("7", "0", "1,5", "4, 1"):
        _refuse(read_line, line)


def _read(read_line, line, right, why):
    try:
        came = read_line(line, list(COLOURS))
    except (ValueError, IndexError) as error:
        raise NotYet(f"For the line {line} your code raised {type(error).__name__}: {error}. {why}") from None
    want(came is not None and came is not ..., "read_line gave back nothing. Return a list of texts.")
    want(isinstance(came, list) and all(isinstance(each, str) for each in came), f"For the line {line} it gave back {came!r}. Return a list of texts.")
    want(came == right, f"For the line {line} it gave back {came}, not {right}. {why}")


def _refuse(read_line, line):
    try:
        came = read_line(line, list(COLOURS))
    except ValueError:
        return
    except IndexError as error:
        raise NotYet(f"For the line {line} your code raised IndexError: {error}. A number that is no option is a ValueError.") from None
    raise NotYet(f"For the line {line} it gave back {came!r}. There are 3 options: a number that is none of them is a ValueError.")


def _question(text, header, *labels, many=False):
    options = [{"label": label, "description": f"The option {label}."} for label in labels]
    return {"question": text, "header": header, "multiSelect": many, "options": options}


FILE = _question("Which file shall I read?", "File", "penguins.csv", "tides.csv")
UNIT = _question("In which unit is the wind?", "Unit", "knots", "m/s")
COLUMNS = _question("Which columns?", "Columns", "hour", "tide_m", "wind", many=True)


def exercise_2(from_rules):
    """from_rules(rules): a callback that answers by rules and leaves the rest open."""
    rules = {"File": ["notes.txt", "tides.csv", "penguins.csv"], "Unit": ["km/h"], "Columns": ["wind", "hour"]}
    for asked, right, why in [
        ([FILE], {FILE["question"]: ["tides.csv"]}, "notes.txt is no option here, tides.csv is the next best."),
        ([UNIT], {}, "km/h is no option here: that question stays open."),
        ([_question("How long?", "Length", "short", "long")], {}, "There is no rule for that header: the question stays open."),
        ([COLUMNS], {COLUMNS["question"]: ["wind"]}, "Take the first only, also where several may be chosen."),
        ([UNIT, FILE], {FILE["question"]: ["tides.csv"]}, "Of two questions, one has an answer."),
        ([FILE, COLUMNS], {FILE["question"]: ["tides.csv"], COLUMNS["question"]: ["wind"]}, "Of two questions, both have an answer."),
    ]:
        before = copy.deepcopy(rules)
        callback = from_rules(rules)
        want(callable(callback), f"from_rules gave back {callback!r}. Return a function of questions and context.")
        came = callback(copy.deepcopy(asked), {"session": "ada"})
        want(isinstance(came, dict), f"The callback gave back {came!r}. Return a dict from the text of a question to its answer.")
        _compare(asked, came, right, why)
        want(rules == before, "Your callback has changed the rules. They are to be there for the next question, too.")


def _compare(asked, came, right, why):
    headers = [each["header"] for each in asked]
    what, texts = f"Asked for {' and '.join(headers)}", [each["question"] for each in asked]
    for key, answer in came.items():
        want(key not in headers, f"{what}, it answers {key!r}. Answers go by the text of a question, not by its header.")
        want(key in texts, f"{what}, it answers {key!r}, and that is the text of no question.")
        want(answer is not None and answer != "", f"{what}, it answers {answer!r}, which is no answer. An open question is left out.")
        want(isinstance(answer, (str, list, tuple)), f"{what}, it answers {answer!r}. An answer is a list of texts.")
    answers = {key: [answer] if isinstance(answer, str) else list(answer) for key, answer in came.items() if answer}   # [] leaves it open, too
    want(answers == right, f"{what}, the answers are {answers}, not {right}. {why}")


def _result(*answered):
    """The text of the tool's result. answered: pairs of a question, and what is selected and the own text."""
    answers = {question["question"]: {"selected": list(selected), "other_text": own} for question, selected, own in answered}
    return json.dumps({"questions": [question for question, _, _ in answered], "answers": answers}, ensure_ascii=False)


def exercise_3(summary):
    """summary(text): one line for a log, of the text that the tool returns."""
    later = {"questions": [FILE, UNIT], "status": "deferred", "instructions": "The answers come with the next message."}
    for text, right, why in [
        (_result((FILE, ["tides.csv"], None)), "File: tides.csv", "One label."),
        (_result((COLUMNS, ["wind", "hour"], None)), "Columns: wind, hour", "Two labels, with a comma between them."),
        (_result((FILE, [], "the notes")), 'File: "the notes"', "An own answer stands in double quotes."),
        (_result((COLUMNS, ["wind"], "and the date")), 'Columns: wind, "and the date"', "A label and an own answer."),
        (_result((UNIT, [], None)), "Unit: open", "Nothing selected and no own answer: the question is open."),
        (_result((FILE, ["tides.csv"], None), (UNIT, [], None)), "File: tides.csv; Unit: open", "Two questions, in their order."),
        (json.dumps(later), "File: later; Unit: later", "The status is deferred: there are no answers yet."),
        ("Error: Question 1 has no header. Nobody was asked.", "Error: Question 1 has no header. Nobody was asked.", "An error stays as it is."),
    ]:
        try:
            came = summary(text)
        except KeyError as error:
            raise NotYet(f"Your code raised KeyError: {error}. {why} The text begins: {_short(text)}") from None
        except json.JSONDecodeError:
            raise NotYet(f"The text {_short(text)!r} is no JSON. {why}") from None
        want(came is not None and came is not ..., "summary gave back nothing. Return a text.")
        want(isinstance(came, str), f"summary gave back {came!r}. Return a text.")
        want(came == right, f"It gave back {_short(came)!r}, not {right!r}. {why}")


def _short(text):
    return text if len(text) <= 80 else f"{text[:60]}[...]"
