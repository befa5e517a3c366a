"""Option prices by hand."""

from functools import partial

import jax
import jax.numpy as jnp


def normal_cdf(d):
    k = 1.0 / (1.0 + 0.2316419 * jnp.abs(d))
    tail = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    cnd = 0.3989422804 * jnp.exp(-0.5 * d * d) * tail
    return jnp.where(d > 0, 1.0 - cnd, cnd)


@partial(jax.jit, static_argnames="count")
def black_scholes(call, put, price, strike, years, riskfree, volatility, count):
    s, x, t = price[:count], strike[:count], years[:count]
    spread = volatility * jnp.sqrt(t)
    d1 = (jnp.log(s / x) + (riskfree + 0.5 * volatility**2) * t) / spread
    cdf1, cdf2 = normal_cdf(d1), normal_cdf(d1 - spread)
    due = x * jnp.exp(-riskfree * t)
    return call.at[:count].set(s * cdf1 - due * cdf2), put.at[:count].set(due * (1.0 - cdf2) - s * (1.0 - cdf1))


def large(rng):
    n = 500_000
    given = {
        "price": 5 + 25 * rng.random(n, "f"),
        "strike": 1 + 99 * rng.random(n, "f"),
        "years": 0.25 + 9 * rng.random(n, "f"),
    }
    out = {"call": rng.random(n, "f"), "put": rng.random(n, "f")}
    return {"black_scholes": given | out | {"riskfree": 0.02, "volatility": 0.3, "count": n - 5}}
