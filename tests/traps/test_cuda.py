"""CUDA C kernels with singular points behind branches, against the interpreter at generic and at hurting points."""

import re
from pathlib import Path

import pytest

from kraise import pipeline
from tests.checks import verified

SOURCE = Path(__file__).with_name("programs").joinpath("blocks.cu").read_text()
NAMES = re.findall(r"__global__ void (\w+)", SOURCE)


@pytest.fixture(scope="module")
def done():
    translation = pipeline.translate(SOURCE, "blocks.cu")
    assert translation.raised == tuple(NAMES) and not translation.diagnostics
    return translation


@pytest.mark.parametrize("name", NAMES)
def test_values_and_gradients_at_points_that_hurt(done, name):
    one = pipeline.replace(done, module=None, raised=(name,))
    ((report,), problems) = verified(one, pipeline.Request())
    assert not problems and report.ok, report.failures
    assert any(row.check == "vjp" and row.status == "ok" for row in report.rows)
