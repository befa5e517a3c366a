"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


d
e
f
 
_
s
t
r
i
d
e
d
(
a
,
 
s
h
a
p
e
,
 
s
t
r
i
d
e
s
)
:


 
 
 
 
"
"
"
a
[
i
 
*
 
s
t
r
i
d
e
s
[
0
]
 
+
 
j
 
*
 
s
t
r
i
d
e
s
[
1
]
 
+
 
.
.
.
]
 
f
o
r
 
e
v
e
r
y
 
(
i
,
 
j
,
 
.
.
.
)
 
o
f
 
s
h
a
p
e
;
 
r
o
w
s
 
m
a
y
 
o
v
e
r
l
a
p
.
"
"
"


 
 
 
 
o
u
t
e
r
,
 
i
n
n
e
r
 
=
 
s
t
r
i
d
e
s
[
:
-
1
]
,
 
s
t
r
i
d
e
s
[
1
:
]


 
 
 
 
r
o
w
s
 
=
 
[
s
 
/
/
 
m
a
x
(
t
,
 
1
)
 
f
o
r
 
s
,
 
t
 
i
n
 
z
i
p
(
o
u
t
e
r
,
 
i
n
n
e
r
)
]


 
 
 
 
i
f
 
a
l
l
(
n
 
<
=
 
r
 
a
n
d
 
r
 
*
 
t
 
=
=
 
s
 
f
o
r
 
n
,
 
r
,
 
s
,
 
t
 
i
n
 
z
i
p
(
s
h
a
p
e
[
1
:
]
,
 
r
o
w
s
,
 
o
u
t
e
r
,
 
i
n
n
e
r
)
)
:


 
 
 
 
 
 
 
 
r
e
t
u
r
n
 
j
n
p
.
r
e
s
i
z
e
(
a
,
 
(
s
h
a
p
e
[
0
]
,
 
*
r
o
w
s
)
)
[
t
u
p
l
e
(
s
l
i
c
e
(
n
)
 
f
o
r
 
n
 
i
n
 
s
h
a
p
e
)
]


 
 
 
 
a
t
 
=
 
0


 
 
 
 
f
o
r
 
n
,
 
s
t
r
i
d
e
 
i
n
 
z
i
p
(
s
h
a
p
e
,
 
s
t
r
i
d
e
s
)
:


 
 
 
 
 
 
 
 
a
t
 
=
 
j
n
p
.
a
s
a
r
r
a
y
(
a
t
)
[
.
.
.
,
 
N
o
n
e
]
 
+
 
s
t
r
i
d
e
 
*
 
j
n
p
.
a
r
a
n
g
e
(
n
)


 
 
 
 
r
e
t
u
r
n
 
a
[
a
t
]


@partial(jax.jit, static_argnames=("n", "m", "ld"))
def add_outer(n, m, ld, a, u, v, alpha):
    """a[row, col] += alpha * u[row] * v[col]  for 0 <= col < m, 0 <= row < n

    a block has 16 threads along x
    a block has 16 threads along y
    """
    if m > ld:
        raise ValueError("add_outer: rows would overlap: m <= ld must hold")
    a2 = jnp.resize(a, (n, ld))
    a2 = a2.at[:, :m].add(alpha * u[:n, None] * v[:m])  # kernel.cu:9
    return a.at[: n * ld].set(a2.ravel()[: a.size])


@partial(jax.jit, static_argnames=("nz", "ny", "nx", "pitch", "slice"))
def project(nz, ny, nx, pitch, slice, volume, image):
    """sums over planes of a volume whose rows and planes are padded

    image[y, x] = sum_z volume[z * pitch * slice + y * pitch + x]  for 0 <= x < nx, 0 <= y < ny
    """
    if nx > pitch:
        raise ValueError("project: rows would overlap: nx <= pitch must hold")
    image2 = jnp.resize(image, (ny, pitch))
    image2 = image2.at[:, :nx].set(
        jnp.sum(
            jnp.transpose(
                _strided(volume, (nz, ny, nx), (pitch * slice, pitch, 1)), (1, 2, 0)
            ),
            axis=2,
        )
    )  # kernel.cu:19
    return image.at[: ny * pitch].set(image2.ravel()[: image.size])


@partial(jax.jit, static_argnames=("frames", "hop", "width"))
def frame_energy(frames, hop, width, signal, window, energy):
    """windowed energies: the frames of a signal, which overlap where hop < width

    energy[f] = sum_k signal[f * hop + k] * window[k] * signal[f * hop + k] * window[k]
        for 0 <= f < frames
    """
    s = _strided(signal, (frames, width), (hop, 1)) * window[:width]  # kernel.cu:29
    return energy.at[:frames].set(jnp.sum(s * s, axis=1))  # kernel.cu:32
