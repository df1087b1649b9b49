// `Worker::handler` takes a type that handles the states of a machine.

use machine::worker::Worker;

struct Shop;

fn run(worker: Worker) -> Worker {
    worker.handler(Shop)
}

fn main() {}
