"""Methods whose state is ``self.…`` as functions that take the state and return what they change."""

import numpy as np
import pytest

from kraise.verify.load import load_module
from tests.hosts.test_hosts import agrees, array, codes, python

HEAT = """
class Heat:
    FACTOR = 0.5

    def __init__(self, u, size):
        self.stream = cuda.stream()
        self.size = size
        self.threads = 64
        self.blocks = (self.size + self.threads - 1) // self.threads
        self.u = cuda.to_device(u)
        self.v = cuda.device_array_like(self.u)
        self.time = 0

    def step(self):
        step[self.blocks, self.threads, self.stream](self.u, self.v, self.size)
        self.u, self.v = self.v, self.u
        self.time += 1

    def damp(self, factor=FACTOR):
        scale[self.blocks, self.threads](self.u, factor * self.FACTOR)

    def run(self, steps):
        for _ in range(steps):
            self.step()
        self.damp(0.25)
        before = self.total()
        return before, self.u.copy_to_host()

    def total(self):
        return self.u.copy_to_host().sum()
"""


def names(done, host):
    (found,) = [x for x in done.source.hosts if x.name == host]
    return [p.name for p in found.params]


def test_the_state_is_parameters_and_results():
    done = python(HEAT)
    assert codes(done) == {"KR201"}  # the racy kernel of the module
    assert names(done, "Heat_step") == ["size", "u", "v", "time"]
    assert names(done, "Heat_run") == ["size", "u", "v", "time", "steps"]
    assert "blocks" not in done.text and "stream" not in done.text  # written out; left out


@pytest.mark.parametrize("steps", (0, 1, 4))
def test_values_and_gradients(steps):
    done = python(HEAT)
    state = {"size": 9, "u": array(9), "v": array(9, 1), "time": 3}
    agrees(done, "Heat_step", **state)
    agrees(done, "Heat_run", **state, steps=steps)


def test_what_init_returns_goes_into_the_methods():
    namespace: dict = {}
    exec(compile(python(HEAT).text, "a.py", "exec"), namespace)
    u = array(9)
    size, a, b, time = namespace["Heat_init"](u, 9)
    assert (size, time) == (9, 0) and isinstance(size, int)
    a, b, time = namespace["Heat_step"](size, a, b, time)
    expected = np.concatenate([[0], 0.5 * (u[:-2] + u[2:]), [0]])
    np.testing.assert_allclose(np.asarray(a), expected, rtol=1e-6)
    assert time == 1


def test_an_alias_of_an_attribute_counts_as_changed():
    body = HEAT + "    def late(self):\n        w = self.u\n        scale[1, 64](w, 2.0)\n        self.time += 1\n"
    done = python(body)
    assert "return u, time" in done.text.split("def Heat_late(")[1]
    agrees(done, "Heat_late", u=array(9), time=1)


def test_a_kernel_that_races_is_refused_under_the_name_of_the_method():
    body = HEAT + "    def bad(self):\n        racy[1, 64](self.u, self.size)\n"
    done = python(body)
    assert "KR212" in codes(done) and "Heat_bad" not in done.raised and "Heat_step" in done.raised


CHECKED = """
def f(x, *, a: float = 2.0, reps=2):
    n = x.shape[0]
    if n == 0:
        raise ValueError("nothing to do")
    y = cuda.to_device(x)
    try:
        for _ in range(reps):
            scale[(n + 31) // 32, 32](y, a)
        step[1, 64](cuda.to_device(x), y, n)
    finally:
        cuda.synchronize()
    return y.copy_to_host()
"""


def test_checks_keywords_and_arrays_made_in_a_launch():
    done = python(CHECKED)
    agrees(done, "f", x=array(9), a=0.5, reps=3)
    (raised,) = [line for line in done.text.split("\n") if "raise " in line]
    assert "fewer threads along x" in raised  # of ``step[1, 64]``: what the source checks is left out


FIT = """
import time

class Fit:
    def __init__(self, u, factor=0.5):
        self.u = cuda.to_device(u)
        self.n = u.shape[0]
        self.factor = factor
        self.losses = []

    @property
    def blocks(self):
        \"\"\"As many as there are.\"\"\"
        return (self.n + self.threads - 1) // self.threads

    @property
    def threads(self):
        return 32 + 32

    @property
    def doubled(self):
        return self.factor + self.factor

    def damp(self, rounds):
        start = time.perf_counter()
        for k in range(rounds):
            scale[self.blocks, self.threads](self.u, 3 * self.doubled)
            self.losses.append(self.u.copy_to_host().sum())
        self.elapsed = time.perf_counter() - start
        self.last = self.u.copy_to_host()
        return self

    def maybe(self, rounds):
        if rounds > 2:
            self.kept = self.u.copy_to_host()
        scale[self.blocks, self.threads](self.u, 1.0)
"""


def test_properties_records_and_clocks_of_a_class():
    done = python(FIT)
    assert names(done, "Fit_damp") == ["u", "factor", "rounds"]  # `last` is set in any case, and never read
    assert names(done, "Fit_maybe") == ["u", "kept", "rounds"]
    assert "losses" not in done.text and "elapsed" not in done.text
    u = array(9)
    agrees(done, "Fit_damp", u=u, factor=0.25, rounds=3)
    namespace: dict = {}
    exec(compile(done.text, "a.py", "exec"), namespace)
    *_, last = namespace["Fit_damp"](u, 0.25, 3)
    np.testing.assert_allclose(last, u * 1.5**3, rtol=1e-6)


RAISED = """def raised(out, u, a):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * u[i]

@cuda.jit
def first"""
LAUNCHES = """
@cuda.jit
def first(u, out):
    t = cuda.threadIdx.x
    if t == 0:
        out[cuda.blockIdx.x] = u[cuda.blockIdx.x * cuda.blockDim.x]

class Sums:
    def __init__(self, u, tpb=(4, 1), per=3):
        self.per = per
        self.tpb = tpb
        self.blocks = -(-u.size // per)
        self.grid = (self.blocks, 1)
        self.u = cuda.to_device(u)
        self.out = cuda.to_device(np.zeros(8, np.float32))

    def damp(self, a):
        scale[self.grid, self.tpb](self.u, a)

    def pick(self):
        first[self.blocks, self.per](self.u, self.out)

    def both(self, a):
        self.damp(a)
        self.pick()
        return self.out.copy_to_host()
"""


def test_attributes_that_only_configure_launches():
    """They are no parameters, unless a kernel looks at its launch; what no method takes is no state."""
    done = python(LAUNCHES)
    assert names(done, "Sums_damp") == ["tpb_1", "u", "a"]  # scale wants blocks of one row
    assert names(done, "Sums_pick") == ["per", "blocks", "u", "out"]
    assert names(done, "Sums_both") == ["per", "tpb_1", "blocks", "u", "out", "a"]
    agrees(done, "Sums_both", per=3, tpb_1=1, blocks=4, u=array(12), out=array(8), a=0.5)
    agrees(done, "Sums_damp", tpb_1=1, u=array(12), a=0.5)
    namespace: dict = {}
    exec(compile(done.text, "a.py", "exec"), namespace)
    per, rows, blocks, u, out = namespace["Sums_init"](array(12))
    assert (per, rows, blocks, u.shape, out.shape) == (3, 1, 4, (12,), (8,))
    with pytest.raises(ValueError, match="scale does not tell the threads of a block along y apart"):
        namespace["Sums_damp"](2, array(12), 0.5)
    alike = python(
        LAUNCHES.replace("def first", RAISED).replace(
            "scale[self.grid, self.tpb](", "raised[self.grid, self.tpb](self.out, "
        )
    )
    assert names(alike, "Sums_damp") == ["u", "out", "a"] and "Sums_damp" in alike.raised


def test_a_property_that_does_more_is_none():
    text = FIT.replace("return self.factor + self.factor", "self.factor *= 2\n        return self.factor")
    done = python(text)
    assert "Fit_damp" not in done.raised
    cached = FIT.replace("@property\n    def doubled", "@functools.cached_property\n    def doubled")
    assert "Fit_damp" not in python("import functools\n" + cached).raised  # it keeps its first value


def test_records_that_are_read_stay():
    done = python(FIT.replace("return self\n", "return self.losses[0]\n"))
    first, _, losses, _ = load_module(done.text).Fit_damp(array(9), 0.25, np.array([7.0], np.float32), rounds=2)
    np.testing.assert_allclose([first, *losses], [7.0, 7.0, array(9).sum() * 1.5, array(9).sum() * 2.25], rtol=1e-5)
    for within in ("self.last = self.losses[-1]", "self.maybe(2)"):  # what a round appended is not in the array yet
        text = FIT.replace("return self\n", "return self.losses[0]\n").replace(
            "            self.losses.append", f"            {within}\n            self.losses.append"
        )
        text = text.replace(
            "def maybe(self, rounds):\n", "def maybe(self, rounds):\n        self.seen = self.losses[0]\n"
        )
        assert "Fit_damp" not in python(text).raised


CHANGES = """
class Field:
    def __init__(self, u, v, rows):
        self.u, self.v, self.rows = cuda.to_device(u), cuda.to_device(v), cuda.to_device(rows)
        self.time = 0.0

    def _low(self, src, dst):
        step[1, 32](src, dst, src.shape[0])

    def by_another_method(self):
        self._low(self.u, self.v)
        self.time += 1.0

    def by_a_view(self):
        scale[1, 32](self.u[2:5], 3.0)
        scale[1, 32](self.rows[1], 2.0)
        self.time += 1.0

    def by_a_swap(self):
        a, b = self.u, self.v
        for _ in range(3):
            self._low(a, b)
            a, b = b, a
        return a.copy_to_host()
"""


@pytest.mark.parametrize("name, wanted", (("by_another_method", "v, time"), ("by_a_view", "u, rows, time")))
def test_what_is_changed_by_calls_and_views_comes_back(name, wanted):
    done = python(CHANGES)
    assert f"return {wanted}" in done.text.split(f"def Field_{name}(")[1]
    given = {"u": array(9), "v": array(9, 1), "rows": array(8).reshape(2, 4), "time": 1.0}
    agrees(done, f"Field_{name}", **{n: given[n] for n in names(done, f"Field_{name}")})


def test_what_a_swap_of_local_names_leaves_in_the_attributes():
    agrees(python(CHANGES), "Field_by_a_swap", u=array(9), v=array(9, 1))


BASES = """
class Model(ABC):
    TPB: int = 32

    def __init__(self, u, dt=0.5):
        self.shape = u.shape
        self.u = cuda.to_device(u)
        self.dt = dt
        self.time = 0.0
        self.grid = tuple((s + t - 1) // t for s, t in zip(self.shape, (self.TPB,)))

    def advance(self):
        self.damp()
        self.time += self.dt

class Fading(Model):
    def __init__(self, u, rate):
        super().__init__(u)
        self.rate = rate

    def damp(self):
        scale[self.grid, self.TPB](self.u, 1.0 - self.rate * self.dt)

    def advance(self):
        super().advance()
        self.time += 1.0

@dataclass
class Heated:
    u: np.ndarray
    factor: float = 3.0
    seen: list = field(default_factory=list)

    def __post_init__(self):
        self.d_u = cuda.to_device(self.u)

    def heat(self):
        scale[1, 32](self.d_u, self.factor)
"""


def test_the_methods_of_a_base_and_the_constructor_of_a_dataclass():
    done = python("from abc import ABC\nfrom dataclasses import dataclass, field\n" + BASES)
    assert codes(done) == {"KR201"}  # the racy kernel: the grid of `damp` is known, there is no warning of it
    agrees(done, "Fading_advance", u=array(9), time=1.0, rate=0.25)
    module = load_module(done.text)
    u, time, rate = module.Fading_init(array(9), 0.25)
    u, time = module.Fading_advance(u, time, rate)
    np.testing.assert_allclose(u, array(9) * 0.875, rtol=1e-6)
    assert time == 1.5
    first, factor, u = module.Heated_init(array(9))
    np.testing.assert_allclose(module.Heated_heat(factor, u), array(9) * 3, rtol=1e-6)
    assert "Other_advance" not in python("class Other(elsewhere.Model):\n    def advance(self):\n        pass\n").text
