"""A document algebra and its printer, with the line-breaking rules that ruff's formatter uses.

A document is a tree of text, possible line breaks and groups. A group is printed flat where it fits on the rest of
the line, else its own line breaks become newlines. Two elements are ruff's own: :class:`FitsExpanded` (a bracket that
may expand while the group around it still counts as fitting) and :class:`Conditional` (a group that is one only while
another group is broken).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

WIDTH = 88
CHECKPOINTED = (
    "The loop's trip count depends on data: equinox's checkpointed while loop, in reverse\n"
    'mode. For `jax.jvp`, which it lacks, give it kind="lax".'
)
INDENT = 4

FLAT, BROKEN = False, True


@dataclass(frozen=True, eq=False)
class Line:
    """A possible break: ``flat`` is what stands there otherwise."""

    flat: str = ""


@dataclass(frozen=True, eq=False)
class Group:
    content: Doc
    id: int = 0


@dataclass(frozen=True, eq=False)
class Conditional:
    """A group while group ``on`` is broken; transparent otherwise."""

    content: Doc
    on: int


@dataclass(frozen=True, eq=False)
class Indent:
    """One level deeper; with ``on`` only while that group is broken."""

    content: Doc
    on: int = 0


@dataclass(frozen=True, eq=False)
class IfBroken:
    """``broken`` where the group ``on`` (the enclosing one if 0) is broken, else ``flat``."""

    broken: Doc
    flat: Doc = ""
    on: int = 0


@dataclass(frozen=True, eq=False)
class FitsExpanded:
    """Content that may expand without the enclosing group ``on`` counting as broken."""

    content: Doc
    on: int


Doc = str | list | Line | Group | Conditional | Indent | IfBroken | FitsExpanded

SOFT = Line()
SPACE = Line(" ")


def joined(parts: list[Doc], separator: Doc) -> list[Doc]:
    """The parts with ``separator`` between them."""
    out: list[Doc] = []
    for k, part in enumerate(parts):
        if k:
            out.append(separator)
        out.append(part)
    return out


class _Frame(NamedTuple):
    doc: Doc
    mode: bool
    indent: int
    all_lines: bool = False


class Printer:
    """Prints one logical line (a statement) to text."""

    def __init__(self, width: int = WIDTH):
        self.width = width
        self._ids = count(1)
        self._modes: dict[int, bool] = {}

    def fresh(self) -> int:
        """A new group id."""
        return next(self._ids)

    def render(self, doc: Doc, indent: int) -> str:
        """The text of ``doc`` as a statement that starts at column ``indent`` (trailing blanks removed)."""
        out: list[str] = [" " * indent]
        column = indent
        measured = False
        stack = [_Frame(doc, BROKEN, indent)]
        while stack:
            frame = stack.pop()
            item, mode, level = frame.doc, frame.mode, frame.indent
            match item:
                case str():
                    out.append(item)
                    column += len(item)
                case list():
                    stack.extend(_Frame(part, mode, level) for part in reversed(item))
                case Line(flat=flat):
                    if mode is FLAT:
                        out.append(flat)
                        column += len(flat)
                    else:
                        out.append("\n" + " " * level)
                        column = level
                        measured = False
                case Group() | Conditional():
                    if isinstance(item, Conditional) and self._modes.get(item.on, FLAT) is FLAT:
                        stack.append(_Frame(item.content, mode, level))
                        continue
                    name = item.id if isinstance(item, Group) else 0
                    if not (mode is FLAT and measured):
                        measured = True
                        self._modes[name] = FLAT
                        fits = self._fits(_Frame(item.content, FLAT, level), column, stack)
                        mode = FLAT if fits else BROKEN
                    self._modes[name] = mode
                    stack.append(_Frame(item.content, mode, level))
                case Indent(content=content, on=on):
                    deeper = not on or self._modes.get(on, FLAT) is BROKEN
                    stack.append(_Frame(content, mode, level + INDENT if deeper else level))
                case IfBroken(broken=broken, flat=unbroken, on=on):
                    state = self._modes.get(on, FLAT) if on else mode
                    stack.append(_Frame(broken if state is BROKEN else unbroken, mode, level))
                case FitsExpanded(content=content, on=on):
                    if mode is FLAT and self._modes.get(on, FLAT) is FLAT:
                        measured = False
                        mode = BROKEN
                    stack.append(_Frame(content, mode, level))
        return "\n".join(line.rstrip() for line in "".join(out).split("\n"))

    def _fits(self, first: _Frame, column: int, rest: list[_Frame]) -> bool:
        """Whether ``first``, flat, and what follows it up to the next newline fit on the line."""
        modes = dict(self._modes)
        stack = [first]
        at = len(rest)
        while True:
            if stack:
                frame = stack.pop()
            elif at:
                at -= 1
                frame = rest[at]
            else:
                return True
            item, mode = frame.doc, frame.mode
            match item:
                case str():
                    column += len(item)
                    if column > self.width:
                        return False
                case list():
                    stack.extend(_Frame(p, mode, frame.indent, frame.all_lines) for p in reversed(item))
                case Line(flat=flat):
                    if mode is FLAT:
                        column += len(flat)
                        if column > self.width:
                            return False
                    elif frame.all_lines:
                        column = frame.indent
                    else:
                        return True
                case Group(content=content, id=name):
                    modes[name] = mode
                    stack.append(_Frame(content, mode, frame.indent, frame.all_lines))
                case Conditional(content=content):
                    stack.append(_Frame(content, mode, frame.indent, frame.all_lines))
                case Indent(content=content, on=on):
                    deeper = not on or modes.get(on, FLAT) is BROKEN
                    stack.append(_Frame(content, mode, frame.indent + (INDENT if deeper else 0), frame.all_lines))
                case IfBroken(broken=broken, flat=unbroken, on=on):
                    state = modes.get(on, FLAT) if on else mode
                    stack.append(_Frame(broken if state is BROKEN else unbroken, mode, frame.indent, frame.all_lines))
                case FitsExpanded(content=content, on=on):
                    if mode is FLAT and modes.get(on, FLAT) is FLAT:
                        stack.append(_Frame(content, BROKEN, frame.indent, True))
                    else:
                        stack.append(_Frame(content, mode, frame.indent, frame.all_lines))
