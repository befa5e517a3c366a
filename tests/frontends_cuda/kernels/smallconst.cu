enum {
    A_ = 3, B_, C_ = 10
};
constexpr int W = 5;
const float EPSV = 1e-3f;
static const int tab[] = {3, 1, 4, 1, 5};
typedef double real;
using idx = int;
namespace ns {
    __device__ __host__ inline real half_(real x) {
        return x/2;
    }
}
extern "C" __global__ void __launch_bounds__(64, 2) smallconst(real*o, const int*q) {
    const int LOCAL = 7;
    idx i = threadIdx.x;
    real arr[W];
    for (idx k = 0; k<W; ++k) arr[k] = tab[k]*EPSV;
    o[i] = ns::half_(arr[i%W])+B_*C_+LOCAL/A_+q[i];
    if (sizeof(real) == 8) o[i] += sizeof(float)*2;
}
