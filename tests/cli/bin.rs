//! The command line, where tests can run it.

fn main() -> std::process::ExitCode {
    machine_console::cli::main()
}
