"""Read the notebooks for the tests: their cells, the definitions in them, and how these differ from the module's."""
import ast
import difflib
import json
from pathlib import Path

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
MODULES = ROOT / "agent_steps"


def slug_of(path: Path) -> str:
    return path.stem[3:]


def read_book(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def cells_of(path: Path, kind: str) -> list[dict]:
    return [cell for cell in read_book(path)["cells"] if cell["cell_type"] == kind]


def source_of(cell: dict) -> str:
    return "".join(cell["source"])


def definitions(source: str) -> dict[str, ast.AST]:
    """The names that a source defines at its top level: functions, classes and assignments."""
    found = {}
    for node in ast.parse(source).body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found[node.name] = node
        elif isinstance(node, ast.Assign):
            found |= {target.id: node for target in node.targets if isinstance(target, ast.Name)}
    return found


def book_definitions(path: Path) -> dict[str, list[ast.AST]]:
    """Every definition in a notebook's code cells; a name may be defined more than once."""
    found: dict[str, list[ast.AST]] = {}
    for cell in cells_of(path, "code"):
        for name, node in definitions(source_of(cell)).items():
            found.setdefault(name, []).append(node)
    return found


def differences(path: Path, module_source: str) -> list[str]:
    """How a notebook's definitions differ from its module's: one text each, naming the lesson and showing the lines."""
    kept = definitions(module_source)
    found = []
    for name, nodes in book_definitions(path).items():
        for node in nodes:
            if name in kept and ast.dump(node) != ast.dump(kept[name]):
                lines = difflib.unified_diff(ast.unparse(kept[name]).splitlines(), ast.unparse(node).splitlines(),
                                             f"agent_steps/{slug_of(path)}.py", f"notebooks/{path.name}", lineterm="")
                found.append(f"{path.name}: {name} is not the module's {name}:\n" + "\n".join(lines))
    return found
