//! The control channel of a run: any process of the same user on the machine can watch and command a run that another process executes.
//!
//! Each run with files listens at an address that only the user can reach; its folder holds that address and a token ([`CONTROL_FILE`]). Messages are
//! lines of JSON. The process of the run serves them on a thread of its own, so that watchers cost the run little and a slow one
//! nothing; other processes use the [`Client`].

mod address;
mod bridge;
mod client;
mod elsewhere;
mod hub;
mod protocol;
mod server;
mod transport;

pub use self::address::CONTROL_FILE;
pub use self::bridge::{Bridge, Remote, relay};
pub use self::client::{Client, Closer, ControlError, QuestionListener, START_TIME, Watched, Watcher};
pub use self::elsewhere::ElsewhereQuestions;
pub use self::protocol::{MAX_MESSAGE, PROTOCOL_VERSION};
pub(crate) use self::server::Server;
