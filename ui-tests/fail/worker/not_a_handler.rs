// `Worker::handler` takes a type that says what the states of a machine ask for.

use machine::worker::Worker;

struct Shop;

fn run(worker: Worker) -> Worker {
    worker.handler(Shop)
}

fn main() {}
