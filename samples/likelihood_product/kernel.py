def likelihood_product(p, hits, out):
    """Likelihood of each row of Bernoulli outcomes: the product of p or 1 - p."""
    for i in range(p.shape[0]):
        acc = 1.0
        for j in range(p.shape[1]):
            acc *= p[i, j] if hits[i, j] == 1 else 1.0 - p[i, j]
        out[i] = acc
