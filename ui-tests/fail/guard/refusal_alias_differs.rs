// M0118: types that are written differently are compared by the compiler.

use machine::machine;

type Reason = &'static str;

fn ready<S>(_: &S) -> Result<(), String> {
    Ok(())
}

fn safe<S>(_: &S) -> Result<(), Reason> {
    Ok(())
}

#[machine]
enum Rocket {
    #[initial]
    #[on(launch => Flying, guard = ready -> String)]
    #[on(fuel => Fuelled)]
    Empty,

    #[on(launch => Flying, guard = safe -> Reason)]
    Fuelled,

    #[terminal]
    Flying,
}

fn main() {
    let _ = Rocket::new().fuel().launch();
}
