"""CuPy's kernels of one element in Python host functions, as expressions of arrays.

``square = cupy.ElementwiseKernel("float32 x", "float32 y", "y = x * x", "square")``, then ``square(a)``, is ``a * a``;
``cupy.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")`` of ``a`` is ``sqrt(sum(a * a))``.

Side conditions, checked: the text is assignments of expressions, each of the outputs is set; no branch whose arms may
fail where they are not taken; ``/`` only where something says that it is no division of integers; what a reduction
starts with changes no sum or product. Types that the text leaves open (``T``) are taken to be floating.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import libcst as cst

from kraise.frontends.python.host_units import Unit, times_set
from kraise.frontends.python.names import Imports
from kraise.frontends.python.source import Source, all_of, dotted, placed, rebuilt

_TOKEN = re.compile(r"\s*(?:(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)[fFlLuU]*|([A-Za-z_][\w:]*)|(\S\S?))")
_BINARY = (
    {"||": "logical_or"}, {"&&": "logical_and"}, {"==": "==", "!=": "!="}, {"<": "<", ">": ">", "<=": "<=", ">=": ">="},
    {"+": "+", "-": "-"}, {"*": "*", "/": "/"},
)  # fmt: skip
_CALLS = {
    **{n: n for n in (
        "sqrt", "exp", "log", "sin", "cos", "tan", "tanh", "sinh", "cosh", "floor", "ceil", "log1p", "expm1", "log2",
        "log10", "exp2", "cbrt", "abs", "hypot", "isnan", "isinf", "arctan",
    )},
    "fabs": "abs", "pow": "power", "min": "minimum", "max": "maximum", "fmin": "minimum", "fmax": "maximum",
    "atan": "arctan", "atan2": "arctan2", "asin": "arcsin", "acos": "arccos",
}  # fmt: skip
_TYPES = re.compile(r"^(float|double|float16|float32|float64|[A-Z])$")
_INTEGERS = re.compile(r"^u?(int|long|short|char|bool|int8|int16|int32|int64)$")
_REDUCED = {"a+b": "sum", "b+a": "sum", "a*b": "prod", "max(a,b)": "max", "min(a,b)": "min", "fmax(a,b)": "max",
            "fmin(a,b)": "min"}  # fmt: skip


class NotRead(Exception):
    """Text that is more than expressions."""


def units(tree: cst.Module, imports: Imports) -> dict[str, Unit]:
    """The kernels of a file that are expressions, by their names."""
    alias = next((n for q in ("numpy", "cupy") for n, own in imports.bound.items() if own == q), "")
    times = times_set(tree)
    found: dict[str, Unit] = {}
    for line in tree.body:
        for small in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            match small:
                case cst.Assign(
                    targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.Call(func=func) as call
                ) if alias and times[name] == 1:
                    kind = imports.qualified(dotted(func))
                    made = _Kernel(name, alias, kind, call) if kind in _KINDS else None
                    if made is not None and (unit := made.unit()) is not None:
                        found[name] = unit
    return found


class _Kernel:
    """One such kernel: its parameters and its text."""

    def __init__(self, name: str, alias: str, kind: str, call: cst.Call):
        self.name, self.alias = name, alias
        words = _KINDS[kind]
        self.given: dict[str, str] = {}
        for at, a in enumerate(call.args):
            word = a.keyword.value if a.keyword is not None else words[at] if at < len(words) else ""
            text = a.value
            if isinstance(text, cst.SimpleString | cst.ConcatenatedString) and isinstance(text.evaluated_value, str):
                self.given[word] = text.evaluated_value
            elif word != "identity" or dotted(text) != "None":
                self.given["?"] = word
        self.reduces = kind.endswith("ReductionKernel")
        self.types: dict[str, str] = {}

    def unit(self) -> Unit | None:
        """The kernel as a function; None where it is not read."""
        try:
            if "?" in self.given:
                return None
            return self.reduction() if self.reduces else self.elementwise()
        except (NotRead, KeyError, cst.ParserSyntaxError):
            return None

    def parameters(self, text: str) -> list[str]:
        """The names of parameters, whose types are kept."""
        names: list[str] = []
        for part in filter(None, map(str.strip, text.split(","))):
            kind, _, own = part.rpartition(" ")
            if not own.isidentifier() or not (_TYPES.match(kind.strip()) or _INTEGERS.match(kind.strip())):
                raise NotRead
            self.types[own] = kind.strip()
            names.append(own)
        return names

    def elementwise(self) -> Unit | None:
        """``z = (x - y) * (x - y)``."""
        ins = self.parameters(self.given["in_params"])
        outs = self.parameters(self.given["out_params"])
        lines, values = self.statements(self.given["operation"], outs)
        if not ins or set(values) != set(outs):
            return None
        if any(_INTEGERS.match(self.types[n]) and self.types[n] not in {self.types[i] for i in ins} for n in outs):
            return None  # what C makes an integer of a float is another rule
        result = ", ".join(values[n] for n in outs)
        params = tuple((n, None) for n in ins)
        if not lines:
            return Unit(self.name, params, (), cst.parse_expression(result))
        text = "\n".join([*lines, f"return {result}"])
        body = cst.parse_module(f"def f():\n{_indented(text)}\n").body[0]
        assert isinstance(body, cst.FunctionDef)
        return Unit(self.name, params, tuple(body.body.body))

    def reduction(self) -> Unit | None:
        """``y = sqrt(a)`` of the sum of ``x * x``."""
        ins = self.parameters(self.given["in_params"])
        outs = self.parameters(self.given["out_params"])
        verb = _REDUCED.get(self.given["reduce_expr"].replace(" ", "").replace("::", ""), "")
        identity = self.given.get("identity")
        if not verb or len(outs) != 1 or not ins or any(_INTEGERS.match(t) for t in self.types.values()):
            return None
        if identity is not None and verb in ("sum", "prod") and float(identity.rstrip("fF")) != (verb == "prod"):
            return None
        mapped = self.expression(self.given["map_expr"])
        whole = f"{self.alias}.{verb}({mapped}, axis=axis, keepdims=keepdims)"
        if identity is not None and verb in ("max", "min"):
            whole = f"{self.alias}.{verb}imum({whole}, {self.expression(identity)})"
        self.types["a"] = self.types[outs[0]]
        _, values = self.statements(self.given["post_map_expr"], outs, {"a": whole})
        defaults: tuple[tuple[str, Any], ...] = (("axis", cst.Name("None")), ("keepdims", cst.Name("False")))
        made = cst.parse_expression(values[outs[0]])
        return Unit(self.name, (*((n, None) for n in ins), *defaults), (), made)

    def statements(
        self, text: str, outs: list[str], names: dict[str, str] | None = None
    ) -> tuple[list[str], dict[str, str]]:
        """The local names that a text sets, as lines, and the values of the outputs."""
        lines: list[str] = []
        values: dict[str, str] = {}
        for part in filter(None, map(str.strip, text.split(";"))):
            target, equal, right = part.partition("=")
            kind, _, own = target.strip().removeprefix("const ").rpartition(" ")
            if not equal or right.startswith("=") or not own.isidentifier() or own in values:
                raise NotRead
            kind = kind.removeprefix("const ").strip()
            if kind and not _TYPES.match(kind):
                raise NotRead
            if bool(kind) == (own in outs) or (not kind and own not in outs):
                raise NotRead  # only the outputs, and names that are made here
            value = self.expression(right, {**(names or {}), **{n: f"({v})" for n, v in values.items()}})
            if own in outs:
                values[own] = value
            else:
                self.types[own] = kind
                lines.append(f"{own} = {value}")
        return lines, values

    # --- expressions of C

    def expression(self, text: str, names: dict[str, str] | None = None) -> str:
        """An expression as Python's; ``names`` stand for others."""
        tokens = _tokens(text)
        reader = _Expression(self, tokens, names or {})
        found = reader.ternary()
        if reader.left or (reader.chooses and reader.risky):
            raise NotRead
        return found


class _Expression:
    """Tokens of an expression, read from the left."""

    def __init__(self, kernel: _Kernel, tokens: list[str], names: dict[str, str]):
        self.kernel, self.left, self.names = kernel, tokens, names
        self.chooses = self.risky = False
        self.floats = False  # is something in the operand read last surely floating?

    def take(self, *words: str) -> str:
        """The next token, if it is one of these; "" otherwise."""
        return self.left.pop(0) if self.left and self.left[0] in words else ""

    def need(self, word: str) -> None:
        """The next token. Raises NotRead where it is another."""
        if not self.take(word):
            raise NotRead

    def ternary(self) -> str:
        """``a ? b : c``."""
        test = self.binary(0)
        if not self.take("?"):
            return test
        self.chooses = True
        then = self.ternary()
        self.need(":")
        return f"{self.kernel.alias}.where({test}, {then}, {self.ternary()})"

    def binary(self, level: int) -> str:
        """Operators of one level and above."""
        if level == len(_BINARY):
            return self.unary()
        left, floats = self.binary(level + 1), self.floats
        while word := self.take(*_BINARY[level]):
            right = self.binary(level + 1)
            floats = floats or self.floats
            if word == "/":
                self.risky = True
                if not floats:
                    raise NotRead
            spelled = _BINARY[level][word]
            plain = not spelled.startswith("logical")
            left = f"{left} {spelled} {right}" if plain else f"{self.kernel.alias}.{spelled}({left}, {right})"
            if level in (2, 3):
                left = f"({left})"
        self.floats = floats
        return left

    def unary(self) -> str:
        """``-x``, ``!x``, calls, names, numbers, brackets."""
        if word := self.take("-", "+"):
            return f"(-{self.unary()})" if word == "-" else self.unary()
        if self.take("!"):
            return f"{self.kernel.alias}.logical_not({self.unary()})"
        if self.take("("):
            inner = self.ternary()
            self.need(")")
            return f"({inner})"
        if not self.left:
            raise NotRead
        word = self.left.pop(0)
        if word[0].isdigit() or word[0] == ".":
            self.floats = not word.isdigit()
            return word
        if not re.match(r"[A-Za-z_]", word):
            raise NotRead
        if self.take("("):
            return self.called(word)
        if word in self.names:
            self.floats = True
            return self.names[word]
        if word not in self.kernel.types:
            raise NotRead
        self.floats = bool(_TYPES.match(self.kernel.types[word]))
        return word

    def called(self, word: str) -> str:
        """``sqrt(x)``."""
        args = [self.ternary()]
        while self.take(","):
            args.append(self.ternary())
        self.need(")")
        name = word.rpartition("::")[2]
        short = name[:-1] if name.endswith("f") and name[:-1] in _CALLS else name
        if short == "rsqrt" and len(args) == 1:
            self.risky = self.floats = True
            return f"(1.0 / {self.kernel.alias}.sqrt({args[0]}))"
        if short not in _CALLS:
            raise NotRead
        if short not in ("abs", "fabs", "min", "max", "fmin", "fmax"):
            self.risky = self.floats = True
        return f"{self.kernel.alias}.{_CALLS[short]}({', '.join(args)})"


def _tokens(text: str) -> list[str]:
    out: list[str] = []
    at = 0
    text = text.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise NotRead
        word = match[1] or match[2] or match[3]
        if match[3] and word not in ("||", "&&", "==", "!=", "<=", ">="):
            word = word[0]
        at = match.start(0) + len(match[0]) - (len(match[3]) - len(word) if match[3] else 0)
        out.append(word)
    return out


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.split("\n"))


_KINDS = {
    "cupy.ElementwiseKernel": ("in_params", "out_params", "operation", "name"),
    "cupy.ReductionKernel": (
        "in_params", "out_params", "map_expr", "reduce_expr", "post_map_expr", "identity", "name",
    ),
}  # fmt: skip


def with_outputs(source: Source, node: cst.FunctionDef, made: Mapping[str, Unit]) -> cst.FunctionDef:
    """The function with ``square(x, y)``, where ``y`` is the output, as ``y[:] = square(x)``."""
    if not any(n.value in made for n in all_of(cst.Name, node.body)):
        return node

    def change(small: cst.CSTNode) -> cst.CSTNode | None:
        match small:
            case cst.Expr(value=cst.Call(func=cst.Name(value=name), args=[*args, cst.Arg(value=out, star="")]) as call):
                if name in made and len(args) == sum(d is None for _, d in made[name].params) and dotted(out):
                    whole = cst.Subscript(out, [cst.SubscriptElement(cst.Slice(None, None))])
                    value = placed(source, call.with_changes(args=args), call)
                    return cst.Assign([cst.AssignTarget(whole)], value)
        return None

    return rebuilt(source, node, change)  # type: ignore[no-any-return]


def left_open(tree: cst.Module, made: Mapping[str, Unit]) -> set[str]:
    """The kernels that divide what their text leaves open the type of."""
    found: set[str] = set()
    for line in tree.body:
        text = tree.code_for_node(line) if isinstance(line, cst.SimpleStatementLine) else ""
        for name in made:
            if re.match(rf"{name}\s*=", text) and re.search(r"\b[A-Z] \w", text) and "/" in text:
                found.add(name)
    return found
