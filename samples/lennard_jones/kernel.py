from numba import cuda


@cuda.jit
def lennard_jones(pos, force, energy, epsilon, sigma, cutoff):
    """Forces and energies of a Lennard-Jones fluid, truncated at ``cutoff``; all pairs."""
    i = cuda.grid(1)
    n = pos.shape[0]
    if i < n:
        fx = 0.0
        fy = 0.0
        fz = 0.0
        e = 0.0
        for j in range(n):
            if j == i:
                continue
            dx = pos[i, 0] - pos[j, 0]
            dy = pos[i, 1] - pos[j, 1]
            dz = pos[i, 2] - pos[j, 2]
            r2 = dx * dx + dy * dy + dz * dz
            if r2 < cutoff * cutoff:
                s2 = sigma * sigma / r2
                s6 = s2 * s2 * s2
                # derivative of the potential over r
                f = 24.0 * epsilon * s6 * (2.0 * s6 - 1.0) / r2
                fx += f * dx
                fy += f * dy
                fz += f * dz
                e += 2.0 * epsilon * s6 * (s6 - 1.0)
        force[i, 0] = fx
        force[i, 1] = fy
        force[i, 2] = fz
        energy[i] = e
