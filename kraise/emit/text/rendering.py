"""Statements as lines, with the source's comments and the names that modules have in the text around them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kraise.emit.context import Assign, Def, Do, Raw, Stmt
from kraise.emit.loops import remat, until
from kraise.emit.loops.at_once import NAME as AT_ONCE
from kraise.emit.text import layout_text
from kraise.emit.text import python as py
from kraise.emit.text.names import IMPORTED, OWN
from kraise.emit.text.python import Atom, Py
from kraise.ir import equations as eq


@dataclass(frozen=True)
class Surroundings:
    """The module around a function: the names that are taken in it, and those under which it imports what it uses."""

    module: eq.Module
    x64: bool
    taken: frozenset[str]
    imports: dict[str, str]  # partial, jax, jnp, eqxi
    float32: bool  # whether something in the module may be of float32

    def spelled(self, node: Py) -> Py:
        """The expression with the modules under the names that they have here."""
        return py.mapped(node, self._atom)

    def _atom(self, node: Py) -> Py:
        if not isinstance(node, Atom):
            return node
        if node.text.startswith(OWN):
            return Atom(node.text[1:])
        if node.text in (*remat.HELPERS, until.NAME, AT_ONCE):
            return Atom(self.imports[node.text])
        head, dot, rest = node.text.partition(".")
        return Atom(self.imports[head] + dot + rest) if dot and head in IMPORTED else node


# what a comment tells the source's own tools: here it would switch off those of the emitted module
_DIRECTIVE = re.compile(
    r"(-\*-|(type|ruff|flake8|pylint|mypy|pyright|isort|yapf|fmt|pragma|vim|coding) *[:=]"
    r"|noqa\b|NOLINT|clang-format o)",
    re.IGNORECASE,
)


class Comments:
    """The source's comments, each carried over once: above the statement that it stands on or above."""

    def __init__(self, module: eq.Module | None):
        said = module.comments if module is not None else ()
        self.left = {line: text for line, text in said if not _DIRECTIVE.match(text.strip())}
        self.file = module.file.rsplit("/", 1)[-1] if module is not None else ""

    def above(self, file: str, line: int) -> list[str]:
        """The comments of a line; they are the main file's, an included one has none."""
        found: list[str] = []
        if file != self.file:
            return found
        at = line
        if at in self.left:
            found.append(self.left.pop(at))
        at -= 1
        while at in self.left:
            found.insert(0, self.left.pop(at))
            at -= 1
        return found


def render(stmts: list[Stmt], indent: int, comments: Comments, around: Surroundings) -> list[str]:
    """Statements as lines."""
    out: list[str] = []
    pad = " " * indent
    previous = -1
    for k, stmt in enumerate(stmts):
        match stmt:
            case Assign(target=target, value=value, mark=mark):
                note = ""
                if mark is not None:
                    name = mark.file.rsplit("/", 1)[-1]
                    note = f"{name}:{mark.line}"
                    for comment in comments.above(name, mark.line):
                        for line in comment.strip().splitlines():
                            out.append(f"{pad}# {_printable(line.strip())}".rstrip())
                    # a run of neighbouring lines is marked once
                    if stmt.named and previous <= mark.line <= previous + 1:
                        note = ""
                    previous = mark.line
                prefix = "return " if target is None else f"{target} = "
                out += layout_text.statement(prefix, around.spelled(value), indent, _printable(note)).split("\n")
            case Do(value=value):
                out += layout_text.statement("", around.spelled(value), indent).split("\n")
            case Raw(text=text, body=body):
                out.append(pad + text.replace(OWN, ""))
                out += render(body, indent + 4, comments, around)
            case Def(name=name, parameters=parameters, body=body):
                if k:
                    out.append("")
                out += layout_text.definition(name, parameters, indent).split("\n")
                out += render(body, indent + 4, comments, around)
                out.append("")
    while out and not out[-1]:
        out.pop()
    return _single_blanks(out)


def _single_blanks(lines: list[str]) -> list[str]:
    return [line for k, line in enumerate(lines) if line or (k and lines[k - 1])]


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)
