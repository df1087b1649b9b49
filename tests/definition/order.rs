//! A machine with choices and deadlines, for the tests in this folder.

use std::time::Duration;

use machine::{
    actor::{Actor, Category},
    machine,
};
use serde::{Deserialize, Serialize};

pub(crate) struct Cook;

impl Actor for Cook {
    const KIND: &'static str = "cook";
    const CATEGORY: Category = Category::Human;
}

pub(crate) struct Clock;

impl Actor for Clock {
    const KIND: &'static str = "clock";
    const CATEGORY: Category = Category::System;
}

/// An order in a restaurant.
#[machine(
    context = u32,
    on(close_kitchen => Cancelled, from = Open, by = Clock, after = Duration::from_hours(2))
)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Order {
    #[initial]
    #[group(Open)]
    #[on(look(guests: u32) => if guests > *context { Cancelled } else { Cooking(courses = guests) })]
    Placed,

    #[group(Open)]
    #[on(taste(note: Option<String>) => match note {
        Some(note) if note == "a;b|<c>\"d\"" && courses < 3 => Self(courses = courses + 1),
        Some(_) | None if courses == 0 => Cancelled,
        _ => Served,
    }, by = Cook)]
    #[on(burn => Placed, by = Clock, after = Duration::from_mins(u64::from(courses)))]
    Cooking { courses: u32 },

    #[terminal]
    Served,

    #[terminal]
    Cancelled,
}

pub(crate) use order::DEFINITION;
