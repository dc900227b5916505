//! Detector of hot data: data of small requests is hot (RHIO, section III-A, after Im and Shin's
//! ComboFTL). The paper does not define "small". Here, a request is small if it is no larger than
//! the median request.

use super::Params;
use fowler_units::Bytes;

/// Largest request size that is counted separately, in pages. Larger requests count as this size.
const LARGEST: usize = 1024;

/// Detects hot data by the size of the request that writes it.
#[derive(Clone, Debug)]
pub struct RequestSize {
    /// Largest size, in pages, of write requests whose data counts as hot, if configured; `None` if
    /// the limit is the running median size of all write requests.
    fixed: Option<u32>,
    /// Number of write requests seen so far, by size in pages.
    seen: Box<[u64]>,
    total: u64,
    /// Median size, in pages, of the write requests seen so far: the smallest size that at least
    /// half of them do not exceed.
    median: usize,
    /// Number of requests smaller than `median` pages.
    below: u64,
}

impl RequestSize {
    pub(super) fn new(params: &Params, page_size: Bytes) -> Self {
        let limit = params.hot_up_to.0;
        Self {
            fixed: (limit > 0).then(|| (limit / page_size.0) as u32),
            seen: vec![0; LARGEST + 1].into(),
            total: 0,
            median: 0,
            below: 0,
        }
    }

    /// Returns the request sizes seen so far in pages, each with its number of requests.
    pub(super) fn seen(&self) -> Vec<(u32, u64)> {
        let all = (0..).zip(&*self.seen).map(|(size, &count)| (size, count));
        all.filter(|&(_, count)| count > 0).collect()
    }

    /// Restores the request sizes seen so far. Returns false if a size is one that is never
    /// counted.
    pub(super) fn resume(&mut self, seen: &[(u32, u64)]) -> bool {
        let counted = |&(size, count): &(u32, u64)| size <= LARGEST as u32 && count < 1 << 50;
        if !seen.iter().all(counted) {
            return false;
        }
        self.seen.fill(0);
        seen.iter().for_each(|&(size, count)| self.seen[size as usize] = count);
        (self.total, self.median, self.below) = (self.seen.iter().sum(), 0, 0);
        if self.total > 0 {
            self.find_median();
        }
        true
    }

    /// Counts a request of `pages` pages. Returns true if its data is hot, because the request is
    /// small.
    #[inline]
    pub(super) fn is_hot(&mut self, pages: u32) -> bool {
        match self.fixed {
            Some(limit) => pages <= limit,
            None => {
                let size = (pages as usize).min(LARGEST);
                self.count(size);
                size <= self.median
            }
        }
    }

    /// Counts a request size and updates the lower median: the smallest size that at least half of
    /// all requests do not exceed.
    fn count(&mut self, size: usize) {
        self.seen[size] += 1;
        self.total += 1;
        self.below += u64::from(size < self.median);
        self.find_median();
    }

    fn find_median(&mut self) {
        while 2 * self.below >= self.total {
            self.median -= 1;
            self.below -= self.seen[self.median];
        }
        while 2 * (self.below + self.seen[self.median]) < self.total {
            self.below += self.seen[self.median];
            self.median += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_units::Rng;

    fn detector(hot_up_to: u64) -> RequestSize {
        RequestSize::new(
            &Params { detectors: 1, hot_up_to: Bytes(hot_up_to), watermark: 1.0 },
            Bytes(4096),
        )
    }

    #[test]
    fn the_running_median_is_that_of_a_sorted_list() {
        let mut rng = Rng::stream(11, "request_size");
        let (mut detector, mut sizes) = (detector(0), Vec::new());
        for _ in 0..3000 {
            let most = if rng.chance(0.1) { 2000 } else { 16 };
            let size = 1 + rng.below(most) as u32;
            sizes.push(size.min(LARGEST as u32));
            sizes.sort_unstable();
            let median = sizes[(sizes.len() - 1) / 2];
            assert_eq!(detector.is_hot(size), size.min(LARGEST as u32) <= median, "{size}");
            assert_eq!(detector.median, median as usize);
        }
    }

    #[test]
    fn a_limit_can_be_set() {
        let mut detector = detector(8192);
        assert_eq!([1, 2, 3].map(|pages| detector.is_hot(pages)), [true, true, false]);
    }
}
