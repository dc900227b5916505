//! What a format asks of the columns of a line, in their order: each format says it once, and
//! [`Fields`](crate::fields::Fields) and [`Plain`](crate::plain::Plain) both read it.

use crate::fields::Fault;

/// A cursor over the columns of a line.
pub(crate) trait Columns<'a>: Clone {
    /// What is said of a line that is no record.
    type Fault;

    /// What is said of a line with this fault.
    fn fault(fault: Fault<'a>) -> Self::Fault;

    /// The next field, trimmed.
    fn next(&mut self, column: &'static str) -> Result<&'a [u8], Self::Fault>;

    /// The next field, which remains the next one; none if there is none.
    fn peek(&self) -> Result<Option<&'a [u8]>, Self::Fault>;

    /// The next field as a whole number.
    fn unsigned(&mut self, column: &'static str) -> Result<u64, Self::Fault>;

    /// As [`Columns::unsigned`], of a column in which most numbers have one digit.
    #[inline]
    fn small(&mut self, column: &'static str) -> Result<u64, Self::Fault> {
        self.unsigned(column)
    }

    /// The next field as two whole numbers with a comma between them, and the field.
    fn pair(&mut self, column: &'static str) -> Result<(u64, u64, &'a [u8]), Self::Fault>;

    /// The next field as a hexadecimal number.
    fn hexadecimal(&mut self, column: &'static str) -> Result<u64, Self::Fault>;

    /// The next field as a time: a decimal number of units of `10^digits` ns.
    fn time(&mut self, column: &'static str, digits: usize) -> Result<u64, Self::Fault>;

    /// The next field as a time in whole units of `scale` ns.
    fn whole_time(&mut self, column: &'static str, scale: u64) -> Result<u64, Self::Fault>;

    /// What the next field means, which is one of `words`. `expected` names them.
    fn word<T: Copy>(
        &mut self,
        column: &'static str,
        words: &[(&'static [u8], T)],
        expected: &'static str,
    ) -> Result<T, Self::Fault>;

    /// The next field names the host.
    fn host_named(&mut self, column: &'static str) -> Result<(), Self::Fault>;

    /// Passes over a last field so long that byte by byte it would take most of the line's time.
    fn skip_long(&mut self, column: &'static str) -> Result<(), Self::Fault>;

    /// Refuses whatever columns are left.
    fn finish(&mut self) -> Result<(), Self::Fault>;
}
