// operators, methods and functions of one name: the nearest one for the types of the operands
struct V { float x, y; __device__ V operator-(int s) const { return {x - s, y}; } __device__ V operator-(float s) const { return {x - 2 * s, y}; } 
  __device__ V &operator+=(int s) { x += s; return *this; } __device__ V &operator+=(float s) { y += s; return *this; } };
__device__ V operator*(int s, V v) { return {s * v.x, s * v.y}; }
__device__ V operator*(float s, V v) { return {s * v.x, s * v.y}; }
__device__ V operator*(V v, int s) { return {s * v.x + 1, s * v.y}; }
__device__ V operator*(V v, float s) { return {s * v.x, s * v.y}; }
template <class T> struct B { T v; };
__device__ float val(B<int> b) { return b.v * 10; }
__device__ float val(B<float> b) { return b.v; }
__global__ void nearest(const float *a, float *o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { V v{a[i], 1}; V w = 2.5f * v; V u = v * 0.5f; V t = v - 0.5f; v += 0.5f; B<float> b{a[i]}; B<int> c{i}; o[i] = w.x + u.x + t.x + v.x + 10 * v.y + val(b) + val(c); }
}
