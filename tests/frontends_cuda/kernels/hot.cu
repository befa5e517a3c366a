#define MIN(a, b) ((a) <= (b) ? (a) : (b))
#define BS 4
#define IN_RANGE(x, min, max)   ((x) >= (min) && (x) <= (max))
__global__ void hot(float*power, float*src, float*dst, int cols, int rows, float Rx) {
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int x = BS*bx+tx, y = BS*by+ty;
    if (x >= cols || y >= rows) return;
    int N = y-1, S = y+1, W = x-1, E = x+1;
    N = (N<0)?0:N;
    S = (S>rows-1)?rows-1:S;
    W = W<0?0:W;
    E = MIN(E, cols-1);
    int c = cols*y+x;
    if (IN_RANGE(x, 0, cols-1)) dst[c] = src[c]+Rx*(power[c]+src[N*cols+x]+src[S*cols+x]+src[y*cols+W]+src[y*cols+E]-4.0*src[c]);
}
