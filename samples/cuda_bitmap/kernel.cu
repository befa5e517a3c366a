// a set as bits, its members toggled in another one, the bits that all share, and how often each word was touched
__global__ void bitmap(const unsigned *key, unsigned *present, unsigned *parity, unsigned *common, unsigned *hits,
                       int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned word = key[i] / 32, mask = 1u << (key[i] % 32);
        atomicOr(&present[word], mask);
        atomicXor(&parity[word], mask);
        atomicAnd(common, key[i]);
        atomicInc(&hits[word], 0xffffffff);
    }
}
