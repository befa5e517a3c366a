// c = a b in whole tiles: no guard, the launch covers c exactly
template <int TILE>
__global__ void product(float *c, const float *a, const float *b, int wa, int wb) {
  int a_first = wa * TILE * blockIdx.y;
  int a_last = a_first + wa - 1;
  float sum = 0;
  for (int at = a_first, bt = TILE * blockIdx.x; at <= a_last; at += TILE, bt += TILE * wb) {
    __shared__ float as[TILE][TILE];
    __shared__ float bs[TILE][TILE];
    as[threadIdx.y][threadIdx.x] = a[at + wa * threadIdx.y + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[bt + wb * threadIdx.y + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  int first = wb * TILE * blockIdx.y + TILE * blockIdx.x;
  c[first + wb * threadIdx.y + threadIdx.x] = sum;
}

template __global__ void product<4>(float *c, const float *a, const float *b, int wa, int wb);
