// Longest common subsequence: the table of lengths of the prefixes.
__global__ void lcs_table(const char *a, const char *b, int *len, int n, int m) {
  for (int i = 0; i <= n; i++) {
    for (int j = 0; j <= m; j++) {
      if (i == 0 || j == 0) {
        len[i * (m + 1) + j] = 0;
      } else if (a[i - 1] == b[j - 1]) {
        len[i * (m + 1) + j] = len[(i - 1) * (m + 1) + j - 1] + 1;
      } else {
        len[i * (m + 1) + j] = max(len[(i - 1) * (m + 1) + j], len[i * (m + 1) + j - 1]);
      }
    }
  }
}
