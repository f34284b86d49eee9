"""Which programs of the museum still do harm behind which layer, and which benign ones no longer work.

    python benchmarks/museum.py                                      # everything: about three minutes
    python benchmarks/museum.py --layer landlock --only daemon       # one program behind one layer
    python benchmarks/museum.py --write                              # and keep the results for the lessons
"""
import argparse
import csv
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

from agent_steps.classroom.museum.drawing import FACTS, RESULTS, draw_table
from agent_steps.classroom.museum.judging import MARGIN, Verdict, judge
from agent_steps.classroom.museum.programs import load_programs
from agent_steps.make_it_safer import guard_code
from agent_steps.wall.confined import run_walled, strongest_wall

LAYERS = ("nothing", "regex guard", "syntax-tree guard", "clean child", "trip-wire", "landlock", "bubblewrap")
WALLS = ("landlock", "bubblewrap")
AT_A_TIME = 6          # programs side by side: most of them wait
HEAVY = ("memory", "disk", "processes", "flood")   # goals whose programs run alone
PATIENCE = 30.0        # seconds for those, and for benign programs: they are to show whether they can, not how fast
COLUMNS = ("date", "layer", "program", "family", "harm", "detail")
HARM = {True: "yes", False: "no", None: "untried"}
FIRST_GUARD = re.compile(r"\b(unlink|system)\b")   # the two words that everybody thinks of first


def run_plainly(code, folder, seconds):
    """A child with all variables and without any limit. So that this script ends, it is killed some time after the limit that it does not have."""
    words = [sys.executable, "-c", code]
    try:
        done = subprocess.run(words, cwd=folder, timeout=seconds + MARGIN + 1, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        output = done.stdout
    except subprocess.TimeoutExpired as error:
        output = error.stdout or b""
    return output.decode("utf-8", "replace")


def refused_by_regex(code):
    """Say why the first guard refuses a code, or return None."""
    found = FIRST_GUARD.search(code)
    return f"it contains {found.group()!r}" if found else None


def run_guarded(guard, code, folder, seconds):
    """Ask a guard; what it lets through runs plainly."""
    reason = guard(code)
    return f"Error: not run: {reason}" if reason else run_plainly(code, folder, seconds)


def run_layer(layer, code, folder, seconds):
    """Run a code behind a layer, and return the text that a model would see."""
    if layer == "nothing":
        return run_plainly(code, folder, seconds)
    if layer == "regex guard":
        return run_guarded(refused_by_regex, code, folder, seconds)
    if layer == "syntax-tree guard":
        return run_guarded(guard_code, code, folder, seconds)
    walls = (layer,) if layer in WALLS else ()
    return run_walled(code, folder, seconds, walls=walls, tripwire=layer == "trip-wire").output


def try_program(layer, program, seconds):
    """Judge one program behind one layer."""
    limit = PATIENCE if program.goal in HEAVY or not program.is_attack else seconds
    try:
        return judge(program, lambda code, folder: run_layer(layer, code, folder, limit), limit)
    except Exception as error:   # a fault of the layer or of the judge: to be looked at, not to be counted
        return Verdict(program.name, None, f"{type(error).__name__}: {error}")


def try_layer(layer, programs, seconds, missing):
    """Judge all programs behind one layer. Returns the rows of the results; progress goes to standard error."""
    start = time.monotonic()
    if layer in WALLS and (layer in missing or not strongest_wall((layer,))):
        verdicts = [Verdict(program.name, None, f"not checked: no {layer} here") for program in programs]
    else:
        alone = [program for program in programs if program.goal in HEAVY]
        others = [program for program in programs if program.goal not in HEAVY]
        with ThreadPoolExecutor(AT_A_TIME) as pool:
            verdicts = list(pool.map(lambda program: try_program(layer, program, seconds), others))
        verdicts += [try_program(layer, program, seconds) for program in alone]
    found = {verdict.program: verdict for verdict in verdicts}
    print(f"{layer}: {len(verdicts)} programs in {time.monotonic() - start:.0f} seconds", file=sys.stderr)
    return [{"date": date.today().isoformat(), "layer": layer, "program": program.name, "family": program.family,
             "harm": HARM[found[program.name].harm], "detail": found[program.name].detail} for program in programs]


def facts():
    """Return what there is to say about this system, name to words."""
    known = {"date": date.today().isoformat(), "system": f"{platform.system()} {'.'.join(platform.release().split('.')[:2])}", "python": f"Python {platform.python_version()}"}
    if sys.platform == "linux":
        from agent_steps.wall.landlock import version
        known["landlock"] = f"Landlock version {version()}" if version() else "no Landlock"
    if shutil.which("bwrap"):
        known["bubblewrap"] = subprocess.run(["bwrap", "--version"], capture_output=True, text=True).stdout.strip()
    known["user"] = "as root" if hasattr(os, "getuid") and os.getuid() == 0 else "as an ordinary user"
    return known


def write(rows, known, folder):
    """Keep the results and the facts beside the programs, or in another folder."""
    with open(folder / RESULTS.name, "w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    lines = "".join(f'{name} = "{value}"\n' for name, value in known.items())
    (folder / FACTS.name).write_text(f"# The system on which results.csv was measured.\n{lines}", encoding="utf-8")


def read_arguments():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layer", action="append", choices=LAYERS, help="only this layer; may be repeated")
    parser.add_argument("--only", action="append", metavar="NAME", help="only this program; may be repeated")
    parser.add_argument("--timeout", type=float, default=3.0, metavar="SECONDS", help="the time limit of the layers, at most 5 (default: 3)")
    parser.add_argument("--without", action="append", default=[], choices=WALLS, help="as on a machine that lacks this wall")
    parser.add_argument("--details", action="store_true", help="print the verdict of each program too")
    parser.add_argument("--write", nargs="?", const=RESULTS.parent, type=Path, metavar="FOLDER", help="keep the results (in the museum itself)")
    arguments = parser.parse_args()
    if arguments.write and (arguments.layer or arguments.only or arguments.without):
        parser.error("--write keeps whole results only: leave out --layer, --only and --without")
    return arguments


def main():
    """Run what the command line asks for, and print the table."""
    arguments = read_arguments()
    programs = [program for program in load_programs() if not arguments.only or program.name in arguments.only]
    rows = []
    for layer in arguments.layer or LAYERS:
        rows += try_layer(layer, programs, arguments.timeout, arguments.without)
    if arguments.details:
        for row in rows:
            print(f"{row['layer']:<18} {row['family']:<14} {row['program']:<24} {row['harm']:<8} {row['detail']}")
    print(draw_table(rows, facts()))
    if arguments.write:
        write(rows, facts(), arguments.write)


if __name__ == "__main__":
    main()
