//! centred
