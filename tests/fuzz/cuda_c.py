"""A generated Python program in the spelling of CUDA C: one generator, two front ends.

Only what the generator writes is known here. The meaning is that of C (division truncates, integers have 32 bits): the
reference interpreter judges the C text, not the Python one.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator

from tests.fuzz.generate import Arg, Kernel, Program
from tests.fuzz.statements import POOLS

BINARY = {
    "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "/", "Mod": "%", "LShift": "<<", "RShift": ">>",
    "BitAnd": "&", "BitOr": "|", "BitXor": "^",
}  # fmt: skip
COMPARE = {"Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "Eq": "==", "NotEq": "!="}
KINDS = {name: kind for kind in "fibx" for name in POOLS[kind]}
MATH = frozenset({"sin", "cos", "tanh", "atan", "sqrt", "exp", "log", "floor", "asin", "acos"})
C_TYPES = {
    "int32": "int", "uint32": "unsigned int", "int16": "short", "uint8": "unsigned char", "int64": "long long",
    "float32": "float", "float64": "double", "bool": "bool",
}  # fmt: skip
WHOLE = ("unsigned int", "unsigned int", "long long", "size_t", "short")  # sizes and counts that are no int
WHOLE_SHARE = 0.12  # of the programs


def spelled(program: Program) -> Program:
    """The program in CUDA C; its arrays have to be flat, its extents parameters (``generate(seed, flat=True)``)."""
    tree = ast.parse(program.source)
    real = "double" if program.seed % 3 == 0 else "float"
    rng = random.Random(7000 * program.seed)
    whole = rng.choice(WHOLE) if rng.random() < WHOLE_SHARE else "int"
    kernels = {k.name: k for k in program.kernels}
    lines: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            lines += [*_Function(node, kernels.get(node.name), real, whole).lines(), ""]
    return Program("\n".join(lines), program.kernels, program.seed, "fuzz.cu")


class _Function:
    def __init__(self, node: ast.FunctionDef, kernel: Kernel | None, real: str, whole: str):
        self.node, self.kernel, self.real, self.whole = node, kernel, real, whole
        self.kinds: dict[str, str] = {}  # f, i or b
        for a in node.args.args:
            arg = next((x for x in kernel.args if x.name == a.arg), None) if kernel else None
            self.kinds[a.arg] = arg.kind if arg else "f"
        self.shared: set[str] = set()
        self.suffix = "f" if real == "float" else ""

    def lines(self) -> list[str]:
        body = [line for s in self.node.body for line in self.statement(s, 1)]
        if self.kernel is None:
            params = ", ".join(f"{self.real} {a.arg}" for a in self.node.args.args)
            head = f"__device__ {self.real} {self.node.name}({params}) {{"
        else:
            stored = set(_stored(self.node))
            params = ", ".join(self.parameter(a, a.name in stored) for a in self.kernel.args)
            head = f"__global__ void {self.node.name}({params}) {{"
        loops = {s.target.id for s in ast.walk(self.node) if isinstance(s, ast.For) and isinstance(s.target, ast.Name)}
        mine = {n for n in self.assigned() if n not in loops}
        parameters = {a.arg for a in self.node.args.args}
        declared = [
            f"    {self.type_of(self.kinds[n])} {n};"
            for n in sorted(mine - parameters - self.shared)
            if n in self.kinds
        ]
        return [head, *declared, *body, "}"]

    def type_of(self, kind: str) -> str:
        return {"f": self.real, "i": "int", "b": "bool"}[kind]

    def parameter(self, a: Arg, stored: bool) -> str:
        element = C_TYPES[a.dtype] if a.dtype else self.type_of(a.kind)
        if a.dims is None:
            return f"{self.whole if a.kind == 'i' else self.type_of(a.kind)} {a.name}"
        return f"{'' if stored else 'const '}{element} *{a.name}"

    def assigned(self) -> Iterator[str]:
        for s in ast.walk(self.node):
            targets = s.targets if isinstance(s, ast.Assign) else [s.target] if isinstance(s, ast.AugAssign) else []
            for t in targets:
                yield from (n.id for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))

    # --- kinds ---

    def kind(self, e: ast.expr) -> str:
        """f, i or b."""
        match e:
            case ast.Constant(value=v):
                return "b" if isinstance(v, bool) else "i" if isinstance(v, int) else "f"
            case ast.Name(id=name):
                if name in self.kinds:
                    return self.kinds[name]
                base = name.removesuffix("_e")
                pool = KINDS.get(base) or KINDS.get(base.rstrip("0123456789"), "x")
                return {"f": "f", "i": "i", "b": "b", "x": "i"}[pool]
            case ast.Subscript(value=ast.Name(id=name)):
                return self.kinds[name]
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
                return "b"
            case ast.UnaryOp(operand=a):
                return "i" if self.kind(a) == "b" else self.kind(a)
            case ast.BinOp(left=a, right=b, op=op):
                kinds = {self.kind(a), self.kind(b)}
                return "f" if "f" in kinds or isinstance(op, ast.Div) else "i"
            case ast.IfExp(body=a, orelse=b):
                kinds = {self.kind(a), self.kind(b)}
                return "f" if "f" in kinds else "i" if "i" in kinds else "b"
            case ast.Call(func=ast.Name(id="int" | "len")):
                return "i"
            case ast.Call(func=ast.Name(id="min" | "max" | "abs"), args=args):
                return "f" if "f" in {self.kind(a) for a in args} else "i"
            case ast.Call(func=ast.Attribute(attr="any_sync" | "all_sync")):
                return "b"
            case ast.Call(func=ast.Attribute(attr=name), args=[_, a, *_]) if name.startswith("shfl"):
                return self.kind(a)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="cuda"))):
                return "i"
            case ast.Attribute():
                return "i"
        return "f"

    # --- expressions ---

    def text(self, e: ast.expr) -> str:
        match e:
            case ast.Constant(value=bool() as v):
                return "true" if v else "false"
            case ast.Constant(value=float() as v):
                return f"{v!r}{self.suffix}"
            case ast.Constant(value=v):
                return str(v)
            case ast.Name(id=name):
                return name
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Tuple(elts=places)):
                return name + "".join(f"[{self.text(at)}]" for at in places)
            case ast.Subscript(value=ast.Name(id=name), slice=at):
                return f"{name}[{self.text(at)}]"
            case ast.UnaryOp(op=ast.Not(), operand=a):
                return f"!{self.atom(a)}"
            case ast.UnaryOp(operand=a):
                return f"-{self.atom(a)}"
            case ast.BoolOp(op=op, values=values):
                return (" && " if isinstance(op, ast.And) else " || ").join(self.atom(v) for v in values)
            case ast.Compare(left=left, ops=ops, comparators=others):
                chain = [left, *others]
                parts = [
                    f"{self.atom(a)} {COMPARE[type(op).__name__]} {self.atom(b)}"
                    for a, op, b in zip(chain, ops, chain[1:], strict=False)
                ]
                return " && ".join(parts)
            case ast.IfExp(test=c, body=a, orelse=b):
                return f"{self.atom(c)} ? {self.atom(a)} : {self.atom(b)}"
            case ast.BinOp(op=ast.Pow(), left=ast.Constant(value=2), right=ast.Name() as b):
                return f"1 << {self.atom(b)}"
            case ast.BinOp(op=ast.Pow(), left=a, right=b):
                point = f".0{self.suffix}" if self.kind(b) == "i" else ""
                return f"pow{self.suffix}({self.text(a)}, {self.text(b)}{point})"
            case ast.BinOp(op=ast.Mod(), left=a, right=b) if self.kind(e) == "f":
                return f"fmod{self.suffix}({self.text(a)}, {self.text(b)})"
            case ast.BinOp(op=ast.Div(), left=a, right=b) if "f" not in (self.kind(a), self.kind(b)):
                return f"({self.real}){self.atom(a)} / {self.atom(b)}"
            case ast.BinOp(op=op, left=a, right=b):
                return f"{self.atom(a)} {BINARY[type(op).__name__]} {self.atom(b)}"
            case ast.Attribute(value=ast.Attribute(attr=what), attr=axis):
                return f"{what}.{axis}"
            case ast.Call(func=ast.Name(id="int"), args=[a]):
                return f"(int){self.atom(a)}"
            case ast.Call(func=ast.Name(id="float"), args=[a]):
                return f"({self.real}){self.atom(a)}"
            case ast.Call(func=ast.Name(id="abs"), args=[a]):
                return f"fabs{self.suffix}({self.text(a)})" if self.kind(a) == "f" else f"abs({self.text(a)})"
            case ast.Call(func=ast.Name(id="min" | "max" as name), args=args):
                name = f"f{name}{self.suffix}" if self.kind(e) == "f" else name
                return f"{name}({', '.join(self.text(a) for a in args)})"
            case ast.Call(func=ast.Name(id=name), args=args):
                return f"{name}({', '.join(self.text(a) for a in args)})"
            case ast.Call(func=ast.Attribute(value=ast.Name(id="math"), attr=name), args=args) if name in MATH:
                return f"{name}{self.suffix}({', '.join(self.text(a) for a in args)})"
            case ast.Call(func=ast.Attribute(attr="grid"), args=[ast.Constant(value=1)]):
                return "blockIdx.x * blockDim.x + threadIdx.x"
            case ast.Call(func=ast.Attribute(attr=name), args=[_, *args]) if name.endswith("_sync"):
                return f"__{name}(0xffffffff, {', '.join(self.text(a) for a in args)})"
            case ast.Call(func=ast.Attribute(attr="popc"), args=[a]):
                return f"__popc({self.text(a)})"
            case ast.Call(func=ast.Attribute(attr="gridsize")):
                return "blockDim.x * gridDim.x"
        raise NotImplementedError(ast.unparse(e))

    def atom(self, e: ast.expr) -> str:
        text = self.text(e)
        plain = isinstance(e, ast.Name | ast.Subscript | ast.Constant) and not text.startswith("-")
        return text if plain or (isinstance(e, ast.Call) and not text.startswith("(")) else f"({text})"

    # --- statements ---

    def statement(self, s: ast.stmt, level: int) -> list[str]:
        return ["    " * level + line for line in self._statement(s)]

    def block(self, body: list[ast.stmt]) -> list[str]:
        return ["    " + line for s in body for line in self._statement(s)]

    def _statement(self, s: ast.stmt) -> list[str]:
        match s:
            case ast.Pass():
                return [";"]
            case ast.Break() | ast.Continue():
                return [f"{type(s).__name__.lower()};"]
            case ast.Return(value=v):
                return ["return;" if v is None else f"return {self.text(v)};"]
            case ast.Assign(value=ast.Attribute(attr="shape")):  # says how many axes there are
                return [";"]
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                both = list(zip(names, values, strict=True))
                temporary = [f"{self.real} new_{n} = {self.text(v)};" for n, (_, v) in enumerate(both)]
                stores = [f"{self.text(t)} = new_{n};" for n, (t, _) in enumerate(both)]
                return ["{", *("    " + x for x in (*temporary, *stores)), "}"]
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Call()):  # i, j = cuda.grid(2)
                axes = zip(names, "xyz", strict=False)
                out = [f"{n.id} = blockIdx.{c} * blockDim.{c} + threadIdx.{c};" for n, c in axes]  # type: ignore[attr-defined]
                self.kinds.update({n.id: "i" for n in names})  # type: ignore[attr-defined]
                return out
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=ast.Attribute(value=ast.Attribute(attr=space), attr="array"), args=[size, _]),
            ):
                self.shared.add(name)
                self.kinds[name] = "f"
                extents = size.elts if isinstance(size, ast.Tuple) else [size]
                text = f"{self.real} {name}{''.join(f'[{self.text(n)}]' for n in extents)};"
                return [f"__shared__ {text}" if space == "shared" else text]
            case ast.Assign(targets=[target], value=value):
                if isinstance(target, ast.Name):
                    self.kinds.setdefault(target.id, self.kind(target))
                return [f"{self.text(target)} = {self.text(value)};"]
            case ast.AugAssign(target=target, op=op, value=value):
                if isinstance(op, ast.Mod) and self.kind(target) == "f":
                    return [f"{self.text(target)} = fmod{self.suffix}({self.text(target)}, {self.text(value)});"]
                return [f"{self.text(target)} {BINARY[type(op).__name__]}= {self.text(value)};"]
            case ast.If(test=test, body=body, orelse=orelse):
                out = [f"if ({self.text(test)}) {{", *self.block(body)]
                return [*out, "} else {", *self.block(orelse), "}"] if orelse else [*out, "}"]
            case ast.While(test=test, body=body):
                return [f"while ({self.text(test)}) {{", *self.block(body), "}"]
            case ast.For(target=ast.Name(id=name), iter=ast.Call(args=args), body=body):
                self.kinds[name] = "i"
                return [f"for (int {name} = {self.range(name, args)}) {{", *self.block(body), "}"]
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="syncthreads"))):
                return ["__syncthreads();"]
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name), args=[array, at, value])):
                cell = f"&{self.text(array)}[{self.text(at)}]"
                return [f"atomic{name.capitalize()}({cell}, {self.text(value)});"]
        raise NotImplementedError(ast.unparse(s))

    def range(self, name: str, args: list[ast.expr]) -> str:
        start = "0" if len(args) == 1 else self.text(args[0])
        stop = self.atom(args[0] if len(args) == 1 else args[1])
        step = args[2] if len(args) == 3 else ast.Constant(1)
        if isinstance(step, ast.UnaryOp):
            return f"{start}; {name} > {stop}; {name}--"
        by = f"{name}++" if isinstance(step, ast.Constant) and step.value == 1 else f"{name} += {self.text(step)}"
        return f"{start}; {name} < {stop}; {by}"


def _stored(node: ast.FunctionDef) -> Iterator[str]:
    for n in ast.walk(node):
        if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store) and isinstance(n.value, ast.Name):
            yield n.value.id
        match n:
            case ast.Call(func=ast.Attribute(attr="add" | "max" | "min"), args=[ast.Name(id=array), _, _]):
                yield array
