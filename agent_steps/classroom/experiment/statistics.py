"""Numbers that say how sure a table is. The methods are statsmodels' and scipy's."""
import math
import warnings

from agent_steps.classroom.experiment.identity import dependence

LEVEL = 0.95   # of every interval
EFFORT = ["steps", "tool_calls", "stop_reason", "success", "input_tokens", "output_tokens"]   # where equal runs are equal


class DependentRuns(UserWarning):
    """The runs of a table are not independent, so its intervals are too narrow."""


def warn_if_dependent(table) -> None:
    """Warn, with the reasons, if the rows are not independent of each other."""
    for problem in dependence(table):
        warnings.warn(f"These runs are not independent, and no interval holds for them. {problem}", DependentRuns, stacklevel=3)


def success_table(table):
    """Return one line a condition: how many runs succeeded, with a 95 % Wilson interval, and what they took on average.

    Where all runs are equal, another run would tell nothing new: there is no interval, and the note says so.
    """
    import pandas

    warn_if_dependent(table)
    return pandas.DataFrame.from_dict({name: _line(rows) for name, rows in table.groupby("condition", sort=False)}, orient="index")


def _line(rows) -> dict:
    left_out, rows = int(rows["success"].isna().sum()), rows[rows["success"].notna()]
    known = rows["success"]
    low, high, note = interval(int(known.sum()), len(known), _left_to_chance(rows))
    if left_out:
        note = f"{note} Left out, for want of an outcome: {left_out}.".strip()
    means = {f"mean {name}": round(float(rows[name].mean()), 1) for name in ("steps", "no_call") if name in rows and rows[name].notna().any()}
    return {"runs": len(known), "completed": int(rows["completed"].sum()), "succeeded": int(known.sum()),
            "rate": float(known.mean()) if len(known) else math.nan, "low": low, "high": high, **means, "note": note}


def interval(succeeded: int, runs: int, chance: bool = True) -> tuple[float, float, str]:
    """Return the ends of the Wilson interval for a rate of success, and a note where there is none.

    chance: whether runs can differ at all. If not, one says as much as many.
    """
    from statsmodels.stats.proportion import proportion_confint

    if runs == 0:
        return math.nan, math.nan, "no run."
    if not chance:
        return math.nan, math.nan, "all runs are equal: no interval."
    low, high = proportion_confint(succeeded, runs, alpha=1 - LEVEL, method="wilson")
    return round(float(low), 12), round(float(high), 12), ""   # at 0 and 1 the ends are off by a rounding error


def _left_to_chance(rows) -> bool:
    """Whether runs could differ: all but those of the practice model when it draws nothing. Equal rows alone are no proof."""
    if not {"provider", "seed"} <= set(rows) or not (rows["provider"] == "practice").all() or rows["seed"].notna().any():
        return True
    return any(rows[name].nunique(dropna=False) > 1 for name in EFFORT)


def compare(table, first: str, second: str, measures=("success", "steps")):
    """Compare two conditions run by run: run 1 with run 1, which had the same seed, and so on.

    Returns a table with one line a measure: both means, the mean difference (second minus first) with a 95 % interval
    (percentile bootstrap, which repeats exactly), in how many pairs each was higher, and the p-value of the sign test on
    these (for success that is McNemar's exact test). Raises ValueError for a condition that is not in the table, or one given twice.
    """
    import pandas

    warn_if_dependent(table)
    if first == second:
        raise ValueError("Name two different conditions.")
    measures = [measures] if isinstance(measures, str) else list(measures)
    if missing := [name for name in measures if name not in table]:
        raise ValueError(f"The table has no column {missing[0]!r}.")
    for name in (first, second):
        if name not in set(table["condition"]):
            raise ValueError(f"There is no condition {name!r} in the table. There are: {', '.join(table['condition'].unique())}.")
    rows = table.drop_duplicates([name for name in ("condition", "run", "seed") if name in table])
    nth = rows.groupby(["condition", "run"]).cumcount()   # where two experiments stand in one table, the first with the first
    rows = rows.assign(pair=list(zip(rows["run"], nth)))
    return pandas.DataFrame.from_dict({name: _pairs(rows, first, second, name) for name in measures}, orient="index")


def _pairs(rows, first: str, second: str, measure: str) -> dict:
    from scipy.stats import binomtest

    pairs = rows.pivot(index="pair", columns="condition", values=measure)[[first, second]].dropna().astype(float)
    difference = pairs[second] - pairs[first]
    higher_first, higher_second = int((difference < 0).sum()), int((difference > 0).sum())
    low, high = _interval_of_mean(difference, binary=measure == "success")
    differing = higher_first + higher_second
    return {"pairs": len(pairs), f"mean {first}": pairs[first].mean(), f"mean {second}": pairs[second].mean(),
            "difference": difference.mean(), "low": low, "high": high,
            "first higher": higher_first, "second higher": higher_second,
            "p": binomtest(higher_second, differing).pvalue if differing else math.nan}


def _interval_of_mean(values, binary: bool) -> tuple[float, float]:
    """Return the ends of the interval for a mean difference; none where no pair differs.

    Where all values are equal, nothing can be drawn from them anew. If success differs in every pair, Wilson's interval says
    how many other pairs may be hidden; at worst these differ to the other side.
    """
    from numpy import mean
    from scipy.stats import bootstrap

    if binary and len(values) and abs(values.sum()) == len(values):
        hidden = 2 * interval(len(values), len(values))[0] - 1
        return (hidden, 1.0) if values.iloc[0] > 0 else (-1.0, -hidden)
    if values.nunique() < 2:
        return math.nan, math.nan
    found = bootstrap((values.to_numpy(),), mean, confidence_level=LEVEL, method="percentile", batch=100, rng=0).confidence_interval
    return float(found.low), float(found.high)


def runs_needed(first: float, second: float, power: float = 0.8) -> int:
    """Return how many runs of each condition show that one rate of success differs from another (with p below 0.05).

    power: how often they show it, if it is so. Compared in pairs, fewer may do. Raises ValueError for equal rates, rates outside
    0 to 1, and a power that is not from 0.5 to below 1.
    """
    from statsmodels.stats.power import normal_sample_size_one_tail
    from statsmodels.stats.proportion import proportion_effectsize

    if not (0 <= first <= 1 and 0 <= second <= 1) or first == second:
        raise ValueError("Give two different rates from 0 to 1. (No number of runs shows a difference that is not there.)")
    if not 0.5 <= power < 1:
        raise ValueError("power is from 0.5 to below 1.")
    size = abs(proportion_effectsize(first, second))
    found = normal_sample_size_one_tail(size, power, (1 - LEVEL) / 2, std_null=math.sqrt(2), std_alternative=math.sqrt(2))
    return max(2, math.ceil(found))
