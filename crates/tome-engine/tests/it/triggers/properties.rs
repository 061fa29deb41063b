//! What holds for every session, however it goes.
