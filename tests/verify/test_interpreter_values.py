"""The interpreter's values on Kernel IR written by hand."""

import numpy as np
import pytest

from kraise.diagnostics import Span
from kraise.ir import kernel as k
from kraise.ir.types import (
    BOOL,
    FLOAT,
    FLOAT32,
    FLOAT64,
    INT,
    INT32,
    NUMBER,
    UINT32,
    ArrayType,
    StructType,
)
from kraise.verify.errors import BarrierError, OutOfRange, UndefinedRead
from kraise.verify.interpreter import InterpreterError, run


def op(name, *args, t=NUMBER):
    return k.Op(name, args, t)


def var(name, t=INT):
    return k.Var(name, t)


def const(value, t=INT):
    return k.Const(value, t)


def thread(t=INT):
    return op("add", op("mul", k.Hw("block", 0, t), k.Hw("blockDim", 0, t), t=t), k.Hw("thread", 0, t), t=t)


def array(name, element=NUMBER, ndim=1):
    return k.Param(name, ArrayType(element, ndim))


def scalar(name, t=INT):
    return k.Param(name, t)


def module(*functions, constants=(), language="python"):
    return k.Module("t.py", language, functions, constants)


def kernel(name, params, *body, kind="kernel", **more):
    return k.Function(name, kind, tuple(params), body, **more)


def guarded(*body):
    return k.Assign("i", thread(), INT), k.If(op("lt", var("i"), var("n"), t=BOOL), body)


def load(name, *subscripts, t=NUMBER):
    return k.Load(name, subscripts, t)


SAXPY = module(
    kernel(
        "saxpy",
        [array("y"), array("x"), scalar("a", NUMBER), scalar("n")],
        *guarded(
            k.Store(
                "y",
                (var("i"),),
                op("add", op("mul", var("a", NUMBER), load("x", var("i"))), load("y", var("i"))),
            )
        ),
    )
)


def test_saxpy_leaves_arguments_alone_and_keeps_dtype():
    x, y = np.arange(10, dtype=np.float32), np.ones(12, np.float32)
    out = run(SAXPY, "saxpy", {"y": y, "x": x, "a": 2.0, "n": 10}, grid=3, block=4)
    expected = y.copy()
    expected[:10] += 2 * x
    assert out.arrays["y"].dtype == np.float32 and out.written == ("y",) and not out.races
    np.testing.assert_array_equal(out.arrays["y"], expected)
    np.testing.assert_array_equal(y, np.ones(12))


def test_access_outside_the_array_names_place_and_thread():
    span = Span("t.py", 7, 3)
    m = module(kernel("f", [array("y")], k.Store("y", (thread(),), const(1), span=span)))
    with pytest.raises(OutOfRange, match=r"t.py:7: y\[4\] is outside .* \(thread 0 of block 1\)"):
        run(m, "f", {"y": np.zeros(4)}, grid=2, block=4)
    m = module(kernel("f", [array("y")], k.Store("y", (op("sub", thread(), const(4), t=INT),), const(1))))
    assert run(m, "f", {"y": np.zeros(4)}, grid=1, block=4).arrays["y"].tolist() == [1] * 4  # Python's, from the end
    with pytest.raises(OutOfRange, match=r"y\[-4\]"):
        run(m, "f", {"y": np.zeros(3)}, grid=1, block=4)


def c_value(expression, t, **arguments):
    params = [k.Param(n, ty) for n, (ty, _) in arguments.items()]
    m = module(
        kernel("f", [array("o", t), *params], k.Store("o", (const(0, INT32),), expression), kind="plain"),
        language="cuda_c",
    )
    values = {n: v for n, (_, v) in arguments.items()}
    return run(m, "f", {"o": np.zeros(1), **values}).arrays["o"][0]


def test_c_integers_wrap_and_truncate():
    x, y = k.Var("x", INT32), k.Var("y", INT32)
    u = k.Var("u", UINT32)
    assert c_value(op("tdiv", x, y, t=INT32), INT32, x=(INT32, -7), y=(INT32, 2)) == -3
    assert c_value(op("tmod", x, y, t=INT32), INT32, x=(INT32, -7), y=(INT32, 2)) == -1
    assert c_value(op("add", x, const(1, INT32), t=INT32), INT32, x=(INT32, 2**31 - 1)) == -(2**31)
    lcg = op("add", op("mul", u, const(1664525, UINT32), t=UINT32), const(1013904223, UINT32), t=UINT32)
    assert c_value(lcg, UINT32, u=(UINT32, 4000000000)) == (4000000000 * 1664525 + 1013904223) % 2**32
    assert c_value(op("shr", x, const(1, INT32), t=INT32), INT32, x=(INT32, -8)) == -4
    for far in (32, 40):  # a GPU's shifts by the width and more, as XLA's and NumPy's (x86 takes the count modulo 32)
        assert c_value(op("shl", x, y, t=INT32), INT32, x=(INT32, 5), y=(INT32, far)) == 0
        assert c_value(op("shr", x, y, t=INT32), INT32, x=(INT32, -5), y=(INT32, far)) == -1
    assert c_value(op("shr", k.Cast(UINT32, x), const(28, UINT32), t=UINT32), UINT32, x=(INT32, -1)) == 15
    assert c_value(k.Cast(INT32, k.Var("f", FLOAT32)), INT32, f=(FLOAT32, -2.9)) == -2
    f = op("add", k.Var("f", FLOAT32), const(1e-9, FLOAT32), t=FLOAT32)
    assert c_value(f, FLOAT32, f=(FLOAT32, 1.0)) == 1.0
    assert c_value(op("div", x, y, t=FLOAT32), FLOAT32, x=(INT32, 1), y=(INT32, 3)) == np.float32(1) / np.float32(3)


def test_python_division_floors():
    m = module(
        kernel(
            "f",
            [scalar("a"), scalar("b")],
            k.Return((op("floordiv", var("a"), var("b"), t=INT), op("mod", var("a"), var("b"), t=INT))),
            kind="plain",
        )
    )
    assert run(m, "f", {"a": -7, "b": 2}).returned == (-4, 1)
    with pytest.raises(InterpreterError, match="division by zero"):
        run(m, "f", {"a": 1, "b": 0})


def test_lazy_select_and_short_circuit_do_not_evaluate_what_is_not_reached():
    i = var("i")
    value = op("select", op("gt", i, const(0), t=BOOL), load("x", op("sub", i, const(1), t=INT)), const(0.0, FLOAT))
    m = module(kernel("f", [array("y"), array("x"), scalar("n")], *guarded(k.Store("y", (i,), value))))
    out = run(m, "f", {"y": np.zeros(3), "x": np.array([1.0, 2.0, 3.0]), "n": 3}, block=4)
    np.testing.assert_array_equal(out.arrays["y"], [0, 1, 2])


def test_loops_break_else_and_do_while():
    body = (
        k.Assign("s", const(0), INT),
        k.For(
            "j",
            const(10),
            const(0),
            const(-3),
            (
                k.If(op("eq", var("j"), const(4), t=BOOL), (k.Continue(),)),
                k.Assign("s", op("add", var("s"), var("j"), t=INT), INT),
            ),
            orelse=(k.Assign("s", op("add", var("s"), const(100), t=INT), INT),),
        ),
        k.Assign("r", const(0), INT),
        k.While(
            op("lt", var("r"), const(0), t=BOOL),
            (
                k.Assign("r", op("add", var("r"), const(1), t=INT), INT),
                k.If(op("lt", var("r"), const(5), t=BOOL), (k.Continue(),)),
            ),
            test_last=True,
        ),
        k.Return((var("s"), var("r"), var("j"))),
    )
    assert run(module(kernel("f", [], *body, kind="plain")), "f", {}).returned == (10 + 7 + 1 + 100, 1, 1)


def block_sum(barrier=True):
    tid = k.Hw("thread", 0, INT)
    w = var("w")
    inner = k.If(
        op("lt", tid, w, t=BOOL),
        (k.Store("s", (tid,), op("add", load("s", tid), load("s", op("add", tid, w, t=INT)))),),
    )
    return module(
        kernel(
            "block_sum",
            [array("x"), array("out")],
            k.LocalArray("s", FLOAT64, (const(8),), "shared"),
            k.Store("s", (tid,), load("x", thread())),
            k.Barrier(),
            k.Assign("w", const(4), INT),
            k.While(
                op("gt", w, const(0), t=BOOL),
                (
                    inner,
                    *((k.Barrier(),) if barrier else ()),
                    k.Assign("w", op("floordiv", w, const(2), t=INT), INT),
                ),
            ),
            k.If(op("eq", tid, const(0), t=BOOL), (k.Store("out", (k.Hw("block", 0, INT),), load("s", const(0))),)),
        )
    )


@pytest.mark.parametrize("order", [None, -1, 1, 2])
def test_tree_reduction_with_barriers(order):
    x = np.arange(16.0)
    out = run(block_sum(), "block_sum", {"x": x, "out": np.zeros(2)}, grid=2, block=8, order=order)
    np.testing.assert_array_equal(out.arrays["out"], x.reshape(2, 8).sum(1))
    assert not out.races


def test_a_missing_barrier_is_a_race():
    out = run(block_sum(False), "block_sum", {"x": np.arange(8.0), "out": np.zeros(1)}, grid=1, block=8)
    assert out.race_count and out.races[0].array == "s" and "of block 0" in str(out.races[0])


def test_races_between_blocks_and_benign_stores():
    store = k.Store("y", (const(0),), thread())
    out = run(module(kernel("f", [array("y")], store)), "f", {"y": np.zeros(1)}, grid=2, block=1)
    assert out.races[0].kind == "write after write"
    store = k.Store("y", (const(0),), const(1))
    out = run(module(kernel("f", [array("y")], store)), "f", {"y": np.zeros(1)}, grid=2, block=3)
    assert not out.races
    atomic = k.Atomic("add", "y", (const(0),), (const(1),), NUMBER)
    out = run(module(kernel("f", [array("y")], atomic)), "f", {"y": np.zeros(1)}, grid=2, block=3)
    assert not out.races and out.arrays["y"][0] == 6
    both = (atomic, k.Assign("a", load("y", const(0)), NUMBER))
    out = run(module(kernel("f", [array("y")], *both)), "f", {"y": np.zeros(1)}, grid=1, block=3)
    assert out.race_count


def test_stores_of_what_is_there_already():
    """They are no race with a load, but one with a store of anything else, whatever came first."""

    def races(y, *body):
        return run(module(kernel("f", [array("y")], *body)), "f", {"y": np.array(y)}, grid=1, block=3).race_count

    read = k.Assign("a", load("y", const(0)), NUMBER)
    keep = k.Store("y", (const(0),), const(1))
    assert not races([1.0], read, keep)
    assert not races([1.0], keep, read)
    assert races([0.0], read, keep)
    assert races([0.0], keep, read)
    assert races([1.0], keep, k.Store("y", (const(0),), thread()))
    back = (k.Store("y", (const(0),), const(2)), keep, keep)
    first = k.If(op("eq", k.Hw("thread", 0, INT), const(0), t=BOOL), back, (read,))
    assert races([1.0], first)


def test_barriers_that_diverge_are_an_error():
    tid = k.Hw("thread", 0, INT)
    m = module(kernel("f", [array("y")], k.If(op("lt", tid, const(2), t=BOOL), (k.Barrier(),), (k.Barrier(),))))
    with pytest.raises(BarrierError):
        run(m, "f", {"y": np.zeros(1)}, block=4)


def test_warp_sum_by_shuffles():
    tid = k.Hw("thread", 0, INT)
    body = [k.Assign("v", load("x", tid), NUMBER)]
    for delta in (16, 8, 4, 2, 1):
        shuffled = k.Warp("shfl_down", (var("v", NUMBER), const(delta)), NUMBER)
        body.append(k.Assign("v", op("add", var("v", NUMBER), shuffled), NUMBER))
    body.append(k.If(op("eq", op("mod", tid, const(32), t=INT), const(0), t=BOOL),
                     (k.Store("y", (op("floordiv", tid, const(32), t=INT),), var("v", NUMBER)),)))  # fmt: skip
    x = np.arange(64.0)
    out = run(module(kernel("f", [array("x"), array("y")], *body)), "f", {"x": x, "y": np.zeros(2)}, block=64)
    np.testing.assert_array_equal(out.arrays["y"], x.reshape(2, 32).sum(1))


def test_undefined_values_are_errors():
    m = module(kernel("f", [scalar("n")], k.If(var("n"), (k.Assign("s", const(1), INT),)), k.Return((var("s"),)),
                      kind="plain"))  # fmt: skip
    assert run(m, "f", {"n": 1}).returned == (1,)
    with pytest.raises(UndefinedRead, match="s is read before"):
        run(m, "f", {"n": 0})
    m = module(kernel("f", [], k.LocalArray("a", FLOAT, (const(2),), "heap"), k.Return((load("a", const(1)),)),
                      kind="plain"))  # fmt: skip
    with pytest.raises(UndefinedRead, match=r"a\[1\]"):
        run(m, "f", {})


def test_helpers_references_and_pointers():
    sincos = kernel(
        "sincos",
        [scalar("x", FLOAT32), k.Param("s", FLOAT32, by_reference=True), k.Param("c", FLOAT32, by_reference=True)],
        k.Assign("s", op("sin", k.Var("x", FLOAT32), t=FLOAT32), FLOAT32),
        k.Assign("c", op("cos", k.Var("x", FLOAT32), t=FLOAT32), FLOAT32),
        kind="device",
    )
    row_sum = kernel(
        "row_sum",
        [array("p", FLOAT32), scalar("n", INT32)],
        k.Assign("t", const(0.0, FLOAT32), FLOAT32),
        k.For("j", const(0, INT32), var("n", INT32), const(1, INT32),
              (k.Assign("t", op("add", var("t", FLOAT32), load("p", var("j", INT32), t=FLOAT32), t=FLOAT32), FLOAT32),)
              ),
        k.Return((var("t", FLOAT32),)),
        kind="device",
        returns=(FLOAT32,),
    )  # fmt: skip
    i = thread(INT32)
    row = k.Call("row_sum", (k.ArrayRef("a", op("mul", i, const(3, INT32), t=INT32)), const(3, INT32)), FLOAT32)
    main = kernel(
        "f",
        [array("a", FLOAT32), array("y", FLOAT32)],
        k.CallStmt("sincos", (row, var("s", FLOAT32), var("c", FLOAT32))),
        k.Store("y", (i,), op("add", var("s", FLOAT32), var("c", FLOAT32), t=FLOAT32)),
    )
    a = np.linspace(0, 1, 12).astype(np.float32)
    m = module(main, sincos, row_sum, language="cuda_c")
    out = run(m, "f", {"a": a, "y": np.zeros(4)}, grid=2, block=2)
    total = a.reshape(4, 3).sum(1)
    np.testing.assert_allclose(out.arrays["y"], np.sin(total) + np.cos(total), rtol=1e-6)


def test_structs_tables_and_two_axes():
    body = StructType("Body", (("pos", ArrayType(FLOAT32, 1)), ("mass", FLOAT32)), is_array=True)
    box = StructType("Box", (("dt", FLOAT32), ("n", INT32)))
    i = var("i", INT32)
    value = op("mul", op("mul", load("b.pos", i, const(1, INT32), t=FLOAT32), k.Var("box.dt", FLOAT32), t=FLOAT32),
               load("W", const(1, INT32), t=FLOAT32), t=FLOAT32)  # fmt: skip
    m = module(
        kernel(
            "f",
            [k.Param("b", body), k.Param("box", box), array("y", FLOAT32)],
            k.Assign("i", thread(INT32), INT32),
            k.If(op("lt", i, k.Var("box.n", INT32), t=BOOL), (k.Store("y", (i,), value),)),
        ),
        constants=(k.Constant("W", FLOAT32, (1.0, 4.0), (2,)),),
        language="cuda_c",
    )
    pos = np.arange(9, dtype=np.float32).reshape(3, 3)
    arguments = {"b": {"pos": pos, "mass": np.ones(3)}, "box": {"dt": 0.5, "n": 3}, "y": np.zeros(3)}
    out = run(m, "f", arguments, grid=2, block=2)
    np.testing.assert_array_equal(out.arrays["y"], pos[:, 1] * 2)
    assert out.written == ("y",)


def test_atomics():
    old = k.Atomic("add", "c", (const(0),), (const(1),), NUMBER, "o")
    m = module(kernel("f", [array("c"), array("y")], old, k.Store("y", (thread(),), var("o", NUMBER))))
    out = run(m, "f", {"c": np.zeros(1, int), "y": np.zeros(4, int)}, block=4)
    assert sorted(out.arrays["y"]) == [0, 1, 2, 3]
    for name, values, expected in [("max", (thread(),), 5), ("min", (thread(),), 0), ("exch", (const(9),), 9),
                                   ("cas", (const(3), const(8)), 8), ("inc", (const(3),), 1), ("sub", (const(1),), -3),
                                   ("xor", (const(1),), 3)]:  # fmt: skip
        m = module(kernel("f", [array("c")], k.Atomic(name, "c", (const(0),), values, NUMBER)))
        assert run(m, "f", {"c": np.array([3])}, grid=1, block=6).arrays["c"][0] == expected, name
