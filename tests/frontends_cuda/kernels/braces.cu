struct Part { float x; int k; };
__global__ void braces(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a[4] = {}, c[3]{};
  float4 q[2] = {};
  int t[2][3] = {{}, {1}};
  Part p[3] = {};
  a[i % 4] += x[i]; c[i % 3] -= x[i];
  p[i % 3].x += x[i]; p[i % 3].k += 1;
  q[i % 2].y = x[i];
  y[i] = a[0] + 2 * a[3] + c[1] + p[0].x + 2 * p[1].x + p[2].k + q[0].y + q[1].w + t[0][1] + t[1][0] + t[1][1];
}
