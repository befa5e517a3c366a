#include <math.h>

/* a loop nest in plain C: distances to the centre of mass, and their largest */
void spread(int n, const double x[], const double y[], const double *mass, double *distance, double *largest)
{
  double cx = 0.0, cy = 0.0, total = 0.0;
  for (int i = 0; i < n; i++) {
    cx += mass[i] * x[i];
    cy += mass[i] * y[i];
    total += mass[i];
  }
  cx /= total;
  cy /= total;
  double m = 0.0;
  for (int i = 0; i < n; i++) {
    double dx = x[i] - cx, dy = y[i] - cy;
    distance[i] = sqrt(dx * dx + dy * dy);
    m = fmax(m, distance[i]);
  }
  *largest = m;
}
