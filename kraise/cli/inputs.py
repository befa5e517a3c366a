"""Which files to read, and their text: files, folders and standard input."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kraise.cli.config import Config, config_for
from kraise.diagnostics import Diagnostic, Refused, Span
from kraise.pipeline import LANGUAGES

MARKER = "written by kraise"
LARGEST = 32 << 20  # bytes; no source is larger, and a mistaken path must not fill the memory
MARKER_BYTES = 600  # the marker stands in a module's first lines


@dataclass(frozen=True)
class Input:
    """One source to read: ``path`` as the user wrote it ("-" for standard input).

    ``root`` is the folder whose walk found it, None for a file named by the user. ``config`` is its pyproject's,
    ``others`` are the other files of its program.
    """

    path: str
    config: Config
    root: str | None = None
    others: tuple[str, ...] = ()


def collect(paths: tuple[str, ...], *, hook: bool = False) -> tuple[list[Input], list[Diagnostic]]:
    """The inputs that ``paths`` stand for, each once, in a fixed order, and what is wrong with the paths.

    A folder stands for the sources below it, without hidden folders, virtual environments and files that kraise wrote.
    With ``hook`` a twin stands for its source.
    """
    found: dict[str, Input] = {}
    findings: list[Diagnostic] = []
    for path in paths:
        try:
            if path != "-" and os.path.isdir(path):
                config = config_for(Path(path))
                inputs = [Input(file, config_for(Path(file)), path) for file in _walk(path, config)]
                if not inputs:
                    raise Refused(Diagnostic("KR106", "there is no Python or CUDA file in this folder", Span(path, 1)))
            else:
                name = _source_of(path) if hook else path
                inputs = [] if name is None else [Input(name, config_for(Path.cwd() if name == "-" else Path(name)))]
        except Refused as refused:
            findings += refused.diagnostics
            continue
        for one in inputs:
            found.setdefault(one.path if one.path == "-" else os.path.realpath(one.path), one)
    return list(found.values()), findings


def _walk(folder: str, config: Config) -> Iterator[str]:
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(
            d
            for d in folders
            if not d.startswith(".")
            and d not in ("__pycache__", "node_modules")
            and not os.path.exists(os.path.join(here, d, "pyvenv.cfg"))
            and not config.excludes(Path(here, d))
        )
        for name in sorted(files):
            path = os.path.join(here, name)
            if Path(name).suffix.lower() not in LANGUAGES or name.startswith(".") or config.excludes(Path(path)):
                continue
            if not is_ours(path) and _has_text(path):
                yield path


def _has_text(path: str) -> bool:
    # an empty __init__.py is no mistake; what cannot be read is reported when it is read
    try:
        return os.path.getsize(path) > 0
    except OSError:
        return True


def is_ours(path: str | Path) -> bool:
    """Whether kraise wrote the file: its first lines carry the marker."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return False
        with open(path, "rb") as file:
            return MARKER.encode() in file.read(MARKER_BYTES)
    except OSError:
        return False


def _source_of(path: str) -> str | None:
    # a hook is given every changed file: a twin changed by hand stands for its source, if that is still there
    if not is_ours(path):
        return path
    place = Path(path)
    with open(path, encoding="utf-8", errors="replace") as file:
        first = file.readline()
    name = first.partition(" of ")[2].partition(f", {MARKER}")[0]
    source = place.with_name(Path(name).name) if name else place
    return str(source) if source != place and source.is_file() else None


def text_of(path: str) -> str:
    """The text of a source, line ends as ``\\n``; raises Refused (KR105) where there is none that can be read."""
    if path == "-" and sys.stdin is None:
        raise _unreadable(path, "the standard input is closed")
    data = sys.stdin.buffer.read(LARGEST + 1) if path == "-" else _bytes(path)
    shown = "the standard input" if path == "-" else "the file"
    if len(data) > LARGEST:
        raise _unreadable(path, f"{shown} is larger than {LARGEST >> 20} MB")
    if not data.strip():
        raise _unreadable(path, f"{shown} is empty")
    if b"\0" in data:
        raise _unreadable(path, f"{shown} is binary, not source text")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        reason = f"{shown} is not UTF-8: byte 0x{data[error.start]:02x} cannot be decoded"
        raise _unreadable(path, reason, line, column, "convert it, for example: iconv -f latin1 -t utf-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _bytes(path: str) -> bytes:
    try:
        if is_ours(path):
            raise _unreadable(path, "the file was written by kraise: translate its source instead")
        with open(path, "rb") as file:
            return file.read(LARGEST + 1)
    except FileNotFoundError:
        raise _unreadable(path, "there is no such file or folder") from None
    except OSError as error:
        raise _unreadable(path, f"the file cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # a NUL in the name
        raise _unreadable(path, f"the file cannot be read: {error}") from None


def _unreadable(path: str, reason: str, line: int = 1, column: int = 1, hint: str = "") -> Refused:
    return Refused(Diagnostic("KR105", reason, Span(path, line, column), hint))
