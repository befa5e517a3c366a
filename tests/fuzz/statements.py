"""Random statements: assignments, branches, loops of many shapes, reductions, scans, stores."""

from __future__ import annotations

import re

from tests.fuzz.expressions import Expressions
from tests.fuzz.scope import Array, Index, Scope

POOLS = {
    "f": ("s", "t", "u", "v", "w", "acc", "total", "tmp", "val"),
    "i": ("c", "p", "q", "r", "cnt", "num"),
    "b": ("flag", "hit", "ok", "seen"),
    "x": ("j", "k", "l", "m0", "kk", "jj"),
}


def indented(lines: list[str]) -> list[str]:
    """One level deeper."""
    return ["    " + line for line in lines] or ["    pass"]


class Statements(Expressions):
    """Writes statements as lines of text."""

    dims: list[str]
    atomics: bool
    may_return: bool

    def fresh(self, kind: str, scope: Scope) -> str:
        """A name that the scope does not have."""
        taken = {*scope.floats, *scope.ints, *scope.bools, *(x.name for x in scope.indices), *scope.frozen}
        free = [name for name in POOLS[kind] if name not in taken]
        return self.rng.choice(free) if free else f"{POOLS[kind][0]}{len(taken)}"

    def block(self, scope: Scope, count: int) -> list[str]:
        """Statements one after another; what they define is added to the scope."""
        lines: list[str] = []
        for _ in range(count):
            lines += self.statement(scope)
        return lines

    def statement(self, scope: Scope) -> list[str]:
        way = self.rng.random()
        deep = scope.depth >= self.nesting
        if way < 0.16:
            return self.define(scope)
        if way < 0.28:
            return self.reassign(scope)
        if way < 0.5:
            return self.store(scope)
        if way < 0.64 and not deep:
            return self.branch(scope)
        if way < 0.76 and not deep:
            return self.reduction(scope)
        if way < 0.82 and not deep:
            return self.scan(scope)
        if way < 0.88 and not deep:
            return self.loop(scope)
        if way < 0.91 and not deep:
            return self.while_loop(scope)
        if way < 0.94 and scope.loop:
            return [f"if {self.condition(scope)}:", f"    {self.pick('break', 'continue', 'continue')}"]
        if way < 0.96 and self.may_return and not scope.loop:
            return [f"if {self.condition(scope)}:", "    return"]
        if way < 0.98:
            return self.histogram(scope)
        return self.define(scope)

    def define(self, scope: Scope) -> list[str]:
        kind = self.pick("f", "f", "f", "i", "b")
        name = self.fresh(kind, scope)
        if kind == "f":
            lines = [f"{name} = {self.float(scope)}"]
            if self.chance(0.2):
                test = self.condition(scope)
                lines = [f"if {test}:", f"    {lines[0]}", "else:", f"    {name} = {self.float(scope, 2)}"]
            scope.floats.append(name)
        elif kind == "i":
            lines = [f"{name} = {self.int(scope)}"]
            scope.ints.append(name)
        else:
            lines = [f"{name} = {self.condition(scope)}"]
            scope.bools.append(name)
        return lines

    def reassign(self, scope: Scope) -> list[str]:
        floats = [x for x in scope.floats if x not in scope.frozen]
        ints = [x for x in scope.ints if x not in scope.frozen]
        if floats and (not ints or self.chance(0.75)):
            x = self.rng.choice(floats)
            if len(floats) > 1 and self.chance(0.1):
                y = self.rng.choice([y for y in floats if y != x])
                return [f"{x}, {y} = {self.pick(y, self.float(scope, 1))}, {self.pick(x, self.float(scope, 1))}"]
            return [self.pick(f"{x} = {self.float(scope)}", f"{x} {self.pick('+=', '-=', '+=')} {self.float(scope, 2)}",
                              f"{x} *= {self.pick('0.5', '-0.75', self.float(scope, 1))}",
                              f"{x} = {self.pick('min', 'max')}({x}, {self.float(scope, 1)})")]  # fmt: skip
        if ints:
            x = self.rng.choice(ints)
            return [self.pick(f"{x} = {self.int(scope)}", f"{x} += {self.int(scope, 1)}", f"{x} //= 2", f"{x} %= 5")]
        return self.define(scope)

    def store(self, scope: Scope) -> list[str]:
        outs = [a for a in self.arrays if a.writable]
        if not outs:
            return self.define(scope)
        a = self.rng.choice(outs)
        cell = self.cell(a, scope)
        if a.kind == "b":
            return [f"{cell} = {self.condition(scope)}"]
        value = self.float if a.kind == "f" else self.int
        if self.chance(0.3):
            op = self.pick("+=", "+=", "-=", "*=") if a.kind == "f" else self.pick("+=", "-=", "^=", "%= 3 + abs")
            text = value(scope, 2)
            return [f"{cell} {op}({text})" if op.endswith("abs") else f"{cell} {op} {text}"]
        return [f"{cell} = {value(scope, 3 if a.kind == 'f' else 2)}"]

    def branch(self, scope: Scope) -> list[str]:
        lines = [f"if {self.condition(scope)}:", *indented(self.block(scope.inner(), self.rng.randint(1, 2)))]
        if self.chance(0.2):
            lines += [f"elif {self.condition(scope)}:", *indented(self.block(scope.inner(), 1))]
        if self.chance(0.4):
            lines += ["else:", *indented(self.block(scope.inner(), self.rng.randint(1, 2)))]
        return lines

    def range(self, scope: Scope) -> tuple[str, Index]:
        """A range over a dimension, and the index that runs over it."""
        for a in (a for a in self.arrays if a.role == "ptr" and self.chance(0.7)):
            rows = [x.name for x in scope.indices if x.dim == a.dims[0]]
            if rows:
                row, name = self.rng.choice(rows), self.fresh("x", scope)
                return f"for {name} in range({a.name}[{row}], {a.name}[{row} + 1]):", Index(name, a.within)
        dim = self.rng.choice(self.dims)
        n, name = self.spelling(dim), self.fresh("x", scope)
        outer = [x for x in scope.indices if x.dim == dim]
        ways = [
            (f"range({n})", 0, 0),
            (f"range({n})", 0, 0),
            (f"range(0, {n})", 0, 0),
            (f"range(1, {n})", 1, 0),
            (f"range({n} - 1)", 0, 1),
            (f"range(1, {n} - 1)", 1, 1),
            (f"range(0, {n}, 2)", 0, 0),
            (f"range(1, {n}, 2)", 1, 0),
            (f"range({n} - 1, -1, -1)", 0, 0),
            (f"range({n} - 2, -1, -1)", 0, 1),
            (f"range({n} - 1, 0, -1)", 1, 0),
        ]
        if outer:
            x = self.rng.choice(outer)
            ways += [
                (f"range({x.name})", 0, x.slack + 1),
                (f"range({x.name} + 1)", 0, x.slack),
                (f"range({x.name}, {n})", x.low, 0),
                (f"range({x.name} + 1, {n})", x.low + 1, 0),
                (f"range({x.name}, -1, -1)", 0, x.slack),
            ]
            if self.chance(0.15):
                ways = [(f"range(max({x.name} - 1, 0), min({x.name} + 2, {n}))", 0, 0)]
        if scope.indices and self.chance(0.1):  # a start, or an end, of each lane's own
            lane = self.rng.choice(scope.indices).name
            ways = [
                (f"range({lane} % 2, {n}, 2)", 0, 0),
                (f"range(1 + ({lane} + 1) % 3, {n}, 3)", 1, 0),
                (f"range(1 - {lane} % 2, {n})", 0, 0),
                (f"range({n} - {lane} % 2)", 0, 0),
            ]
        text, low, slack = self.rng.choice(ways)
        return f"for {name} in {text}:", Index(name, dim, low, slack)

    def loop(self, scope: Scope) -> list[str]:
        head, index = self.range(scope)
        body = self.block(scope.inner(index, loop=True), self.rng.randint(1, 3))
        return [head, *indented(body)]

    def reduction(self, scope: Scope) -> list[str]:
        """An accumulator over a loop, in one of its usual forms."""
        head, index = self.range(scope)
        inner = scope.inner(index, loop=True)
        form = self.pick("sum", "sum", "sum", "prod", "min", "max", "arg", "count", "any", "all", "isum", "last")
        kind = {"count": "i", "isum": "i", "any": "b", "all": "b"}.get(form, "f")
        name = self.fresh(kind, scope)
        inner.frozen.add(name)
        before: list[str] = []
        defined = [(kind, name)]
        body: list[str] = []
        if self.chance(0.25):
            body += self.define(inner)
        if self.chance(0.15):
            body += [f"if {self.condition(inner)}:", f"    {self.pick('continue', 'continue', 'break')}"]
        value = self.float(inner)
        match form:
            case "sum":
                before = [f"{name} = {self.pick('0.0', '0.0', self.float(scope, 1))}"]
                step = [f"{name} {self.pick('+=', '+=', '-=')} {value}"]
                if self.chance(0.15):
                    step = [f"{name} = {self.wrapped(value)} + {name}"]
            case "prod":
                before, step = [f"{name} = 1.0"], [f"{name} *= {value}"]
            case "min" | "max":
                before = [f"{name} = {'1e30' if form == 'min' else '-1e30'}"]
                step = [f"{name} = {form}({name}, {value})"]
                if self.chance(0.5):
                    cmp = "<" if form == "min" else self.pick(">", ">=")
                    step = [f"{name}_e = {value}", f"if {name}_e {cmp} {name}:", f"    {name} = {name}_e"]
            case "arg":
                at = self.fresh("i", scope)
                inner.frozen.add(at)
                defined.append(("i", at))
                cmp = self.pick("<", "<=", ">", ">=")
                before = [f"{name} = {'1e30' if '<' in cmp else '-1e30'}", f"{at} = {self.pick('0', '-1')}"]
                step = [f"{name}_e = {value}", f"if {name}_e {cmp} {name}:", f"    {name} = {name}_e",
                        f"    {at} = {index.name}"]  # fmt: skip
                if self.chance(0.4):  # by the place alone
                    there = re.sub(rf"\b{index.name}\b", at, value)
                    before = [f"{name} = 0.0", f"{at} = {index.low}"]
                    step = [f"if {value} {cmp} {there}:", f"    {at} = {index.name}"]
            case "count":
                before = [f"{name} = 0"]
                step = [f"if {self.condition(inner)}:", f"    {name} += 1"]
            case "isum":
                before, step = [f"{name} = 0"], [f"{name} += {self.int(inner)}"]
            case "any":
                before, step = [f"{name} = False"], [f"if {self.condition(inner)}:", f"    {name} = True"]
                if self.chance(0.3):
                    step.append("    break")
            case "all":
                before, step = [f"{name} = True"], [f"{name} = {name} and {self.condition(inner, 0)}"]
            case _:
                before, step = [f"{name} = 0.0"], [f"{name} = {value}"]
        if self.chance(0.2) and form in ("sum", "isum", "prod"):
            step = [f"if {self.condition(inner)}:", *indented(step)]
        if self.chance(0.2) and scope.depth < 2 and form == "sum":
            head2, index2 = self.range(inner)
            inner2 = inner.inner(index2)
            step = [head2, *indented([f"{name} += {self.float(inner2)}"])]
        after = self.store(inner) if self.chance(0.15) else []
        for k, x in defined:
            {"f": scope.floats, "i": scope.ints, "b": scope.bools}[k].append(x)
        return [*before, head, *indented([*body, *step, *after])]

    def scan(self, scope: Scope) -> list[str]:
        """A running value that is stored each round."""
        wide = [a for a in self.arrays if a.writable and a.kind == "f" and len(a.dims) > len(a.own)]
        if not wide:
            return self.reduction(scope)
        a = self.rng.choice(wide)
        head, index = self.range(scope)
        name = self.fresh("f", scope)
        inner = scope.inner(index, loop=True)
        inner.frozen.add(name)
        value = self.float(inner, 2)
        step = self.pick(
            f"{name} += {value}",
            f"{name} *= {value}",
            f"{name} = max({name}, {value})",
            f"{name} = 0.5 * {name} + {value}",
            f"{name} = {self.wrapped(self.float(inner, 1))} * {name} + {value}",
            f"{name} = {value} if {self.condition(inner, 1)} else {name}",
        )
        inner.floats.append(name)
        lines = [step, f"{self.cell(a, inner)} = {self.pick(name, self.float(inner, 1))}"]
        if self.chance(0.3):
            lines.reverse()
        scope.floats.append(name)
        return [f"{name} = {self.pick('0.0', '1.0', self.float(scope, 1))}", head, *indented(lines)]

    def while_loop(self, scope: Scope) -> list[str]:
        """A while loop that ends: a counter with a bound, and perhaps a condition on data."""
        counter = self.fresh("i", scope)
        inner = scope.inner(loop=False)
        inner.frozen.add(counter)
        inner.ints.append(counter)
        test = f"{counter} < {self.pick('3', '5', self.spelling(self.rng.choice(self.dims)))}"
        if self.chance(0.5):
            test += f" and {self.wrapped(self.condition(inner, 0))}"
        body = self.block(inner, self.rng.randint(1, 2))
        if self.chance(0.2):
            body += [f"if {self.condition(inner)}:", "    break"]
        scope.ints.append(counter)
        return [f"{counter} = 0", f"while {test}:", *indented([*body, f"{counter} += 1"])]

    def histogram(self, scope: Scope) -> list[str]:
        bins = [a for a in self.arrays if a.role == "hist"]
        if not bins:
            return self.store(scope)
        a: Array = self.rng.choice(bins)
        value = self.float(scope, 2) if a.kind == "f" else self.int(scope, 1)
        at = self.subscript(a.dims[0], scope)
        if self.atomics:
            return [f"cuda.atomic.{self.pick('add', 'add', 'max')}({a.name}, {at}, {value})"]
        return [f"{a.name}[{at}] += {value}"]
