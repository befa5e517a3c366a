"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax


@partial(jax.jit, static_argnames="n")
def filter_spectrum(spectrum, filter, offset, n):
    """spectrum = spectrum * filter + offset, element by element

    spectrum.re[k] = spectrum.re[k] * filter.re[k] - spectrum.im[k] * filter.im[k] + offset.re
        for 0 <= k < n
    spectrum.im[k] = spectrum.re.0[k] * filter.im[k] + spectrum.im[k] * filter.re[k] + offset.im
        for 0 <= k < n
    """
    a_re = spectrum.re[:n]  # kernel.cu:12
    b_re = filter.re[:n]
    a_im = spectrum.im[:n]
    b_im = filter.im[:n]
    a_re_2 = a_re * b_re - a_im * b_im
    re = spectrum.re.at[:n].set(a_re_2 + offset.re)  # kernel.cu:12
    a_im_2 = a_re * b_im + a_im * b_re
    im = spectrum.im.at[:n].set(a_im_2 + offset.im)  # kernel.cu:12
    return spectrum._replace(re=re, im=im)
