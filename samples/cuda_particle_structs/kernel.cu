struct Particle {
    float x, y;
    float vx, vy;
    int alive;
};

struct Box {
    float width, height;
    float damping;
};

// moves the living particles; walls reflect
__global__ void move(Particle *particles, Box box, float dt, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    Particle p = particles[i];
    if (!p.alive) return;
    p.x += p.vx * dt;
    p.y += p.vy * dt;
    if (p.x < 0.0f || p.x > box.width) {
        p.vx = -p.vx * box.damping;
        p.x = fminf(fmaxf(p.x, 0.0f), box.width);
    }
    if (p.y < 0.0f || p.y > box.height) {
        p.vy = -p.vy * box.damping;
        p.y = fminf(fmaxf(p.y, 0.0f), box.height);
    }
    particles[i] = p;
}
