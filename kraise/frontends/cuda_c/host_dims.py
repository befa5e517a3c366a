"""``dim3`` in CUDA C host functions: its extents are numbers of their own."""

from __future__ import annotations

from typing import Any

from lark import Tree

from kraise.frontends.cuda_c.c_types import vector
from kraise.frontends.cuda_c.host_names import normal
from kraise.frontends.cuda_c.program import struct_parameter
from kraise.frontends.cuda_c.trees import kind, strip, trees
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import INT32, UINT32

ONE = k.Const(1, INT32)


class Dims:
    """The part of the reader that knows them; :class:`kraise.frontends.cuda_c.host.HostReader` has the rest."""

    low: Any
    dims: dict[str, tuple[k.Expr, ...]]
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
        for axis, value in zip("xyz", found, strict=False):
            if isinstance(value, k.Const):
                parts.append(value)
                continue
            own = f"{name}_{axis}"
            out.append(h.Assign(own, value, INT32))
            parts.append(k.Var(own, INT32))
        self.dims[name] = tuple(parts)
        self.low.declare(name, struct_parameter(name, vector("uint3", UINT32, 3)))
        return out
