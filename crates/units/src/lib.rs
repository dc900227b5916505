//! The shared vocabulary: moments and lengths of time, bytes, IDs, drive geometry, host requests,
//! diagnostics of bad input, named random streams. Depends on no other crate of the project; all
//! others use these types.

mod bytes;
mod column;
mod diagnostic;
mod enum_table;
mod geometry;
mod host;
mod id;
mod list;
mod locator;
mod quantity;
mod rng;
mod scatter;
mod table;
mod time;

pub use bytes::{ByteRate, Bytes};
pub use column::{Column, IdVec, prefetch};
pub use diagnostic::{
    Diagnostic, Diagnostics, PROBLEMS_SHOWN, escaped, escaped_json, escaped_lines, printable,
};
pub use enum_table::{By, Enumerated};
pub use geometry::Geometry;
pub use host::{ByOp, Deadline, HostIo, HostOp, PlacementHandle, QueueId};
pub use id::{
    BlockId, ChannelId, DieId, FrameId, Id, Lpn, ParityId, PlaneId, Ppn, ReqId, RuId, StripeId,
    TxnId, UnitId,
};
pub use list::{Link, Linked, List, Pile};
pub use locator::{InPage, Locator};
pub use quantity::QuantityError;
pub use rng::Rng;
pub use scatter::{Scatter, TabledScatter};
pub use table::Table;
pub use time::{Nanos, Span};
