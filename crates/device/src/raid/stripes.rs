//! The assignment of pages to stripes, and the position of parity.
//!
//! The pages of the mapping are striped over the dies in order, and N+1 consecutive pages form a
//! stripe, so that they lie on N+1 chips. One page of a stripe is parity, rotating from one row of
//! stripes over the chips to the next (left-symmetric). The others are the host's pages, in order.
//! One modulo operation thus yields the die of data and of parity alike, and code that moves pages
//! need not distinguish them.
//!
//! Invariants, which the tests below check for every page of some drives: a stripe has one parity
//! page; each host page has one page of the mapping, and no other host page has that one.

use crate::config::stripes::stripes_of;
use fowler_units::{Id, Lpn, StripeId};

/// The arrangement of a drive's pages in stripes. See docs/decisions/raid.md, "Where are parity
/// pages in the mapping?".
#[derive(Clone, Copy, Debug)]
pub struct Stripes {
    /// Number of pages per stripe, including parity.
    width: u32,
    /// Number of stripes that lie side by side in one row over all dies.
    abreast: u32,
    count: u32,
}

impl Stripes {
    /// Creates the arrangement in stripes of `data` pages and one parity page, on a drive of `dies`
    /// dies whose mapping has `pages` pages.
    pub fn new(data: u32, dies: u32, pages: u32) -> Self {
        let width = data + 1;
        Self { width, abreast: dies / width, count: stripes_of(pages, data) }
    }

    /// Returns the number of stripes on the drive.
    #[inline]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Returns the number of pages per stripe, including parity.
    #[inline]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Returns the number of data pages per stripe, N.
    #[inline]
    pub fn data(&self) -> u32 {
        self.width - 1
    }

    /// Returns the stripe to which a logical page (data or parity) belongs.
    #[inline]
    pub fn of(&self, page: Lpn) -> StripeId {
        StripeId(page.0 / self.width)
    }

    /// Returns the position of a logical page (data or parity) in its stripe.
    #[inline]
    pub fn position(&self, page: Lpn) -> u32 {
        page.0 % self.width
    }

    /// Returns the position of the parity in a stripe.
    #[inline]
    pub fn parity_position(&self, stripe: StripeId) -> u32 {
        self.data() - stripe.0 / self.abreast % self.width
    }

    /// Returns the parity page of a stripe.
    #[inline]
    pub fn parity(&self, stripe: StripeId) -> Lpn {
        self.page(stripe, self.parity_position(stripe))
    }

    /// Returns true if a logical page is a parity page.
    #[inline]
    pub fn is_parity(&self, page: Lpn) -> bool {
        self.parity(self.of(page)) == page
    }

    /// Returns the page at a position of a stripe.
    #[inline]
    pub fn page(&self, stripe: StripeId, position: u32) -> Lpn {
        Lpn(stripe.0 * self.width + position)
    }

    /// Iterates over the data pages of a stripe, with their positions.
    #[inline]
    pub fn data_pages(&self, stripe: StripeId) -> impl Iterator<Item = (u32, Lpn)> + use<> {
        let (stripes, parity) = (*self, self.parity_position(stripe));
        (0..stripes.width)
            .filter(move |&at| at != parity)
            .map(move |at| (at, stripes.page(stripe, at)))
    }

    /// Returns the positions of the data pages of a stripe, one bit each.
    #[inline]
    pub fn data_positions(&self, stripe: StripeId) -> u64 {
        (u64::MAX >> (u64::BITS - self.width)) & !(1 << self.parity_position(stripe))
    }

    /// Returns the logical page in the mapping table (which numbers data and parity pages) that
    /// holds a page of the host.
    #[inline]
    pub fn stored(&self, host: Lpn) -> Lpn {
        let stripe = StripeId(host.0 / self.data());
        let turn = self.parity_position(stripe) + 1 + host.0 % self.data();
        let position = if turn < self.width { turn } else { turn - self.width };
        self.page(stripe, position)
    }

    /// Returns the host page that a logical page of the mapping table holds; null if that page is
    /// parity.
    pub fn host(&self, page: Lpn) -> Lpn {
        let (stripe, position) = (self.of(page), self.position(page));
        let parity = self.parity_position(stripe);
        if position == parity {
            return Lpn::NONE;
        }
        let index = (position + self.width - parity - 1) % self.width;
        Lpn(stripe.0 * self.data() + index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_page_of_the_host_has_its_place_and_parity_the_rest() {
        for (data, dies) in [(1, 2), (1, 6), (4, 5), (4, 10), (2, 9), (8, 9), (8, 18), (63, 64)] {
            let stripes = Stripes::new(data, dies, 40 * (data + 1));
            let stored: BTreeSet<Lpn> =
                (0..stripes.count() * data).map(|page| stripes.stored(Lpn(page))).collect();
            let parity: BTreeSet<Lpn> =
                (0..stripes.count()).map(|stripe| stripes.parity(StripeId(stripe))).collect();
            assert!(stored.is_disjoint(&parity));
            for stripe in (0..stripes.count()).map(StripeId) {
                let positions = stripes.data_pages(stripe).fold(0, |all, (at, _)| all | 1 << at);
                assert_eq!(stripes.data_positions(stripe), positions);
            }
            assert_eq!((stored.len() + parity.len()) as u32, stripes.count() * (data + 1));
            for page in (0..stripes.count() * data).map(Lpn) {
                assert_eq!(stripes.host(stripes.stored(page)), page);
                assert_eq!(stripes.of(stripes.stored(page)), StripeId(page.0 / data));
            }
            assert!(parity.iter().all(|&page| stripes.host(page) == Lpn::NONE));
        }
    }

    /// Figure 1 (a) of DA-RAID-5: parity rotates over all chips, evenly.
    #[test]
    fn parity_visits_every_die_alike() {
        for (data, dies) in [(4, 5), (4, 10), (2, 9), (1, 4), (8, 18)] {
            let width = data + 1;
            let rounds = dies * width;
            let stripes = Stripes::new(data, dies, rounds * width);
            let mut parities = vec![0; dies as usize];
            for stripe in (0..stripes.count()).map(StripeId) {
                parities[(stripes.parity(stripe).0 % dies) as usize] += 1;
                let on: BTreeSet<u32> =
                    (0..width).map(|at| stripes.page(stripe, at).0 % dies).collect();
                assert_eq!(on.len() as u32, width, "N+1 dies");
            }
            assert!(
                parities.iter().all(|&count| count == width),
                "{data}+1 of {dies}: {parities:?}"
            );
        }
    }
}
