"""Numbers seen as wider ones: ``(const int *)`` of four bytes, ``(unsigned *)`` of two shorts."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import agrees

HEAD = "__global__ void k(%s, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { %s } }"
WORDS = {
    "two shorts added at once": (
        "const unsigned short *a, unsigned short *b",
        "unsigned p = ((const unsigned *)a)[i], q = ((const unsigned *)a)[i + n]; ((unsigned *)b)[i] = p + q;",
    ),
    "a copy": ("const unsigned char *a, unsigned char *b", "((float *)b)[i] = ((const float *)a)[i];"),
    "products of bytes": (
        "const signed char *a, const signed char *b, int *c",
        "c[i] = __dp4a(*(const int *)&a[4 * i], *(const int *)&b[0], 1);",
    ),
    "a local pair": (
        "const float *a, float *b",
        "float r[2]; *(unsigned long long *)r = *((const unsigned long long *)a + i); b[i] = r[0] + r[1];",
    ),
    "and back": ("const short *a, short *b", "const int *w = (const int *)a; b[i] = ((const short *)(w + i))[1];"),
}


@pytest.mark.parametrize("name", WORDS)
def test_words_of_narrower_numbers(name):
    done = pipeline.translate(HEAD % WORDS[name], "k.cu")
    assert done.raised == ("k",), done.diagnostics
    assert "bitcast" not in done.text and ("<<" in done.text) == (name == "two shorts added at once")
    agrees(done, pipeline.Request())


def test_what_carries_from_one_to_the_next():
    done = pipeline.translate(HEAD % WORDS["two shorts added at once"], "k.cu")
    a = np.array([0xFFFF, 1, 2, 3], np.uint16)
    got = load_module(done.text).k(a, np.zeros(2, np.uint16), 1)
    np.testing.assert_array_equal(got.view(np.uint32), a.view(np.uint32)[:1] + a.view(np.uint32)[1:])


@pytest.mark.parametrize(
    "kernel",
    [
        ("const unsigned *a, unsigned *b", "((unsigned short *)b)[i] = ((const unsigned short *)a)[i];"),
        ("unsigned short *a", "atomicAdd((unsigned *)a + i % 2, 1u);"),
        ("unsigned short *a", "((unsigned *)a)[i] = a[2 * i + 2];"),
    ],
)
def test_parts_of_numbers_and_races_are_refused(kernel):
    assert not pipeline.translate(HEAD % kernel, "k.cu").raised
