#define POLYNOMIAL 0xEDB88320u

// The CRC-32 of each message.
__global__ void checksum(const unsigned char *messages, unsigned int *crc, int count, int bytes) {
    int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= count) return;
    unsigned int state = 0xFFFFFFFFu;
    for (int i = 0; i < bytes; ++i) {
        state ^= messages[m * bytes + i];
        for (int bit = 0; bit < 8; ++bit) state = (state & 1u) ? (state >> 1) ^ POLYNOMIAL : state >> 1;
    }
    crc[m] = ~state;
}
