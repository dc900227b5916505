//! The vocabulary: moments and lengths of time, bytes, ids, drive geometry, host requests, named
//! random streams. Imports nothing of ours; every other crate speaks in these words.

mod bytes;
mod geometry;
mod host;
mod id;
mod quantity;
mod rng;
mod scatter;
mod time;

pub use bytes::{ByteRate, Bytes};
pub use geometry::Geometry;
pub use host::{HostIo, HostOp};
pub use id::{BlockId, ChannelId, DieId, Id, IdVec, Lpn, PlaneId, Ppn, ReqId, SlotId, TxnId};
pub use quantity::QuantityError;
pub use rng::Rng;
pub use scatter::Scatter;
pub use time::{Nanos, Span};
