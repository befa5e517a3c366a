"""Conditions and choices are written as one would write them, where that changes no value."""

import pytest

from kraise import pipeline
from tests.checks import verified

KERNEL = """__global__ void f(const {kind} *a, const {kind} *b, const int *t, {kind} *c, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  {body}
}}"""


def text(body: str, kind: str = "int") -> str:
    done = pipeline.translate(KERNEL.format(kind=kind, body=body), "k.cu")
    assert done.text is not None, done.diagnostics
    return done.text


@pytest.mark.parametrize(
    ("body", "holds"),
    [
        ("c[i] = a[i] + 1 < b[i] + 1 ? a[i] + 1 : b[i] + 1;", "jnp.minimum("),
        ("c[i] = a[i] <= b[i] ? b[i] : a[i];", "jnp.maximum("),
        ("int m = a[i]; if (b[i] + t[i] > m) m = b[i] + t[i]; c[i] = m;", "jnp.maximum("),
        ("if (t[i] != 1 && t[i] != 4) return; c[i] = a[i];", "(t[:n] == 1) | (t[:n] == 4)"),
        ("c[i] = (0 ^ a[i]) | 0;", "return c.at[:n].set(a[:n])"),
    ],
)
def test_is_plain(body, holds):
    assert holds in text(body)


def test_narrow_integers_are_compared_as_they_are():
    assert "a[:n] != b[:n]" in text("c[i] = a[i] != b[i];", "unsigned char")
    assert "a[:n] < b[:n]" in text("c[i] = a[i] < b[i];", "short")


@pytest.mark.parametrize("body", ["c[i] = a[i] < b[i] ? a[i] : b[i];", "c[i] = !(a[i] < b[i]) ? 1 : a[i];"])
def test_of_floats_the_choice_stays(body):
    assert "jnp.minimum" not in text(body, "float") and ">=" not in text(body, "float")


def test_a_type_that_does_not_hold_the_other_is_converted():
    source = KERNEL.format(kind="signed char", body="c[i] = (unsigned)a[i] < (unsigned)b[i];")
    done = pipeline.translate(source, "k.cu")
    assert done.text is not None and done.text.count("astype(jnp.uint32)") == 2


@pytest.mark.parametrize("kind", ["int", "unsigned char", "short", "unsigned"])
def test_values(kind):
    body = """int m = a[i]; if (b[i] + t[i] > m) m = b[i] + t[i];
  if (t[i] != 1 && t[i] != 4 && t[i] < 7) { c[i] = a[i] <= b[i] ? b[i] : a[i]; return; }
  c[i] = (m ^ 0) + (a[i] < b[i] ? a[i] : b[i]);"""
    source = KERNEL.format(kind=kind, body=body)
    done = pipeline.translate(source, "k.cu")
    reports, findings = verified(done, pipeline.Request(), "k.cu", source)
    assert reports and all(r.ok for r in reports) and not findings
