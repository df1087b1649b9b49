//! The workers that send the mails.

use std::{sync::atomic::Ordering, thread, time::Duration};

use super::{
    desk::Desk,
    disturbance::{Disturbance, When},
    office::{SLOW, count},
    random::Random,
};

/// Starts one worker after the other, until there is nothing left to do for any. The first ones are
/// killed, frozen, or asked to stop while they work.
pub(super) fn work(desk: &Desk, mut random: Random) {
    let mut trouble = 6 + random.below(24);
    while !desk.is_done.load(Ordering::SeqCst) {
        let is_disturbed = trouble > 0 && !random.one_in(4);
        let once = if random.one_in(4) { "--once" } else { "" };
        let command = format!("work {once} --lease {}ms", 100 + random.below(400));
        let fate = if is_disturbed {
            trouble -= 1;
            let longest = u64::try_from((desk.work + 2 * SLOW).as_micros()).unwrap();
            let when = if random.one_in(2) {
                When::Sending
            } else {
                When::After(Duration::from_micros(random.below(longest)))
            };
            Disturbance::random(&mut random, when)
        } else {
            Disturbance::Lives
        };
        let mut worker = fate.happens(desk, &command);
        count(&desk.figures.workers);
        // It works on, for a while.
        let mut moments = 5 + random.below(if trouble > 0 { 40 } else { 200 });
        while moments > 0 && !desk.is_done.load(Ordering::SeqCst) {
            if worker.try_wait().unwrap().is_some() {
                break;
            }
            moments -= 1;
            thread::sleep(Duration::from_millis(5));
        }
        if worker.try_wait().unwrap().is_none() {
            count(&desk.figures.asked_to_stop);
            worker.signal("TERM");
        }
        desk.note(&command, &worker.ended());
    }
}
