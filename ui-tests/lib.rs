//! Programs that must not compile (`fail/`), and programs that must (`pass/`); see `ui.rs`.

/// The error pages, whose fixed programs compile.
#[cfg(doctest)]
mod errors {
    macro_rules! pages {
        ($($code:ident)*) => {$(
            #[doc = include_str!(concat!("../machine/src/docs/errors/", stringify!($code), ".md"))]
            pub struct $code;
        )*};
    }

    pages! {
        M0001 M0002 M0003 M0004 M0005 M0006 M0007 M0008 M0009 M0010 M0011 M0012 M0013 M0014 M0015
        M0016 M0017 M0018 M0019 M0020 M0021 M0023 M0024 M0025 M0026 M0027 M0028 M0029
        M0101 M0102 M0103 M0104 M0105 M0106 M0107 M0108 M0109 M0110 M0111 M0112 M0113 M0114 M0115
        M0116 M0117 M0118 M0119 M0120 M0121 M0122 M0123 M0124 M0125 M0127 M0128 M0129
        M0130 M0131 M0132 M0133 M0134 M0135 M0136 M0137 M0138 M0139
        M0140 M0141 M0142
        M0201 M0202 M0203 M0204 M0205 M0207 M0208 M0209 M0210 M0211 M0212
        M0301 M0302 M0303
    }
}
