"""``--grad`` on the command line and in pyproject.toml; the pipeline is the real one."""

from pathlib import Path

import pytest

from kraise import pipeline
from tests.cli.test_translate import put

SOURCE = "def f(x, y, n):\n    for i in range(n):\n        y[i] = x[i] * x[i]\n"


TRANSLATE = pipeline.translate


@pytest.fixture
def real(kraise, monkeypatch):
    """``kraise ARGS`` in an empty folder with the real pipeline."""
    monkeypatch.setattr(pipeline, "translate", TRANSLATE)
    return kraise


def test_twins_keep_what_pyproject_asks_for(real):
    put("k.py", SOURCE)
    put("pyproject.toml", '[tool.kraise]\ngrad = ["f: loss=y wrt x"]\n')
    assert real("translate", "--twin", "k.py").code == 0
    assert "def f_grad(x, y, n):" in Path("k_raised.py").read_text()
    assert real("check", "k.py").code == 0 and real("diff", "k.py").code == 0
    put("other/pyproject.toml", "[tool.kraise]\n")
    put("other/k.py", SOURCE)
    put("other/k_raised.py", Path("k_raised.py").read_text())
    ran = real("diff", "other/k.py")
    assert ran.code == 1 and "-def f_grad(x, y, n):" in ran.out
    assert real("diff", "other/k.py", "--grad", "loss=y wrt x").code == 0


def test_usage(real):
    put("k.py", SOURCE)
    ran = real("translate", "k.py", "--grad", "loss=y by x")
    assert ran.code == 2 and "`by` is not understood" in ran.err
    ran = real("translate", "k.py", "--grad", "g: loss=y wrt x")
    assert ran.code == 2 and "KR406: there is no kernel `g`" in ran.err and "def f(" in ran.out


@pytest.mark.parametrize("value", ['"loss=y wrt x"', '"f: loss=y by x"'])
def test_pyproject_names_the_kernel(real, value):
    put("k.py", SOURCE)
    put("pyproject.toml", f"[tool.kraise]\ngrad = [{value}]\n")
    ran = real("translate", "k.py")
    assert ran.code == 2 and "KR405" in ran.err and "pyproject.toml:2" in ran.err


def test_memory_options_from_pyproject_and_the_command_line(real):
    put(
        "m/k.py",
        "def f(u, r, steps):\n    for t in range(steps):\n        for i in range(u.shape[0]):\n"
        "            u[i] = r - u[i] * u[i]\n",
    )
    put("m/pyproject.toml", '[tool.kraise]\nremat = "full"\nmax-intermediate = "1GB"\n')
    assert "jax.checkpoint(step, prevent_cse=False)" in real("translate", "m/k.py").out
    assert "checkpoint" not in real("translate", "m/k.py", "--remat", "none").out
    assert real("translate", "m/k.py", "--max-intermediate", "lots").code == 2
    for number, wrong in enumerate(('remat = "some"', 'max-intermediate = "lots"')):
        put(f"w{number}/k.py", SOURCE)
        put(f"w{number}/pyproject.toml", f"[tool.kraise]\n{wrong}\n")
        ran = real("translate", f"w{number}/k.py")
        assert ran.code == 2 and "KR405" in ran.err
