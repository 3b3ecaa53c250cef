// SPDX-License-Identifier: BSD-3-Clause

// Calls of several kinds, forever.
use std::collections::BTreeMap;
use std::hint::black_box;

trait Shape {
    fn area(&self, n: u64) -> u64;
}

struct Square(u64);

impl Shape for Square {
    #[inline(never)]
    fn area(&self, mut n: u64) -> u64 {
        for i in 0..200 {
            n = black_box(n.wrapping_mul(self.0).wrapping_add(i));
        }
        n
    }
}

#[inline(never)]
fn nest(depth: u64, shape: &dyn Shape) -> u64 {
    if depth == 0 {
        return shape.area(depth);
    }
    black_box(nest(depth - 1, shape)) ^ depth
}

fn main() {
    let mut seen = BTreeMap::new();
    for n in 1u64.. {
        let sum = |shape: &dyn Shape| nest(n % 9, shape);
        *seen.entry(n % 50).or_insert(0u64) ^= sum(&Square(n));
        let mut list: Vec<String> = (0..100).map(|i| sum(&Square(i)).to_string()).collect();
        list.sort();
        black_box(&list);
    }
}
