//! Upper limits of this machine, one thread: the rates that make up the limits of the headline rows
//! of the benchmarks. Prints `what,value,unit`, the best of several sweeps.

#![allow(missing_docs, clippy::print_stdout)]

use std::hint::black_box;
use std::time::Instant;

/// Draws that are the same on every machine.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// The fewest nanoseconds that `work` takes for each of its `steps`.
fn best(steps: usize, mut work: impl FnMut() -> u64) -> f64 {
    let sweeps = (200_000_000 / steps).clamp(5, 20_000);
    let time = |_| {
        let start = Instant::now();
        black_box(work());
        start.elapsed().as_nanos() as f64 / steps as f64
    };
    (0..sweeps).map(time).fold(f64::INFINITY, f64::min)
}

/// Reads a buffer in order: nanoseconds a byte.
fn read(bytes: usize) -> f64 {
    let buffer: Vec<u64> = (0..bytes as u64 / 8).collect();
    best(bytes, || {
        buffer.chunks_exact(8).fold([0u64; 8], |mut sums, words| {
            sums.iter_mut()
                .zip(words)
                .for_each(|(sum, word)| *sum ^= word);
            sums
        })[black_box(0)]
    })
}

/// Bytes at places that do not follow each other: nanoseconds each.
fn at_random(bytes: usize) -> f64 {
    let buffer = vec![1u8; bytes];
    let mut draws = Draws(1);
    let places: Vec<u32> = (0..1 << 16)
        .map(|_| (draws.next() % bytes as u64) as u32)
        .collect();
    best(places.len(), || {
        places
            .iter()
            .map(|&place| u64::from(buffer[place as usize]))
            .sum()
    })
}

/// A record of 256 bits noted as seen once, twice or more often, as the count of uniques
/// over all values of a third variable does: nanoseconds each.
fn once_twice() -> f64 {
    let mut draws = Draws(2);
    let records: Vec<[u64; 4]> = (0..1024)
        .map(|_| std::array::from_fn(|_| draws.next() & draws.next()))
        .collect();
    best(records.len(), || {
        let (mut once, mut twice) = ([0u64; 4], [0u64; 4]);
        for record in &records {
            for ((once, twice), word) in once.iter_mut().zip(&mut twice).zip(record) {
                *twice |= *once & word;
                *once |= word;
            }
        }
        once[0] ^ twice[3]
    })
}

/// A record put where those of its value stand, as sorting by one variable does:
/// nanoseconds each.
fn scatter(values: u64) -> f64 {
    let mut draws = Draws(3);
    let n = 1 << 14;
    let codes: Vec<u8> = (0..n).map(|_| (draws.next() % values) as u8).collect();
    let mut sorted = vec![0u32; n];
    best(n, || {
        let mut ends = [0u32; 256];
        for &code in &codes {
            ends[code as usize] += 1;
        }
        let mut start = 0;
        for end in &mut ends {
            (start, *end) = (start + *end, start);
        }
        for (record, &code) in (0u32..).zip(&codes) {
            let place = &mut ends[code as usize];
            sorted[*place as usize] = record;
            *place += 1;
        }
        u64::from(sorted[n / 2])
    })
}

/// Eight bitmaps of 256 records joined and the records left counted by digits, as matches
/// are: nanoseconds a block.
fn join() -> f64 {
    let mut draws = Draws(4);
    let stride = 140;
    let maps: Vec<[u64; 4]> = (0..stride * 3)
        .map(|_| std::array::from_fn(|_| draws.next() | draws.next()))
        .collect();
    let targets: Vec<[usize; 8]> = (0..256)
        .map(|_| std::array::from_fn(|k| k * 17 + (draws.next() % 17) as usize))
        .collect();
    best(targets.len() * 3, || {
        let mut eights = 0;
        for target in &targets {
            let mut digits = [[0u64; 4]; 3];
            for block in maps.chunks_exact(stride) {
                let mut bits = block[target[0]];
                for &map in &target[1..] {
                    bits = std::array::from_fn(|i| bits[i] & block[map][i]);
                }
                for digit in &mut digits {
                    for (digit, bits) in digit.iter_mut().zip(&mut bits) {
                        (*digit, *bits) = (*digit ^ *bits, *digit & *bits);
                    }
                }
                eights += u64::from(bits.iter().any(|&word| word != 0));
            }
            eights += digits[0][0] ^ digits[1][1] ^ digits[2][2];
        }
        eights
    })
}

fn main() {
    // Tests of benches only ask whether they start.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    println!("what,value,unit");
    for (name, bytes) in [
        ("1 MiB", 1 << 20),
        ("32 MiB", 1 << 25),
        ("512 MiB", 1 << 29),
    ] {
        println!("read {name},{:.1},GB/s", 1.0 / read(bytes));
    }
    for (name, bytes) in [
        ("1 MiB", 1 << 20),
        ("32 MiB", 1 << 25),
        ("512 MiB", 1 << 29),
    ] {
        println!("random byte of {name},{:.2},ns", at_random(bytes));
    }
    println!("scatter a record,{:.2},ns", scatter(20));
    println!("once or twice,{:.2},ns", once_twice());
    println!("join eight bitmaps,{:.2},ns", join());
}
