//! A worker is frozen (SIGSTOP), another one takes over, and the first one thaws.

mod alone;
mod handler;
mod office;
mod tool;
