// Several steps of a stencil in one launch, in shared memory: blocks overlap by what is lost at their ends in each step.

#define TILE 32

// The cheapest way down a grid of costs, some rows at a time: each step goes straight down or to a neighbour.
__global__ void ways_down(const float *cost, const float *from, float *to, int cols, int row, int steps) {
  __shared__ float here[TILE];
  __shared__ float next[TILE];
  int t = threadIdx.x;
  int first = (TILE - 2 * steps) * blockIdx.x - steps;  // of the columns of this block, those that are lost included
  int col = first + t;
  int lowest = first < 0 ? -first : 0;
  int highest = first + TILE > cols ? cols - 1 - first : TILE - 1;
  int left = t - 1 < lowest ? lowest : t - 1;
  int right = t + 1 > highest ? highest : t + 1;
  bool inside = t >= lowest && t <= highest;
  if (col >= 0 && col < cols) here[t] = from[col];
  __syncthreads();
  bool done;
  for (int s = 0; s < steps; s++) {
    done = false;
    if (inside && t >= s + 1 && t <= TILE - 2 - s) {
      done = true;
      float least = fminf(fminf(here[left], here[t]), here[right]);
      next[t] = least + cost[cols * (row + s) + col];
    }
    __syncthreads();
    if (s == steps - 1) break;
    if (done) here[t] = next[t];
    __syncthreads();
  }
  if (done) to[col] = next[t];
}

// Heat in rods of TILE cells each, whose ends keep their temperature: two buffers in turn.
__global__ void rods(const float *u, float *out, float c, int steps) {
  __shared__ float old[TILE], now[TILE];
  int t = threadIdx.x, i = blockIdx.x * TILE + t;
  old[t] = u[i];
  for (int s = 0; s < steps; s++) {
    __syncthreads();
    if (t > 0 && t < TILE - 1)
      now[t] = old[t] + c * (old[t - 1] - 2.0f * old[t] + old[t + 1]);
    else
      now[t] = old[t];
    __syncthreads();
    old[t] = now[t];
  }
  out[i] = old[t];
}
