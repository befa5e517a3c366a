__global__ void mand(int*out, int w, int h, int maxit) {
    int px = blockIdx.x*blockDim.x+threadIdx.x, py = blockIdx.y*blockDim.y+threadIdx.y;
    if (px<w && py<h) {
        float x0 = (float)px/w*3.5f-2.5f, y0 = py/(float)h*2.f-1.f, x = 0, y = 0;
        int it = 0;
        while (x*x+y*y <= 4.f && it<maxit) {
            float xt = x*x-y*y+x0;
            y = 2*x*y+y0;
            x = xt;
            it++;
        }
        out[py*w+px] = it;
    }
}
