"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp

RSQRT2PI = 0.3989422804014327
A1 = 0.31938153
A2 = -0.356563782
A3 = 1.781477937
A4 = -1.821255978
A5 = 1.330274429


def normal_cdf(d):
    """cumulative normal distribution, by a polynomial"""
    ratio = 1.0 / (1.0 + 0.2316419 * jnp.abs(d))
    product = (
        RSQRT2PI
        * jnp.exp(-0.5 * d * d)
        * (ratio * (A1 + ratio * (A2 + ratio * (A3 + ratio * (A4 + ratio * A5)))))
    )
    return jnp.where(d > 0.0, 1.0 - product, product)


@partial(jax.jit, static_argnames="count")
def black_scholes(call, put, price, strike, years, riskfree, volatility, count):
    """call[opt] = price[opt] * cdf1 - strike[opt] * discount * cdf2  for 0 <= opt < count
    put[opt] = strike[opt] * discount * (1.0 - cdf2) - price[opt] * (1.0 - cdf1)  for 0 <= opt < count
    """
    product = volatility * jnp.sqrt(years[:count])
    d1 = (
        jnp.log(price[:count] / strike[:count])
        + (riskfree + 0.5 * volatility * volatility) * years[:count]
    ) / product  # kernel.cu:24
    cdf1 = normal_cdf(d1)  # kernel.cu:27
    discount = jnp.exp(-riskfree * years[:count])  # kernel.cu:29
    product_2 = strike[:count] * discount
    d2 = d1 - product  # kernel.cu:26
    cdf2 = normal_cdf(d2)  # kernel.cu:28
    call = call.at[:count].set(price[:count] * cdf1 - product_2 * cdf2)  # kernel.cu:30
    put = put.at[:count].set(
        product_2 * (1.0 - cdf2) - price[:count] * (1.0 - cdf1)
    )  # kernel.cu:31
    return call, put
