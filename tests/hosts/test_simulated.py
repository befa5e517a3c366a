"""Whole Python hosts beside numba's CUDA simulator: helpers, local functions, classes, records, lists, dicts, errors.

All of ``compiled/programs.py`` is translated at once; the originals run in a process of their own.
"""

import re
import subprocess
import sys
import warnings
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module, x64

HERE = Path(__file__).parent / "compiled"
SOURCE = (HERE / "programs.py").read_text(encoding="utf-8")
REFUSED = {
    "by_except_fallback": "errors that goes on",
    "by_order": "after something is read",
    "by_enumerate": "runs over range",
    "by_finally": "after a way out",
    "by_late": "call of f",
    "by_shared_object": "call of Pair",
    "by_escapes": "not known",
    "by_elements_of_a_copy": "runs over range",
    "by_out_of_a_loop": "call of first_above",
    "by_one_dict": "one dict",
    "by_noise_of_the_module": "where NOISE points to",
}
HOSTS = [n for n in re.findall(r"^def (by_\w+)\(x, y", SOURCE, re.M) if n not in REFUSED]


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    """What the originals give."""
    pytest.importorskip("numba")
    out = tmp_path_factory.mktemp("hosts") / "out.npz"
    program = [sys.executable, str(HERE / "simulate.py"), str(out), *HOSTS]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return np.load(out)


@pytest.fixture(scope="module")
def raised():
    """The translation of all hosts, and its module."""
    done = pipeline.translate(SOURCE, "programs.py")
    return done, load_module(done.text)


@pytest.mark.parametrize("name", HOSTS)
def test_a_host_does_what_the_simulator_does(simulated, raised, name):
    done, module = raised
    assert name in done.raised, [d.reason for d in done.diagnostics if d.kernel == name]
    host = next(h for h in done.module.hosts if h.name == name)
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal(13).astype(np.float32) for _ in range(2))
    expected = [simulated[f"{name} {n}"] for n in range(sum(k.startswith(f"{name} ") for k in simulated.files))]
    *returned, after_x, after_y = expected
    with x64("x64" in done.text), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = getattr(module, name)(x, y)
        found = found if isinstance(found, tuple) else (found,)
        leaves = lambda a: [f for f in jax.tree.leaves(getattr(module, name)(a, y)) if jnp.asarray(f).dtype.kind == "f"]  # noqa: E731
        slope = jax.grad(lambda a: sum(jnp.sum(f**2) for f in leaves(a)))(jnp.asarray(x))
    for got, want in zip(found, returned, strict=False):
        assert np.shape(got) == np.shape(want)
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    memory = dict(zip(host.memory, found, strict=True))
    for array, old, now in (("x", x, after_x), ("y", y, after_y)):
        np.testing.assert_allclose(memory.get(array, old), now, rtol=1e-4, atol=1e-5, err_msg=array)
    assert np.isfinite(slope).all()


@pytest.mark.parametrize("name", REFUSED)
def test_what_may_mean_something_else_is_refused(raised, name):
    done, _ = raised
    assert name not in done.raised
    assert any(REFUSED[name] in d.reason for d in done.diagnostics if d.kernel == name and d.severity == "error")
