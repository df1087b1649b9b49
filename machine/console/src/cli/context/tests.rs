use super::*;

/// A program with the console built in may have another option for its file, or none.
#[test]
fn commands_have_options_that_the_program_takes() {
    let context = || Context::new("a b.db", Actors::issue("expense").unwrap());
    let program = clap::Command::new("expense");
    let plain = context().program(program.clone()).command();
    assert!(!plain.contains(' '), "{plain}");
    assert_eq!(context().command(), plain);
    let program = program.arg(clap::Arg::new("db").long("db"));
    assert_eq!(context().program(program).command(), format!("{plain} --db 'a b.db'"));
    let own = "expense --file expense.db";
    assert_eq!(context().prefix(own).command(), own);
    let keyed = |file: &str| Context { key_file: Some(file.into()), ..context() }.command();
    let keyed = [keyed("k'ey"), keyed("-key")];
    assert_eq!(keyed[0], format!(r"{plain} --key-file 'k'\''ey'"));
    assert_eq!(keyed[1], format!("{plain} --key-file ./-key"));
}

#[test]
fn commands_in_a_text_are_whole() {
    let context = Context::new("a.db", Actors::issue("expense").unwrap()).prefix("expense");
    let id = "01927d8e-0000-7000-8000-000000000017";
    let text = format!("`amount` and `list` stay; see `show {id}`, or `cancel {id} --as NAME`");
    let whole = format!(
        "`amount` and `list` stay; see `expense show {id}`, or `expense cancel {id} --as NAME`"
    );
    assert_eq!(context.with_commands(&text), whole);
}
