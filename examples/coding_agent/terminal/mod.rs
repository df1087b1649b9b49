//! The program: it drives a job in a folder, tells what happens, and asks the person.
//!
//! [`cli`] has the commands. A [`session`] drives the job of a folder, which is [`watched`];
//! [`face`] tells and asks, and a [`preview`] shows what a plan would do. [`repository`] asks git
//! about the folder, and [`demo`] makes a small one.

pub mod cli;
mod demo;
mod face;
mod preview;
mod repository;
mod session;
mod watched;
