//! Normal probabilities of rectangles: 256 lattice points per cell.

use criterion::{criterion_group, criterion_main, Criterion};
use ndarray::Array2;
use sdcrisk_core::copula::{Effort, Rectangles, Scratch};
use sdcrisk_core::random::{Seed, Streams};

fn rectangles(c: &mut Criterion) {
    let mut group = c.benchmark_group("rectangles");
    group.sample_size(20);
    let effort = Effort {
        tolerance: 0.0,
        absolute: 0.0,
        max_blocks: 1,
    };
    let streams = Streams::new(Seed::from_draws([1, 2, 3, 4, 5, 6, 7, 8]));
    for d in [4, 8, 12] {
        let mut correlation = Array2::from_elem((d, d), 0.4);
        correlation.diag_mut().fill(1.0);
        let limits: Vec<(f64, f64)> = (0..d)
            .map(|j| (-1.0 + 0.2 * j as f64, -0.5 + 0.2 * j as f64))
            .collect();
        let Ok(rectangles) = Rectangles::new(&correlation, effort, &streams) else {
            return;
        };
        let mut scratch = Scratch::default();
        group.bench_function(format!("256_points/d={d}"), |b| {
            b.iter(|| rectangles.probability(&limits, &mut scratch))
        });
    }
    group.finish();
}

criterion_group!(benches, rectangles);
criterion_main!(benches);
