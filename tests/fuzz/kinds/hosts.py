"""Hosts: several launches on each other's results, time loops, swaps, copies, one array for two parameters."""

from __future__ import annotations

import random

from tests.fuzz.generate import Arg, Kernel, Program, Writer
from tests.fuzz.kinds.writing import HEAD, real_of
from tests.fuzz.scope import Array, Index, Scope
from tests.fuzz.statements import indented

BUFFERS = ("u", "v", "w")


def draw(seed: int, language: str) -> Program:
    """The program of a seed: a host function and the kernels that it launches."""
    return _Host(random.Random(f"hosts {seed}"), real_of(seed), language == "cuda_c").program(seed)


class _Host:
    def __init__(self, rng: random.Random, real: str, c: bool):
        self.rng, self.real, self.c = rng, real, c
        self.kernels = 0
        self.lines: list[str] = []
        self.buffers = list(BUFFERS[: rng.choice((2, 2, 3))])
        self.c_real = {"float32": "float", "float64": "double"}[real]

    def pick(self, *choices):
        return self.rng.choice(choices)

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def program(self, seed: int) -> Program:
        from tests.fuzz.cuda_c import spelled

        names = [self.kernel() for _ in range(self.pick(1, 2, 2, 3))]
        body = [*self.block(names, 0, self.pick(1, 2, 3)), ("launch", self.pick(*names), "u", "v", "dt")]
        args = [Arg(f"h_{b}", ("n",), "f") for b in self.buffers] + [Arg("n", None, "i"), Arg("steps", None, "i")]
        args.append(Arg("dt", None, "f"))
        host = Kernel("run", tuple(args), ())
        if self.c:
            program = Program("\n".join([*HEAD, *self.lines]), tuple(self.made), seed)
            text = spelled(program).source + "\n".join(self.c_host(body)) + "\n"
            return Program(text, (host,), seed, "fuzz.cu")
        return Program("\n".join([*HEAD, *self.lines, *self.python_host(body)]) + "\n", (host,), seed)

    def kernel(self) -> str:
        """A kernel of two arrays: ``b`` from ``a``, ``b`` in place too, or with neighbours."""
        name = f"k{self.kernels}"
        self.kernels += 1
        w = Writer(self.rng, name, [], self.c)
        w.deepest, w.nesting = self.pick(1, 1, 2), 1
        w.dims, w.spelled = ["n"], {"n": "n"}
        w.float_scalars, w.int_scalars = ["c"], []
        w.arrays = [Array("a", ("n",)), Array("b", ("n",), role="out", own=("i",), writable=True)]
        inner = self.chance(0.4)
        scope = Scope([Index("i", "n", int(inner), int(inner))])
        guard = "0 < i and i < n - 1" if inner else "i < n"
        near = self.pick("a[i - 1] - 2.0 * a[i] + a[i + 1]", "a[i + 1] - a[i - 1]") if inner else "a[i]"
        value = self.pick(
            f"a[i] * {w.wrapped(w.float(scope, 2))}",
            f"a[i] + c * ({near})",
            f"0.5 * ({near}) + {w.wrapped(w.float(scope, 1))}",
        )
        lines = ["i = cuda.grid(1)", f"if {guard}:"]
        lines += indented([*w.block(scope, self.pick(0, 0, 1)), f"b[i] {self.pick('=', '=', '+=')} {value}"])
        args = (Arg("a", ("n",), "f"), Arg("b", ("n",), "f"), Arg("n", None, "i"), Arg("c", None, "f"))
        self.lines += ["@cuda.jit", f"def {name}(a, b, n, c):", *indented(lines), "", ""]
        self.made = [*getattr(self, "made", []), Kernel(name, args, ("n",))]
        return name

    # --- the host's statements, as a tree: (what, ...)

    def block(self, names: list[str], depth: int, count: int) -> list[tuple]:
        return [self.statement(names, depth) for _ in range(count)]

    def statement(self, names: list[str], depth: int) -> tuple:
        way = self.rng.random()
        a, b = self.rng.sample(self.buffers, 2)
        if way < 0.45 or depth > 1:
            if self.chance(0.12):
                b = a  # one array for both parameters
            scale = self.pick("dt", "dt", "0.5", "1.0", *(["0.25 * t", "dt * t"] if depth else []))
            return ("launch", self.pick(*names), a, b, scale)
        if way < 0.6:
            return ("swap", a, b)
        if way < 0.7:
            return ("copy", a, b)
        if way < 0.9 and depth == 0:
            rounds = self.pick("steps", "steps", "3", "steps + 1", "2 * steps")
            return ("loop", rounds, self.block(names, 1, self.pick(1, 2, 2, 3)))
        if depth and way < 0.95:
            test = self.pick("t % 2 == 0", "t % 2 == 1", "t > 1", "t == 0", "t < steps - 1")
            return ("if", test, self.block(names, 2, 1), self.block(names, 2, self.pick(0, 1)))
        return ("launch", self.pick(*names), a, b, "dt")

    def python_host(self, body: list[tuple]) -> list[str]:
        lines = [f"d_{b} = cuda.to_device(h_{b})" for b in self.buffers]
        lines += ["threads = 4", "blocks = (n + threads - 1) // threads", *self.python(body)]
        style = self.rng.random()
        if style < 0.5:
            back = self.pick(*self.buffers)
            lines.append(f"return d_{back}.copy_to_host()")
        else:
            lines += [f"d_{b}.copy_to_host(h_{b})" for b in self.buffers if self.chance(0.7)] or [
                "d_u.copy_to_host(h_u)"
            ]
        params = ", ".join([*(f"h_{b}" for b in self.buffers), "n", "steps", "dt"])
        return [f"def run({params}):", *indented(lines)]

    def python(self, body: list[tuple]) -> list[str]:
        lines: list[str] = []
        for what, *rest in body:
            match what:
                case "launch":
                    kernel, a, b, scale = rest
                    lines.append(f"{kernel}[blocks, threads](d_{a}, d_{b}, n, {scale})")
                case "swap":
                    a, b = rest
                    lines.append(f"d_{a}, d_{b} = d_{b}, d_{a}")
                case "copy":
                    lines.append(f"d_{rest[0]}.copy_to_device(d_{rest[1]})")
                case "loop":
                    lines += [f"for t in range({rest[0]}):", *indented(self.python(rest[1]))]
                case "if":
                    lines += [f"if {rest[0]}:", *indented(self.python(rest[1]))]
                    if rest[2]:
                        lines += ["else:", *indented(self.python(rest[2]))]
        return lines

    def c_host(self, body: list[tuple]) -> list[str]:
        real = self.c_real
        lines = []
        for b in self.buffers:
            lines += [f"{real} *d_{b};", f"cudaMalloc(&d_{b}, n * sizeof({real}));"]
            lines += [f"cudaMemcpy(d_{b}, h_{b}, n * sizeof({real}), cudaMemcpyHostToDevice);"]
        lines += ["int threads = 4;", "int blocks = (n + threads - 1) / threads;", *self.c_lines(body)]
        lines.append("cudaDeviceSynchronize();")
        out = [b for b in self.buffers if self.chance(0.7)] or ["u"]
        lines += [f"cudaMemcpy(h_{b}, d_{b}, n * sizeof({real}), cudaMemcpyDeviceToHost);" for b in out]
        lines += [f"cudaFree(d_{b});" for b in self.buffers]
        params = ", ".join([*(f"{real} *h_{b}" for b in self.buffers), "int n", "int steps", f"{real} dt"])
        return [f"void run({params}) {{", *indented(lines), "}"]

    def c_lines(self, body: list[tuple]) -> list[str]:
        real = self.c_real
        lines: list[str] = []
        for what, *rest in body:
            match what:
                case "launch":
                    kernel, a, b, scale = rest
                    lines.append(f"{kernel}<<<blocks, threads>>>(d_{a}, d_{b}, n, {scale});")
                case "swap":
                    a, b = rest
                    lines += ["{", f"    {real} *h = d_{a};", f"    d_{a} = d_{b};", f"    d_{b} = h;", "}"]
                case "copy":
                    a, b = rest
                    lines.append(f"cudaMemcpy(d_{a}, d_{b}, n * sizeof({real}), cudaMemcpyDeviceToDevice);")
                case "loop":
                    lines += [f"for (int t = 0; t < {rest[0]}; t++) {{", *indented(self.c_lines(rest[1])), "}"]
                case "if":
                    lines += [f"if ({rest[0]}) {{", *indented(self.c_lines(rest[1]))]
                    if rest[2]:
                        lines += ["} else {", *indented(self.c_lines(rest[2]))]
                    lines.append("}")
        return lines
