//! Correlation coefficients of two metrics.

/// Minimum number of pairs for a correlation. With fewer pairs, coefficients beyond 0.7 are common even if the values
/// are independent (the two-sided 5 % point of Pearson's r is 0.95 for four pairs and 0.71 for eight).
pub const FEWEST: usize = 8;

/// Returns Pearson's correlation of pairs, from -1 to 1; `None` if there are fewer than [`FEWEST`] pairs, or if one of
/// the two variables is constant.
pub fn pearson(pairs: &[(f64, f64)]) -> Option<f64> {
    let count = pairs.len() as f64;
    if pairs.len() < FEWEST {
        return None;
    }
    let varies = |of: fn(&(f64, f64)) -> f64| pairs.iter().any(|pair| of(pair) != of(&pairs[0]));
    // Compare the values themselves, because the mean of equal values may be rounded.
    if !varies(|pair| pair.0) || !varies(|pair| pair.1) {
        return None;
    }
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let sum =
        |of: &dyn Fn(f64, f64) -> f64| pairs.iter().map(|p| of(p.0 - x, p.1 - y)).sum::<f64>();
    let (xx, yy) = (sum(&|a, _| a * a), sum(&|_, b| b * b));
    (xx > 0.0 && yy > 0.0).then(|| sum(&|a, b| a * b) / (xx * yy).sqrt())
}

/// Returns Spearman's rank correlation: Pearson's correlation of the ranks. Equal values get the mean of their ranks.
pub fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    let x = ranks(pairs.iter().map(|pair| pair.0));
    let y = ranks(pairs.iter().map(|pair| pair.1));
    pearson(&x.into_iter().zip(y).collect::<Vec<_>>())
}

fn ranks(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let values: Vec<f64> = values.collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let mean = first as f64 + (equal.len() - 1) as f64 / 2.0;
        equal.iter().for_each(|&i| ranks[i] = mean);
        first += equal.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_full_correlation_and_curves_full_rank_correlation() {
        let line: Vec<(f64, f64)> =
            (0..8).map(|i| (f64::from(i), 9.0 - 2.0 * f64::from(i))).collect();
        assert_eq!(pearson(&line), Some(-1.0));
        // Seven pairs are too few.
        assert_eq!((pearson(&line[..7]), spearman(&line[..7])), (None, None));
        let curve: Vec<(f64, f64)> = (1..9).map(|i| (f64::from(i), f64::from(i).powi(3))).collect();
        assert!(pearson(&curve).is_some_and(|r| r < 0.99));
        assert_eq!(spearman(&curve), Some(1.0));
        assert_eq!(ranks([3.0, 1.0, 3.0].into_iter()), [1.5, 0.0, 1.5]);
        assert_eq!(pearson(&[(1.0, 2.0)]), None);
        assert_eq!(pearson(&[(1.0, 2.0), (1.0, 3.0)]), None);
        let equal: Vec<_> = (0..9).map(|i| (f64::from(i), 0.1)).collect();
        assert_eq!(pearson(&equal), None);
    }
}
