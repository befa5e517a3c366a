__global__ void mixed(float*o, const int*a, const float*x, unsigned char*img, int w, int h) {
    int i = blockIdx.x*blockDim.x+threadIdx.x;
    if (i >= w*h) return;
    int y = i/w, xx = i%w;
    img[i] = (unsigned char)fminf(fmaxf(x[i]*127.5f+127.5f, 0.0f), 255.0f);
    o[i] = (float)a[i]/h+a[i]/h+(a[i]%w)*0.5f;
    if (!(y&1) || xx == 0) o[i] = -o[i];
    o[i] += (a[i]>0)+(x[i]>0.f)*2.f;
    bool b = a[i];
    o[i] += b;
    int s = (x[i]>0)-(x[i]<0);
    o[i] += s;
    o[i] += hypotf(x[i], 1.f)+fmodf(x[i]*10, 3.f)+copysignf(2.f, x[i])+floorf(x[i])+roundf(x[i]*3)+rintf(x[i]*3)+truncf(x[i]*3);
    o[i] += __float2int_rn(x[i]*5)+fabs(x[i])+abs(a[i])+pow(fabsf(x[i]), 1.5f)+exp(x[i])+max(a[i], 2)+fmax(x[i], 0.2f);
    float sn, cs;
    sincosf(x[i], &sn, &cs);
    o[i] += sn*cs+tanhf(x[i])+erff(x[i])+log1pf(fabsf(x[i]))+fmaf(x[i], 2.f, 1.f)+cbrtf(x[i])+atan2f(x[i], .5f);
}
