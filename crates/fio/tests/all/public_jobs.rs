//! Job files from the wild.
