"""The tables of grammar/: every spelling names a real function, and that function is the operation it stands for."""

from __future__ import annotations

import importlib
import math

import numpy as np
import pytest

from kraise import dialects
from kraise.ir.operations import OPERATIONS
from kraise.ir.types import BY_NAME
from kraise.verify import special

_POINTS = {"acosh": (1.5,), "asin": (0.3,), "acos": (0.3,), "atanh": (0.3,)}
_INTEGER = {"and_", "or_", "xor", "invert", "shl", "shr", "popcount"}
_SKIPPED = ("numba.", "scipy.", "cmath.")


def test_tables_name_known_operations():
    assert set(dialects.table("intrinsics")) <= set(OPERATIONS)


def test_no_spelling_stands_twice():
    for language in ("python", "cuda"):
        spelled = [s for row in dialects.table("intrinsics").values() for s in row.get(language, ())]
        assert len(spelled) == len(set(spelled))


@pytest.mark.parametrize("name", [n for n in dialects.operations("python") if not n.startswith(_SKIPPED)])
def test_spelling_is_the_operation(name: str):
    module, _, function = name.rpartition(".")
    module = {"cupy": "numpy"}.get(module, module)  # not installed here: CuPy's functions are NumPy's by their names
    called = getattr(importlib.import_module(module), function, None)
    if called is None:
        pytest.skip(f"{name} is not in this version of {module}")
    operation = dialects.operations("python")[name].operation
    row = OPERATIONS[operation]
    points = _POINTS.get(operation, (0.7, 1.3, 2.1))[: row.arity]
    if operation in _INTEGER:
        points = (6, 2)[: row.arity]
    operands = dict(zip("xyz", points, strict=False))
    expected = eval(row.reference, {"np": np, "special": special}, operands)
    assert np.allclose(called(*points), expected)


def test_numba_names_exist():
    numba = pytest.importorskip("numba")
    from numba import cuda  # noqa: F401
    from numba.cuda import libdevice  # noqa: F401

    missing = []
    for name in [*dialects.operations("python"), *dialects.vocabulary("numba_cuda")]:
        if not name.startswith("numba.cuda."):
            continue
        value = numba
        for part in name.split(".")[1:]:
            value = getattr(value, part, None)
        if value is None:
            missing.append(name)
    # names of other versions of numba are harmless, a table full of them is not
    assert len(missing) <= 8, missing


def test_concepts_of_types_are_types():
    for concept in dialects.vocabulary("numpy_scalar", "numba_cuda").values():
        if concept.startswith("type."):
            assert concept.removeprefix("type.") in BY_NAME


def test_constants():
    constants = dialects.constants("numpy_scalar")
    for name, value in constants.items():
        module, _, attribute = name.rpartition(".")
        assert value == getattr(importlib.import_module(module), attribute) or math.isnan(value)


def test_node_kinds_exist():
    import libcst

    for kind in dialects.accepted_nodes() | set(dialects.refused_nodes()):
        assert hasattr(libcst, kind), kind
    assert not dialects.accepted_nodes() & set(dialects.refused_nodes())
