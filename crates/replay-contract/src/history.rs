//! Random events.

use proptest::collection::{SizeRange, vec};
use proptest::prelude::*;

/// An event of a history.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Event {
    /// The running job at this share of the list of jobs ends. If no job runs, the event does nothing.
    End(f64),
    /// Free processors in a row go out of service. The shares select the first processor and up to six processors.
    Down(f64, f64),
    /// The processors out of service from this share of their list on return to service.
    Up(f64),
    /// A job requests processors. The two numbers in 0..1 determine its request.
    Start(f64, f64),
}

/// Generates histories in which jobs start and end, and processors go out of service and return.
pub fn history(events: impl Into<SizeRange>) -> impl Strategy<Value = Vec<Event>> {
    let event = (0u8..5, 0.0..1.0f64, 0.0..1.0f64).prop_map(|(kind, a, b)| match kind {
        0 => Event::End(a),
        1 => Event::Down(a, b),
        2 => Event::Up(a),
        _ => Event::Start(a, b),
    });
    vec(event, events)
}

/// Generates histories in which jobs start and end.
pub fn starts_and_ends(events: impl Into<SizeRange>) -> impl Strategy<Value = Vec<Event>> {
    let event = (0u8..5, 0.0..1.0f64, 0.0..1.0f64);
    vec(
        event.prop_map(|(kind, a, b)| if kind < 2 { Event::End(a) } else { Event::Start(a, b) }),
        events,
    )
}

/// Returns the index at this share, in 0..1, of a list of this length.
pub fn pick(share: f64, length: usize) -> usize {
    (share * length as f64) as usize
}
