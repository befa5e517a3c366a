def crowd_trace(x, v, spread, dt, steps):
    """Walkers on a line that attract each other, and how far they are spread in each step."""
    n = x.shape[0]
    for t in range(steps):
        for i in range(n):
            pull = 0.0
            for j in range(n):
                d = x[j] - x[i]
                pull += d / (1.0 + d * d)
            v[i] += dt * pull
        for i in range(n):
            x[i] += dt * v[i]
        total = 0.0
        for i in range(n):
            total += x[i] * x[i]
        spread[t] = total
