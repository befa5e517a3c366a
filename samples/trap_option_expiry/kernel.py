import math

from numba import cuda


@cuda.jit
def option_expiry(price, s, k, t, vol, rate):
    """European call, also on the day it expires and where nothing moves."""
    i = cuda.grid(1)
    if i < s.shape[0]:
        if t[i] <= 0.0:
            price[i] = max(s[i] - k[i], 0.0)
        else:
            sq = vol[i] * math.sqrt(t[i])
            if sq == 0.0:
                price[i] = max(s[i] - k[i] * math.exp(-rate * t[i]), 0.0)
            else:
                d1 = (math.log(s[i] / k[i]) + (rate + 0.5 * vol[i] * vol[i]) * t[i]) / sq
                d2 = d1 - sq
                n1 = 0.5 * math.erfc(-d1 / math.sqrt(2.0))
                n2 = 0.5 * math.erfc(-d2 / math.sqrt(2.0))
                price[i] = s[i] * n1 - k[i] * math.exp(-rate * t[i]) * n2
