"""The programs of the museum, as they stand in programs.toml."""
import tomllib
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = Path(__file__).with_name("programs.toml")
BENIGN = "benign"
FAMILIES = ("control", "synonym", "computed name", "side door", "process", "blind spot", "reading", "network", "resource", "host re-entry", BENIGN)
GOALS = ("delete", "modify", "create", "read", "key", "net", "kill", "outlive", "hang", "flood", "memory", "disk", "processes", "host", BENIGN)
SYSTEMS = ("linux", "darwin", "windows")


@dataclass(frozen=True)
class Program:
    """One exhibit.

    name: short and unique. family: which trick it is, one of FAMILIES. goal: what it would do, one of GOALS.
    note: why it passes what it passes. code: the program, with placeholders such as @VICTIM@ (see world.py).
    systems: where it works, of SYSTEMS. needs: a module or a program that must be installed, or "".
    host: for the goal "host", what the person's side does after the run (see host.py), else "".
    """
    name: str
    family: str
    goal: str
    note: str
    code: str
    systems: tuple[str, ...] = SYSTEMS
    needs: str = ""
    host: str = ""

    def __post_init__(self):
        """Raises ValueError for a family, a goal or a system that does not exist."""
        for value, known in ((self.family, FAMILIES), (self.goal, GOALS), *((system, SYSTEMS) for system in self.systems)):
            if value not in known:
                raise ValueError(f"{self.name}: {value!r} is none of {', '.join(known)}")
        if (self.family == BENIGN) != (self.goal == BENIGN) or (self.goal == "host") != bool(self.host):
            raise ValueError(f"{self.name}: family {self.family!r}, goal {self.goal!r} and host {self.host!r} do not go together")

    @property
    def is_attack(self) -> bool:
        """Whether it would do harm."""
        return self.family != BENIGN


def load_programs(path=PROGRAMS) -> list[Program]:
    """Return all programs of a file, in its order. Raises ValueError if one is not as it should be, or a name stands twice."""
    rows = tomllib.loads(Path(path).read_text(encoding="utf-8"))["program"]
    programs = [Program(**row | {"systems": tuple(row.get("systems", SYSTEMS)), "code": row["code"].rstrip("\n") + "\n"}) for row in rows]
    names = [program.name for program in programs]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"more than one program has the name {', '.join(sorted(twice))}")
    return programs
