//! Amounts of work, and how they are combined.

/// Amounts of work. Infinite ones are those that nothing limits.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Amounts {
    /// Sessions, with failed attempts.
    pub sessions: f64,
    /// Judged conditions, choices, extracted parts and summaries.
    pub decisions: f64,
    /// Input and output tokens.
    pub tokens: f64,
    /// The cost in US dollars.
    pub cost: f64,
}

impl Amounts {
    fn with(self, other: Self, combine: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            sessions: combine(self.sessions, other.sessions),
            decisions: combine(self.decisions, other.decisions),
            tokens: combine(self.tokens, other.tokens),
            cost: combine(self.cost, other.cost),
        }
    }

    /// The sum of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        self.with(other, |a, b| a + b)
    }

    /// The lesser of each.
    #[must_use]
    pub fn at_most(self, other: Self) -> Self {
        self.with(other, f64::min)
    }

    /// The greater of each.
    #[must_use]
    pub fn at_least(self, other: Self) -> Self {
        self.with(other, f64::max)
    }

    /// So many times as much. Nothing without a limit is still nothing.
    #[must_use]
    pub fn times(self, count: f64) -> Self {
        self.with(self, |amount, _| if amount == 0.0 || count == 0.0 { 0.0 } else { amount * count })
    }

    /// What is left after a part of it. Nothing is left of a part that is greater.
    #[must_use]
    pub fn without(self, part: Self) -> Self {
        self.with(part, |amount, part| (amount - part).max(0.0))
    }

    pub(super) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// How often something happens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Count {
    pub(super) least: f64,
    pub(super) most: f64,
    pub(super) expected: f64,
}

impl Count {
    pub(super) fn exactly(count: f64) -> Self {
        Self { least: count, most: count, expected: count }
    }
}

/// The least for each way out of a statement; `None` if it does not lead out that way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Exits {
    /// To the next statement.
    pub(super) end: Option<Amounts>,
    /// By `break`.
    pub(super) broken: Option<Amounts>,
    /// By `continue`.
    pub(super) continued: Option<Amounts>,
    /// By `return` or an unnamed `output`.
    pub(super) returned: Option<Amounts>,
    /// By an error.
    pub(super) thrown: Option<Amounts>,
}

impl Default for Exits {
    fn default() -> Self {
        Self { end: Some(Amounts::default()), ..Self::NONE }
    }
}

/// The lesser of two ways to the same place.
pub(super) fn lesser(a: Option<Amounts>, b: Option<Amounts>) -> Option<Amounts> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.at_most(b)),
        (one, other) => one.or(other),
    }
}

impl Exits {
    pub(super) const NONE: Self =
        Self { end: None, broken: None, continued: None, returned: None, thrown: None };

    /// The same for each way out.
    pub(super) fn map(self, change: impl Fn(Option<Amounts>) -> Option<Amounts>) -> Self {
        Self {
            end: change(self.end),
            broken: change(self.broken),
            continued: change(self.continued),
            returned: change(self.returned),
            thrown: change(self.thrown),
        }
    }

    /// The least with which a program completes, or fails if it cannot complete.
    pub(super) fn completed(&self) -> Amounts {
        lesser(self.end, self.returned).or(self.thrown).unwrap_or_default()
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self {
            end: lesser(self.end, other.end),
            broken: lesser(self.broken, other.broken),
            continued: lesser(self.continued, other.continued),
            returned: lesser(self.returned, other.returned),
            thrown: lesser(self.thrown, other.thrown),
        }
    }

    /// What follows one of the ways out.
    pub(super) fn following(self, before: Option<Amounts>) -> Self {
        self.map(|exit| Some(before?.and(exit?)))
    }

    /// The way to each of these, whichever is the lesser.
    pub(super) fn any(self) -> Option<Amounts> {
        [self.end, self.broken, self.continued, self.returned, self.thrown].into_iter().fold(None, lesser)
    }
}

/// The least, most and expected amounts of a part of a program.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Bounds {
    pub(super) least: Exits,
    pub(super) most: Amounts,
    pub(super) expected: Amounts,
}

impl Bounds {
    pub(super) fn work(least: Amounts, most: Amounts, expected: Amounts) -> Self {
        Self { least: Exits { end: Some(least), ..Exits::NONE }, most, expected }
    }

    /// One after the other.
    pub(super) fn then(self, next: Self) -> Self {
        if self.least.end.is_none() {
            return self;
        }
        let before = self.least.end;
        let least = Exits { end: None, ..self.least }.or(next.least.following(before));
        Self { least, most: self.most.and(next.most), expected: self.expected.and(next.expected) }
    }

    /// All of several, one after the other.
    pub(super) fn all(parts: impl IntoIterator<Item = Self>) -> Self {
        parts.into_iter().fold(Self::default(), Self::then)
    }

    /// One of several, each as likely as the others.
    pub(super) fn one_of(all: &[Self]) -> Self {
        let share = 1.0 / all.len().max(1) as f64;
        let mut one = Self { least: Exits::NONE, ..Self::default() };
        for bounds in all {
            one.least = one.least.or(bounds.least);
            one.most = one.most.at_least(bounds.most);
            one.expected = one.expected.and(bounds.expected.times(share));
        }
        if all.is_empty() { Self::default() } else { one }
    }

    /// It may also fail, with what it has come to so far.
    pub(super) fn or_fails(mut self) -> Self {
        self.least.thrown = Some(Amounts::default());
        self
    }
}
