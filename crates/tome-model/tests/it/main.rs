//! The calendar of the contents, its ids, and time as people say it.

mod ids;
mod periods;
