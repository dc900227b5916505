//! Facts in the words of a protocol: `six threads`, `99 % writes`, `queue depth limit 64`,
//! `Poisson`.
//!
//! Remarks in parentheses do not count. A fact that the text states twice with different values is
//! an error.

/// Numbers from zero up that the description of a measurement may write out in words.
const WRITTEN_OUT: [&str; 17] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen",
];

/// Law of the arrival times at which a thread or stream issues requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// Requests arrive at exponentially distributed intervals.
    Poisson,
    /// Requests arrive at equal intervals.
    Fixed,
    /// Closed loop: the next request is issued as soon as one completes.
    Closed,
}

impl Arrivals {
    /// Names of the laws of arrival that the key `arrivals` in the description of a measurement may
    /// have.
    pub(super) const NAMES: [(&'static str, Arrivals); 3] =
        [("poisson", Arrivals::Poisson), ("fixed", Arrivals::Fixed), ("closed", Arrivals::Closed)];
}

/// A property that the text of a measurement's protocol may state: `None` if the text does not, an
/// error if it states different values.
pub(super) type Stated<T> = Result<Option<T>, String>;

/// Words of a protocol's text, in lower case; numbers and signs are words of their own.
pub(super) struct Words(Vec<String>);

impl Words {
    pub fn of(text: &str) -> Words {
        let mut words: Vec<String> = Vec::new();
        let (mut word, mut inside) = (String::new(), 0_u32);
        let mut end = |word: &mut String| {
            let trimmed = word.trim_end_matches(['.', ',']);
            if !trimmed.is_empty() {
                words.push(trimmed.to_string());
            }
            word.clear();
        };
        for c in text.chars() {
            match c {
                '(' => inside += 1,
                ')' => inside = inside.saturating_sub(1),
                _ if inside > 0 => {}
                '%' => {
                    end(&mut word);
                    word.push('%');
                    end(&mut word);
                }
                _ if c.is_alphanumeric() => word.extend(c.to_lowercase()),
                '.' | ',' | '/' if word.ends_with(|c: char| c.is_ascii_digit()) => word.push(c),
                _ => end(&mut word),
            }
        }
        end(&mut word);
        Words(words)
    }

    fn at(&self, at: usize) -> &str {
        self.0.get(at).map_or("", String::as_str)
    }

    fn number(&self, at: usize) -> Option<f64> {
        let word = self.at(at);
        if let Some(number) = WRITTEN_OUT.iter().position(|it| *it == word) {
            return Some(number as f64);
        }
        let word = word.replace(',', "");
        match word.split_once('/') {
            Some((above, below)) => {
                let (above, below): (f64, f64) = (above.parse().ok()?, below.parse().ok()?);
                (below > 0.0).then_some(above / below)
            }
            None => word.parse().ok(),
        }
    }

    /// Returns the only value that `find` returns when called with the position of every word in
    /// the description of a measurement; `None` without a value. Several values are an error, in
    /// whose text `of`, such as `queue depths`, names them.
    fn only(&self, of: &str, find: impl Fn(usize) -> Option<f64>) -> Stated<f64> {
        let mut found: Vec<f64> = Vec::new();
        for value in (0..self.0.len()).filter_map(find) {
            if !found.contains(&value) {
                found.push(value);
            }
        }
        match found[..] {
            [] => Ok(None),
            [one] => Ok(Some(one)),
            _ => {
                let all: Vec<String> = found.iter().map(f64::to_string).collect();
                Err(format!("gives several {of}: {}", all.join(", ")))
            }
        }
    }

    /// Returns the number of threads that the text of a measurement's protocol states.
    pub fn threads(&self) -> Stated<f64> {
        const NOUNS: [&str; 6] = ["thread", "threads", "job", "jobs", "process", "processes"];
        // Words that end a number of something else: "queue depth 64 per thread", "60 s, jobs x 8".
        const NO_ADJECTIVES: [&str; 16] = [
            "per", "for", "of", "x", "%", "s", "ms", "us", "seconds", "min", "minutes", "kib",
            "mib", "gib", "mb", "gb",
        ];
        self.only("numbers of threads", |at| {
            let number = self.number(at)?;
            // An adjective may come between: "six fio jobs".
            let is_adjective = !NO_ADJECTIVES.contains(&self.at(at + 1));
            let noun = NOUNS.contains(&self.at(at + 1))
                || (is_adjective && NOUNS.contains(&self.at(at + 2)));
            let other = self.number(at + 1).is_some();
            (noun && !other).then_some(number)
        })
    }

    /// Returns the largest number of requests in flight per thread that the text of a measurement's
    /// protocol states.
    pub fn depth(&self) -> Stated<f64> {
        self.only("queue depths", |at| {
            let after = match (self.at(at), self.at(at + 1)) {
                ("queue", "depth") => at + 2,
                ("qd" | "depth", _) if at == 0 || self.at(at - 1) != "queue" => at + 1,
                _ => return None,
            };
            (after..after + 4)
                .take_while(|&it| {
                    it == after || ["limit", "of", "at", "most"].contains(&self.at(it - 1))
                })
                .find_map(|it| self.number(it))
        })
    }

    /// Returns the share of writes, from 0 to 1, that the text of a measurement's protocol states.
    pub fn write_share(&self) -> Stated<f64> {
        let percent = self.only("shares of writes", |at| {
            let number = self.number(at).filter(|_| self.at(at + 1) == "%")? / 100.0;
            let noun = if self.at(at + 2) == "random" { at + 3 } else { at + 2 };
            match self.at(noun) {
                "write" | "writes" => Some(number),
                // Two decimals of a per cent: 100 - 1 is 99 to the last bit.
                "read" | "reads" => Some(((1.0 - number) * 1e4).round() / 1e4),
                _ => None,
            }
        })?;
        let coin = self.only("probabilities", |at| match self.at(at) {
            "probability" => self.number(at + 1),
            "fair" if self.at(at + 1) == "coin" => Some(0.5),
            _ => None,
        })?;
        match (percent, coin) {
            (Some(one), Some(other)) if (one - other).abs() > 1e-9 => {
                Err(format!("gives two different shares of writes: {one}, {other}"))
            }
            (Some(share), _) => Ok(Some(share)),
            // "a read or a write with probability 1/2": another one does not say of which.
            (None, Some(coin)) if (coin - 0.5).abs() > 1e-9 => Err(format!(
                "states a probability of {coin}, but not whether it is that of a read or of a write"
            )),
            (None, coin) => Ok(coin),
        }
    }

    /// Returns the law of arrival times that the text of a measurement's protocol states.
    pub fn arrivals(&self) -> Stated<Arrivals> {
        let mut found: Vec<Arrivals> = Vec::new();
        for at in 0..self.0.len() {
            let law = match (self.at(at), self.at(at + 1)) {
                ("poisson", _) | ("exponential", "gaps") => Arrivals::Poisson,
                ("fixed", "interval" | "intervals" | "gaps" | "rate") => Arrivals::Fixed,
                ("equal" | "constant", "gaps" | "intervals") => Arrivals::Fixed,
                ("closed", "loop") => Arrivals::Closed,
                _ => continue,
            };
            if !found.contains(&law) {
                found.push(law);
            }
        }
        match found[..] {
            [] => Ok(None),
            [one] => Ok(Some(one)),
            _ => Err("gives several laws of arrivals".into()),
        }
    }

    /// Returns the requests per second that the text of a measurement's protocol states.
    pub fn rate(&self) -> Stated<f64> {
        const NOUNS: [&str; 4] = ["operations", "requests", "ios", "probes"];
        self.only("rates", |at| {
            let number = self.number(at)?;
            let per = matches!((self.at(at + 2), self.at(at + 3)), ("a" | "per", "second"));
            if NOUNS.contains(&self.at(at + 1)) && per {
                return Some(number);
            }
            let every = at > 0 && self.at(at - 1) == "every" && self.at(at + 1) == "us";
            (every && number > 0.0).then(|| 1e6 / number)
        })
    }
}
