def zip_residuals(observed, predicted, sigma, residual):
    """Normalised residuals and their chi-squared, with the loops Python programmers write."""
    chi2 = 0.0
    for i, (o, p) in enumerate(zip(observed, predicted)):
        residual[i] = (o - p) / sigma[i]
        chi2 += residual[i] ** 2
    return chi2
