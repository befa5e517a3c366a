struct Ball {
    float height;
    float speed;
    int bounces;
};

struct World {
    float gravity;
    float restitution;
};

// one time step of bouncing balls, and the energy of each after it
__global__ void bounce(Ball *balls, World world, float dt, float *energy, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    Ball b = balls[i];
    b.speed -= world.gravity * dt;
    b.height += b.speed * dt;
    if (b.height < 0.0f) {
        b.height = -b.height * world.restitution;
        b.speed = -b.speed * world.restitution;
        b.bounces += 1;
    }
    balls[i] = b;
    energy[i] = 0.5f * b.speed * b.speed + world.gravity * b.height;
}
