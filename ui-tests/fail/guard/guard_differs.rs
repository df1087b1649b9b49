// M0118

use machine::machine;

fn ready<S>(_: &S) -> Result<(), String> {
    Ok(())
}

#[machine]
enum Rocket {
    #[initial]
    #[on(launch => Flying, guard = ready -> String)]
    #[on(fuel => Fuelled)]
    Empty,
    #[on(launch => Flying)]
    Fuelled,
    #[terminal]
    Flying,
}

fn main() {
    let _ = Rocket::new().fuel().launch();
}
