//! What the turns of a session have used.

use prose_vm::effect::Usage;

/// What a session has used before a turn, as far as it is known.
#[derive(Clone, Copy)]
pub(super) struct Spending {
    /// The tokens and the cost of the whole session.
    total: Option<Usage>,
    /// The cost of the whole session as the protocol has it, which for an earlier session may include what is counted already.
    cost: Option<f64>,
}

impl Spending {
    /// Nothing, unless the session is an earlier one.
    pub(super) fn new(is_earlier: bool) -> Self {
        Self { total: (!is_earlier).then(Usage::default), cost: (!is_earlier).then_some(0.0) }
    }

    /// What an earlier session has used.
    pub(super) fn after(total: Usage) -> Self {
        Self { total: Some(total), cost: None }
    }

    /// Whether the whole session has used another amount than before.
    pub(super) fn is_new(&self, total: Option<Usage>) -> bool {
        total != self.total
    }

    /// What a turn has used after which the whole session has used this, if that is known, and which has reported this itself.
    pub(super) fn add(&mut self, total: Option<Usage>, reported: Option<Usage>) -> Option<Usage> {
        let used = match total {
            Some(total) => self.add_total(total).or(reported),
            None => self.add_turn(reported),
        };
        used.filter(|used| *used != Usage::default())
    }

    /// What a turn has used after which the whole session has used this.
    fn add_total(&mut self, total: Usage) -> Option<Usage> {
        let before = self.total.replace(total)?;
        let cost = total.cost.map(|cost| cost - before.cost.unwrap_or_default());
        Some(Usage { cost, ..total.less(before) })
    }

    /// What a turn has used whose tokens are those of the turn, and whose cost is that of the whole session.
    fn add_turn(&mut self, reported: Option<Usage>) -> Option<Usage> {
        let reported = reported?;
        let cost = reported.cost.zip(self.cost).map(|(cost, before)| cost - before);
        self.cost = self.cost.map(|before| reported.cost.unwrap_or(before));
        Some(Usage { cost, ..reported })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(input_tokens: u64, cost: Option<f64>) -> Usage {
        Usage { input_tokens, cost, ..Usage::default() }
    }

    #[test]
    fn costs_of_whole_sessions_count_once() {
        let mut spending = Spending::new(false);
        assert_eq!(spending.add(None, Some(used(100, Some(0.5)))), Some(used(100, Some(0.5))));
        assert_eq!(spending.add(None, Some(used(80, Some(0.75)))), Some(used(80, Some(0.25))));
        assert_eq!(spending.add(None, None), None);
    }

    #[test]
    fn an_earlier_session_has_a_cost_that_is_counted_already() {
        let mut spending = Spending::new(true);
        assert_eq!(spending.add(None, Some(used(100, Some(0.5)))), Some(used(100, None)));
        assert_eq!(spending.add(None, Some(used(80, Some(0.75)))), Some(used(80, None)));
    }

    #[test]
    fn a_turn_has_used_what_its_session_has_used_more() {
        let mut spending = Spending::new(false);
        let last = Some(used(70, None));
        assert_eq!(spending.add(Some(used(100, None)), last), Some(used(100, None)));
        assert_eq!(spending.add(Some(used(180, None)), last), Some(used(80, None)));
        assert_eq!(spending.add(Some(used(180, None)), last), None);
        let mut spending = Spending::after(used(180, Some(0.5)));
        assert_eq!(spending.add(Some(used(200, Some(0.75))), last), Some(used(20, Some(0.25))));
    }
}
