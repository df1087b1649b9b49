//! The program: it drives a job in a folder, tells what happens, and asks the person.
//!
//! [`cli`] has the commands. A [`session`] drives the job of a folder, and has [`noted`] why an
//! attempt has failed; [`face`] tells and asks, and a [`preview`] shows what a plan would do.
//! [`repository`] asks git about the folder, and [`demo`] makes a small one.

pub mod cli;
mod demo;
mod face;
mod noted;
mod preview;
mod repository;
mod session;
