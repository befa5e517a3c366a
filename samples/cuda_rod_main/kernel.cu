#include <cstdio>
#include <cstdlib>
#include <random>
#include <sys/time.h>
#include <vector>

#define CHECK(call)                                                     \
    do {                                                                \
        cudaError_t status = (call);                                    \
        if (status != cudaSuccess) {                                    \
            fprintf(stderr, "%s\n", cudaGetErrorString(status));        \
            return EXIT_FAILURE;                                        \
        }                                                               \
    } while (0)

double seconds() {
    struct timeval now;
    struct timezone zone;
    gettimeofday(&now, &zone);
    return now.tv_sec + now.tv_usec * 1.0e-6;
}

// one relaxation of a rod towards the mean of its neighbours, with sources
__global__ void relax(const float *u, const float *source, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) out[i] = 0.5f * (u[i - 1] + u[i + 1]) + source[i];
}

// relaxes a rod that a file holds, with random sources
int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 4096;
    const int rounds = argc > 2 ? atoi(argv[2]) : 100;
    const size_t bytes = n * sizeof(float);
    std::mt19937 generator(2024);
    std::uniform_real_distribution<float> strength(-0.1f, 0.1f);
    std::vector<float> source(n), rod(n, 0.0f);
    for (int i = 0; i < n; i++) source[i] = strength(generator);
    FILE *file = fopen("rod.bin", "rb");
    fread(rod.data(), sizeof(float), n, file);
    fclose(file);

    float *d_rod, *d_next, *d_source;
    CHECK(cudaMalloc(&d_rod, bytes));
    CHECK(cudaMalloc(&d_next, bytes));
    CHECK(cudaMalloc(&d_source, bytes));
    CHECK(cudaMemcpy(d_rod, rod.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_next, rod.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_source, source.data(), bytes, cudaMemcpyHostToDevice));

    const double begin = seconds();
    for (int round = 0; round < rounds; round++) {
        relax<<<(n + 255) / 256, 256>>>(round % 2 ? d_next : d_rod, d_source, round % 2 ? d_rod : d_next, n);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaDeviceSynchronize());
    printf("%d rounds in %f s\n", rounds, seconds() - begin);
    CHECK(cudaMemcpy(rod.data(), rounds % 2 ? d_next : d_rod, bytes, cudaMemcpyDeviceToHost));
    float heat = 0.0f;
    for (float u : rod) heat += u;
    printf("mean %f\n", heat / n);
    CHECK(cudaFree(d_rod));
    CHECK(cudaFree(d_next));
    CHECK(cudaFree(d_source));
    return EXIT_SUCCESS;
}
