//! The promises that the command line and the server share. One table of acts runs through both;
//! what they show is compared. The tests of one surface (formats, tokens, streams) are in `cli` and
//! `http`.

mod act_table;
mod acts;
mod cli;
mod http;
mod place;
mod printed;
mod repeated;
mod rollback;
mod situation;
mod views;
mod waits;

pub(crate) use act_table::situations;
pub(crate) use cli::{Ran, bare, parsed};
pub(crate) use http::{
    Answer, Call, OPERATOR, READER, access, actors, execution, nested, nested_at, shown,
};
pub(crate) use place::{AnyOrder, Order, Place, end, unknown};
