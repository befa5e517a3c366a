"""``dim3`` in CUDA C host functions: its extents are numbers of their own.

Those that the function changes later are variables from the start: a loop may come back to a launch before the change.
"""

from __future__ import annotations

from typing import Any

from lark import Tree

from kraise.frontends.cuda_c.c_types import vector
from kraise.frontends.cuda_c.host_names import normal
from kraise.frontends.cuda_c.program import struct_parameter
from kraise.frontends.cuda_c.trees import Node, kind, strip, trees
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.rewrite import walked
from kraise.ir.types import INT32, UINT32

ONE = k.Const(1, INT32)


class Dims:
    """The part of the reader that knows them; :class:`kraise.frontends.cuda_c.host.HostReader` has the rest."""

    low: Any
    dims: dict[str, tuple[k.Expr, ...]]
    changed_objects: set[str]
    unset_dims: set[str]
    depth: int
    extents: Any
    number: Any

    def dim3(self, name: str, initial: list[Tree]) -> list[h.Stmt]:
        """``dim3 grid(a, b)``: its extents by themselves."""
        found: tuple[k.Expr, ...] = (ONE, ONE, ONE)
        if len(initial) == 1 and kind(strip(initial[0])) != "braced_init_list":
            found = self.extents(initial[0])
        elif initial:
            nodes = [c for i in initial for c in (trees(i) if kind(i) == "braced_init_list" else [i])]
            found = tuple(normal(self.number(n)) for n in nodes)
        out: list[h.Stmt] = []
        parts: list[k.Expr] = []
        changes = name in self.changed_objects - self.unset_dims
        found = (*found, ONE, ONE)[:3] if changes else found
        for axis, value in zip("xyz", found, strict=False):
            if isinstance(value, k.Const) and not (changes and (axis == "x" or value != ONE)):
                parts.append(value)
                continue
            own = f"{name}_{axis}"
            out.append(h.Assign(own, value, INT32))
            parts.append(k.Var(own, INT32))
        self.dims[name] = tuple(parts)
        self.low.declare(name, struct_parameter(name, vector("uint3", UINT32, 3)))
        return out

    def dim3_again(self, name: str, value: Tree, node: Tree) -> list[h.Stmt]:
        """``grid = dim3(n / 16)``: the extents, all at once."""
        if name in self.unset_dims and not self.depth:  # a member that the constructor sets
            self.unset_dims.discard(name)
            return self.dim3(name, [value])
        found = [*self.extents(value), ONE, ONE][:3]
        known, own = [*self.dims[name], ONE, ONE][:3], [f"{name}_{axis}" for axis in "xyz"]
        new = [at for at in range(3) if found[at] != known[at] or not isinstance(known[at], k.Const)]
        self.varies(name, [own[at] for at in new], node)
        out: list[h.Stmt] = []
        for at in new:
            if any(isinstance(n, k.Var) and n.name in own[:at] for n in walked(found[at])):
                out.append(h.Assign(f"{own[at]}_2", found[at], INT32))
                found[at] = k.Var(f"{own[at]}_2", INT32)
        out += [h.Assign(own[at], found[at], INT32, span=self.low.span(node)) for at in new]
        self.dims[name] = tuple(k.Var(own[at], INT32) if at in new else known[at] for at in range(3))
        return out

    def varies(self, name: str, own: list[str], node: Node) -> None:
        """Refuses a change of extents that are numbers where they do not always change."""
        known = zip((*self.dims[name], ONE, ONE), "xyz", strict=False)
        if self.depth and any(isinstance(e, k.Const) and f"{name}_{axis}" in own for e, axis in known):
            hint = "declare it in this function"
            raise self.low.refuse("KR211", f"{name} changes under a condition or in a loop", node, hint)
