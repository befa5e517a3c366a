"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

European options by the Black-Scholes formula, after the classic GPU example.
"""

import jax
import jax.numpy as jnp

A1 = 0.31938153
A2 = -0.356563782
A3 = 1.781477937
A4 = -1.821255978
A5 = 1.330274429
RSQRT2PI = 0.3989422804014327


def cnd(d):
    """Cumulative normal distribution, Abramowitz and Stegun 26.2.17."""
    ratio = 1.0 / (1.0 + 0.2316419 * jnp.abs(d))
    product = (
        RSQRT2PI
        * jnp.exp(-0.5 * d * d)
        * (ratio * (A1 + ratio * (A2 + ratio * (A3 + ratio * (A4 + ratio * A5)))))
    )
    return jnp.where(d > 0, 1.0 - product, product)


@jax.jit
def black_scholes(call, put, price, strike, years, rate, vol):
    """call[i] = price[i] * cnd(d1) - strike[i] * exp(-rate * years[i]) * cnd(d2)
        for 0 <= i < price.shape[0]
    put[i] = strike[i] * exp(-rate * years[i]) * (1.0 - cnd(d2)) - price[i] * (1.0 - cnd(d1))
        for 0 <= i < price.shape[0]
    """
    n = price.shape[0]
    product = vol * jnp.sqrt(years[:n])
    d1 = (
        jnp.log(price / strike[:n]) + (rate + 0.5 * vol * vol) * years[:n]
    ) / product  # kernel.py:32
    cnd1 = cnd(d1)  # kernel.py:34
    discount = jnp.exp(-rate * years[:n])  # kernel.py:36
    product_2 = strike[:n] * discount
    d2 = d1 - product  # kernel.py:33
    cnd2 = cnd(d2)  # kernel.py:35
    call = call.at[:n].set(price * cnd1 - product_2 * cnd2)  # kernel.py:37
    put = put.at[:n].set(
        product_2 * (1.0 - cnd2) - price * (1.0 - cnd1)
    )  # kernel.py:38
    return call, put
