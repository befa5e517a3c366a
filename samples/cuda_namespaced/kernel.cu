namespace physics {

constexpr float kGravity = 9.81f;
enum Axis { X = 0, Y = 1, Z = 2, AXES = 3 };

// falls with drag; velocities and positions are interleaved by axis
__global__ __launch_bounds__(256) void fall(float *__restrict__ position, float *__restrict__ velocity, float drag,
                                            float dt, int bodies) {
    const int b = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (b >= bodies) return;
    for (int axis = X; axis < AXES; ++axis) {
        const float v = velocity[b * AXES + axis];
        const float a = (axis == Z ? -kGravity : 0.0f) - drag * v * fabsf(v);
        velocity[b * AXES + axis] = v + dt * a;
        position[b * AXES + axis] += dt * (v + dt * a);
    }
}

}  // namespace physics
