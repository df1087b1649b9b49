//! A machine in the interface of a crate: the users of [`Upload`] cannot make a wrong move.
//!
//! ```
//! use small::upload::{AnyUpload, Upload, upload::Status};
//!
//! let sealed = Upload::new().add("one ".to_owned()).add("two".to_owned()).seal();
//! assert_eq!(sealed.state().text, "one two");
//! assert_eq!(AnyUpload::from(sealed).status(), Status::Sealed);
//! ```
//!
//! Nothing can be added after `seal`, and an empty upload cannot be sealed: neither compiles.
//!
//! ```compile_fail
//! use small::upload::Upload;
//!
//! let sealed = Upload::new().add("one".to_owned()).seal();
//! let _ = sealed.add("two".to_owned());
//! ```
//!
//! ```compile_fail
//! use small::upload::Upload;
//!
//! let _ = Upload::new().seal();
//! ```

use machine::prelude::*;

/// A text that is uploaded in parts.
#[machine]
#[derive(Debug)]
pub enum Upload {
    /// Has no part.
    #[initial]
    #[on(add(part: String, text = part) => Open)]
    Empty,
    /// More parts may follow.
    #[on(add(part: String, text = text + &part) => Open)]
    #[on(seal => Sealed)]
    Open {
        /// The parts so far.
        text: String,
    },
    /// Complete.
    #[terminal]
    Sealed {
        /// All parts.
        text: String,
    },
}
