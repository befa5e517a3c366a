def red_black_sor(u, f, omega, sweeps):
    """Successive over-relaxation of a Poisson problem, one colour of the chequerboard after the other."""
    rows, cols = u.shape
    for sweep in range(sweeps):
        for colour in range(2):
            for i in range(1, rows - 1):
                for j in range(1 + (i + colour) % 2, cols - 1, 2):
                    r = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j]
                    u[i, j] += omega * (0.25 * r - u[i, j])
