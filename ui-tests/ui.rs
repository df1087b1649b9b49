//! Each file in `fail/` has one mistake, is named after it, and has what the compiler says beside
//! it in a `.stderr` file. Each file in `pass/` compiles and runs.

/// EX-2, EX-4 and the mistakes that a declaration can have.
#[test]
fn compiler_says() {
    let cases = trybuild::TestCases::new();
    cases.pass("pass/*.rs");
    cases.compile_fail("fail/*/*.rs");
}
