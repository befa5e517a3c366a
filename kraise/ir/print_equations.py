"""Equations as readable mathematics: ``y[i] = x[i] * x[i]  for 0 <= i < n``.

Two forms: a few short lines for the docstring of the emitted function, and everything for ``kraise explain``. Lines are
read in order, as assignments: a read of an array sees what the lines above made of it. A read of an older version is
marked with its number (``y.0`` is what came in).
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace

from kraise.diagnostics import Span
from kraise.ir.equations import (
    CarryIn,
    Const,
    Expr,
    Fold,
    Kernel,
    New,
    Op,
    Output,
    Read,
    Reduce,
    Stmt,
    Version,
    Write,
)
from kraise.ir.internal_names import readable
from kraise.ir.print_expressions import Printer, TooLong, render_expr, span
from kraise.ir.walk import free_indices, statement_expressions, topological

__all__ = ["equation_lines", "render_expr", "render_kernel"]

_WIDTH = 96
_MOST_LINES = 16
_HARD = "\0"  # a blank at which no line is broken: one within a subscript
_MOST_WRAPPED = 3  # lines of one equation
_STEPS = ((99, 100), (2, 100), (1, 100), (0, 100), (0, 8), (0, 6), (0, 5), (0, 4), (0, 3), (0, 2))


def equation_lines(kernel: Kernel) -> tuple[str, ...]:
    """The docstring's lines: what is written, a value by the source's name for it where writing it out is too long."""
    lines = _Lines(kernel, unambiguous(kernel))
    for line in lines.statements(kernel.body, ""):
        lines.found.append(line.text)
    for value in kernel.returns:
        if not isinstance(value, Version):
            lines.found.append(lines.fit("returns ", value, "", ""))
    found = [piece for text in lines.found for piece in _wrapped(text)]
    return tuple(found if len(found) <= _MOST_LINES else [*found[: _MOST_LINES - 1], "..."])


def render_kernel(kernel: Kernel) -> str:
    """Every equation with its domain and source line, the named intermediates, assumptions and notes."""
    names = unambiguous(kernel)
    lines = _Lines(kernel, names, long=True)
    at = f"  # {_place(kernel.span)}" if kernel.span else ""
    params = ", ".join(getattr(p, "name", str(p)) for p in kernel.params)
    out = [f"{kernel.name}({params}){at}"]
    if kernel.launch:
        out.append(f"  launch: grid and block are {kernel.launch}")
    for helper in kernel.helpers:
        arguments = ", ".join(p.name for p in helper.params)
        out.append(f"  {helper.name}({arguments}) = {', '.join(map(render_expr, helper.body))}")
    rows = list(lines.statements(kernel.body, "  "))
    width = min(_WIDTH, max((len(row.text) for row in rows if row.span), default=0))
    for row in rows:
        mark = f"{row.text:<{width}}  # {_place(row.span)}" if row.span else row.text
        out.append(mark)
    for value in kernel.returns:
        if not isinstance(value, Version):
            out.append(lines.fit("  returns ", value, "", ""))
    returned = ", ".join(v.array for v in kernel.returns if isinstance(v, Version))
    if returned:
        out.append(f"  returns {returned}")
    if lines.stale:
        legend = (f"{v.array}.{v.number} is {v.array} {_history(v)}" for v in lines.stale)
        out.append(f"  where {'; '.join(legend)}")
    out += [f"  requires {render_expr(c)}: {message}" for c, message in kernel.checks]
    out += [f"  assumes {text}" for text in kernel.assumptions]
    out += [f"  note: {text}" for text in (*kernel.notes, *kernel.choices)]
    return "\n".join(out)


def unambiguous(kernel: Kernel) -> dict[Expr, str]:
    """The source's names of values: of several that share one, the name is that of the value made from all others."""
    occurring = set(topological([e for s in kernel.body for e in statement_expressions(s)]))
    occurring.update(topological([r for r in kernel.returns if not isinstance(r, Version)]))
    carried = set(_carried(kernel.body))
    sharing: dict[str, dict[Expr, None]] = {}
    for n in kernel.names:
        if n.expr in occurring and n.name not in carried and not isinstance(n.expr, Read | CarryIn):
            sharing.setdefault(n.name, {})[n.expr] = None
    out: dict[Expr, str] = {}
    for name, values in sharing.items():
        chosen = _meant(tuple(values))
        if chosen is not None:
            out[chosen] = name
    return out


def _meant(values: tuple[Expr, ...]) -> Expr | None:
    """Which of several values a name means: the one that is made from all others (``m /= n``). The form of a value with
    safe operands is none of its own."""
    own = [v for v in values if not any(v is not o and _is_safe_form(o, v) for o in values)]
    return next((v for v in own if len(own) == 1 or set(own) <= set(topological([v]))), None)


def _is_safe_form(value: Expr, form: Expr) -> bool:
    """Whether ``form`` is ``value`` with operands replaced by constants where it is not used."""
    if value is form:
        return True
    match form:
        case Op(name="select", args=(_, x, Const())) | Op(name="select", args=(_, Const(), x)):
            if _is_safe_form(value, x):
                return True
    match value, form:
        case Op(name=a, args=xs), Op(name=b, args=ys) if a == b and len(xs) == len(ys):
            return all(map(_is_safe_form, xs, ys))
        case Reduce(), Reduce() if value.axes == form.axes and value.where is form.where:
            return _is_safe_form(value.body, form.body)
    return False


def _last(hi: Expr, p: Printer) -> str:
    """``hi - 1`` as it is read best."""
    match hi:
        case Const(value=int() as n):
            return str(n - 1)
        case Op(name="add", args=(a, Const(value=1))):
            return p.text(a)
    return f"{p.text(hi)} - 1"


def _carried(body: tuple[Stmt, ...]) -> Iterator[str]:
    for stmt in body:
        if isinstance(stmt, Fold):
            yield from (s.name for s in stmt.scalars)
            yield from _carried(stmt.body)


def _history(version: Version) -> str:
    return f"after write {version.number}" if version.number else "as it came in"


def _place(at: Span | None) -> str:
    return "" if at is None else f"{at.file.rsplit('/', 1)[-1]}:{at.line}"


def _wrapped(text: str) -> list[str]:
    """A line that is too long broken before its domain, and between operands."""
    if len(text) <= _WIDTH + 4:
        return [text]
    head, mark, domain = text.partition("  for ")
    indent = " " * (len(text) - len(text.lstrip()) + 4)
    lines = [head]
    if len(head) > _WIDTH + 4:
        kept = re.sub(r"\[[^][]*\]", lambda m: m[0].replace(" ", _HARD), head)
        lines = textwrap.wrap(kept, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
        lines = [line.replace(_HARD, " ") for line in lines]
    return [*lines, f"{indent}for {domain}"] if mark else lines


def _cell(f: Fold, o: Output) -> str:
    """The cell that a round puts out."""
    indices = ", ".join([*(a.name for a in o.axes), *([f.axis.name] if f.axis is not None else [])])
    return f"{readable(o.name)}[{indices}]"


def _sees_its_body(f: Fold) -> bool:
    """Whether what a round puts out, or carries, is made from what it writes."""
    entries = {c.entry for c in f.arrays}
    nodes = topological([o.value for o in f.outputs])
    inside = {n.version for n in nodes if isinstance(n, Read)} - entries
    written = {s.after for s in f.body if isinstance(s, Write)}
    return not f.outputs or bool(f.scalars) or bool(inside & written) or not f.arrays


def _shifts(f: Fold) -> list[Expr]:
    """What the rounds of a loop over powers of two shift by: ``1 << stage``."""
    if f.axis is None:
        return []
    powers = (n for n in topological(statement_expressions(f)) if isinstance(n, Op) and n.name in ("shl", "shr"))
    return [n for n in powers if isinstance(n.args[0], Const) and free_indices(n) == {f.axis.name}]


def _live(f: Fold) -> Expr | None:
    """The condition under which a round changes anything: without it every carried scalar keeps its value."""
    conditions: set[Expr] = set()
    for s in f.scalars:
        match s.update:
            case Op(name="select", args=(c, _, CarryIn(fold=f.name, name=s.name))):
                conditions.add(c)
            case _:
                return None
    return conditions.pop() if len(conditions) == 1 and not f.body else None


@dataclass(frozen=True)
class _Line:
    text: str
    span: Span | None = None


@dataclass
class _Lines:
    """Prints statements in order; ``current`` is the version of each array that a plain read means."""

    kernel: Kernel
    names: dict[Expr, str]
    long: bool = False
    current: dict[str, Version] = field(default_factory=dict)
    stale: dict[Version, None] = field(default_factory=dict)
    printed: set[Expr] = field(default_factory=set)
    found: list[str] = field(default_factory=list)

    def array(self, version: Version) -> str:
        if self.current.setdefault(version.array, Version(version.array, 0)) is version:
            return readable(version.array)
        self.stale.setdefault(version)
        return f"{readable(version.array)}.{version.number}"

    def printer(self, expand: int = 0, depth: int = 100, most: int | None = None) -> Printer:
        return Printer(self.names, expand, depth, self.array, most)

    def fit(self, head: str, value: Expr, tail: str, indent: str) -> str:
        """The line with as much written out as fits, names then, and dots only where there are no names."""
        if value in self.printed:  # long form: it has a line of its own
            return f"{indent}{head}{self.names[value]}{tail}"
        *steps, last = ((0, 100),) if self.long else _STEPS
        for expand, depth in steps:
            most = _MOST_WRAPPED * _WIDTH if not expand and depth == 100 else _WIDTH
            with suppress(TooLong):
                shorter = f"{indent}{head}{self.printer(expand, depth, most).root(value)}"
                if len(shorter) <= most:
                    return shorter + tail
        return f"{indent}{head}{self.printer(*last).root(value)}{tail}"

    # --- statements --------------------------------------------------------------------------

    def statements(self, body: tuple[Stmt, ...], indent: str) -> Iterator[_Line]:
        for stmt in body:
            if self.long:
                held = statement_expressions(stmt, nested=False)
                if isinstance(stmt, Fold):  # what a round computes is printed in it
                    held = tuple(s.init for s in stmt.scalars)
                yield from self.intermediates(held, indent)
            match stmt:
                case Write():
                    yield _Line(self.write(stmt, indent), stmt.span)
                    self.current[stmt.after.array] = stmt.after
                case New():
                    self.current[stmt.version.array] = stmt.version
                    if self.long:
                        shape = ", ".join(map(self.printer().text, stmt.shape))
                        fill = "undefined" if stmt.fill is None else self.printer().text(stmt.fill)
                        yield _Line(f"{indent}{stmt.version.array} = new ({shape}), {fill}", stmt.span)
                case Fold():
                    yield from self.fold(stmt, indent)

    def write(self, w: Write, indent: str) -> str:
        p = self.printer()
        # the cell that is written is the array itself, whatever its version
        cell = readable(w.after.array) + (f"[{', '.join(map(p.text, w.subscripts))}]" if w.subscripts else "")
        domain = self.domain(w, p.text)
        value, symbol = w.value, "="
        if w.accumulate in ("add", "mul"):
            symbol = {"add": "+=", "mul": "*="}[w.accumulate]
        elif w.accumulate:
            return self.fit(f"{cell} = {w.accumulate}({cell}, ", value, f"){domain}", indent)
        elif isinstance(value, Op) and value.name in ("add", "sub") and self.is_cell(value.args[0], w):
            symbol, value = ("+=" if value.name == "add" else "-="), value.args[1]
        elif isinstance(value, Op) and value.name == "add" and self.is_cell(value.args[1], w):
            symbol, value = "+=", value.args[0]
        return self.fit(f"{cell} {symbol} ", value, domain, indent)

    @staticmethod
    def is_cell(e: Expr, w: Write) -> bool:
        return isinstance(e, Read) and e.version is w.before and e.subscripts == w.subscripts and e.view == w.view

    @staticmethod
    def domain(w: Write, text: Callable[..., str]) -> str:
        parts = [span(a, text) for a in w.axes]
        if w.where is not None:
            parts.append(f"where {text(w.where)}")
        if not w.axes:
            return f"  {parts[0]}" if parts else ""
        return f"  for {', '.join(parts)}" if parts else ""

    def fold(self, f: Fold, indent: str) -> Iterator[_Line]:
        p = self.printer()
        for axes in dict.fromkeys(s.axes for s in f.scalars):
            domain = f"  for {', '.join(span(a, p.text) for a in axes)}" if axes else ""
            group = [s for s in f.scalars if s.axes == axes]
            yield from self.assignments(
                [(readable(s.name), s.init) for s in group], domain, indent, f.span if self.long else None
            )
        live = _live(f)
        if f.axis is None:
            condition = "" if f.condition is None else self.printer().root(f.condition)
            head = f"while {condition}"
        else:
            last = _last(f.axis.hi, p)
            head = f"for {f.axis.name} = {p.text(f.axis.lo)} ... {last}"
            head += f" in steps of {f.axis.step}" if f.axis.step != 1 else ""
            head += ", from last to first" if f.reverse else ""
            head += "".join(f", {self.names[n]} = {render_expr(n)}" for n in _shifts(f) if n in self.names)
            head += f", while {self.printer().root(f.condition)}" if f.condition is not None else ""
        head += f", where {self.printer().root(live)}" if live is not None else ""
        yield _Line(f"{indent}{head}:", f.span)
        for a in f.arrays:
            self.current[a.entry.array] = a.entry
        inner = indent + "    "
        if not _sees_its_body(f):
            yield from self.assignments([(_cell(f, o), o.value) for o in f.outputs], "", inner, None)
            self.names = {**{o.value: _cell(f, o) for o in f.outputs}, **self.names}
            f = replace(f, outputs=())
        yield from self.statements(f.body, inner)
        if self.long:
            yield from self.intermediates(tuple(s.update for s in f.scalars) + tuple(o.value for o in f.outputs), inner)
        updates = [(readable(s.name), s.update if live is None else s.update.args[1]) for s in f.scalars]  # type: ignore[union-attr]
        put: list[tuple[str, Expr]] = []
        for o in f.outputs:
            same = next((s.name for s in f.scalars if s.update is o.value), None)
            cell = _cell(f, o)
            if same is None:
                put.append((cell, o.value))
            else:  # it is what the next round starts from
                updates = [(f"{cell} = {n}" if n == readable(same) else n, v) for n, v in updates]
        yield from self.assignments(put + updates, "", inner, None)
        for a in f.arrays:
            self.current[a.result.array] = a.result

    def assignments(self, pairs: list[tuple[str, Expr]], domain: str, indent: str, at: Span | None) -> Iterator[_Line]:
        """Simultaneous assignments, on one line if that is short enough."""
        if not pairs:
            return
        texts = [self.fit("", value, "", "") for _, value in pairs]
        joined = f"{indent}{', '.join(name for name, _ in pairs)} = {', '.join(texts)}{domain}"
        if len(joined) <= _WIDTH and not any(" if " in t for t in texts[: len(texts) if len(texts) > 1 else 0]):
            yield _Line(joined, at)
            return
        if len(pairs) > 1 and not domain:
            yield _Line(f"{indent}all at once:")
            indent += "    "
        yield from (_Line(f"{indent}{name} = {text}{domain}", at) for (name, _), text in zip(pairs, texts, strict=True))

    def intermediates(self, roots: tuple[Expr, ...], indent: str) -> Iterator[_Line]:
        """Lines for the named values below the roots that have had none."""
        spans = {n.expr: n.span for n in self.kernel.names}
        for node in topological(roots):
            name = self.names.get(node)
            if name is not None and node not in self.printed:
                self.printed.add(node)
                yield _Line(f"{indent}{name} = {self.printer().root(node)}", spans.get(node))
