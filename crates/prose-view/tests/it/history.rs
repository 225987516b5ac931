//! Views after earlier events.

use prose_view::{History, View};

use crate::events::{outline, recorded};

#[test]
fn the_view_at_an_event_is_that_of_the_events_up_to_it() {
    let events = recorded();
    let mut history = History::default();
    events.iter().cloned().for_each(|event| history.push(event));
    for seq in 0..=events.last().unwrap().seq {
        let before = View::of(events.iter().filter(|event| event.seq <= seq));
        let view = history.at(seq);
        assert_eq!(outline(&view), outline(&before), "at {seq}");
        let nodes = |view: &View| view.nodes().map(|(_, node)| node.clone()).collect::<Vec<_>>();
        assert_eq!(nodes(&view), nodes(&before), "at {seq}");
    }
}

#[test]
fn the_view_at_an_event_of_a_long_run_is_made_from_a_checkpoint() {
    use crate::events::{ended, run, session};
    let sessions = (0..4000_u64).map(|request| (format!("s{request}"), request)).collect::<Vec<_>>();
    let events = sessions.iter().flat_map(|(place, request)| {
        [(place.as_str(), session(*request, "x")), (place.as_str(), ended(*request, "complete"))]
    });
    let events = run(events.collect());
    let mut history = History::default();
    events.iter().cloned().for_each(|event| history.push(event));
    for seq in [1, 2, 1023, 1024, 1025, 5000, 8000, 8001, 9000] {
        let view = history.at(seq);
        let before = View::of(events.iter().filter(|event| event.seq <= seq));
        assert_eq!(view.root().unwrap().sessions, before.root().unwrap().sessions, "at {seq}");
        assert_eq!((view.seq(), view.nodes().count()), (before.seq(), before.nodes().count()));
    }
    assert_eq!(history.delta(5000, 5002).nodes().count(), 3);
}
