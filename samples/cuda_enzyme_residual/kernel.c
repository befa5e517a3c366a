#include <math.h>
#include <stdio.h>

int enzyme_dup, enzyme_out, enzyme_const;
double __enzyme_autodiff(void *, ...);

/* half the weighted sum of squares of what a damped oscillation leaves unexplained */
double residual(const double *t, const double *seen, double amplitude, double damping, double omega, int n) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        double model = amplitude * exp(-damping * t[i]) * cos(omega * t[i]);
        sum += 0.5 * (model - seen[i]) * (model - seen[i]);
    }
    return sum;
}

double slope(const double *t, const double *seen, double amplitude, double damping, double omega, int n) {
    return __enzyme_autodiff((void *)residual, enzyme_const, t, enzyme_const, seen, enzyme_out, amplitude,
                             enzyme_out, damping, enzyme_const, omega, enzyme_const, n);
}

int main() {
    double t[3] = {0.0, 0.5, 1.0}, seen[3] = {1.0, 0.4, -0.2};
    printf("%f\n", slope(t, seen, 1.0, 0.3, 2.0, 3));
}
