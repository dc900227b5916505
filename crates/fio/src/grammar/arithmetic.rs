//! Evaluates arithmetic in option values, such as `(2*1024k)`.

use super::value::{Units, suffixed};

/// Deepest nesting of parentheses and signs in an expression.
const DEPTH: u32 = 64;

/// Evaluates `text`: numbers with suffixes, `+ - * / % ^` and parentheses.
///
/// # Errors
/// If the text is no expression: the reason.
pub(super) fn evaluate(text: &str, units: Units) -> Result<f64, String> {
    let mut parser = Parser { rest: text, units, depth: 0 };
    let value = parser.sum()?;
    match parser.rest.trim() {
        "" => Ok(value),
        rest => Err(format!("`{rest}` is not part of an expression")),
    }
}

struct Parser<'a> {
    rest: &'a str,
    units: Units,
    depth: u32,
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn eat(&mut self, wanted: &[char]) -> Option<char> {
        let next = self.peek().filter(|next| wanted.contains(next))?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    fn sum(&mut self) -> Result<f64, String> {
        let mut value = self.product()?;
        while let Some(sign) = self.eat(&['+', '-']) {
            let other = self.product()?;
            value = if sign == '+' { value + other } else { value - other };
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<f64, String> {
        let mut value = self.power()?;
        while let Some(sign) = self.eat(&['*', '/', '%']) {
            let other = self.power()?;
            if sign != '*' && other == 0.0 {
                return Err("the expression divides by zero".into());
            }
            value = match sign {
                '*' => value * other,
                '/' => value / other,
                _ => value % other,
            };
        }
        Ok(value)
    }

    fn power(&mut self) -> Result<f64, String> {
        let base = self.atom()?;
        match self.eat(&['^']) {
            Some(_) => self.nested(|parser| Ok(libm::pow(base, parser.power()?))),
            None => Ok(base),
        }
    }

    fn nested<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err("the expression is nested too deeply".into());
        }
        let value = inner(self);
        self.depth -= 1;
        value
    }

    fn atom(&mut self) -> Result<f64, String> {
        if self.eat(&['-']).is_some() {
            return self.nested(|parser| Ok(-parser.atom()?));
        }
        if self.eat(&['(']).is_some() {
            let value = self.nested(Parser::sum)?;
            return match self.eat(&[')']) {
                Some(_) => Ok(value),
                None => Err("a parenthesis is not closed".into()),
            };
        }
        self.peek();
        let number = |c: char| !(c.is_ascii_alphanumeric() || c == '.');
        let end = self.rest.find(number).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        if text.is_empty() {
            return Err("a number is missing".into());
        }
        self.rest = rest;
        suffixed(text, self.units)
    }
}
