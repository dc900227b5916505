//! Detector that classifies pages by their hits in the buffer, the first reference included:
//! read-hot, write-hot or mixed (HIRE, section 3.1).

use super::Params;
use crate::policy::stream_tag::AccessClass;

/// Classifies pages by their hits in the buffer.
#[derive(Clone, Debug)]
pub struct BufferHits {
    watermark: f64,
}

impl BufferHits {
    pub(super) fn new(params: &Params) -> Self {
        Self { watermark: params.watermark }
    }

    #[inline]
    pub(super) fn class(&self, reads: u16, writes: u16) -> AccessClass {
        let least = self.watermark * (f64::from(reads) + f64::from(writes));
        match (f64::from(reads) > least, f64::from(writes) > least) {
            (true, _) => AccessClass::ReadHot,
            (_, true) => AccessClass::WriteHot,
            _ => AccessClass::Mixed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_units::Bytes;

    #[test]
    fn more_than_the_watermark_is_hot() {
        let params = Params { detectors: 2, hot_up_to: Bytes(0), watermark: 0.95 };
        let class = |reads, writes| BufferHits::new(&params).class(reads, writes);
        assert_eq!((class(19, 1), class(20, 1)), (AccessClass::Mixed, AccessClass::ReadHot));
        assert_eq!((class(1, 19), class(1, 20)), (AccessClass::Mixed, AccessClass::WriteHot));
        assert_eq!((class(1, 0), class(0, 1)), (AccessClass::ReadHot, AccessClass::WriteHot));
        assert_eq!((class(1, 1), class(0, 0)), (AccessClass::Mixed, AccessClass::Mixed));
    }
}
