import cupy

# squared distances between two sets of points, written in CUDA C inside of Python
squared_distances = cupy.RawKernel(
    r"""
extern "C" __global__
void squared_distances(const float* a, const float* b, float* out, int na, int nb, int dim) {
    int i = blockDim.y * blockIdx.y + threadIdx.y;
    int j = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < na && j < nb) {
        float total = 0.0f;
        for (int k = 0; k < dim; k++) {
            float d = a[i * dim + k] - b[j * dim + k];
            total += d * d;
        }
        out[i * nb + j] = total;
    }
}
""",
    "squared_distances",
)
