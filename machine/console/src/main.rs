//! The command line `machine`. See [`machine_console::cli`].

fn main() -> std::process::ExitCode {
    machine_console::cli::main()
}
