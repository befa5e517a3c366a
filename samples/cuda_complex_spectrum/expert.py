"""A filtered spectrum by hand."""

from functools import partial
from typing import NamedTuple

import jax


class Complex(NamedTuple):
    re: jax.Array
    im: jax.Array


@partial(jax.jit, static_argnames="n")
def filter_spectrum(spectrum, filter, offset, n):
    a, b = Complex(*(v[:n] for v in spectrum)), Complex(*(v[:n] for v in filter))
    re = a.re * b.re - a.im * b.im + offset.re
    im = a.re * b.im + a.im * b.re + offset.im
    return Complex(spectrum.re.at[:n].set(re), spectrum.im.at[:n].set(im))


def large(rng):
    a = rng.random((4, 300_000), "f")
    spectra = {"spectrum": Complex(*a[:2]), "filter": Complex(*a[2:]), "offset": Complex(0.5, -0.25)}
    return {"filter_spectrum": spectra | {"n": 300_000}}
