"""Rows of memory of CUDA C host functions: ``float **a`` of rows that are allocated one by one, or parts of one array.

``for (i = 0; i < n; i++) a[i] = (float *)malloc(m * sizeof(float));`` is one array of ``n * m`` elements, and
``a[i][j]`` is ``a[i * m + j]`` of it; so is ``a[0] = malloc(n * m …); for (…) a[i] = a[0] + i * m;``. The loop goes,
what else stands in it stays.

Side conditions, each checked: a loop from 0 (or 1, behind ``a[0]``) counts the rows by one, each has as many elements
as the others, and no row is set anywhere else.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lark import Token, Tree

from kraise.diagnostics import Refused
from kraise.frontends.cuda_c.c_types import CType, Pointer
from kraise.frontends.cuda_c.constants import fold
from kraise.frontends.cuda_c.host_names import callee, concept, normal, product
from kraise.frontends.cuda_c.host_renames import changed_names
from kraise.frontends.cuda_c.tokens import Raw
from kraise.frontends.cuda_c.trees import Node, child, kind, strip, tokens, trees
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import INT32, ScalarType

_MAKES = ("host.malloc", "host.calloc")


class Grids:
    """The part of the reader that knows rows. ``grids``: by name, the number of elements of a row as it is spelled, ""
    where it is not known yet; ``settled_numbers``: the variables of the function that nothing changes."""

    low: Any
    arrays: dict[str, CType]
    grids: dict[str, str]
    definitions: dict[str, k.Expr]
    settled_numbers: set[str]
    array: Any
    scalar: Any
    own_name: Any
    assign_pointer: Any
    malloc: Any
    number: Any
    pointer: Any
    uncast: Any
    inlines: Any
    inline: Any
    for_loop: Any
    _spells_null: Any

    # --- declarations and assignments of the whole

    def grid(self, name: str, t: Any, initial: list[Tree], node: Tree) -> list[h.Stmt] | None:
        """``float **a``, with what it is given; None where that is not known: no part of the values, it may be."""
        self.array(name, t.to.to)
        self.grids[name] = ""
        try:
            return self.grid_given(name, initial[0], node) if initial else []
        except Refused:
            self.low.scopes[-1].pop(name, None)
            del self.arrays[name], self.grids[name]
            return None

    def grid_given(self, name: str, value: Node, node: Any) -> list[h.Stmt]:
        """``float **a = (float **)malloc(n * sizeof(float *))``, ``a = make(n, m)``, ``a = b``."""
        inner: Any = self.uncast(value)
        made = kind(inner) == "call_expression" and concept(callee(inner.children[0])) in _MAKES
        if made or kind(inner) == "new_expression" or self._spells_null(inner):
            return []
        other = callee(inner)
        if self.grids.get(other):
            if self.grids[name] not in ("", self.grids[other]):
                raise self.low.refuse("KR211", f"the rows of {name} and {other} are not of one length", node)
            self.grids[name] = self.grids[other]
            span = self.low.span(node)
            return [h.Point((name,), (k.ArrayRef(other, span=span),), span=span)] if name != other else []
        if self.inlines(inner):
            return self.inline(inner, Tree("id_expression", [Token("NAME", name)], node.meta))  # type: ignore[no-any-return]
        raise self.low.refuse("KR211", f"which rows {name} has is not known here", node, "allocate one flat array")

    def row_given(self, target: Any, value: Node, node: Any) -> list[h.Stmt] | None:
        """``a[0] = (float *)malloc(n * m * sizeof(float))``: the memory of all rows; None for another target."""
        inner: Any = strip(target)
        name = callee(inner.children[0]) if kind(inner) == "subscript_expression" else ""
        if self.grids.get(name) != "":  # an element, where it is known how long the rows are
            return None
        made: Any = self.uncast(value)
        is_first = self.low.text(inner.children[1]) == "0"
        if not is_first or kind(made) not in ("call_expression", "new_expression"):
            hint = "let every row be as long as the others, in a loop of their own"
            raise self.low.refuse("KR211", f"how long the rows of {name} are is not known here", node, hint)
        return self.assign_pointer(name, value, node)  # type: ignore[no-any-return]

    def alike(self, args: list[Tree], node: Any) -> None:
        """Refuses a swap of rows, or of two of another width."""
        named = [{str(t) for t in tokens(a)} & set(self.grids) for a in args]
        widths = {self.grids.get(callee(a), "") for a in args}
        if any(named) and (len(widths) > 1 or "" in widths):
            raise self.low.refuse("KR211", "rows change their places", node, "copy their elements")

    # --- loops over the rows

    def rows_made(self, node: Tree) -> list[h.Stmt] | None:
        """The allocation of all rows in the place of a loop that makes them; None for any other loop."""
        if not self.grids:
            return None
        body = [c for c in node.children if isinstance(c, Tree)][-1]
        lines = trees(body) if body.data == "compound_statement" else [body]
        over = _counted(node)
        at = next((n for n, s in enumerate(lines) if over and self._row(s, over[0])), None)
        if over is None or at is None:
            return None
        counter, start, stop = over
        name, value, call = self._row(lines[at], counter)  # type: ignore[misc]
        if name in self.arrays and self.grids[name]:
            raise self.low.refuse("KR211", f"the rows of {name} are made twice", node, "use two arrays")
        free = {str(t) for t in tokens(value) if t.type == "NAME"}
        if free & changed_names(body) or (counter in free and call):
            raise self.low.refuse("KR211", f"the rows of {name} are not of one length", node, "allocate one flat array")
        if call is not None or kind(self.uncast(value)) in ("call_expression", "new_expression"):
            out = self._allocated(name, value, call, counter, start, stop, lines[at])
        else:
            out = self._parts(name, value, counter, start, lines[at])
        rest = [s for s in lines if s is not lines[at]]
        if rest:
            block = Tree("compound_statement", rest, body.meta)
            loop = Tree(node.data, [block if c is body else c for c in node.children], node.meta)
            out += self.for_loop(loop)
        return out

    def _row(self, s: Tree, counter: str) -> tuple[str, Any, Any] | None:
        """The rows that a statement sets one of, what it is set to, and the call of the runtime that does it."""
        e: Any = strip(s.children[0]) if s.data == "expression_statement" and s.children else s
        if kind(e) == "assignment_expression" and (name := self._of(e.children[0], counter)):
            return name, e.children[2], None
        for c in s.find_data("call_expression"):
            if concept(callee(c.children[0])) == "malloc":
                to: Any = strip(self.uncast(trees(c)[1]))
                inner = to.children[1] if kind(to) == "unary_expression" else to
                if name := self._of(inner, counter):
                    return name, trees(c)[2], c
        return None

    def _of(self, place: Any, counter: str) -> str:
        """``a`` of ``a[counter]``, where it is rows; "" for another place."""
        inner: Any = strip(place)
        if kind(inner) != "subscript_expression" or self.low.text(inner.children[1]) != counter:
            return ""
        return callee(inner.children[0]) if callee(inner.children[0]) in self.grids else ""

    def _allocated(
        self, name: str, value: Any, call: Any, counter: str, start: int, stop: Any, node: Tree
    ) -> list[h.Stmt]:  # fmt: skip
        own = Tree("id_expression", [Token("NAME", name)], node.meta)
        if start or counter in {str(t) for t in tokens(value)}:
            raise self.low.refuse("KR211", f"the rows of {name} are not of one length", node, "allocate one flat array")
        if call is not None:
            to = Tree("unary_expression", [Token("AMP", "&"), own], node.meta)
            made = self.malloc([to, value], call)
        else:
            made = self.assign_pointer(name, value, node)
        one = made[0] if len(made) == 1 else None
        if not isinstance(one, h.Alloc) or one.shape is None or len(one.shape) != 1:
            raise self.low.refuse("KR211", f"the rows of {name} are no memory of numbers", node)
        out, self.grids[name] = self._width(name, one.shape[0])
        return [*out, replace(one, shape=(product(normal(self.number(stop)), one.shape[0]),))]

    def _parts(self, name: str, value: Any, counter: str, start: int, node: Tree) -> list[h.Stmt]:
        """``a[i] = a[0] + i * m``, ``a[i] = data + i * m``, ``a[i] = &data[i * m]``, ``a[i] = a[i - 1] + m``."""
        parted = _place(strip(value))
        base, offset = parted if parted is not None else (None, None)
        words = [str(t) for t in tokens(base)] if base is not None else []
        first = words in ([name, "0"], [name])  # a[0] + …, *a + …
        before = words == [name, counter, "-", "1"] and start == 1
        alone = before and counter not in {str(t) for t in tokens(offset)}  # type: ignore[arg-type]
        width = offset if alone else _times(offset, counter)
        flat = callee(base) if base is not None else ""
        known = (name in self.arrays if first or before else flat in self.arrays) and width is not None
        if not known or start not in (0, 1) or (start == 1 and not (first or before)):
            hint = "allocate one flat array"
            raise self.low.refuse("KR211", f"which part of memory the rows of {name} are is not known", node, hint)
        out, self.grids[name] = self._width(name, self.number(width))
        if not (first or before):
            self.array(name, self.arrays[flat])
            out.append(h.Point((name,), (k.ArrayRef(flat),), span=self.low.span(node)))
        return out

    def _width(self, name: str, width: k.Expr) -> tuple[list[h.Stmt], str]:
        """The number of elements of a row, and how it is spelled: a variable of its own where it may change."""
        width = normal(width)
        known = fold(width)
        if isinstance(known, k.Const):
            return [], str(int(known.value.real))
        if isinstance(width, k.Var) and width.name in self.settled_numbers:
            return [], width.name
        own = self.own_name(f"{name}_cols")
        self.scalar(own, INT32)
        self.low.scopes[1][own] = self.low.lookup(own)  # of the whole function, wherever the rows are made
        self.definitions[own] = width
        return [h.Assign(own, width, INT32)], own

    # --- elements

    def in_rows(self, node: Any) -> Any:
        """A tree with the places of rows in their memory."""
        if not isinstance(node, Tree) or not ({str(t) for t in tokens(node)} & set(self.grids)):
            return node
        children = [self.in_rows(c) for c in node.children]
        whole = (
            node.children[-1 if node.data == "unary_expression" else 0] if children else None
        )  # not a row: a[0] is a
        first: Any = strip(whole) if whole is not None else None
        width = self.grids.get(callee(first), "")
        if width and node.data == "unary_expression" and str(children[0]) == "*":
            return first
        if width and node.data == "subscript_expression":
            if self.low.text(children[1]) == "0":
                return first
            digits = width.isdigit()
            number = Tree("number", [Token("NUMBER", width)], node.meta)
            by = number if digits else Tree("id_expression", [Token("NAME", width)], node.meta)
            at = Tree("multiplicative_expression", [children[1], Token("STAR", "*"), by], node.meta)
            return Tree("additive_expression", [first, Token("PLUS", "+"), at], node.meta)
        return Tree(node.data, children, node.meta)

    def with_rows(self, body: list[Raw]) -> list[Raw]:
        """A text with the places of rows in their memory: ``a[i][j]`` as ``(a + (i) * (m))[j]``."""
        from kraise.frontends.cuda_c.brackets import closing, made

        if not any(t.text in self.grids for t in body):
            return body
        out: list[Raw] = []
        at = 0
        while at < len(body):
            width = self.grids.get(body[at].text, "") if not (at and body[at - 1].text in (".", "->", "::")) else ""
            if width and at + 1 < len(body) and body[at + 1].text == "[":
                stop = closing(body, at + 1)
                place = body[at]
                if [t.text for t in body[stop + 1 : stop + 2]] == ["="]:  # what makes the rows
                    at = next(n for n in range(stop, len(body)) if body[n].text == ";")
                    continue
                inner = [*made("(", place), *self.with_rows(body[at + 2 : stop]), *made(f") * {width}", place)]
                if stop + 1 < len(body) and body[stop + 1].text == "[":
                    end = closing(body, stop + 1)
                    out += [place, *made("[", place), *inner, *made("+ (", place)]
                    out += [*self.with_rows(body[stop + 2 : end]), *made(") ]", place)]
                    at = end + 1
                else:
                    out += [*made("(", place), place, *made("+", place), *inner, *made(")", place)]
                    at = stop + 1
                continue
            out.append(body[at])
            at += 1
        return out


def is_grid(t: CType) -> bool:
    """Is it a pointer to pointers to numbers, and to no text?"""
    numbers = isinstance(t, Pointer) and isinstance(t.to, Pointer) and isinstance(t.to.to, ScalarType)
    return numbers and str(t.to.to) != "int8"  # type: ignore[union-attr]


def _counted(node: Tree) -> tuple[str, int, Tree] | None:
    """Counter, start (0 or 1) and bound of ``for (int i = 0; i < n; i++)``; None for any other loop."""
    init, test, step = (child(node, x) for x in ("for_init", "for_condition", "for_step"))
    if init is None or test is None or step is None or not test.children or not step.children:
        return None
    words = [str(t) for t in tokens(init) if str(t) != "="]
    if len(words) < 2 or words[-1] not in ("0", "1") or "," in words:
        return None
    counter = words[-2]
    stepped = [str(t) for t in tokens(step)]
    bound: Any = strip(test.children[0])
    plain = kind(bound) == "relational_expression" and callee(bound.children[0]) == counter
    if stepped not in ([counter, "++"], ["++", counter]) or not plain or str(bound.children[1]) != "<":
        return None
    return counter, int(words[-1]), bound.children[2]


def _place(value: Any) -> tuple[Any, Any] | None:
    """``data`` and ``i * m`` of ``data + i * m`` and ``&data[i * m]``."""
    if kind(value) == "additive_expression" and len(value.children) == 3 and str(value.children[1]) == "+":
        return strip(value.children[0]), strip(value.children[2])
    if kind(value) == "unary_expression" and str(value.children[0]) == "&":
        inner: Any = strip(value.children[1])
        if kind(inner) == "subscript_expression":
            return strip(inner.children[0]), strip(inner.children[1])
    return None


def _times(offset: Any, counter: str) -> Any:
    """``m`` of ``i * m`` and ``m * i``, None for another expression."""
    if (
        offset is None
        or kind(offset) != "multiplicative_expression"
        or len(offset.children) != 3
        or str(offset.children[1]) != "*"
    ):
        return None
    one, other = strip(offset.children[0]), strip(offset.children[2])
    width = other if callee(one) == counter else one if callee(other) == counter else None
    return None if width is None or counter in {str(t) for t in tokens(width)} else width
