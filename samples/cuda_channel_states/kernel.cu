// Sequences with channels: a filter of each channel that looks back, and states that a channel carries along.
#define STATES 4

__global__ void look_back(const float *x, const float *taps, const float *bias, float *y, int C, int T, int K) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y, b = blockIdx.z;
  if (t >= T) return;
  float sum = bias[c];
  for (int k = 0; k < K; k++) {
    int s = t - (K - 1) + k;
    if (s >= 0) sum += taps[c * K + k] * x[(b * C + c) * T + s];
  }
  y[(b * C + c) * T + t] = sum;
}

__global__ void carry_states(const float *x, const float *step, const float *decay, const float *in, const float *out,
                             float *y, int T, int C) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= C) return;
  float h[STATES];
  for (int n = 0; n < STATES; n++) h[n] = 0.0f;
  for (int t = 0; t < T; t++) {
    float d = step[t * C + c], sum = 0.0f;
    for (int n = 0; n < STATES; n++) {
      h[n] = expf(-d * decay[c * STATES + n]) * h[n] + d * in[t * STATES + n] * x[t * C + c];
      sum += h[n] * out[t * STATES + n];
    }
    y[t * C + c] = sum;
  }
}
