"""Where headers that were not found stand, and which file includes this one: what a hint can name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from kraise.diagnostics import Diagnostic

_LEVELS = 4  # folders above the file that are looked through
_MOST = 200  # entries of a folder, or files that may include this one
_SOURCES = (".cu", ".cuh", ".cpp", ".c", ".cc", ".h", ".hpp", ".hip")
_LARGEST = 1 << 20


def where(header: str, file: str, folders: Iterable[str]) -> str:
    """A hint for a header that was not found; the file is in one of the folders."""
    folder = _folder_of(header, _path(file, folders))
    return f"give -I {folder}" if folder else "name its folder with -I DIR"


def with_includer(found: Iterable[Diagnostic], file: str, folders: Iterable[str]) -> tuple[Diagnostic, ...]:
    """What was found, names and types that are not known with the file that includes this one, where one does: what it
    includes before may declare them."""
    found = tuple(found)
    unknown = [d for d in found if d.code == "KR102" and d.severity == "error" and d.hint]
    other = _includer(_path(file, folders)) if unknown else ""
    hint = f"{other} includes this file and perhaps what it needs: translate that one"
    return tuple(replace(d, hint=hint) if other and d in unknown else d for d in found)


def _path(file: str, folders: Iterable[str]) -> str:
    return next((p for p in (os.path.join(f, file) for f in folders) if os.path.isfile(p)), file)


def _folder_of(header: str, file: str) -> str:
    """The folder to give with -I for ``header``: beside the file, above it, or in a folder of one of these ("include"
    next to "src"); "" if there is none."""
    if os.path.isabs(header):
        return ""
    here = os.path.dirname(file)
    for up in range(_LEVELS):
        above = os.path.normpath(os.path.join(here, *[".."] * up))
        for folder in (above, *(os.path.join(above, d) for d in _entries(above, folders=True))):
            if os.path.isfile(os.path.join(folder, header)):
                return os.path.normpath(folder)
    return ""


def _includer(file: str) -> str:
    """A file beside this one, or in the folder above, that includes it; "" if there is none."""
    if not os.path.isfile(file):
        return ""
    line = re.compile(rf'#\s*include\s*"(?:[^"]*/)?{re.escape(os.path.basename(file))}"')
    here = os.path.dirname(file)
    for folder in (here, os.path.normpath(os.path.join(here, ".."))):
        for name in _entries(folder or ".", folders=False):
            path = os.path.join(folder, name)
            if name.endswith(_SOURCES) and os.path.getsize(path) <= _LARGEST:
                with open(path, encoding="utf-8", errors="replace") as f:
                    if line.search(f.read()):
                        return os.path.normpath(path)
    return ""


def _entries(folder: str, folders: bool) -> Iterator[str]:
    try:
        with os.scandir(folder) as found:
            names = sorted(e.name for e in found if e.is_dir() is folders and not e.name.startswith("."))
    except OSError:
        return
    yield from names[:_MOST]


__all__ = ["where", "with_includer"]
