"""What is declared (``--assume``) is checked: generated inputs satisfy it, and a case that breaks it is reported."""

import pytest

from kraise import pipeline
from kraise.ir.assumptions import assumption
from kraise.options import Options

SOURCE = """from numba import cuda

@cuda.jit
def place(x, perm, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[perm[i]] = x[i]
"""
DECLARED = Options(assume=("perm is injective",))
CASE = """[kernel.place.args]
x = {{ shape = [3], dtype = "float32" }}
perm = {{ dtype = "int32", values = {} }}
y = {{ shape = [3], dtype = "float32" }}
"""


def verified(case=""):
    done = pipeline.translate(SOURCE, "place.py", DECLARED)
    assert done.text and "perm is injective (declared)" in done.text
    return pipeline.verify(done, pipeline.Request(case=case), options=DECLARED)


def test_generated_inputs_satisfy_it():
    reports, problems = verified()
    assert not problems and reports[0].ok


def test_a_case_that_breaks_it_is_reported(tmp_path):
    file = tmp_path / "case.toml"
    file.write_text(CASE.format([0, 2, 0]))
    reports, (problem,) = verified(str(file))
    assert not reports and problem.code == "KR502"
    assert "perm is not injective: elements 0 and 2 are both 0" in problem.reason


def test_a_case_that_satisfies_it(tmp_path):
    file = tmp_path / "case.toml"
    file.write_text(CASE.format([1, 2, 0]))
    reports, problems = verified(str(file))
    assert not problems and reports[0].ok


@pytest.mark.parametrize(
    "sentence", ["perm is injectiv", "perm injective", "1x is injective", "a, b are injective", ""]
)
def test_sentences_that_are_not_understood(sentence):
    assert assumption(sentence) is None and pipeline.not_assumed(sentence)


def test_spaces_do_not_matter_and_members_have_names():
    assert assumption("  mesh.owner  is injective ").names == ("mesh.owner",)
