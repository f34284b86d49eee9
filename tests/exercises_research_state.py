"""Right and wrong answers to the exercises of lesson 23: (exercise, arguments of the check) and, if wrong, words of the reason."""
from agent_steps.classroom.question_console import HumanInputUnavailable
from agent_steps.interrupt_and_resume import turns_of
from agent_steps.providers.formats import results_in, role_of
from agent_steps.research_state import ResearchState, StateError, in_parts


def by_turns(messages, keep=4):
    beginning, older, newest = in_parts(messages, keep)
    return beginning + [turn[0] for turn in older if role_of(turn[0]) == "user"] + newest


def by_messages(messages, keep=4):
    beginning, older, newest = in_parts(messages, keep)
    kept = list(beginning)
    for turn in older:
        for message in turn:
            if message["role"] == "user" and not results_in(message):
                kept.append(message)
    return kept + newest


def by_role(messages, keep=4):
    beginning, older, newest = in_parts(messages, keep)
    return [*beginning, *[message for turn in older for message in turn if message["role"] == "user"], *newest]


def nothing_older(messages, keep=4):
    beginning, _, newest = in_parts(messages, keep)
    return [*beginning, *newest]


def without_calls(messages, keep=4):
    beginning, older, newest = in_parts(messages, keep)
    return [*beginning, *[turn[0] for turn in older if len(turn) == 1], *newest]


def without_the_newest(messages, keep=4):
    beginning, older, newest = in_parts(messages, keep)
    return [*beginning, *[turn[0] for turn in older if role_of(turn[0]) == "user"]]


def people_first(messages, keep=4):
    beginning, older, newest = in_parts(messages, keep)
    return [turn[0] for turn in older if role_of(turn[0]) == "user"] + beginning + newest


def as_turns(messages, keep=4):
    return [turn for turn in turns_of(messages) if role_of(turn[0]) == "user"]


def in_place(messages, keep=4):
    messages[:] = by_turns(messages, keep)
    return messages


def with_a_loop(ask, name):
    for _ in range(3):
        typed = ask(f"Delete {name}?")
        if typed is None:
            raise HumanInputUnavailable("Nobody is here.")
        typed = typed.strip().lower()
        if typed == "yes":
            return True
        if typed == "no":
            return False
    raise HumanInputUnavailable("No clear answer.")


def with_a_table(ask, name, tries=3):
    typed = ask(f"Type yes to delete {name}, or no.") if tries else None
    if typed is None:
        raise HumanInputUnavailable
    answer = {"yes": True, "no": False}.get(typed.strip().casefold())
    return with_a_table(ask, name, tries - 1) if answer is None else answer


def all_but_n(ask, name):
    return ask(f"Delete {name}? [Y/n]") != "n"


def no_by_default(ask, name):
    return (ask(f"Delete {name}? [y/N]") or "").strip().lower() == "yes"


def enter_is_yes(ask, name):
    return (ask(f"Delete {name}?") or "").strip().lower() in ("", "yes")


def no_at_the_end(ask, name):
    try:
        return with_a_loop(ask, name)
    except HumanInputUnavailable:
        return False


def for_ever(ask, name):
    while True:
        typed = (ask(f"Delete {name}?") or "").strip().lower()
        if typed in ("yes", "no"):
            return typed == "yes"


def case_matters(ask, name):
    for _ in range(3):
        typed = ask(f"Delete {name}?")
        if typed is None:
            break
        if typed in ("yes", "no"):
            return typed == "yes"
    raise HumanInputUnavailable("No clear answer.")


def short_forms(ask, name):
    for _ in range(3):
        typed = ask(f"Delete {name}?")
        if typed is None:
            break
        if typed.strip().lower()[:1] in ("y", "n"):
            return typed.strip().lower()[:1] == "y"
    raise HumanInputUnavailable("No clear answer.")


def nameless(ask, name):
    return with_a_loop(lambda prompt: ask("Delete it?"), name)


def no_none(ask, name):
    for _ in range(3):
        if (typed := ask(f"Delete {name}?").strip().lower()) in ("yes", "no"):
            return typed == "yes"
    raise HumanInputUnavailable("No clear answer.")


def the_text(ask, name):
    return ask(f"Delete {name}?")


def by_state(saved):
    if saved.get("research_state") == 1:
        return saved
    if saved.get("research_state") != 0:
        raise StateError("This is neither form 0 nor form 1.")
    questions = [line.strip() for line in saved["questions"].splitlines() if line.strip()]
    phase = saved["phase"].replace("done", "complete")
    return {"research_state": 1, **ResearchState(topic=saved["topic"], phase=phase, research_questions=questions).model_dump()}


def by_hand(saved):
    form = saved.get("research_state", "none")
    if form not in (0, 1):
        raise StateError(f"form {form}")
    if form == 1:
        return dict(saved)
    new = dict(saved)
    new.update(research_state=1, requirements="", report_draft="", final_report="")
    for name in ("search_queries", "search_results", "fetched_pages", "extracted_facts", "report_outline", "messages", "feedback_history"):
        new[name] = []
    new["research_questions"] = list(filter(None, map(str.strip, new.pop("questions").split("\n"))))
    if new["phase"] == "done":
        new["phase"] = "complete"
    return new


def only_the_number(saved):
    return {**saved, "research_state": 1}


def blank_lines(saved):
    made = by_state(saved)
    return made if saved["research_state"] else made | {"research_questions": [line.strip() for line in saved["questions"].splitlines()]}


def lines_of_spaces(saved):
    made = by_state(saved)
    return made if saved["research_state"] else made | {"research_questions": [line.strip() for line in saved["questions"].splitlines() if line]}


def always_complete(saved):
    made = by_state(saved)
    return made if saved["research_state"] else made | {"phase": "complete"}


def done_stays(saved):
    made = by_state(saved)
    return made if saved["research_state"] else made | {"phase": saved["phase"]}


def changes_it(saved):
    made = by_state(saved)
    saved["research_state"] = 1
    return made


def takes_all(saved):
    return by_state(saved | {"research_state": saved.get("research_state") or 0} | ({"research_state": 0} if saved.get("research_state") == 2 else {}))


def key_error(saved):
    return by_state(saved) if saved["research_state"] in (0, 1) else by_state({})


def value_error(saved):
    if saved.get("research_state") not in (0, 1):
        raise ValueError("no form")
    return by_state(saved)


def forgets_the_topic(saved):
    return by_state(saved) if saved.get("research_state") != 0 else by_state(saved) | {"topic": ""}


def never_form_1(saved):
    return by_state({**saved, "research_state": 0})


RIGHT = [
    (1, by_turns), (1, by_messages), (2, with_a_loop), (2, with_a_table), (3, by_state), (3, by_hand),
]
WRONG = [
    (1, by_role, "In Anthropic's format, results of older turns"), (1, nothing_older, "this was lost: My name is Ada."), (1, without_calls, "a reply of an older turn"),
    (1, without_the_newest, "this was lost: And how many"), (1, people_first, "in their order"), (1, as_turns, "no list of turns"), (1, in_place, "Make a new one"),
    (1, lambda messages, keep=4: None, "gave back nothing"), (1, lambda messages, keep=4: messages, "of an older turn is still there"),
    (1, lambda messages, keep=4: [each for each in by_turns(messages, keep) if each["role"] != "tool"], "not all of the newest"),
    (2, all_but_n, "gave back True, not False"), (2, no_by_default, "ask again"), (2, enter_is_yes, "Enter three times is no answer"), (2, no_at_the_end, "Enter three times is no answer"),
    (2, for_ever, "Three times is the most"), (2, case_matters, "Capitals and spaces"), (2, short_forms, "y is not yes"), (2, nameless, "must name the file"),
    (2, no_none, "ask gives back None"), (2, the_text, "Return True or False"), (2, lambda ask, name: None, "must name the file"),
    (3, only_the_number, "lacks extracted_facts, "), (3, blank_lines, "not ['What makes"), (3, lines_of_spaces, "not ['What makes"), (3, always_complete, "Only done has another name"), (3, done_stays, "The phase was done, and is now done, not complete"),
    (3, changes_it, "has changed the dict"), (3, takes_all, "was taken"), (3, key_error, "it raised KeyError. Raise StateError"), (3, value_error, "it raised ValueError"),
    (3, forgets_the_topic, "The topic was"), (3, never_form_1, "KeyError"), (3, lambda saved: None, "gave back nothing"), (3, lambda saved: [], "Return a dict"),
    (3, lambda saved: {}, "not 1"),
]

# what the exercises' cells use of the lesson
PREPARE = """
from agent_steps.classroom.question_console import HumanInputUnavailable
from agent_steps.providers.formats import role_of
from agent_steps.research_state import ResearchState, StateError, in_parts
"""
