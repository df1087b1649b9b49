//! JSON text of values of this program, checked while it is written.

use std::io;

use serde::{Serialize, ser::Error as _};
use serde_json::{
    Error,
    ser::{CompactFormatter, Formatter, Serializer},
};

use super::canonical::DEEPEST;

pub(super) const TOO_DEEP: &str =
    "nested too deeply to be read back; keep its parts in a flat list";

const TOO_LARGE: &str = "a whole number does not fit 64 bits, so other programs would read another one; write \
                         it as a string";

/// A value that cannot be written as JSON that every program reads alike.
#[derive(Debug)]
pub(crate) struct TextError {
    /// The member of the value, if the value is an object and the problem is in one.
    pub(crate) member: Option<String>,
    pub(crate) source: Error,
}

pub(crate) fn write_text(value: &impl Serialize) -> Result<String, TextError> {
    let mut text: Vec<u8> = Vec::with_capacity(128);
    let mut place = Place::default();
    let written = value.serialize(&mut Serializer::with_formatter(&mut text, &mut place));
    let written = written.and_then(|()| String::from_utf8(text).map_err(Error::custom));
    written.map_err(|source| place.refuse(source))
}

/// The place of what is written, in the value.
#[derive(Default)]
struct Place {
    /// The number of arrays and objects around it.
    depth: usize,
    is_in_key: bool,
    /// The member of the outermost object.
    member: String,
}

impl Place {
    fn enter(&mut self) -> io::Result<()> {
        // The fields of a state, or of a context, are inside of an object.
        if self.depth > DEEPEST {
            return Err(io::Error::other(TOO_DEEP));
        }
        self.depth += 1;
        Ok(())
    }

    /// Checks a whole number. One in a key is a string.
    fn fits(&self, fits: bool) -> io::Result<()> {
        if fits || self.is_in_key { Ok(()) } else { Err(io::Error::other(TOO_LARGE)) }
    }

    fn refuse(self, source: Error) -> TextError {
        let source = if self.is_in_key {
            Error::custom(format!(
                "a key of a map cannot be written: {source}; store the map as a list of pairs"
            ))
        } else {
            source
        };
        TextError { member: Some(self.member).filter(|member| !member.is_empty()), source }
    }
}

impl Formatter for &mut Place {
    fn write_i128<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: i128) -> io::Result<()> {
        self.fits(i64::try_from(value).is_ok() || u64::try_from(value).is_ok())?;
        CompactFormatter.write_i128(writer, value)
    }

    fn write_u128<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: u128) -> io::Result<()> {
        self.fits(u64::try_from(value).is_ok())?;
        CompactFormatter.write_u128(writer, value)
    }

    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        if self.is_in_key && self.depth == 1 {
            self.member.push_str(fragment);
        }
        CompactFormatter.write_string_fragment(writer, fragment)
    }

    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.enter()?;
        CompactFormatter.begin_array(writer)
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        CompactFormatter.end_array(writer)
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.enter()?;
        CompactFormatter.begin_object(writer)
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        CompactFormatter.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.is_in_key = true;
        CompactFormatter.begin_object_key(writer, first)
    }

    fn end_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.is_in_key = false;
        CompactFormatter.end_object_key(writer)
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.depth == 1 {
            self.member.clear();
        }
        CompactFormatter.end_object_value(writer)
    }
}
