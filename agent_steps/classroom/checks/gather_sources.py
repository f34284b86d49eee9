"""The exercises of lesson 24."""
import copy

from agent_steps.classroom.checks import NotYet, want

PAGE = "data/library/tide-theories.html"


def _row(fact, quote, url=PAGE):
    return {"fact": fact, "source_url": url, "quote": quote}


def exercise_1(name_problem):
    """name_problem(row): a reason more to drop a fact, or None."""
    for fact, quote, name, why in [
        ("Laplace wrote the first equations.", "Laplace wrote in 1775 the first equations for the tide.", None, "No name is missing."),
        ("Machines add waves.", "All of these instruments add up many simple waves.", None, "The first word of a fact begins with a capital letter, and is no name."),
        ("The tide was explained by Darwin in a book.", "Isaac Newton explained the tides by the gravitation of the moon.", "Darwin", "The quote names Newton."),
        ("A machine of Thomson adds waves.", "The machine of Kelvin adds the waves of which a tide consists.", "Thomson", "The quote names Kelvin."),
        ("Tables from Liverpool helped in France.", "Tables from London helped sailors all over Europe.", "Liverpool", "Of two names, the first."),
        ("It stood in Kiel, near the Elbe.", "The machine stood in Kiel for years, where the Elbe is not far.", None, "A comma or a full stop is no part of a name."),
        ("It was made by Thom.", "Thomson had it built, for two harbours and for the navy.", "Thom", "Thom is not Thomson: compare whole words."),
        ("The waves of Émilie were found.", "The waves were found by a colleague at the observatory.", "Émilie", "É is a capital letter, too."),
    ]:
        _compare(name_problem(_row(fact, quote)), name and f"its words do not hold the name {name}", f"For the fact {fact!r} and the quote {quote!r}", why)


def _compare(came, right, what, why):
    want(came is not ..., f"{what} your code gave back nothing.")
    want(came == right, f"{what} it gave back {came!r}, not {right!r}. {why}")


def exercise_2(read_list):
    """read_list(text): the items of a numbered list, 3 to 5 of them, or a ReplyError."""
    for text, right, why in [
        ("1. Who?\n2. Why?\n3. How?", ["Who?", "Why?", "How?"], "Three lines with numbers."),
        ("Of course. Here they are:\n\n1. Who?\n2. Why?\n3. How?\n\nI hope this helps.", ["Who?", "Why?", "How?"], "Lines without a number are talk."),
        ("1) Who?\n2) Why?\n3) How?\n4) When?", ["Who?", "Why?", "How?", "When?"], "A number may have a bracket behind it."),
        ("  1. Who?  \r\n  2. Why?\r\n  3. How?\r\n", ["Who?", "Why?", "How?"], "Take the white space away, at both ends."),
        ("1. In 1775?\n2. Why 3. times?\n3. 12.42 hours?", ["In 1775?", "Why 3. times?", "12.42 hours?"], "Numbers inside of a line are part of it."),
        ("8. Who?\n9. Why?\n10. How?", ["Who?", "Why?", "How?"], "A number may have two digits."),
    ]:
        _read(read_list, text, right, why)
    for text, count, why in [("1. Who?\n2. Why?", 2, "Two are too few."), ("\n".join(f"{n}. What?" for n in range(1, 7)), 6, "Six are too many."),
                             ("I cannot do that.", 0, "There is no list at all."), ("1775 was a good year.\n1. Who?\n2. Why?", 2, "1775 has no full stop behind it.")]:
        _refuse(read_list, text, count, why)


def _read(read_list, text, right, why):
    try:
        came = read_list(text)
    except ValueError as error:
        raise NotYet(f"For the text {text!r} your code raised {type(error).__name__}: {error}. {why}") from None
    want(came is not None and came is not ..., "read_list gave back nothing. Return a list of texts.")
    want(isinstance(came, list), f"For the text {text!r} it gave back {came!r}. Return a list of texts.")
    want(came == right, f"For the text {text!r} it gave back {came!r}, not {right!r}. {why}")


def _refuse(read_list, text, count, why):
    try:
        came = read_list(text)
    except ValueError as error:
        want(type(error).__name__ == "ReplyError", f"For the text {text!r} your code raised {type(error).__name__}. ask_for knows what to do with a ReplyError.")
        want(str(count) in str(error), f"The error for {text!r} says {str(error)!r}. Say to the model how many lines with a number there are: {count}.")
        return
    raise NotYet(f"For the text {text!r} it gave back {came!r}. {why} Raise a ReplyError.")


def exercise_3(spread):
    """spread(facts, most=3): the facts in their order, at most so many of one page."""
    one, other = "https://tides.example/one", "https://tides.example/other"
    rows = [_row(f"Fact {number}.", "The words of the page.", url) for number, url in enumerate([one, one, other, one, one, other], 1)]
    for facts, options, right, why in [
        (rows, {}, [1, 2, 3, 4, 6], "The fifth is the fourth of its page."),
        (rows, {"most": 1}, [1, 3], "With most=1, the first of each page."),
        (rows[:2], {}, [1, 2], "There are not too many."),
        ([], {}, [], "Of no facts, none."),
        ([rows[0], rows[1] | {"source_url": one.upper().replace("ONE", "one")}, rows[3] | {"source_url": f"{one}#part"}, rows[4] | {"source_url": f"{one}?utm_source=x"}],
         {}, [1, 2, 4], "These are four addresses of one page."),
    ]:
        before = copy.deepcopy(facts)
        came = spread(facts, **options)
        want(facts == before, "Your code has changed the facts that it was given. Return a new list.")
        want(isinstance(came, list), f"spread gave back {came!r}. Return a list of facts.")
        _compare([each["fact"] for each in came], [f"Fact {number}." for number in right], f"Of the pages {[each['source_url'] for each in facts]}, with {options or 'most=3'},", why)
