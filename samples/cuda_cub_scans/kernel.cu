// Running sums and extrema of a block's threads with CUB, one element or four for each of them.
#include <cub/cub.cuh>

#define THREADS 32

// first pass of a long scan: sums before each element of a block, and the block's total
__global__ void block_scans(const float *x, float *before, float *totals, int n) {
  typedef cub::BlockScan<float, THREADS> Scan;
  __shared__ typename Scan::TempStorage storage;
  int i = blockIdx.x * THREADS + threadIdx.x;
  float v = i < n ? x[i] : 0.0f, sum, total;
  Scan(storage).ExclusiveSum(v, sum, total);
  if (i < n) before[i] = sum;
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

// the highest water mark so far in each row of a gauge's readings
__global__ void water_marks(const float *level, float *mark) {
  typedef cub::BlockScan<float, THREADS, cub::BLOCK_SCAN_WARP_SCANS> Scan;
  __shared__ typename Scan::TempStorage storage;
  float highest;
  Scan(storage).InclusiveScan(level[blockIdx.x * THREADS + threadIdx.x], highest, cub::Max());
  mark[blockIdx.x * THREADS + threadIdx.x] = highest;
}

// four elements a thread, loaded and stored through shared memory
__global__ void long_rows(const int *count, int *offset) {
  typedef cub::BlockLoad<int, THREADS, 4, cub::BLOCK_LOAD_TRANSPOSE> Load;
  typedef cub::BlockStore<int, THREADS, 4, cub::BLOCK_STORE_TRANSPOSE> Store;
  typedef cub::BlockScan<int, THREADS> Scan;
  __shared__ union {
    typename Load::TempStorage load;
    typename Scan::TempStorage scan;
    typename Store::TempStorage store;
  } storage;
  int items[4];
  Load(storage.load).Load(count + blockIdx.x * 4 * THREADS, items);
  __syncthreads();
  Scan(storage.scan).InclusiveSum(items, items);
  __syncthreads();
  Store(storage.store).Store(offset + blockIdx.x * 4 * THREADS, items);
}

// one sum for each warp
__global__ void warp_sums(const float *x, float *y, int n) {
  typedef cub::WarpReduce<float> Reduce;
  __shared__ typename Reduce::TempStorage storage[THREADS / 32];
  int i = blockIdx.x * THREADS + threadIdx.x;
  float sum = Reduce(storage[threadIdx.x / 32]).Sum(i < n ? x[i] * x[i] : 0.0f);
  if (threadIdx.x % 32 == 0) y[i / 32] = sum;
}
