//! Tests of the module `contract`.

mod action;
mod decider;
mod facts;
mod fields;
mod forged;
mod gate;
mod invalid;
mod key;
mod names;
mod occurrence;
mod permit;
mod question;
mod receipts;
mod registry;
mod risk;
mod rollback;
mod same_arguments;
mod secret_arguments;
mod stored_arguments;
mod strangers;
mod tool;
