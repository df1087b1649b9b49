//! Programs that must not compile (`fail/`), and programs that must (`pass/`); see `ui.rs`.
