"""The rows of an experiment as a table."""
from agent_steps.classroom.experiment.results_file import as_kept

# one row a run; what a check adds comes behind
COLUMNS = {
    "condition": "string", "run": "int64",
    "provider": "string", "model": "string", "prompt": "string", "temperature": "Float64", "max_steps": "Int64", "denied": "string", "seed": "Int64",   # what was set
    "steps": "Int64", "tool_calls": "Int64", "completed": "boolean", "stop_reason": "string", "refused": "Int64", "errors": "Int64",     # what happened
    "no_call": "Int64", "calls": "Int64", "input_tokens": "Int64", "output_tokens": "Int64", "cost": "Float64", "seconds": "Float64",   # what it took
    "summary": "string",                                                                                                # what the model says
    "success": "boolean", "reason": "string", "began_with": "string",                                                      # what the disk says
}


def check_row(row: dict) -> None:
    """Raises ValueError if the settings of a condition could not stand in the table, or not in the file of results."""
    name = row["condition"]
    try:
        if not isinstance(name, str):
            raise TypeError("the name is no text")
        as_table([as_kept(row) | {"run": 1}], [name])
    except (TypeError, ValueError) as error:
        raise ValueError(f"The condition {name!r} cannot stand in a table: {error}.") from None


def as_table(rows: list[dict], names: list[str]):
    """Return a DataFrame of the rows, sorted by condition, in the order of `names`, and run. What is unknown is missing, not 0."""
    import pandas

    rows = sorted(rows, key=lambda row: (names.index(row["condition"]), row["run"]))
    more = dict.fromkeys(name for row in rows for name in row if name not in COLUMNS)
    table = pandas.DataFrame(rows, columns=[*COLUMNS, *more])
    return table.astype(COLUMNS)
