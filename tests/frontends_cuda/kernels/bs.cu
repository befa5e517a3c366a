__device__ inline float cnd(float d) {
    const float A1 = 0.31938153f, A2 = -0.356563782f, A3 = 1.781477937f, A4 = -1.821255978f, A5 = 1.330274429f, RSQRT2PI = 0.39894228040143267793994605993438f;
    float K = 1.0f/(1.0f+0.2316419f*fabsf(d));
    float c = RSQRT2PI*__expf(-0.5f*d*d)*(K*(A1+K*(A2+K*(A3+K*(A4+K*A5)))));
    if (d>0) c = 1.0f-c;
    return c;
}
__global__ void bs(float*call, const float*S, const float*X, const float*T, float r, float v, int n) {
    const int opt = blockDim.x*blockIdx.x+threadIdx.x;
    if (opt<n) {
        float sq = sqrtf(T[opt]);
        float d1 = (__logf(S[opt]/X[opt])+(r+0.5f*v*v)*T[opt])/(v*sq), d2 = d1-v*sq;
        call[opt] = S[opt]*cnd(d1)-X[opt]*__expf(-r*T[opt])*cnd(d2);
    }
}
