"""The parameters of Python hosts: which of them keep their defaults."""

import numpy as np

from kraise.verify.load import load_module
from tests.hosts.test_hosts import python

KERNEL = "@cuda.jit\ndef add(u, s):\n i = cuda.grid(1)\n if i < u.shape[0]:\n  u[i] += s\n"


def test_an_unused_parameter_that_is_none_is_left_out():
    done = python(f"{KERNEL}def f(u, s=0.5, record=None):\n add[1, 64](u, s)\n return u\n")
    assert "def f(u, s=0.5):" in done.text
    np.testing.assert_allclose(load_module(done.text).f(np.ones(3, np.float32)), 1.5)


def test_no_default_stands_before_a_parameter_without_one():
    """Python cannot read `def f(u, s=0.5, t)`: a default that is no literal is not kept."""
    done = python(f"{KERNEL}def f(u, s=0.5, t=1 / 3):\n add[1, 64](u, s * t)\n return u\n")
    assert "def f(u, s, t):" in done.text
    np.testing.assert_allclose(load_module(done.text).f(np.ones(3, np.float32), 0.5, 4.0), 3.0)


def test_a_caller_of_what_was_not_emitted_is_refused_with_it():
    body = (
        "class M:\n def __init__(self, x, shape):\n  self.x, self.shape = cuda.to_device(x), shape\n"
        " def run(self, s):\n  y = cuda.device_array(self.shape[0], dtype=np.float32)\n  add[1, 64](y, s)\n"
        "  return y\n def __call__(self, s):\n  return self.run(s)\n"
    )
    done = python(f"{KERNEL}{body}")
    assert {("KR214", "M_run"), ("KR212", "M_call")} <= {(d.code, d.kernel) for d in done.diagnostics}
