//! Maps a trace's addresses to a drive of another size. Traces come from volumes of all sizes, and
//! how they are mapped to the simulated drive changes the result, so the mapping is explicit.

use crate::TraceError;
use crate::extents::{Dense, Extents};
use fowler_units::{Diagnostic, HostIo, HostOp};

/// Treatment of requests whose address is beyond the drive's capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Remap {
    /// Requests beyond the drive's capacity are errors.
    #[default]
    Error,
    /// Wrap addresses at the drive's capacity. A request that would cross the end is moved down to
    /// end there, so one request stays one request.
    Modulo,
    /// Renumber the pages that the trace touches as the drive's first pages, in address order:
    /// neighbors stay neighbors, gaps close. Trimmed pages count as touched. Needs a first pass.
    Compact,
}

impl Remap {
    /// Every way to map the addresses of a trace to the drive's address space, in order.
    pub const ALL: [Remap; 3] = [Remap::Error, Remap::Modulo, Remap::Compact];

    /// Returns the name in configuration of this way to map a trace's addresses to the drive:
    /// `error`, `modulo` or `compact`.
    pub fn name(self) -> &'static str {
        ["error", "modulo", "compact"][self as usize]
    }

    /// Returns the way to map a trace's addresses to the drive that has this name in configuration;
    /// `None` if there is none.
    pub fn by_name(name: &str) -> Option<Remap> {
        Remap::ALL.into_iter().find(|remap| remap.name() == name)
    }
}

/// Name in place of a file name in the errors about addresses, since the remapper does not know the
/// trace file.
const NAME: &str = "remap";
/// Largest number of requests beyond the drive's capacity that an error lists.
const SHOWN: usize = 5;

/// Maps the addresses of a trace's requests into a drive's capacity.
#[derive(Clone, Debug)]
pub struct Remapper {
    remap: Remap,
    /// Capacity of the drive in bytes; a whole number of pages.
    capacity: u64,
    dense: Option<Dense>,
}

impl Remapper {
    /// Returns a remapper for a drive of `capacity_bytes`, rounded down to whole pages.
    /// `first_pass`, the whole trace, is read for [`Remap::Compact`] only; otherwise it may be
    /// empty.
    ///
    /// # Errors
    /// If the drive holds no page, if the first pass fails, or if the touched pages do not fit.
    pub fn new(
        remap: Remap,
        capacity_bytes: u64,
        page_size_bytes: u64,
        first_pass: impl IntoIterator<Item = Result<HostIo, TraceError>>,
    ) -> Result<Remapper, TraceError> {
        let pages = capacity_bytes.checked_div(page_size_bytes).unwrap_or(0);
        if pages == 0 {
            let what =
                format!("a drive of {capacity_bytes} B holds no page of {page_size_bytes} B");
            return Err(TraceError::one(NAME, Diagnostic::of(what)));
        }
        let capacity = pages * page_size_bytes;
        if remap != Remap::Compact {
            return Ok(Remapper { remap, capacity, dense: None });
        }
        let mut extents = Extents::new(page_size_bytes);
        for request in first_pass {
            extents.add(&request?);
        }
        let dense = extents.into_dense();
        if dense.pages() > pages {
            let touched = dense.pages();
            let what = format!(
                "the trace touches {touched} pages of {page_size_bytes} B ({} MiB) and the drive \
                 holds {pages} ({} MiB)",
                mib(u128::from(touched) * u128::from(page_size_bytes)),
                mib(u128::from(capacity)),
            );
            let hint = "simulate a larger drive, cut the trace with --limit, or wrap addresses \
                        with --remap modulo";
            return Err(TraceError::one(NAME, Diagnostic::of(what).hint(hint.to_string())));
        }
        Ok(Remapper { remap, capacity, dense: Some(dense) })
    }

    /// Returns the number of pages the trace touches; known for [`Remap::Compact`] only.
    pub fn touched_pages(&self) -> Option<u64> {
        self.dense.as_ref().map(Dense::pages)
    }

    /// Maps one request to the drive. A flush has no address and is returned unchanged.
    ///
    /// # Errors
    /// If the request does not fit on the drive, or was not in the first pass over the trace.
    #[inline]
    pub fn apply(&self, request: &HostIo) -> Result<HostIo, TraceError> {
        if request.op == HostOp::Flush {
            return Ok(*request);
        }
        self.place(request)
            .map(|offset| request.with_offset(offset))
            .ok_or_else(|| self.refuse(1, &[*request]))
    }

    #[inline]
    fn place(&self, request: &HostIo) -> Option<u64> {
        let size = u64::from(request.size);
        match self.remap {
            Remap::Error => {
                let end = request.offset.checked_add(size)?;
                (end <= self.capacity).then_some(request.offset)
            }
            Remap::Modulo => {
                let offset = request.offset % self.capacity;
                Some(offset.min(self.capacity.checked_sub(size)?))
            }
            Remap::Compact => self.dense.as_ref()?.place(request.offset, request.size),
        }
    }

    #[cold]
    fn refuse(&self, count: u64, examples: &[HostIo]) -> TraceError {
        let capacity = self.capacity;
        let examples: Vec<String> = examples
            .iter()
            .map(|it| {
                let HostIo { at, offset, size, op, .. } = it;
                format!("{} of {size} B at byte {offset}, {} ns", op.word(), at.0)
            })
            .collect();
        let diagnostic = match self.remap {
            Remap::Error => Diagnostic::of(format!(
                "{count} requests exceed the drive's capacity of {capacity} B"
            ))
            .hint(
                "fit the trace to the drive: wrap its addresses with --remap modulo, or close \
                         the gaps between them with --remap compact"
                    .to_string(),
            ),
            Remap::Modulo => Diagnostic::of(format!(
                "{count} requests are larger than the whole drive ({capacity} B)"
            )),
            Remap::Compact => Diagnostic::of(format!(
                "{count} requests touch pages that no request touched in the first pass over the \
                 trace"
            ))
            .hint(
                "both passes must read the same trace; it may have changed in between".to_string(),
            ),
        };
        TraceError::one(NAME, diagnostic.text(examples.join("; ").as_bytes()))
    }

    /// Maps the requests of `source`. The first one that does not fit ends the iterator: the rest
    /// is read to count the others that do not fit, and a single error reports them all.
    pub fn over<I>(self, source: I) -> Remapped<I::IntoIter>
    where
        I: IntoIterator<Item = Result<HostIo, TraceError>>,
    {
        Remapped { remapper: self, source: source.into_iter(), done: false }
    }
}

/// Converts bytes to whole MiB, rounded up.
fn mib(bytes: u128) -> u128 {
    bytes.div_ceil(1 << 20)
}

/// Iterator over the requests of a source at their new addresses, as [`Remapper::over`] returns it.
#[derive(Clone, Debug)]
pub struct Remapped<I> {
    remapper: Remapper,
    source: I,
    done: bool,
}

impl<I> Remapped<I> {
    /// Returns the iterator that supplies the requests before their addresses are mapped, such as a
    /// trace reader with its report.
    pub fn source(&self) -> &I {
        &self.source
    }

    /// Returns the iterator that supplies the requests before their addresses are mapped, for
    /// modification.
    pub fn source_mut(&mut self) -> &mut I {
        &mut self.source
    }
}

impl<I: Iterator<Item = Result<HostIo, TraceError>>> Remapped<I> {
    /// Counts the requests after `first` that do not fit the drive, and returns the error for all.
    #[cold]
    fn refuse_rest(&mut self, first: HostIo) -> TraceError {
        let (mut count, mut examples, mut broken) = (1, vec![first], None);
        for request in self.source.by_ref() {
            match request {
                Ok(request) if self.remapper.apply(&request).is_err() => {
                    count += 1;
                    if examples.len() < SHOWN {
                        examples.push(request);
                    }
                }
                Ok(_) => {}
                Err(error) => broken = Some(error),
            }
        }
        let mut error = self.remapper.refuse(count, &examples);
        if let Some(broken) = broken {
            error.diagnostics.extend(broken.diagnostics);
            error.counts = broken.counts;
            error.file = broken.file;
        }
        error
    }
}

impl<I: Iterator<Item = Result<HostIo, TraceError>>> Iterator for Remapped<I> {
    type Item = Result<HostIo, TraceError>;

    #[inline]
    fn next(&mut self) -> Option<Result<HostIo, TraceError>> {
        if self.done {
            return None;
        }
        let request = match self.source.next()? {
            Ok(request) => request,
            Err(error) => return Some(Err(error)),
        };
        if request.op == HostOp::Flush {
            return Some(Ok(request));
        }
        if let Some(offset) = self.remapper.place(&request) {
            return Some(Ok(request.with_offset(offset)));
        }
        self.done = true;
        Some(Err(self.refuse_rest(request)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_units::Nanos;
    use std::iter::empty;

    fn read(offset: u64, size: u32) -> HostIo {
        HostIo::read(Nanos(7), offset, size)
    }

    const FLUSH: HostIo = HostIo::flush(Nanos(9));

    #[test]
    fn addresses_beyond_the_capacity_are_counted_and_shown() {
        let drive = Remapper::new(Remap::Error, 10_000, 4096, empty()).unwrap();
        assert_eq!(
            drive.apply(&read(4096, 4096)),
            Ok(read(4096, 4096)),
            "up to the last whole page"
        );
        assert!(drive.apply(&read(4096, 4097)).is_err());
        assert_eq!(drive.apply(&FLUSH), Ok(FLUSH));
        let source = [read(0, 512), read(9000, 512), FLUSH, read(1 << 40, 512)].map(Ok);
        let mut out = drive.over(source);
        assert_eq!(out.next(), Some(Ok(read(0, 512))));
        let text = out.next().unwrap().unwrap_err().to_string();
        assert!(text.contains("2 requests exceed the drive's capacity of 8192 B"), "{text}");
        assert!(
            text.contains("read of 512 B at byte 9000, 7 ns; read of 512 B at byte 1099511627776")
        );
        assert!(text.contains("--remap compact"), "{text}");
        assert_eq!(out.next(), None);
    }

    #[test]
    fn wrapped_requests_stay_whole_and_inside() {
        let drive = Remapper::new(Remap::Modulo, 8192, 4096, empty()).unwrap();
        for (offset, size, wrapped) in
            [(0, 512, 0), (8192, 512, 0), (12_800, 512, 4608), (8191, 512, 7680), (5000, 8192, 0)]
        {
            assert_eq!(drive.apply(&read(offset, size)), Ok(read(wrapped, size)));
        }
        let error = drive.apply(&read(0, 8193)).unwrap_err().to_string();
        assert!(error.contains("larger than the whole drive (8192 B)"), "{error}");
    }

    #[test]
    fn compacting_closes_gaps_and_keeps_order() {
        let trace = [read(1 << 40, 4096), read(4096, 100), FLUSH, read((1 << 40) + 4096, 1)];
        let first_pass = trace.map(Ok);
        let drive = Remapper::new(Remap::Compact, 3 * 4096, 4096, first_pass.clone()).unwrap();
        assert_eq!(drive.touched_pages(), Some(3));
        let out: Vec<_> =
            drive.clone().over(first_pass.clone()).map(|it| it.unwrap().offset).collect();
        assert_eq!(out, [4096, 0, 0, 8192]);
        assert!(drive.apply(&read(0, 1)).unwrap_err().to_string().contains("first pass"));
        let error = Remapper::new(Remap::Compact, 2 * 4096, 4096, first_pass).unwrap_err();
        assert!(
            error.to_string().contains("touches 3 pages of 4096 B (1 MiB) and the drive holds 2")
        );
    }

    #[test]
    fn an_error_of_the_trace_passes_through() {
        let broken = || Err(TraceError::one("t", Diagnostic::of("torn")));
        assert!(Remapper::new(Remap::Compact, 8192, 4096, [broken()]).is_err());
        let drive = Remapper::new(Remap::Error, 8192, 4096, empty()).unwrap();
        assert_eq!(drive.clone().over([broken()]).next(), Some(broken()));
        let both = drive.over([Ok(read(9000, 1)), broken()]).next().unwrap().unwrap_err();
        assert_eq!((both.file.as_str(), both.diagnostics.len()), ("t", 2));
        assert!(Remapper::new(Remap::Error, 100, 4096, empty()).is_err());
        assert!(Remapper::new(Remap::Error, 100, 0, empty()).is_err());
    }

    #[test]
    fn every_way_is_found_by_its_name() {
        for remap in Remap::ALL {
            assert_eq!(Remap::by_name(remap.name()), Some(remap));
        }
        assert_eq!(Remap::by_name("Error"), None);
    }
}
