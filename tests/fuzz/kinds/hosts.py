"""Hosts: several launches on each other's results (some for fewer elements, or a number of them below 0), time loops
and loops until convergence, swaps (of buffers that begin alike, too), copies of parts, sums of an array on the host,
branches by data, early returns, one array for two parameters."""

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
        self.numbers = 0  # scalars that the host has made
        self.lines: list[str] = []
        self.buffers = list(BUFFERS[: rng.choice((2, 2, 3))])
        self.c_real = {"float32": "float", "float64": "double"}[real]
        self.returns = not c and rng.random() < 0.5

    def pick(self, *choices):
        return self.rng.choice(choices)

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def program(self, seed: int) -> Program:
        from tests.fuzz.cuda_c import spelled

        self.alike = random.Random(f"alike {seed}").random() < 0.3  # draws nothing from the others' numbers
        names = [self.kernel() for _ in range(self.pick(1, 2, 2, 3))]
        body = [*self.block(names, 0, self.pick(1, 2, 3)), ("launch", self.pick(*names), "u", "v", "dt", 0)]
        args = [Arg(f"h_{b}", ("n",), "f") for b in self.buffers] + [Arg("n", None, "i"), Arg("steps", None, "i")]
        args.append(Arg("dt", None, "f"))
        host = Kernel("run", tuple(args), ())
        lines = self.host(body)
        if self.c:
            program = Program("\n".join([*HEAD, *self.lines]), tuple(self.made), seed)
            return Program(spelled(program).source + "\n".join(lines) + "\n", (host,), seed, "fuzz.cu")
        return Program("\n".join([*HEAD, *self.lines, *lines]) + "\n", (host,), seed)

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

    def number(self) -> str:
        self.numbers += 1
        return f"s{self.numbers}"

    def statement(self, names: list[str], depth: int) -> tuple:
        way = self.rng.random()
        a, b = self.rng.sample(self.buffers, 2)
        if way < 0.4 or depth > 1:
            if self.chance(0.12):
                b = a  # one array for both parameters
            scale = self.pick("dt", "dt", "0.5", "1.0", *(["0.25 * t", "dt * t"] if depth else []))
            return ("launch", self.pick(*names), a, b, scale, self.pick(0, 0, 0, 1, 2) if a != b else 0)
        if way < 0.5:
            return ("swap", a, b)
        if way < 0.56:
            return ("copy", a, b)
        if way < 0.63:
            return ("part", a, b, self.pick(0, 1, 2), self.pick("2", "n - 2"))
        if way < 0.7:
            return ("mean", self.number(), a, self.pick(*names), b)
        if way < 0.74:
            return ("store", a, self.pick("0", "n - 1"))
        if way < 0.9 and depth == 0:
            inner = self.block(names, 1, self.pick(1, 2, 2, 3))
            if self.chance(0.3):
                return ("until", self.number(), a, self.pick("steps", "4"), inner)
            return ("loop", self.pick("steps", "steps", "3", "steps + 1", "2 * steps"), inner)
        if depth and way < 0.95:
            test = self.pick("t % 2 == 0", "t % 2 == 1", "t > 1", "t == 0", "t < steps - 1")
            return ("if", test, self.block(names, 2, 1), self.block(names, 2, self.pick(0, 1)))
        if depth == 0 and way < 0.95:
            return ("early", self.pick("n > 8", "steps == 0"), [("launch", self.pick(*names), a, b, "dt", 0)])
        return ("launch", self.pick(*names), a, b, "dt", 0)

    # --- their text

    def host(self, body: list[tuple]) -> list[str]:
        """The host function."""
        real, c = self.c_real, self.c
        lines: list[str] = []
        for b in self.buffers:
            if c:
                given = "u" if self.alike else b
                lines += [f"{real} *d_{b};", f"cudaMalloc(&d_{b}, n * sizeof({real}));"]
                lines += [f"cudaMemcpy(d_{b}, h_{given}, n * sizeof({real}), cudaMemcpyHostToDevice);"]
            else:
                lines.append(f"d_{b} = cuda.to_device(h_{b})")
        self.back = [b for b in self.buffers if self.chance(0.7)] or ["u"]
        lines += ["int threads = 4;", "int blocks = (n + threads - 1) / threads;"] if c else [
            "threads = 4", "blocks = (n + threads - 1) // threads"
        ]  # fmt: skip
        lines += [*self.text(body), *self.ending()]
        params = [f"{real} *h_{b}" if c else f"h_{b}" for b in self.buffers]
        params += ["int n", "int steps", f"{real} dt"] if c else ["n", "steps", "dt"]
        head = ", ".join(params)
        return [f"void run({head}) {{", *indented(lines), "}"] if c else [f"def run({head}):", *indented(lines)]

    def ending(self) -> list[str]:
        """What the host gives back."""
        if self.c:
            out = [f"cudaMemcpy(h_{b}, d_{b}, n * sizeof({self.c_real}), cudaMemcpyDeviceToHost);" for b in self.back]
            return [*out, *(f"cudaFree(d_{b});" for b in self.buffers)]
        if self.returns:
            return [f"return d_{self.back[0]}.copy_to_host()"]
        return [f"d_{b}.copy_to_host(h_{b})" for b in self.back]

    def nested(self, head: str, body: list[str], other: list[str] | None = None) -> list[str]:
        """A loop or a branch with its blocks; ``head`` as Python has it."""
        if not self.c:
            return [f"{head}:", *indented(body), *(["else:", *indented(other)] if other else [])]
        return [f"{head} {{", *indented(body), *(["} else {", *indented(other)] if other else []), "}"]

    def text(self, body: list[tuple]) -> list[str]:
        return [line for what, *rest in body for line in getattr(self, f"text_{what}")(*rest)]

    def place(self, name: str, offset: object) -> str:
        """An array from an element on."""
        if offset in (0, "0"):
            return f"d_{name}"
        return f"d_{name} + {offset}" if self.c else f"d_{name}[{offset}:]"

    def text_launch(self, kernel: str, a: str, b: str, scale: str, offset: int) -> list[str]:
        first, second, count = self.place(a, offset), self.place(b, 0), f"n - {offset}" if offset else self.size(scale)
        if self.c:
            return [f"{kernel}<<<blocks, threads>>>({first}, {second}, {count}, {scale});"]
        return [f"{kernel}[blocks, threads]({first}, {second}, {count}, {scale})"]

    def size(self, scale: str) -> str:
        """How many elements a launch is for, in a loop (whose counter is in ``scale``) fewer in later rounds."""
        some = (
            "n - 3 * t" if scale.endswith("t") and scale != "dt" else self.pick("n - 4", "n / 2 - 2", "n - 2 * steps")
        )
        return (some if self.c else some.replace("n / 2", "n // 2")) if self.chance(0.2) else "n"

    def text_swap(self, a: str, b: str) -> list[str]:
        if self.c:
            return ["{", f"    {self.c_real} *h = d_{a};", f"    d_{a} = d_{b};", f"    d_{b} = h;", "}"]
        return [f"d_{a}, d_{b} = d_{b}, d_{a}"]

    def text_copy(self, a: str, b: str) -> list[str]:
        if self.c:
            return [f"cudaMemcpy(d_{a}, d_{b}, n * sizeof({self.c_real}), cudaMemcpyDeviceToDevice);"]
        return [f"d_{a}.copy_to_device(d_{b})"]

    def text_part(self, a: str, b: str, offset: int, count: str) -> list[str]:
        if self.c:
            to, source = self.place(a, offset), self.place(b, 2 - offset)
            return [f"cudaMemcpy({to}, {source}, ({count}) * sizeof({self.c_real}), cudaMemcpyDeviceToDevice);"]
        return [f"d_{a}[:2] = d_{b}[:2]" if count == "2" else f"d_{a}[2:] = d_{b}[2:]"]

    def text_mean(self, name: str, a: str, kernel: str, b: str) -> list[str]:
        if self.c:
            real, h = self.c_real, f"h_{name}"
            return [
                f"{real} *{h} = ({real} *)malloc(n * sizeof({real}));",
                f"cudaMemcpy({h}, d_{a}, n * sizeof({real}), cudaMemcpyDeviceToHost);",
                f"{real} {name} = 0;", f"for (int i = 0; i < n; i++) {name} += {h}[i];", f"{name} /= n;",
                f"{kernel}<<<blocks, threads>>>(d_{a}, d_{b}, n, {name});", f"free({h});",
            ]  # fmt: skip
        lines = [f"h_{name} = d_{a}.copy_to_host()"]
        if self.chance(0.5):
            lines.append(f"{name} = h_{name}.sum() / n")
        else:
            lines += [f"{name} = 0.0", "for i in range(n):", f"    {name} += h_{name}[i]", f"{name} = {name} / n"]
        return [*lines, f"{kernel}[blocks, threads](d_{a}, d_{b}, n, {name})"]

    def text_store(self, a: str, at: str) -> list[str]:
        """A number in the caller's array, after its copy was made."""
        return [f"h_{a}[{at}] = 0.5{';' if self.c else ''}"]

    def text_loop(self, rounds: str, body: list[tuple]) -> list[str]:
        head = f"for (int t = 0; t < {rounds}; t++)" if self.c else f"for t in range({rounds})"
        return self.nested(head, self.text(body))

    def text_until(self, name: str, a: str, most: str, body: list[tuple]) -> list[str]:
        """Rounds until an element is small, or no more than ``most``."""
        if self.c:
            lines = [
                *self.text(body),
                f"cudaMemcpy(&{name}, d_{a} + 1, sizeof({self.c_real}), cudaMemcpyDeviceToHost);",
            ]
            loop = self.nested(f"while ({name} > 0.3 && t < {most})", [*lines, "t++;"])
            return ["{", *indented([f"{self.c_real} {name} = 1;", "int t = 0;", *loop]), "}"]
        lines = [*self.text(body), f"{name} = d_{a}.copy_to_host()[1]", "t += 1"]
        return [f"{name} = 1.0", "t = 0", *self.nested(f"while {name} > 0.3 and t < {most}", lines)]

    def text_if(self, test: str, body: list[tuple], other: list[tuple]) -> list[str]:
        return self.nested(f"if ({test})" if self.c else f"if {test}", self.text(body), self.text(other))

    def text_early(self, test: str, body: list[tuple]) -> list[str]:
        if not self.c and not self.returns:
            return self.nested(f"if {test}", self.text(body))
        lines = [*self.text(body), *self.ending(), *(["return;"] if self.c else [])]
        return self.nested(f"if ({test})" if self.c else f"if {test}", lines)
