"""Kernel IR against the C++ compiler: both run every kernel of kernels/ on the same arguments."""

from __future__ import annotations

import numpy as np
import pytest

from kraise.frontends.cuda_c import read
from kraise.ir.validate_kernel import problems
from kraise.verify.interpreter import run
from tests.frontends_cuda import original
from tests.frontends_cuda.cases import CASES

KERNELS = original.Path(__file__).parent / "kernels"
SOURCES = {path.stem: path.read_text() for path in sorted(KERNELS.glob("*.cu"))}


@pytest.fixture(scope="module")
def read_kernels():
    found = {}
    for name, source in SOURCES.items():
        module, diagnostics = read(source, f"{name}.cu")
        errors = [d for d in diagnostics if d.severity == "error"]
        assert not errors, (name, errors)
        found[name] = module
    return found


@pytest.fixture(scope="module")
def compiled(read_kernels, tmp_path_factory):
    if original.COMPILER is None:
        pytest.skip("no C++ compiler on this machine")
    kernels = {}
    for name, case in CASES.items():
        function = read_kernels[name].function(case.kernel or name)
        kernels[name] = (SOURCES[name], function, case.call or function.name)
    return original.library(kernels, tmp_path_factory.mktemp("original"))


def test_every_kernel_has_a_case():
    assert set(SOURCES) == set(CASES)


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_interpreter_agrees_with_the_compiler(name, read_kernels, compiled):
    case, module = CASES[name], read_kernels[name]
    function = module.function(case.kernel or name)
    assert problems(module) == []
    expected = original.run(compiled, name, function, case.arguments, case.grid, case.block)
    outcome = run(module, function.name, case.arguments, grid=case.grid, block=case.block, shared=case.shared)
    for array, value in expected.items():
        got = np.asarray(outcome.arrays[array])
        assert got.dtype == value.dtype and got.shape == value.shape
        if value.dtype.kind == "f":
            scale = float(np.nanmax(np.abs(value), initial=1e-30))
            np.testing.assert_allclose(got, value, rtol=2e-5, atol=2e-5 * scale, err_msg=array)
        else:
            np.testing.assert_array_equal(got, value, err_msg=array)
