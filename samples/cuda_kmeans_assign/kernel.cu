#include <cfloat>

// the nearest centre of each point; features are stored feature by feature
__global__ void kmeans_assign(const float *feature, int nfeatures, int npoints, int nclusters, int *membership,
                              const float *clusters) {
    unsigned int point_id = blockIdx.x * blockDim.x + threadIdx.x;
    if (point_id < npoints) {
        int index = -1;
        float min_dist = FLT_MAX;
        for (int i = 0; i < nclusters; i++) {
            float dist = 0.0f;
            for (int l = 0; l < nfeatures; l++) {
                float d = feature[l * npoints + point_id] - clusters[i * nfeatures + l];
                dist += d * d;
            }
            if (dist < min_dist) {
                min_dist = dist;
                index = i;
            }
        }
        membership[point_id] = index;
    }
}
