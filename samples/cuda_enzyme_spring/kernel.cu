// A relaxation step that its authors differentiate with Enzyme: the calls name what is active.
int enzyme_dup, enzyme_dupnoneed, enzyme_const;
template <typename... T> __device__ void __enzyme_autodiff(void *, T...);
template <typename... T> __device__ void __enzyme_fwddiff(void *, T...);

// moves each inner node towards its neighbours, the stiffer the spring the faster
__device__ void relax(const float *x, const float *stiffness, float *moved, float dt, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 1 || i >= n - 1) return;
    float pull = stiffness[i] * (x[i + 1] - x[i]) - stiffness[i - 1] * (x[i] - x[i - 1]);
    moved[i] = x[i] + dt * pull / (1.0f + pull * pull);
}

__global__ void relax_reverse(float *x, float *x_bar, float *stiffness, float *stiffness_bar, float *moved,
                              float *moved_bar, float dt, int n) {
    __enzyme_autodiff((void *)relax, enzyme_dup, x, x_bar, enzyme_dup, stiffness, stiffness_bar,
                      enzyme_dupnoneed, moved, moved_bar, enzyme_const, dt, enzyme_const, n);
}

__global__ void relax_forward(float *x, float *x_dot, float *stiffness, float *moved, float *moved_dot, float dt,
                              int n) {
    __enzyme_fwddiff((void *)relax, enzyme_dup, x, x_dot, enzyme_const, stiffness, enzyme_dup, moved, moved_dot,
                     enzyme_const, dt, enzyme_const, n);
}
