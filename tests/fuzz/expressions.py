"""Random expressions over a scope: floats and integers that stay small, conditions, subscripts in range."""

from __future__ import annotations

import random

from tests.fuzz.scope import Array, Index, Scope

FLOATS = ("0.5", "1.0", "-0.25", "2.0", "0.75", "1.5", "0.0")
INTS = ("0", "1", "2", "3", "-1", "5")


class Expressions:
    """Writes expressions as text; ``spelling`` is how the kernel spells the extent of a dimension."""

    rng: random.Random
    arrays: list[Array]
    float_scalars: list[str]
    int_scalars: list[str]
    helpers: list[tuple[str, int]]
    sequential: bool
    deepest = 3  # of an expression
    nesting = 3  # of statements

    def spelling(self, dim: str) -> str:
        raise NotImplementedError

    def pick(self, *choices):
        return self.rng.choice(choices)

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    # --- subscripts ---

    def subscript(self, dim: str, scope: Scope) -> str:
        """An integer expression that lies in the dimension wherever this program reaches it."""
        size = self.spelling(dim)
        mine = [x for x in scope.indices if x.dim == dim]
        if mine and self.chance(0.75):
            x = self.rng.choice(mine)
            offset = self.rng.choice([0, 0, 0, -x.low, x.slack, self.rng.randint(-x.low, x.slack)])
            if offset:
                return f"{x.name} {'+' if offset > 0 else '-'} {abs(offset)}"
            if self.chance(0.06):
                return f"{size} - 1 - {x.name}"
            if self.chance(0.04):
                return f"{x.name} // 2"
            return x.name
        anywhere = self.small_int(scope)
        way = self.rng.random()
        if way < 0.3:
            return f"({anywhere} + {self.rng.randint(0, 3)}) % {size}"
        if way < 0.5:
            return f"min(max({anywhere} - 1, 0), {size} - 1)"
        if way < 0.6:
            return f"min({size} - 1, abs({anywhere}))"
        gather = [a for a in self.arrays if a.into == dim]
        if gather and way < 0.9:
            a = self.rng.choice(gather)
            return self.load(a, scope)
        return f"{size} - 1" if way > 0.96 else "0"

    def plain_subscript(self, dim: str, scope: Scope) -> str:
        """An index of the dimension if there is one: no digit of a flat subscript may be too large for a proof."""
        mine = [x.name for x in scope.indices if x.dim == dim]
        return self.rng.choice(mine) if mine else "0"

    def small_int(self, scope: Scope) -> str:
        if scope.indices and self.chance(0.8):
            return self.rng.choice(scope.indices).name
        return self.rng.choice([*scope.ints, *self.int_scalars, "1"])

    def cell(self, a: Array, scope: Scope) -> str:
        """A cell of an array that this thread may read (and, of its own output, write)."""
        free = a.dims[len(a.own) :]
        at = [*a.own, *(self.subscript(d, scope) if not a.flat or self.chance(0.3) else self.plain_subscript(d, scope)
                        for d in free)]  # fmt: skip
        if a.flat and len(at) > 1:
            text = self.wrapped(at[0])
            for s, dim in zip(at[1:], a.dims[1:], strict=True):
                text = f"{self.wrapped(text)} * {self.wrapped(self.spelling(dim))} + {self.wrapped(s)}"
            return f"{a.name}[{text}]"
        return f"{a.name}[{', '.join(at)}]"

    def load(self, a: Array, scope: Scope) -> str:
        return self.cell(a, scope)

    # --- values ---

    def float(self, scope: Scope, depth: int = 3) -> str:
        """A float expression, without parentheses around it."""
        readable = [a for a in self.arrays if a.kind == "f" and a.role != "hist"]
        depth = min(depth, self.deepest)
        if depth <= 0 or self.chance(0.25):
            way = self.rng.random()
            if readable and way < 0.55:
                return self.load(self.rng.choice(readable), scope)
            if scope.floats and way < 0.8:
                return self.rng.choice(scope.floats)
            if self.float_scalars and way < 0.9:
                return self.rng.choice(self.float_scalars)
            if way < 0.94 and scope.indices:
                return f"0.125 * {self.rng.choice(scope.indices).name}"
            return self.rng.choice(FLOATS)
        a = lambda: self.float(scope, depth - 1)  # noqa: E731
        way = self.rng.random()
        if way < 0.2:
            return f"{a()} + {self.wrapped(a())}"
        if way < 0.36:
            return f"{a()} - {self.wrapped(a())}"
        if way < 0.56:
            return f"{self.wrapped(a())} * {self.wrapped(a())}"
        if way < 0.62:
            b = self.wrapped(a())
            return f"{self.wrapped(a())} / (1.5 + {b} * {b})" if self.chance(0.6) else f"{self.wrapped(a())} / 4.0"
        if way < 0.66:
            return f"math.{self.pick('sin', 'cos', 'tanh', 'atan')}({a()})"
        if way < 0.7:
            return self.pick(f"math.sqrt(0.5 + abs({a()}))", f"math.exp(-abs({a()}))", f"math.log(1.5 + abs({a()}))")
        if way < 0.76:
            return f"{self.pick('min', 'max')}({a()}, {a()})"
        if way < 0.79:
            return self.pick(f"abs({a()})", f"-({a()})", f"({a()}) ** 2", f"({a()}) ** 3", f"math.floor({a()})")
        if way < 0.85:
            return f"({a()} if {self.condition(scope, depth - 1)} else {a()})"
        if way < 0.9:
            return self.hazard(scope, depth)
        if way < 0.93:
            return f"{self.wrapped(a())} * {self.wrapped(self.int(scope, depth - 1))}"
        if way < 0.95:
            return f"float({self.int(scope, depth - 1)})"
        if self.helpers and way < 0.99:
            name, count = self.rng.choice(self.helpers)
            return f"{name}({', '.join(a() for _ in range(count))})"
        return f"({a()}) % 1.0"

    def hazard(self, scope: Scope, depth: int) -> str:
        """An operation that is hazardous where its guard does not hold."""
        v, far = (self.wrapped(self.float(scope, depth - 2)) for _ in "vf")
        other = self.float(scope, depth - 2)
        return self.pick(
            f"(math.log({v}) if {v} > 0.0 else {other})",
            f"({other} if {v} <= 0.0 else math.sqrt({v}))",
            f"(1.0 / {v} if abs({v}) > 0.1 else {other})",
            f"({v} ** 1.5 if {v} > 0.0 else {other})",
            f"({other} if {v} * {v} >= 1.0 else math.asin({v}))",
            # a condition asks for the root, too, of a quotient that is hazardous itself
            f"((math.sqrt({v} / {far}) if math.sqrt({v} / {far}) > 0.5 else 2.0) if {v} / {far} > 0.0 else {other})",
            f"(({far} - math.sqrt({v}) if {far} - math.sqrt({v}) > 0.0 else {other}) if {v} >= 0.0 else 0.5)",
        )

    @staticmethod
    def wrapped(text: str) -> str:
        """In parentheses unless it is one atom."""
        depth = 0
        for c in text:
            depth += (c in "([") - (c in ")]")
            if depth == 0 and c in " -":
                return f"({text})"
        return text

    def int(self, scope: Scope, depth: int = 2) -> str:
        """An integer expression; products are kept small by masks and remainders."""
        readable = [a for a in self.arrays if a.kind == "i" and a.role != "hist"]
        depth = min(depth, self.deepest)
        if depth <= 0 or self.chance(0.3):
            way = self.rng.random()
            if readable and way < 0.35:
                return self.load(self.rng.choice(readable), scope)
            if scope.ints and way < 0.6:
                return self.rng.choice(scope.ints)
            if scope.indices and way < 0.85:
                return self.rng.choice(scope.indices).name
            return self.rng.choice([*INTS, *self.int_scalars])
        a = lambda: self.wrapped(self.int(scope, depth - 1))  # noqa: E731
        way = self.rng.random()
        if way < 0.25:
            return f"{a()} {self.pick('+', '-')} {a()}"
        if way < 0.35:
            return f"({a()} * {a()}) % {self.pick('7', '11', '-5')}"
        if way < 0.45:
            return f"{a()} {self.pick('//', '%')} {self.pick('2', '3', '-2', '4')}"
        if way < 0.52:
            return f"({a()} {self.pick('<< 1', '>> 1', '>> 2')})"
        if way < 0.62:
            return f"({a()} {self.pick('& 7', '| 2', '^ 5', '& 3')})"
        if way < 0.72:
            return f"{self.pick('min', 'max')}({a()}, {a()})"
        if way < 0.77:
            return f"abs({a()})"
        if way < 0.84:
            return f"({a()} if {self.condition(scope, depth - 1)} else {a()})"
        if way < 0.87:
            one, two = (f"(1 if {self.condition(scope, depth - 1)} else 0)" for _ in "pq")
            return f"{one} + {two}"
        if way < 0.93:
            return f"int({self.float(scope, 1)})"
        return f"-{a()}"

    def condition(self, scope: Scope, depth: int = 2) -> str:
        """A condition: on data, on indices, or both."""
        depth = min(depth, self.deepest)
        way = self.rng.random()
        compare = self.pick("<", "<=", ">", ">=")
        if way < 0.35:
            return f"{self.float(scope, depth - 1)} {compare} {self.wrapped(self.float(scope, depth - 1))}"
        if way < 0.65 and scope.indices:
            return self.affine(scope)
        if way < 0.75:
            return f"{self.int(scope, 1)} {self.pick('==', '!=', compare)} {self.wrapped(self.int(scope, 1))}"
        if way < 0.83 and depth > 0:
            c = self.pick("and", "or")
            return f"({self.condition(scope, depth - 1)}) {c} ({self.condition(scope, depth - 1)})"
        if way < 0.88 and depth > 0:
            return f"not ({self.condition(scope, depth - 1)})"
        if scope.bools and way < 0.96:
            return self.rng.choice(scope.bools)
        low, high = self.pick(("-0.5", "0.5"), ("0.0", "1.0"))
        return f"{low} {self.pick('<', '<=')} {self.wrapped(self.float(scope, 1))} < {high}"

    def affine(self, scope: Scope) -> str:
        """A condition on indices."""
        x: Index = self.rng.choice(scope.indices)
        others = [y.name for y in scope.indices if y is not x]
        bound = [str(self.rng.randint(0, 3)), f"{self.spelling(x.dim)} - {self.rng.randint(1, 2)}", *self.int_scalars]
        if others and self.chance(0.4):
            y = self.rng.choice(others)
            bound = [y, f"{y} + 1", f"2 - {y}"]
        kind = self.rng.random()
        if kind < 0.12:
            return f"{x.name} % 2 == {self.rng.randint(0, 1)}"
        if kind < 0.2:
            return f"0 < {x.name} < {self.spelling(x.dim)} - 1"
        if kind < 0.26 and others:
            return f"({x.name} + {self.rng.choice(others)}) % 2 == 0"
        return f"{x.name} {self.pick('<', '<=', '>', '>=', '==', '!=')} {self.rng.choice(bound)}"
