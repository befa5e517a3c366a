from numba import cuda


@cuda.jit
def spring_chain(x, rest, stiffness, energy, force, pinned, n):
    """Energy and force of each mass of a chain of springs; pinned masses feel none."""
    i = cuda.grid(1)
    if i < n:
        e = 0.0
        f = 0.0
        if i > 0:
            stretch = abs(x[i] - x[i - 1]) - rest[i - 1]
            e += 0.25 * stiffness * stretch**2
            f -= stiffness * stretch
        if i < n - 1:
            stretch = abs(x[i + 1] - x[i]) - rest[i]
            e += 0.25 * stiffness * stretch**2
            f += stiffness * stretch
        energy[i] = e
        force[i] = 0.0 if pinned[i] else f
