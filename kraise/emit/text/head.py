"""A function's signature: its parameters, which of them are static, and the decorator that says so."""

from __future__ import annotations

from dataclasses import dataclass

from kraise.emit.context import Context
from kraise.emit.text import layout_text
from kraise.emit.text import python as py
from kraise.emit.text.names import identifier
from kraise.emit.text.python import Atom, Py
from kraise.emit.text.records import Field
from kraise.ir import equations as eq
from kraise.ir.dynamic_shared import asks_for_size


@dataclass(frozen=True)
class Signature:
    """``positional`` parameters, keyword-only ``keywords`` (with their defaults), the names that are ``static`` and the
    members of structs that are; ``inline``: its callers see what it does when they are traced; ``defaults`` of those
    that are given by position."""

    positional: tuple[str, ...]
    keywords: tuple[str, ...] = ()
    static: tuple[str, ...] = ()
    fields: frozenset[Field] = frozenset()
    inline: bool = False
    defaults: tuple[tuple[str, str], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Every parameter's name."""
        return (*self.positional, *(k.partition("=")[0] for k in self.keywords))

    def lines(self, name: str, around: object, throws: bool = False) -> list[str]:
        """``@jax.jit`` and ``def name(...):``; ``around`` knows how the module spells its imports. ``throws``: there
        are checks in it (see :mod:`kraise.emit.checked`)."""
        decorator: Py = Atom("jax.jit")
        given: dict[str, Py] = {}
        if self.static:
            names = tuple(Atom(f'"{s}"') for s in self.static)
            given["static_argnames"] = names[0] if len(names) == 1 else py.Tup(names)
        if self.inline:
            given["inline"] = Atom("True")
        if given:
            partial = around.imports["partial"]  # type: ignore[attr-defined]
            decorator = py.call(partial, Atom("jax.jit"), **given)
        usual = dict(self.defaults)
        placed = (f"{p}={usual[p]}" if p in usual else p for p in self.positional)
        entries = (*placed, *(("*", *self.keywords) if self.keywords else ()))
        spelled = around.spelled(decorator)  # type: ignore[attr-defined]
        head = layout_text.statement("@", spelled, 0).split("\n")
        first = [f"@{around.imports['checked']}"] if throws else []  # type: ignore[attr-defined]
        return [*first, *head, *layout_text.definition(name, entries, 0).split("\n")]


def signature(context: Context, kernel: eq.Kernel, parameters: tuple[str, ...]) -> Signature:
    """The signature of a kernel's function."""
    static = [p for p in parameters if p in {identifier(s) for s in context.statics}]
    positional, keywords = by_position(kernel.params, parameters)
    usual = defaults(kernel.params, parameters)
    keywords = tuple(f"{n}={usual[n]}" if n in usual else n for n in keywords)
    if kernel.launch:
        default = "=None" if kernel.launch == "optional" else ""
        keywords += (f"grid{default}", f"block{default}")
        static += ["grid", "block"]
    if asks_for_size(kernel):
        keywords += ("shared",)
        static.append("shared")
    inline = bool(kernel.onto_itself or kernel.rimmed)
    placed = tuple((n, usual[n]) for n in positional if n in usual)
    return Signature(positional, keywords, tuple(static), frozenset(context.fields), inline, placed)


def defaults(params: tuple[object, ...], names: tuple[str, ...]) -> dict[str, str]:
    """The text of each default that a signature can say: none stands before a parameter without one (the source's was
    None, say), unless it is given by keyword only."""
    usual = {
        n: None if p.default is None else py.flat(py.number(p.default.value))  # type: ignore[attr-defined]
        for p, n in zip(params, names, strict=True)
    }
    placed = by_position(params, names)[0]
    bare = max((at for at, n in enumerate(placed) if usual[n] is None), default=-1)
    return {n: text for n, text in usual.items() if text is not None and n not in placed[: bare + 1]}


def by_position(params: tuple[object, ...], names: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The ``names`` of parameters that are given by position, and those that are given by keyword only."""
    named = {n for p, n in zip(params, names, strict=True) if p.keyword}  # type: ignore[attr-defined]
    return tuple(n for n in names if n not in named), tuple(n for n in names if n in named)
