//! Access to the columns of a line in order. Each format describes its columns once;
//! [`Fields`](crate::fields::Fields) and [`Plain`](crate::plain_lines::Plain) both decode from that
//! description.

use crate::extra::Extra;
use crate::fields::Fault;

/// A cursor over the columns of a line.
pub(crate) trait Columns<'a>: Clone {
    /// True if this decoder of trace lines can read lines that stand for several requests, such as
    /// a write with a preflush. Other decoders leave such lines to one that can.
    const SEVERAL: bool = true;

    /// Error that this decoder of trace lines returns for a line that is not a request.
    type Fault;

    /// Converts the fault found in a trace line into the error type of this decoder.
    fn fault(fault: Fault<'a>) -> Self::Fault;

    /// Returns the next field of the line, without the blanks around it. `column` names the field
    /// in messages.
    fn next(&mut self, column: &'static str) -> Result<&'a [u8], Self::Fault>;

    /// Returns the next field without consuming it; `None` at the end of the line.
    fn peek(&self) -> Result<Option<&'a [u8]>, Self::Fault>;

    /// Parses the next field as a whole number.
    fn unsigned(&mut self, column: &'static str) -> Result<u64, Self::Fault>;

    /// Parses the next field as a whole number; faster than [`Columns::unsigned`] for a column in
    /// which most numbers have one digit.
    #[inline]
    fn small(&mut self, column: &'static str) -> Result<u64, Self::Fault> {
        self.unsigned(column)
    }

    /// Parses the next field as two whole numbers with a comma between them; also returns the
    /// field.
    fn pair(&mut self, column: &'static str) -> Result<(u64, u64, &'a [u8]), Self::Fault>;

    /// Parses the next field as a hexadecimal number.
    fn hexadecimal(&mut self, column: &'static str) -> Result<u64, Self::Fault>;

    /// Parses the next field as a time: a decimal number of units of `10^digits` ns.
    fn time(&mut self, column: &'static str, digits: usize) -> Result<u64, Self::Fault>;

    /// Parses the next field as a time in whole units of `scale` ns.
    fn whole_time(&mut self, column: &'static str, scale: u64) -> Result<u64, Self::Fault>;

    /// Looks up the next field in `words` and returns its meaning. `expected` lists the words for
    /// messages.
    fn word<T: Copy>(
        &mut self,
        column: &'static str,
        words: &[(&'static [u8], T)],
        expected: &'static str,
    ) -> Result<T, Self::Fault>;

    /// Returns the whole line of a text format, or the whole record of a binary format, and
    /// consumes it.
    fn bytes(&mut self) -> Result<&'a [u8], Self::Fault>;

    /// Reads the next field as the name of the host or, in formats that name devices, of the
    /// device.
    fn host_named(&mut self, column: &'static str) -> Result<(), Self::Fault>;

    /// Stores `name` as the name of the host or device of the line, if it was not read as a field
    /// of its own (see [`Columns::host_named`]).
    fn host_is(&mut self, name: &'a [u8]);

    /// Stores flags and further requests that the line asks for beside its own request, such as a
    /// preflush.
    fn extra(&mut self, extra: Extra) -> Result<(), Self::Fault>;

    /// Skips a last field that is too long to be scanned byte by byte.
    fn skip_long(&mut self, column: &'static str) -> Result<(), Self::Fault>;

    /// Returns an error if the line has columns that were not read.
    fn finish(&mut self) -> Result<(), Self::Fault>;
}
