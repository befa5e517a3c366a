"""Readable spellings of the names that the raiser makes for values which the source does not name (``$...``)."""

from __future__ import annotations

import re


def readable(name: str) -> str:
    """``$c.before`` as ``c_before``, ``$break1`` as ``stopped``, ``$next`` as ``next``; other names as they are."""
    if "$" not in name:
        return name
    text = name.replace("$", "_").strip("_")
    if re.fullmatch(r"(break|done|return|exit|continue)\d*", text):
        return "skipped" if text.startswith("continue") else "stopped"
    if text.startswith("ret") and text[3:].isdigit():
        return "result"
    return re.sub(r"\W+", "_", text).strip("_") or "value"
