"""Arguments and launches that are found by running the kernel; cases as case.toml spells them."""

import re
from pathlib import Path

import numpy as np
import pytest

from kraise.diagnostics import Refused
from kraise.frontends import cuda_c, python
from kraise.ir import kernel as k
from kraise.ir.types import FLOAT32, INT32, ArrayType, StructType
from kraise.pipeline import translate
from kraise.verify import interpreter
from kraise.verify.chosen import case_for
from kraise.verify.inputs import CaseError, infer_case, launch_for, load_case, load_cases
from kraise.verify.request import Request

SAMPLES = Path(__file__).parents[2] / "samples"
HEAD = "import math\nimport numpy as np\nfrom numba import cuda\n@cuda.jit\n"


def infer(source, **options):
    ir, findings = python.read(HEAD + source, "k.py")
    assert not findings, findings
    function = next(f for f in ir.functions if f.kind == "kernel")
    case = infer_case(ir, function, **options)
    return ir, function, case, case.arguments()


def threads(case):
    return int(np.prod(case.grid)) * int(np.prod(case.block))


def test_guarded_by_a_scalar():
    _, _, case, a = infer("def f(x, y, n):\n    i = cuda.grid(1)\n    if i < n:\n        y[i] = x[i]\n")
    assert a["x"].shape == a["y"].shape == (a["n"],) and threads(case) > a["n"] and a["n"] % case.block[0]
    assert a["x"].dtype == np.float32


def test_flat_matrix_gets_the_product_and_is_not_square():
    source = """def f(x, y, h, w):
    j, i = cuda.grid(2)
    if i < h and j < w:
        y[i * w + j] = x[j * h + i]
"""
    _, _, _, a = infer(source)
    assert a["h"] != a["w"] and a["x"].shape == a["y"].shape == (a["h"] * a["w"],)


def test_unguarded_threads_fit_the_launch():
    _, _, case, a = infer("def f(x, y):\n    i = cuda.grid(1)\n    y[i] = x[2 * i + 1]\n")
    assert a["y"].shape == (threads(case),) and a["x"].shape == (2 * threads(case),)


def test_integers_of_a_template_are_a_block_or_a_radius():
    text = (SAMPLES / "cuda_template_size" / "kernel.cu").read_text()
    ir, _ = cuda_c.read(text, "kernel.cu")
    found = {f.name: infer_case(ir, f) for f in ir.functions if f.kind == "kernel"}
    tile = found["product"].args["TILE"]
    assert found["product"].block == (tile, tile, 1) and tile > 1
    assert 2 * found["smooth"].args["RADIUS"] < found["smooth"].args["n"]


def test_row_pointers_and_gathers():
    source = """def f(ptr, col, val, x, y, rows):
    r = cuda.grid(1)
    if r < rows:
        s = 0.0
        for k in range(ptr[r], ptr[r + 1]):
            s += val[k] * x[col[k]]
        y[r] = s
"""
    _, _, _, a = infer(source)
    assert a["ptr"].shape == (a["rows"] + 1,) and (np.diff(a["ptr"]) >= 0).all() and a["ptr"].dtype == np.int32
    assert a["val"].shape == a["col"].shape == (a["ptr"][-1],)
    assert len(a["x"]) > a["col"].max()


def test_counts_of_bits_are_ones():
    source = "__device__ int words(int n) { return n <= 5 ? 1 : 1 << (n - 5); }\n"
    source += "__global__ void f(const int *s, const int *x, int *o, int n) {\n  int i = threadIdx.x;\n"
    ir, _ = cuda_c.read(source + "  if (i < n) o[i] = words(s[i]) + (x[i] << 2);\n}\n", "k.cu")
    a = infer_case(ir, ir.functions[-1], values={"n": 97}).arguments()
    assert a["s"].min() >= 0 and 8 < a["s"].max() < 32 < a["x"].max()


def test_a_scatter_gets_a_permutation():
    source = "def f(x, p, y):\n    i = cuda.grid(1)\n    if i < x.size:\n        y[p[i]] = x[i]\n"
    _, _, _, a = infer(source)
    assert sorted(a["p"]) == list(range(len(a["x"])))


def test_positive_values_where_the_domain_asks():
    source = "def f(x, y):\n    i = cuda.grid(1)\n    if i < x.size:\n        y[i] = math.log(x[i])\n"
    _, _, _, a = infer(source)
    assert (a["x"] > 0).all()


def test_the_block_fits_the_shared_tile():
    source = """def f(x, y):
    s = cuda.shared.array(16, dtype=np.float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    y[cuda.grid(1)] = s[15 - t]
"""
    _, _, case, a = infer(source)
    assert case.block == (16, 1, 1) and a["x"].shape == (threads(case),)


def test_what_the_user_gives_is_kept():
    source = "def f(x, y, n):\n    i = cuda.grid(1)\n    if i < n:\n        y[i] = x[i]\n"
    _, _, _, a = infer(source, shapes={"x": (30,)}, values={"n": 17}, dtype="float64")
    assert a["x"].shape == (30,) and a["n"] == 17 and a["y"].shape == (17,) and a["y"].dtype == np.float64
    with pytest.raises(CaseError, match="x would need an extent of 17"):
        infer(source, shapes={"x": (3,)}, values={"n": 17})


def test_negative_subscripts_are_counted_from_the_end():
    source = "def f(y):\n    i = cuda.grid(1)\n    if i < 2:\n        y[i - 4] = 1.0\n"
    _, _, _, a = infer(source)
    assert a["y"].shape[0] >= 4
    with pytest.raises(CaseError, match="y would need an extent of 4"):
        infer(source, shapes={"y": (3,)})


@pytest.mark.parametrize("size", [6, 17, 40])
def test_a_launch_covers_the_guard_or_is_exact(size):
    for source in (
        "def f(y, n):\n    i = cuda.grid(1)\n    if i < n:\n        y[i] = 1.0\n",
        "def f(y, n):\n    i = cuda.grid(1)\n    y[i] = 1.0\n",
    ):
        ir, _ = python.read(HEAD + source, "k.py")
        arguments = {"y": np.zeros(size), "n": size}
        grid, block = launch_for(ir, ir.functions[0], arguments)
        out = interpreter.run(ir, "f", arguments, grid=grid, block=block)
        assert out.arrays["y"].all()


CASE = """
[kernel.f]
grid = [3]
block = [8]
tolerance = { value = 1e-4 }
wrt = ["x"]
[kernel.f.args]
n = 17
x = { shape = [17], dtype = "float32", range = [2.0, 3.0] }
idx = { shape = [17], dtype = "int32", range = [0, 5] }
perm = { shape = [6], dtype = "int64", permutation = true }
y = { shape = [2, 3], dtype = "float64", fill = 0.5 }
ptr = { dtype = "int32", values = [0, 3, 3, 7] }
body = { mass = { shape = [4] }, dt = 0.5 }
[kernel.f.form]
loops = 0
contains = ["@"]
"""


def test_a_case_file(tmp_path):
    path = tmp_path / "case.toml"
    path.write_text(CASE)
    case = load_case(path)
    a = case.arguments()
    assert case.grid == (3,) and case.value_tolerance == 1e-4 and case.wrt == ("x",) and case.form.contains == ("@",)
    assert a["n"] == 17 and ((a["x"] >= 2) & (a["x"] < 3)).all() and set(a["idx"]) <= set(range(5))
    assert sorted(a["perm"]) == list(range(6)) and (a["y"] == 0.5).all() and list(a["ptr"]) == [0, 3, 3, 7]
    assert a["body"]["mass"].shape == (4,) and a["body"]["dt"] == 0.5
    np.testing.assert_array_equal(a["x"], case.arguments()["x"])
    with pytest.raises(CaseError):
        load_case(path, "g")
    path.write_text("[kernel")
    with pytest.raises(CaseError, match="case.toml"):
        load_cases(path)
    path.write_text('[kernel.f.args]\nx = { shape = [2], dtype = "floaty" }\n')
    with pytest.raises(CaseError, match="floaty"):
        load_case(path).arguments()


def test_members_of_an_array_of_structs_have_one_length():
    body = StructType("Body", (("x", FLOAT32), ("m", FLOAT32), ("pos", ArrayType(FLOAT32, 1))), is_array=True)
    box = StructType("Box", (("dt", FLOAT32), ("n", INT32)))
    i = k.Var("i", INT32)
    value = k.Op("mul", (k.Load("b.pos", (i, k.Const(2, INT32)), FLOAT32), k.Var("p.dt", FLOAT32)), FLOAT32)
    loop = k.For("i", k.Const(0, INT32), k.Var("p.n", INT32), k.Const(1, INT32), (k.Store("b.x", (i,), value),))
    function = k.Function("f", "plain", (k.Param("b", body), k.Param("p", box)), (loop,))
    case = infer_case(k.Module("b.cu", "cuda_c", (function,)), function)
    a = case.arguments()
    n = a["p"]["n"]
    assert a["b"]["x"].shape == a["b"]["m"].shape == (n,) and a["b"]["pos"].shape == (n, 3)


def test_what_is_guarded_is_covered_beside_an_unguarded_axis():
    source = """def f(x, y, h, w):
    j, i, c = cuda.grid(3)
    if i < h and j < w:
        y[c, i, j] = x[c, i, j]
"""
    _, _, case, a = infer(source)
    assert case.grid[0] * case.block[0] >= a["w"] and case.grid[1] * case.block[1] >= a["h"]


def test_the_exponent_of_a_negative_number_is_an_integer():
    _, _, _, a = infer("def f(x, y, m):\n    i = cuda.grid(1)\n    y[i] = (-1) ** m * x[i]\n")
    assert isinstance(a["m"], int)


@pytest.mark.parametrize("condition, wanted", [("m == 2", 2), ("m == 2 or x[i] > m", None), ("m < 1.5", None)])
def test_what_is_only_compared_with_integers_is_one_of_them(condition, wanted):
    _, _, _, a = infer(
        f"def f(x, y, m):\n    i = cuda.grid(1)\n    if i < x.size and ({condition}):\n        y[i] = x[i]\n"
    )
    assert a["m"] == wanted if wanted else isinstance(a["m"], float)


def test_bits_beside_numbers_of_64_bits_without_a_sign():
    head = "def f(s, y):\n    i = cuda.grid(1)\n    if i < y.size:\n        v = s[i]\n"
    _, _, _, a = infer(head + "        v ^= v << np.uint64(13)\n        y[i] = (v >> np.uint64(11)) * 0.5\n")
    assert a["s"].dtype == np.uint64  # NumPy, too, shifts no number with a sign by one without
    _, _, _, a = infer(head + "        y[i] = (v ^ (v << 13)) * 0.5\n")
    assert a["s"].dtype == np.int32


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[f.args]\nn = 3\n", r"`f` is not understood; a case is written \[kernel.NAME.args\]"),
        ("kernel = 3\n", "`kernel` is not understood"),
        ("[kernel]\nf = 3\n", "kernel.f is not understood"),
        ("[kernel.f]\nblok = 5\n", "kernel.f.blok is not understood; beside args there may be grid, block"),
        ('[kernel.f]\ngrid = "big"\n', "kernel.f is not understood: 'big' is no number of blocks or threads"),
        ("[kernel.f.args]\nx = { shape = 1.5 }\n", "kernel.f.args.x is not understood"),
        ("n = \n", "case.toml is not TOML"),
        (b"\xff", "case.toml is not UTF-8 text"),
        (None, "case.toml cannot be read: No such file"),
        ("[kernel.f.args]\nx = { shape = 4 }\nq = 1\n", "gives `q`, which is no parameter: x, n"),
        ("[kernel.f.args]\nx = { shape = 4 }\n", "the case of f gives no `n`"),
    ],
)
def test_what_a_case_file_writes_wrongly_is_said(text, says, tmp_path):
    path = tmp_path / "case.toml"
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    source = "from numba import cuda\n@cuda.jit\ndef f(x, n):\n    i = cuda.grid(1)\n    if i < n:\n        x[i] = n\n"
    with pytest.raises(Refused) as told:
        case_for(translate(source, "k.py").source, "f", Request(case=str(path)))
    assert re.search(says, told.value.diagnostics[0].reason) and not told.value.diagnostics[0].hint
