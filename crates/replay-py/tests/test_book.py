"""Runs the Python blocks of the README files and of the page of the book."""

import re

import pytest
from conftest import REPOSITORY

PAGES = ["docs/src/python.md", "README.md", "crates/replay-py/README.md"]


@pytest.mark.parametrize("page", PAGES)
def test_blocks_run_in_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", (REPOSITORY / page).read_text(), re.M | re.S)
    assert blocks
    variables = {"__name__": page}
    for block in blocks:
        exec(compile(block, page, "exec"), variables)
