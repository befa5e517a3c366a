"""Programs of several C files: ``main.cu kernels.cu --entry main`` is one, which the file with ``main`` stands for.

Only where ``--entry`` names a function that one of the files defines, and that is no kernel; otherwise each file is
translated by itself. The other files are read behind it, as if its last lines included them: one unit, as compilers
have it in unity builds.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

from kraise.cli.inputs import Input, text_of
from kraise.diagnostics import Refused
from kraise.pipeline import LANGUAGES


def programs(inputs: list[Input], names: tuple[str, ...]) -> list[Input]:
    """The inputs, the files of a program as one."""
    parts = [i for i in inputs if i.path != "-" and LANGUAGES.get(Path(i.path).suffix.lower()) == "cuda_c"]
    if len(parts) < 2 or not names:
        return inputs
    texts = {i.path: _text(i) for i in parts}
    found = {n: [p for p, text in texts.items() if _defines(text, n)] for n in names}
    holders = {p for paths in found.values() for p in paths}
    if len(holders) != 1 or not all(found.values()):
        return inputs
    (holder,) = holders
    main = next(i for i in parts if i.path == holder)
    others = tuple(os.path.abspath(i.path) for i in parts if i is not main)
    return [replace(main, others=others) if i is main else i for i in inputs if i is main or i not in parts]


def with_others(text: str, source: Input) -> str:
    """The text of a file with the other files of its program behind it."""
    return text + "".join(f'\n#include "{path}"' for path in source.others) + "\n" * bool(source.others)


def elsewhere(path: str, name: str) -> str:
    """Files beside a source that launch, for a hint."""
    folder = os.path.dirname(os.path.abspath(path))
    beside = sorted(p for p in Path(folder).glob("*.cu") if str(p) != os.path.abspath(path))
    files = [p.name for p in beside if "<<<" in p.read_text(encoding="utf-8", errors="replace")]
    shown = " ".join((os.path.basename(path), *(files or ["kernels.cu"])[:6]))
    return f"give the files that it calls, too: kraise translate {shown} --entry {name}"


def _text(source: Input) -> str:
    try:
        return text_of(source.path)
    except Refused:
        return ""


def _defines(text: str, name: str) -> bool:
    """Does a text define a function of the host with this name?"""
    for found in re.finditer(rf"\b{re.escape(name)}[ \t\n]*\(", text):
        depth, at = 1, found.end()
        while at < len(text) and depth:
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
        before = re.split(r"[;{}#]", text[: found.start()])[-1]
        if text[at:].lstrip().startswith("{") and "__global__" not in before and before.strip():
            return True
    return False
