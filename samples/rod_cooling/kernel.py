def rod_cooling(temp, heat, rate, steps):
    """Temperatures of a rod that radiates; both ends are held. The steps are run again in the gradient."""
    n = temp.shape[0]
    new = temp.copy()
    for t in range(steps):
        for i in range(1, n - 1):
            new[i] = temp[i] + rate * (temp[i - 1] - 2.0 * temp[i] + temp[i + 1]) - heat * temp[i] ** 4
        for i in range(1, n - 1):
            temp[i] = new[i]
    return temp
