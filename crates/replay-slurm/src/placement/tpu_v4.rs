//! Distribution of slice shapes of TPU v4 pods.

/// Shapes of slices, each with its percentage of all slices. Source: N. P. Jouppi et al., "TPU v4:
/// an optically reconfigurable supercomputer for machine learning with hardware support for
/// embeddings", ISCA 2023, table 2. A shape that appears twice is used as a twisted and as a
/// regular torus.
#[rustfmt::skip]
pub const SLICES: [([u16; 3], f64); 30] = [
    ([1, 1, 1], 2.1), ([1, 1, 2], 0.4), ([1, 2, 2], 6.7), ([2, 2, 2], 4.7), ([2, 2, 4], 6.4),
    ([2, 4, 4], 8.9), ([4, 4, 4], 13.9), ([4, 4, 8], 16.0), ([4, 4, 8], 1.5), ([4, 4, 12], 0.7),
    ([4, 8, 8], 9.2), ([4, 8, 8], 1.5), ([4, 4, 16], 1.0), ([4, 8, 12], 0.1), ([8, 8, 8], 9.6),
    ([4, 8, 16], 1.7), ([4, 4, 32], 0.6), ([8, 8, 12], 0.7), ([8, 8, 16], 1.8), ([8, 8, 16], 1.4),
    ([4, 16, 16], 0.3), ([4, 4, 64], 0.1), ([4, 8, 32], 0.1), ([8, 12, 16], 0.1), ([4, 4, 96], 0.1),
    ([8, 8, 24], 0.1), ([8, 16, 16], 1.4), ([8, 16, 16], 0.3), ([12, 16, 16], 5.7),
    ([4, 4, 192], 0.4),
];
