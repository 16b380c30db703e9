//! Rasterizes straight lines of any width to rows of pixels.

/// Upper left corner and lower right corner (exclusive) of a rectangle of pixels.
type Block = ((i32, i32), (i32, i32));

/// Returns the pixels of a straight line between two pixels, as rows of pixels. The centres of the returned pixels are
/// within a distance of `width` / 2 from the line, and the ends of the line are square. A horizontal or vertical line
/// is one block.
pub fn segment(from: (i32, i32), to: (i32, i32), width: u32) -> Vec<Block> {
    let (above, below) = ((width / 2) as i32, width.div_ceil(2) as i32);
    let (left, right) = (from.0.min(to.0), from.0.max(to.0));
    let (top, bottom) = (from.1.min(to.1), from.1.max(to.1));
    if top == bottom {
        return vec![((left, top - above), (right, top + below))];
    }
    if left == right {
        return vec![((left - above, top), (left + below, bottom))];
    }
    let corners = corners(from, to, f64::from(width));
    let row = |y: i32| {
        let at = f64::from(y) + 0.5;
        let mut span = (f64::INFINITY, f64::NEG_INFINITY);
        for i in 0..4 {
            let ((ax, ay), (bx, by)) = (corners[i], corners[(i + 1) % 4]);
            if (ay <= at) != (by <= at) {
                let x = ax + (bx - ax) * (at - ay) / (by - ay);
                span = (span.0.min(x), span.1.max(x));
            }
        }
        let (begin, end) = ((span.0).round() as i32, (span.1).round() as i32);
        (begin < end).then_some(((begin, y), (end, y + 1)))
    };
    (top - below..bottom + below).filter_map(row).collect()
}

/// Returns the corners of the line in order around its outline.
fn corners(from: (i32, i32), to: (i32, i32), width: f64) -> [(f64, f64); 4] {
    let [from, to] = [from, to].map(|(x, y)| (f64::from(x), f64::from(y)));
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let reach = width / 2.0 / dx.hypot(dy);
    let aside = |(x, y): (f64, f64), side: f64| (x - side * reach * dy, y + side * reach * dx);
    [aside(from, 1.0), aside(to, 1.0), aside(to, -1.0), aside(from, -1.0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn horizontal_and_vertical_lines_are_one_block() {
        assert_eq!(segment((2, 5), (9, 5), 4), [((2, 3), (9, 7))]);
        assert_eq!(segment((5, 9), (5, 2), 4), [((3, 2), (7, 9))]);
    }

    proptest! {
        /// Checks that the area equals length times width for every slope.
        #[test]
        fn lines_have_the_same_width_at_every_slope(dx in -300i32..300, dy in -300i32..300) {
            prop_assume!(dx.abs() + dy.abs() > 100);
            let area: i32 =
                segment((0, 0), (dx, dy), 8).iter().map(|(a, b)| (b.0 - a.0) * (b.1 - a.1)).sum();
            let length = f64::from(dx).hypot(f64::from(dy));
            prop_assert!((f64::from(area) / length - 8.0).abs() < 0.5, "{area} of {length}");
        }
    }
}
