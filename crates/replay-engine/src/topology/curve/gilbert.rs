//! The generalised Hilbert curve (Červený's "gilbert"): a space-filling curve for boxes of any side
//! lengths. The curve halves the longest side. The parts are oriented so that each part begins next
//! to the end of the previous part.

use crate::topology::{Coord, Grid};

type Vector = [i32; 3];

/// Returns all positions of the grid in curve order.
pub fn walk(grid: &Grid) -> Vec<Coord> {
    let [x, y, z] = [0, 1, 2].map(|axis| grid.extent(axis) as i32);
    let mut path = Vec::with_capacity(grid.processors());
    let (ex, ey, ez) = ([x, 0, 0], [0, y, 0], [0, 0, z]);
    if grid.dimensions() == 2 {
        if x >= y {
            plane(&mut path, [0; 3], ex, ey);
        } else {
            plane(&mut path, [0; 3], ey, ex);
        }
    } else if x >= y && x >= z {
        solid(&mut path, [0; 3], ex, ey, ez);
    } else if y >= x && y >= z {
        solid(&mut path, [0; 3], ey, ex, ez);
    } else {
        solid(&mut path, [0; 3], ez, ex, ey);
    }
    path
}

/// Fills the rectangle spanned by `a` and `b`; the curve runs from one end of `a` to the other end.
fn plane(path: &mut Vec<Coord>, at: Vector, a: Vector, b: Vector) {
    let (width, height) = (length(a), length(b));
    if height == 1 {
        return line(path, at, a, width);
    }
    if width == 1 {
        return line(path, at, b, height);
    }
    let (da, db) = (unit(a), unit(b));
    let (mut a2, mut b2) = (half(a), half(b));
    if 2 * width > 3 * height {
        if length(a2) % 2 == 1 && width > 2 {
            a2 = add(a2, da);
        }
        plane(path, at, a2, b);
        plane(path, add(at, a2), sub(a, a2), b);
    } else {
        if length(b2) % 2 == 1 && height > 2 {
            b2 = add(b2, db);
        }
        plane(path, at, b2, a2);
        plane(path, add(at, b2), a, sub(b, b2));
        plane(path, add(at, add(sub(a, da), sub(b2, db))), neg(b2), neg(sub(a, a2)));
    }
}

/// Fills the box spanned by `a`, `b` and `c`; the curve runs from one end of `a` to the other end.
fn solid(path: &mut Vec<Coord>, at: Vector, a: Vector, b: Vector, c: Vector) {
    let (width, height, depth) = (length(a), length(b), length(c));
    match (width, height, depth) {
        (_, 1, 1) => return line(path, at, a, width),
        (1, _, 1) => return line(path, at, b, height),
        (1, 1, _) => return line(path, at, c, depth),
        _ => {}
    }
    let (da, db, dc) = (unit(a), unit(b), unit(c));
    let even = |v: Vector, d: Vector, whole: i32| {
        if length(v) % 2 == 1 && whole > 2 { add(v, d) } else { v }
    };
    let a2 = even(half(a), da, width);
    let b2 = even(half(b), db, height);
    let c2 = even(half(c), dc, depth);
    let (a_rest, b_rest, c_rest) = (sub(a, a2), sub(b, b2), sub(c, c2));
    let (a_last, c_last) = (sub(a, da), sub(c, dc));
    if 2 * width > 3 * height && 2 * width > 3 * depth {
        solid(path, at, a2, b, c);
        solid(path, add(at, a2), a_rest, b, c);
    } else if 3 * height > 4 * depth {
        solid(path, at, b2, c, a2);
        solid(path, add(at, b2), a, b_rest, c);
        solid(path, add(at, add(a_last, sub(b2, db))), neg(b2), c, neg(a_rest));
    } else if 3 * depth > 4 * height {
        solid(path, at, c2, a2, b);
        solid(path, add(at, c2), a, b, c_rest);
        solid(path, add(at, add(a_last, sub(c2, dc))), neg(c2), neg(a_rest), b);
    } else {
        solid(path, at, b2, c2, a2);
        solid(path, add(at, b2), c, a2, b_rest);
        solid(path, add(at, add(sub(b2, db), c_last)), a, neg(b2), neg(c_rest));
        solid(path, add(at, add(a_last, add(b2, c_last))), neg(c), neg(a_rest), b_rest);
        solid(path, add(at, add(a_last, sub(b2, db))), neg(b2), c2, neg(a_rest));
    }
}

fn line(path: &mut Vec<Coord>, mut at: Vector, along: Vector, length: i32) {
    let step = unit(along);
    for _ in 0..length {
        path.push(at.map(|v| v as u16));
        at = add(at, step);
    }
}

fn length(v: Vector) -> i32 {
    v.iter().sum::<i32>().abs()
}

fn unit(v: Vector) -> Vector {
    v.map(i32::signum)
}

/// Returns half of the vector, rounded towards minus infinity as in the author's definition of the
/// curve.
fn half(v: Vector) -> Vector {
    v.map(|x| x.div_euclid(2))
}

fn add(a: Vector, b: Vector) -> Vector {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

fn sub(a: Vector, b: Vector) -> Vector {
    add(a, neg(b))
}

fn neg(v: Vector) -> Vector {
    v.map(|x| -x)
}
