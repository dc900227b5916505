//! Tests of the house as a whole live in `tests/`; there is nothing here.
