//! The command line `machine`. See [`machine::cli`].

fn main() -> std::process::ExitCode {
    machine::cli::main()
}
