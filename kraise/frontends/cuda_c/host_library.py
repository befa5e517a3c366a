"""Library calls in the reader of host functions: which row a call is, plans of cuFFT, values inside expressions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lark import Tree

from kraise.frontends.cuda_c import library_table
from kraise.frontends.cuda_c.c_types import leaf
from kraise.frontends.cuda_c.constants import fold
from kraise.frontends.cuda_c.host_names import callee, normal
from kraise.frontends.cuda_c.library_call import LibraryCall, source_words, standard
from kraise.frontends.cuda_c.library_plans import planned
from kraise.frontends.cuda_c.library_table import Row
from kraise.frontends.cuda_c.library_views import ONE, View
from kraise.frontends.cuda_c.trees import Node, kind, strip, trees
from kraise.frontends.host_rows import library
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import INT32, ScalarType

_POLICIES = ("thrust::device", "thrust::host", "thrust::seq")


GENERATES = ("curandGenerate", "cudarandGenerate")  # numbers of a generator, on the device


class Libraries:
    """The part of the reader that knows libraries; see :class:`kraise.frontends.cuda_c.host.HostReader`."""

    low: Any
    program: Any
    arrays: Any
    number: Any
    pointer: Any
    pointer_name: Any
    member: Any
    number_at: Any
    drop: Any
    ignored: set[str]
    functors: dict[str, Tree]
    outlined: list[k.Function]
    plans: dict[str, tuple[tuple[k.Expr, ...], k.Expr]]
    null: set[str]
    pending: list[h.Stmt]

    def temporary(self, wish: str, again: bool = False) -> str:
        """A name for an array or a number that a call needs; ``again`` one that an earlier call is done with."""
        name, number = wish, 2
        while name in self.low.names or name in self.arrays:
            if again and self.low.names.get(name) == "temporary":
                break
            name, number = f"{wish}_{number}", number + 1
        self.low.names[name] = "temporary" if again else "taken"
        return name

    def named_result(self, name: str, value: k.Expr, t: ScalarType) -> bool:
        """Whether the function that a call became can return the number under this name at once."""
        last = self.pending[-1] if self.pending else None
        if not isinstance(last, h.Launch) or value != k.Var("".join(last.results), t):
            return False
        self.pending[-1] = replace(last, results=(name,))
        return True

    def library_effect(self, name: str, args: list[Tree], node: Tree) -> list[h.Stmt] | None:
        """A library call that stands alone, None for any other call. Refused (KR213) where it is not known."""
        if "::" not in name and name in self.program.functions:
            return None
        if library_table.dropped(name):
            return self.drop(node, library_table.dropped(name))
        if library_table.plan(name):
            return self.plan(name, args, node)
        if library_table.transform(name):
            return self.transform(name, args, node)
        if not library_table.is_library(name):
            return None
        call = self.matched(name, args, node)
        if call.row.args[0] == "temp" and self._is_null(args[0]):
            return self.drop(node, "the size of temporary storage")
        return call.run()[0]

    def library_in(self, node: Tree) -> k.Expr | None:
        """The value of a library call, or the size of a container, inside an expression; None for anything else."""
        match kind(node):
            case "call_expression":
                method = strip(node.children[0])
                if kind(method) == "member_expression" and self.member(method) == "size":
                    owner = self.pointer_name(trees(method)[0])  # type: ignore[arg-type]
                    return k.Shape(owner, 0, span=self.low.span(node)) if owner else None
                call = self._valued(node)
                if call is None:
                    return None
                out, value = call.run()
                self.pending += out
                if value is None:
                    raise call.refuse("this call gives no number")
                return value  # type: ignore[return-value]
            case "unary_expression" if str(node.children[0]) == "*":  # *thrust::max_element(…)
                call = self._valued(strip(node.children[1]))
                return call.scalar(call.row.value) if call is not None and call.row.place else None  # type: ignore[return-value]
            case "additive_expression" if str(node.children[1]) == "-":  # thrust::max_element(…) - v.begin()
                left, right = trees(node)
                call = self._valued(strip(left))
                if call is not None and call.row.place:
                    return call.place(call.iterator(right))
        return None

    def _valued(self, node: Node) -> LibraryCall | None:
        """A call of a library that gives a number or a place, None for any other expression."""
        if not isinstance(node, Tree) or node.data != "call_expression":
            return None
        name, args = callee(node.children[0]), trees(node)[1:]
        if not library_table.rows(name) or ("::" not in name and name in self.program.functions):
            return None
        return self.matched(name, args, node)

    def gives_status(self, name: str, args: list[Tree]) -> bool:
        """Does a library call return an error code (and no number of its own)?"""
        if name.startswith(GENERATES):
            return True
        if not library_table.is_library(name) or not name.startswith(("cu", "hip")):
            return False
        return not any(row.args[-1] == "result" and len(args) == len(row.args) - 2 for row in library_table.rows(name))

    def matched(self, name: str, args: list[Tree], node: Tree) -> LibraryCall:
        """The call by the first row that fits. Refused (KR213) where none does."""
        if not name.startswith(("cu", "hip")):
            args = [a for n, a in enumerate(args) if n or not self._is_policy(a)]
        candidates = library_table.rows(name)
        for row in candidates:
            for wanted in _spellings(row):
                extra = row.args[0] == "temp" and len(args) > len(wanted)  # bits and streams after what counts
                if (len(args) == len(wanted) or extra) and all(map(self._functor_fits, wanted, args)):
                    do = row.do
                    if "result" in row.args and "result" not in wanted:
                        do = (*do[:-1], "return " + do[-1].partition(" = ")[2])
                    call = LibraryCall(self, replace(row, args=wanted, do=do), args, node)
                    if extra and "Sort" in name:
                        self.all_bits(call, args[len(wanted) :])
                    return call
        hint = library_table.refusal(name) or "the calls known are the rows of grammar/cuda_libraries.toml"
        what = "with these arguments " if candidates else ""
        raise self.low.refuse("KR213", f"`{name}` {what}is not known in a host function", node, hint)

    def all_bits(self, call: LibraryCall, extra: list[Tree]) -> None:
        """Refuses a radix sort by some of its keys' bits."""
        keys = leaf(self.arrays[call.iterator(call.args["x"]).array])[0]
        bits = [fold(self.number(a)) for a in extra[:2]]
        wanted = (0, keys.bits if keys is not None else 0)[: len(bits)]
        if [b.value if isinstance(b, k.Const) else None for b in bits] != list(wanted):
            raise call.refuse("a sort by some of the keys' bits", "leave the range of bits out")

    def _functor_fits(self, arg: str, node: Node) -> bool:
        wanted = arg.partition("=")[2]
        return not wanted or standard(self, node) == wanted

    def _is_policy(self, node: Node) -> bool:
        text = "".join(source_words(self, node))
        return text in _POLICIES or text.startswith(
            ("thrust::cuda::par", "thrust::device(", "thrust::omp", "thrust::hip::par")
        )

    def _is_null(self, node: Node) -> bool:
        text = "".join(source_words(self, strip(node)))
        return text in ("nullptr", "NULL", "0") or text.rpartition(")")[2] in self.null

    # --- transforms

    def plan(self, name: str, args: list[Tree], node: Tree) -> list[h.Stmt]:
        """``cufftPlan1d(&plan, n, CUFFT_C2C, batch)``."""
        wanted = library_table.plan(name)
        place = strip(args[0])
        owner = callee(trees(place)[0]) if kind(place) == "unary_expression" else callee(place)  # type: ignore[arg-type]
        if not owner or len(args) - 1 != len(wanted):
            raise self.low.refuse("KR213", f"this call of {name} is not known", node)
        given = dict(zip(wanted, args[1:], strict=True))
        sizes = tuple(normal(self.number(given[n])) for n in ("n", "m", "l") if n in given)
        if "extents" in given:
            sizes = planned(self, args[1:], node)
        batch = normal(self.number(given["batch"])) if "batch" in given else ONE
        self.plans[owner] = (sizes, batch)
        self.ignored.add(owner)
        return self.drop(node, "library handle")

    def transform(self, name: str, args: list[Tree], node: Tree) -> list[h.Stmt]:
        """``cufftExecC2C(plan, in, out, CUFFT_FORWARD)``."""
        row: Any = library_table.transform(name)
        plan = self.plans.get(callee(strip(args[0])))
        if plan is None:
            raise self.low.refuse(
                "KR213", "the plan of this transform is not known here", node, "make it in this function"
            )
        sizes, batch = plan
        direction = "".join(source_words(self, args[3])) if len(args) > 3 else "CUFFT_FORWARD"
        inverse = direction in ("CUFFT_INVERSE", "HIPFFT_BACKWARD", "1")
        if not inverse and direction not in ("CUFFT_FORWARD", "HIPFFT_FORWARD", "-1"):
            hint = "write CUFFT_FORWARD or CUFFT_INVERSE"
            raise self.low.refuse("KR213", "the direction of this transform is not known here", node, hint)
        last = k.Op("add", (k.Op("tdiv", (sizes[-1], k.Const(2, INT32)), INT32), ONE), INT32)
        if isinstance(sizes[-1], k.Const):
            last = k.Const(int(sizes[-1].value.real) // 2 + 1, INT32)  # type: ignore[assignment]
        front = () if batch == ONE else (batch,)
        if row["source"] != row["target"] and len(sizes) > 2:
            raise self.low.refuse("KR213", "a transform of three axes between real and complex is not known", node)
        full, half = (*front, *sizes), (*front, *sizes[:-1], last)
        source_extents = half if row["target"] == "real" else full
        target_extents = half if row["source"] == "real" else full
        call = LibraryCall(self, Row(name, (), {}), [], node)
        views = []
        for arg, form, extents in ((args[1], row["source"], source_extents), (args[2], row["target"], target_extents)):
            at = call.iterator(arg)
            axes = leaf(self.arrays[at.array])[1]
            if axes != (form == "complex"):
                raise self.low.refuse(
                    "KR213", f"{at.array} does not hold {form} numbers", node, "pass an array of that type"
                )
            count = extents[0]
            for e in extents[1:]:
                count = k.Op("mul", (count, e), INT32)
            views.append(View(at.array, at.offset, normal(count), form, extents, call.span))
        x = views[0].value()
        number = {1: "", 2: "2", 3: "n"}[len(sizes)]
        if row["target"] == "real":
            own = {1: "inverse_to_real", 2: "inverse_to_real2"}[len(sizes)]
            found = library(own, (x, *sizes), call.span)
        elif row["source"] == "real":
            found = library(f"rfft{number}", (x,), call.span)
        else:
            own = f"inverse_transform{'3' if number == 'n' else number}" if inverse else f"fft{number}"
            found = library(own, (x,), call.span)
        call.kinds = {leaf(self.arrays[v.array])[0] for v in views}
        if row["target"] == "real":
            return [call.update(views[1], found)]
        if len(target_extents) > 1:
            found = library("ravel", (found,), call.span)
        name = self.temporary("transformed", again=True)
        made = h.Bind(name, found, span=call.span)
        return [made, call.update(views[1], h.Whole(name, span=call.span))]


def _spellings(row: Row) -> list[tuple[str, ...]]:
    """The arguments of a row, and those of cuBLAS's interface before handles, where a number is returned."""
    found = [row.args]
    if row.name.startswith("cublas") and row.args[0] == "_":
        found.append(row.args[1:-1] if row.args[-1] == "result" else row.args[1:])
    return found


__all__ = ["Libraries", "LibraryCall"]
