//! Requests in and out.

pub mod front_end;
pub mod life;
pub mod link;
pub mod lookahead;
pub mod request;
pub mod write_throttle;
