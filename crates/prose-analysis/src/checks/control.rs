use super::Checker;

pub(super) fn check(_: &mut Checker<'_, '_>) {}
