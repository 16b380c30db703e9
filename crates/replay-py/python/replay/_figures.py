"""Figures."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable
from pathlib import Path

from ._engine import UsageError


class Figure:
    """A figure. Notebooks display it as SVG."""

    def __init__(self, name: str, files: dict[str, bytes], text: str = "") -> None:
        self.name = name
        """Name of the file of the figure, without suffix."""
        self._files = files
        self._text = text

    @property
    def svg(self) -> str:
        """The figure as SVG."""
        return self._files[".svg"].decode("utf-8")

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the figure to a file. The suffix selects the format: .svg, .png or .pdf."""
        suffix = Path(path).suffix.lower()
        if suffix not in self._files:
            raise UsageError(f"{os.fspath(path)}: unknown format; use the suffix {' or '.join(sorted(self._files))}")
        Path(path).write_bytes(self._files[suffix])

    def __str__(self) -> str:
        return self._text or repr(self)

    def __repr__(self) -> str:
        return self._text or f"<replay.Figure {self.name}>"


class Page:
    """A page of HTML. Notebooks display it in a frame."""

    def __init__(self, text: str) -> None:
        self.html = text
        """The page as text."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file."""
        Path(path).write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        style = "width:100%;height:900px;border:0"
        return f'<iframe srcdoc="{html.escape(self.html)}" style="{style}" title="replay explore"></iframe>'

    def __repr__(self) -> str:
        return f"<replay.Page of {len(self.html) // 1000} kB>"


def read_figures(paths: Iterable[Path], text: str = "") -> list[Figure]:
    """Read figures from files. Files with the same stem are formats of one figure."""
    stems: dict[str, dict[str, bytes]] = {}
    for path in paths:
        if path.suffix in (".svg", ".png", ".pdf"):
            stems.setdefault(path.stem, {})[path.suffix] = path.read_bytes()
    return [Figure(stem, files, text) for stem, files in stems.items() if ".svg" in files]
