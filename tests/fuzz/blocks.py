"""Random kernels whose threads work together: a tile in shared memory, barriers, sums and scans of a block."""

from __future__ import annotations

from tests.fuzz.scope import Index, Scope
from tests.fuzz.statements import Statements, indented

BARRIER = "cuda.syncthreads()"
FORGOTTEN = 0.03  # the share of barriers left out: a race that must be seen


class Blocks(Statements):
    """Writes the phases between barriers; ``size`` threads of a block, ``lane`` and the thread index ``i``."""

    size: int

    def barrier(self) -> list[str]:
        return [] if self.chance(FORGOTTEN) else [BARRIER]

    def together(self, dim: str, real: str) -> tuple[list[str], Scope]:
        """The statements of all threads up to the last barrier, and what they computed."""
        scope = Scope()
        lines = [f"tile = cuda.shared.array({self.size}, {real})", "lane = cuda.threadIdx.x"]
        inside = f"i < {self.spelling(dim)}"
        own = Scope([Index("i", dim)])
        if self.chance(0.5):
            lines.append(f"tile[lane] = {self.wrapped(self.float(own, 2))} if {inside} else {self.pick('0.0', '1.0')}")
        else:
            more = self.block(own, self.pick(0, 0, 1))
            lines += [f"if {inside}:", *indented([*more, f"tile[lane] = {self.float(own, 2)}"])]
            lines += ["else:", "    tile[lane] = 0.0"]
        lines += self.barrier()
        for _ in range(self.pick(1, 1, 2, 3)):
            phase = self.pick(self.read, self.total, self.rewrite, self.tree, self.one, self.running, self.rounds)
            lines += phase(scope)
        return lines, scope

    def place(self) -> str:
        n = self.size
        return self.pick(
            f"(lane + {self.rng.randint(1, n - 1)}) % {n}", f"{n - 1} - lane", f"min(lane + 1, {n - 1})",
            "max(lane - 1, 0)", "lane ^ 1", "0", f"{n - 1}", "lane", "lane // 2",
        )  # fmt: skip

    def read(self, scope: Scope) -> list[str]:
        name = self.fresh("f", scope)
        scope.floats.append(name)
        return [f"{name} = tile[{self.place()}]"]

    def total(self, scope: Scope) -> list[str]:
        name, at = self.fresh("f", scope), self.fresh("x", scope)
        scope.floats.append(name)
        low, high = self.pick(("0", str(self.size)), ("0", "lane"), ("0", "lane + 1"), ("lane", str(self.size)))
        cell = f"tile[{at}]"
        step = self.pick(f"{name} += {cell}", f"{name} += {cell} * {cell}", f"{name} = max({name}, {cell})",
                         f"{name} = 0.5 * {name} + {cell}", f"{name} += 0.25 * {at} * {cell}")  # fmt: skip
        return [f"{name} = 0.0", f"for {at} in range({low}, {high}):", f"    {step}"]

    def rewrite(self, scope: Scope) -> list[str]:
        name = self.fresh("f", scope)
        scope.floats.append(name)
        new = self.pick(f"0.5 * {name}", f"{name} + tile[lane]", f"max({name}, tile[lane])", f"{name} * {name} - 0.5")
        store = [f"tile[lane] = {new}"]
        if self.chance(0.3):
            store = [f"if {self.pick(f'{name} > 0.0', 'lane > 0', 'lane % 2 == 0', 'lane < 3')}:", *indented(store)]
        return [f"{name} = tile[{self.place()}]", *self.barrier(), *store, *self.barrier()]

    def tree(self, scope: Scope) -> list[str]:
        join = self.pick(
            "tile[lane] += tile[lane + reach]", "tile[lane] = max(tile[lane], tile[lane + reach])",
            "tile[lane] = min(tile[lane + reach], tile[lane])", "tile[lane] *= 0.5 * tile[lane + reach]",
        )  # fmt: skip
        inner = ["if lane < reach:", f"    {join}", *self.barrier(), "reach //= 2"]
        name = self.fresh("f", scope)
        scope.floats.append(name)
        if self.chance(0.3):  # the same upwards, over the exponents
            at = self.fresh("x", scope)
            inner = [f"reach = 2 ** {at}", "if lane % (2 * reach) == 0:", f"    {join}", *self.barrier()]
            rounds = self.size.bit_length() - 1
            return [f"for {at} in range({rounds}):", *indented(inner), f"{name} = tile[0]", *self.barrier()]
        return [f"reach = {self.size // 2}", "while reach > 0:", *indented(inner), f"{name} = tile[0]", *self.barrier()]

    def one(self, scope: Scope) -> list[str]:
        at = self.fresh("x", scope)
        who = self.pick("0", "0", str(self.size - 1), "1")
        body = self.pick(
            [f"tile[{self.pick('0', '2')}] = {self.pick('0.5', '1.0', 'tile[1] + tile[3]')}"],
            [f"for {at} in range(1, {self.size}):", f"    tile[{at}] += tile[{at} - 1]"],
            [f"for {at} in range({self.size}):", f"    tile[{at}] = tile[{at}] * 0.5 + {at}"],
        )
        return [f"if lane == {who}:", *indented(body), *self.barrier()]

    def running(self, scope: Scope) -> list[str]:
        name = self.fresh("f", scope)
        scope.floats.append(name)
        join = self.pick("{0} += tile[lane - reach]", "{0} = max({0}, tile[lane - reach])").format(name)
        inner = [f"{name} = tile[lane]", "if lane >= reach:", f"    {join}", *self.barrier(), f"tile[lane] = {name}"]
        return ["reach = 1", f"while reach < {self.size}:", *indented([*inner, *self.barrier(), "reach *= 2"])]

    def rounds(self, scope: Scope) -> list[str]:
        """The same exchange in each round of a uniform loop."""
        name, at = self.fresh("f", scope), self.fresh("x", scope)
        inner = [f"{name} = {self.pick('0.5', '0.25')} * (tile[{self.place()}] + tile[{self.place()}])"]
        inner += [*self.barrier(), f"tile[lane] = {name}", *self.barrier()]
        return [f"for {at} in range({self.pick('2', '3')}):", *indented(inner)]
