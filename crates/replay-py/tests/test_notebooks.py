"""Runs the notebooks."""

import ast
import json

import pytest
from conftest import REPOSITORY

NOTEBOOKS = sorted((REPOSITORY / "docs" / "notebooks").glob("*.ipynb"))


def test_there_are_notebooks():
    assert len(NOTEBOOKS) == 4


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path):
    cells = json.loads(path.read_text())["cells"]
    variables = {"__name__": path.stem}
    for number, cell in enumerate(cell for cell in cells if cell["cell_type"] == "code"):
        assert not cell["outputs"]
        tree = ast.parse("".join(cell["source"]), f"{path.name}, code cell {number}")
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, path.name, "exec"), variables)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), path.name, "eval"), variables)
            # Notebooks call these methods to display the value.
            for show in ("_repr_html_", "_repr_svg_", "__repr__"):
                if hasattr(value, show):
                    assert getattr(value, show)()
