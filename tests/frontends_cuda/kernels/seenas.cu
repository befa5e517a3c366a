template <typename T, int N>
struct alignas(sizeof(T) * N) Pack {
  T val[N];
};
struct C {
  float re, im;
};
template <typename T, typename A>
__device__ T half_of(T x) {
  using W = typename std::conditional<std::is_same<T, float>::value, A, T>::type;
  return std::is_integral_v<T> ? x : T(W(x) / 2);
}
__global__ void seenas(float* o, const float* x, const float* w, int* q, int n, int use) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float* bias = use > 0 ? w + 4 * i : nullptr;
  float* more = use < 0 ? o : NULL;
  if (i < n) {
    Pack<float, 4> v = *reinterpret_cast<const Pack<float, 4>*>(&x[4 * i]);
    const C& c = ((const C*)x)[2 * i + 1];
#pragma unroll
    for (int j = 0; j < 4; j++) v.val[j] += half_of<float, double>(c.im) + (bias ? bias[j] : 0);
    reinterpret_cast<Pack<float, 4>*>(o)[i] = v;
    if (more != nullptr) more[i] = 1;
    using U = std::make_unsigned_t<int>;
    q[i] = int(U(q[i]) >> 1) + half_of<int, float>(q[i]) + UINT8_C(200);
    const Pack<float, 4>* p = reinterpret_cast<const Pack<float, 4>*>(x) + i;
    unsigned own[3][5];
    for (int j = 0; j < 15; j++) ((unsigned*)own)[j] = j * j + i;
    unsigned* walk = (unsigned*)(own + 1);
    walk++;
    q[i] += own[2][4] + own[1][i % 5] + *walk + walk[3 + i % 3];
    for (int j = 0; j < 3; j++) atomicInc((unsigned*)&q[i], 0xffffffffu);
    atomicDec((unsigned*)&q[i], ~0u);
    q[i] += p - reinterpret_cast<const Pack<float, 4>*>(x);
  }
}
