"""European options by hand."""

import jax
import jax.numpy as jnp

COEFFICIENTS = (1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.31938153, 0.0)


def cnd(d):
    k = 1.0 / (1.0 + 0.2316419 * jnp.abs(d))
    tail = 0.3989422804014327 * jnp.exp(-0.5 * d * d) * jnp.polyval(jnp.array(COEFFICIENTS, d.dtype), k, unroll=16)
    return jnp.where(d > 0, 1.0 - tail, tail)


@jax.jit
def black_scholes(call, put, price, strike, years, rate, vol):
    spread = vol * jnp.sqrt(years)
    d1 = (jnp.log(price / strike) + (rate + 0.5 * vol * vol) * years) / spread
    p1, p2 = cnd(d1), cnd(d1 - spread)
    discounted = strike * jnp.exp(-rate * years)
    return price * p1 - discounted * p2, discounted * (1.0 - p2) - price * (1.0 - p1)
