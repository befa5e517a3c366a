"""Each rule of the validators has a kernel that breaks it, and a legal one has no problems."""

from dataclasses import replace

import pytest

from kraise.diagnostics import Span
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir import validate_equations, validate_kernel
from kraise.ir.types import BOOL, FLOAT32, FLOAT64, INT32, NUMBER, ArrayType
from tests.raising.build import I, J, N, axis, const, i, j, kernel, op, read, reduce, write

x = read("x", i)
CARRY = eq.CarryIn("loop", "s", (I,), FLOAT64)
ENTRY, LEAVE = eq.Version("y", 1), eq.Version("y", 2)


def fold(update=CARRY, body=(), arrays=(), init=x, **more):
    scalar = eq.ScalarCarry("s", (I,), init, update, FLOAT64)
    return eq.Fold("loop", axis("t"), (scalar,), arrays, body, **more)


def array_fold(subscripts=(i,)):
    body = eq.Write(ENTRY, LEAVE, (I,), subscripts, eq.Read(ENTRY, (i,), FLOAT64))
    arrays = (eq.ArrayCarry(eq.Version("y", 0), ENTRY, LEAVE, eq.Version("y", 3)),)
    return kernel(fold(body=(body,), arrays=arrays), returns=(eq.Version("y", 3),))


LEGAL = [
    kernel(write(reduce(op("mul", x, read("x", j))))),
    kernel(fold(), write(eq.FoldResult("loop", "s", (I,), FLOAT64))),
    array_fold(),
]


@pytest.mark.parametrize("legal", LEGAL)
def test_legal(legal):
    assert validate_equations.problems(legal) == []


ILLEGAL = {
    "bound by nothing": kernel(write(read("x", j))),
    "bound twice": kernel(write(reduce(x, (J, J)))),
    "is not defined here": kernel(write(read("y", i, version=7))),
    "defined twice": kernel(write(x), write(x)),
    "upper bound of j holds a Index": kernel(write(x, (I, axis("j", i)))),
    "upper bound of j holds a Read": kernel(write(reduce(x, (axis("j", read("c", const(0), type=INT32)),)))),
    "x has 1 axes and 2 subscripts": kernel(write(op("add", x, read("x", i, i)))),
    "a subscript of x is float64": kernel(write(read("x", x))),
    "a condition is float64": kernel(write(x, where=x)),
    "unknown operation": kernel(write(eq.Op("frobnicate", (x,), FLOAT64))),
    "add has 1 operands": kernel(write(eq.Op("add", (x,), FLOAT64))),
    "lt is float64, not bool": kernel(write(eq.Op("lt", (x, x), FLOAT64))),
    "div is int32, not a float": kernel(write(eq.Op("div", (i, i), INT32))),
    "is not carried here": kernel(write(CARRY)),
    "leaves no s here": kernel(write(eq.FoldResult("loop", "s", (I,), FLOAT64))),
    "over other axes": kernel(fold(op("add", CARRY, eq.CarryIn("loop", "s", (I, J), FLOAT64))), write(x)),
    "s is float64 but": kernel(fold(i), write(x)),
    "neither a range nor a condition": kernel(replace(fold(), axis=None), write(x)),
    "is written in a round and not carried": kernel(fold(body=(write(x, array="z"),)), write(x)),
    "y has 1 axes and 2 subscripts": array_fold((i, i)),
    "helper f is unknown": kernel(write(eq.HelperCall("f", (x,), FLOAT64))),
    "unknown Reduce": kernel(write(eq.Reduce("sub", (J,), x, None, FLOAT64))),
    "unknown accumulation": kernel(replace(write(x), accumulate="sub")),
    "step 0": kernel(write(x, (eq.Axis("i", const(0), N, 0),))),
    "returns: y.4 is not defined": kernel(write(x), returns=(eq.Version("y", 4),)),
}


@pytest.mark.parametrize("text", ILLEGAL)
def test_illegal(text):
    assert any(text in problem for problem in validate_equations.problems(ILLEGAL[text]))


# --- Kernel IR -------------------------------------------------------------------------------

VAR = k.Var("i", INT32)
ARRAYS = (k.Param("y", ArrayType(NUMBER, 1)), k.Param("n", INT32))
SET = k.Assign("i", k.Hw("thread", 0), INT32, span=Span("a.py", 3))
STORE = k.Store("y", (VAR,), k.Load("y", (VAR,), NUMBER))


def module(*body, kind="kernel"):
    return k.Module("a.py", "python", (k.Function("f", kind, ARRAYS, body),))


def test_legal_kernel():
    loop = k.For("j", k.Const(0, INT32), k.Var("n", INT32), k.Const(1, INT32), (SET, STORE, k.Break()))
    assert validate_kernel.problems(module(SET, loop, STORE)) == []


ILLEGAL_KERNELS = {
    "i has no value": module(STORE),
    "array z is unknown": module(SET, replace(STORE, array="z")),
    "y has 1 axes and 2 subscripts": module(SET, replace(STORE, subscripts=(VAR, VAR))),
    "3: unknown hardware index": module(replace(SET, value=k.Hw("lane", 0))),
    "unknown operation": module(replace(SET, value=k.Op("frobnicate", (), INT32))),
    "break outside a loop": module(k.Break()),
    "a kernel returns a value": module(k.Return((k.Const(1, INT32),))),
    "loop variable i is assigned": module(k.For("i", k.Const(0, INT32), k.Const(3, INT32), k.Const(1, INT32), (SET,))),
    "step 0": module(k.For("i", k.Const(0, INT32), k.Const(3, INT32), k.Const(0, INT32), ())),
    "function g is unknown": module(k.CallStmt("g", ())),
    "atomic cas with 1 values": module(SET, k.Atomic("cas", "y", (VAR,), (VAR,), INT32)),
    "a plain function has no threads": module(SET, kind="plain"),
    "1.5 is not int32": module(replace(SET, value=k.Const(1.5, INT32))),
    "sqrt is int32, not a float": module(replace(SET, value=k.Op("sqrt", (k.Const(1.0, FLOAT32),), INT32))),
    "lt is int32, not bool": module(replace(SET, value=k.Op("lt", (VAR, VAR), INT32))),
    "y has no axis 1": module(replace(SET, value=k.Shape("y", 1))),
}


@pytest.mark.parametrize("text", ILLEGAL_KERNELS)
def test_illegal_kernel(text):
    assert any(text in problem for problem in validate_kernel.problems(ILLEGAL_KERNELS[text]))


def test_a_condition_may_be_a_constant():
    assert validate_kernel.problems(module(k.If(k.Const(True, BOOL), (SET,)))) == []
