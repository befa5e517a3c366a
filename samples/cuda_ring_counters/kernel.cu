// visits of the slots of a ring: each counts 0 ... 5 and begins again; a stock of tickets runs down and is filled up
// again; one counter tells the hour of the day
__global__ void visits(const int *slot, const float *weight, unsigned *count, unsigned *tickets, unsigned *hour, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicInc(&count[slot[i]], 5);
        if (weight[i] > 0.5f) atomicDec(&tickets[slot[i]], 9);
        atomicInc(hour, 23);
    }
}
