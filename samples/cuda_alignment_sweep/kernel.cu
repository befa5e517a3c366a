// Local alignment of two sequences, an anti-diagonal of the table in each launch.

__global__ void sweep(int *score, const char *first, const char *second, int n, int m, int d, int gap)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    int j = d - i;
    if (i > n || j < 1 || j > m) return;
    int same = first[i - 1] == second[j - 1] ? 2 : -1;
    int best = max(score[(i - 1) * (m + 1) + j], score[i * (m + 1) + j - 1]) - gap;
    score[i * (m + 1) + j] = max(0, max(best, score[(i - 1) * (m + 1) + j - 1] + same));
}

void align(int *score, const char *first, const char *second, int n, int m, int gap)
{
    for (int d = 2; d <= n + m; d++)
        sweep<<<(n + 127) / 128, 128>>>(score, first, second, n, m, d, gap);
}
