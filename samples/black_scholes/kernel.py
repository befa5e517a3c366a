"""European options by the Black-Scholes formula, after the classic GPU example."""

import math

from numba import cuda

A1 = 0.31938153
A2 = -0.356563782
A3 = 1.781477937
A4 = -1.821255978
A5 = 1.330274429
RSQRT2PI = 0.39894228040143267793994605993438


@cuda.jit(device=True)
def cnd(d):
    """Cumulative normal distribution, Abramowitz and Stegun 26.2.17."""
    k = 1.0 / (1.0 + 0.2316419 * math.fabs(d))
    poly = k * (A1 + k * (A2 + k * (A3 + k * (A4 + k * A5))))
    tail = RSQRT2PI * math.exp(-0.5 * d * d) * poly
    if d > 0:
        tail = 1.0 - tail
    return tail


@cuda.jit
def black_scholes(call, put, price, strike, years, rate, vol):
    i = cuda.grid(1)
    if i >= price.shape[0]:
        return
    sqrt_t = math.sqrt(years[i])
    d1 = (math.log(price[i] / strike[i]) + (rate + 0.5 * vol * vol) * years[i]) / (vol * sqrt_t)
    d2 = d1 - vol * sqrt_t
    cnd1 = cnd(d1)
    cnd2 = cnd(d2)
    discount = math.exp(-rate * years[i])
    call[i] = price[i] * cnd1 - strike[i] * discount * cnd2
    put[i] = strike[i] * discount * (1.0 - cnd2) - price[i] * (1.0 - cnd1)
