//! Tokens as text.
//!
//! The text of a type goes into the table and its fingerprint, so it must not depend on how the
//! source is laid out, nor on how the compiler prints tokens: every space in it is put there here.

use heck::ToPascalCase;
use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};

pub(crate) fn bare(name: &Ident) -> String {
    let name = name.to_string();
    name.strip_prefix("r#").map(str::to_owned).unwrap_or(name)
}

pub(crate) fn pascal(name: &Ident) -> String {
    bare(name).to_pascal_case()
}

/// The text of a type or a path: `Vec<String>`, `&'a str`, `fn(u8) -> u8`.
pub(crate) fn of_type(tokens: TokenStream) -> String {
    let (atoms, mut out) = (atoms(tokens), String::new());
    for (place, atom) in atoms.iter().enumerate() {
        let last = place.checked_sub(1).map(|last| &atoms[last]);
        if last.is_some_and(|last| needs_space_in_type(&atoms, place, last, atom)) {
            out.push(' ');
        }
        out.push_str(&atom.text);
    }
    out
}

/// The text of a condition or a pattern: `failures < 3`, `Answer::Yes(scope)`.
pub(crate) fn of_expression(tokens: TokenStream) -> String {
    let atoms = join_operators(atoms(tokens));
    let atoms = without_outer_parentheses(&atoms);
    let mut out = String::new();
    // The number of open `::<`, inside of which `<` and `>` are brackets.
    let mut generics = 0_usize;
    for (place, atom) in atoms.iter().enumerate() {
        let before = place.checked_sub(1).map(|before| &atoms[before]);
        let bracket = match atom.text.as_str() {
            "<" => generics > 0 || before.is_some_and(|before| before.text == "::"),
            ">" => generics > 0,
            _ => false,
        };
        let binary = !bracket && is_operator(&atom.text) && before.is_some_and(Atom::ends_operand);
        let after_space = out.ends_with(' ');
        let words = before.is_some_and(|before| before.is_word && atom.is_word);
        let keyword = before.is_some_and(Atom::is_keyword) && atom.text != "(";
        let brace = matches!(atom.text.as_str(), "{" | "}") && before.is_some();
        if !after_space && (binary || words || keyword || brace) {
            out.push(' ');
        }
        out.push_str(&atom.text);
        if binary || matches!(atom.text.as_str(), "," | ";" | "{") {
            out.push(' ');
        }
        match atom.text.as_str() {
            "<" if bracket => generics += 1,
            ">" if bracket => generics -= 1,
            _ => {}
        }
    }
    out.trim_end().to_owned()
}

/// A word or a literal, or one operator.
struct Atom {
    text: String,
    is_word: bool,
}

impl Atom {
    fn is_keyword(&self) -> bool {
        let keywords = ["if", "in", "let", "match", "move", "mut", "ref", "return", "as", "dyn"];
        self.is_word && keywords.contains(&self.text.as_str())
    }

    /// True if an operator after this atom is binary.
    fn ends_operand(&self) -> bool {
        self.is_word && !self.is_keyword() || matches!(self.text.as_str(), ")" | "]" | "?" | "}")
    }
}

fn is_operator(text: &str) -> bool {
    let operators = [
        "=", "==", "!=", "<", ">", "<=", ">=", "&&", "||", "+", "-", "*", "/", "%", "&", "|", "^",
        "=>", "->", "@",
    ];
    operators.contains(&text)
}

/// The atoms as the user wrote them: paths with `self` or `super` were moved one level down.
fn atoms(tokens: TokenStream) -> Vec<Atom> {
    let mut atoms = Vec::new();
    flatten(tokens, &mut atoms);
    for place in 0..atoms.len() {
        let is = |place: usize, text: &str| atoms.get(place).is_some_and(|atom| atom.text == text);
        let in_path = place >= 2 && is(place - 1, ":") && is(place - 2, ":");
        if in_path || !is(place, "super") {
            continue;
        }
        if is(place + 1, ":") && is(place + 2, ":") && is(place + 3, "super") {
            // `super::super::A` was `super::A`.
            atoms.drain(place..place + 3);
        } else {
            "self".clone_into(&mut atoms[place].text);
        }
    }
    atoms
}

fn flatten(tokens: TokenStream, atoms: &mut Vec<Atom>) {
    let sign = |text: &str| Atom { text: text.to_owned(), is_word: false };
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => ("{", "}"),
                    // From a `macro_rules` macro; it is invisible.
                    Delimiter::None => ("", ""),
                };
                if !open.is_empty() {
                    atoms.push(sign(open));
                }
                flatten(group.stream(), atoms);
                // `(A, B,)` is `(A, B)`, but `(A,)` is not `(A)`.
                if ends_in_a_second_comma(&group.stream()) {
                    atoms.pop();
                }
                if !close.is_empty() {
                    atoms.push(sign(close));
                }
            }
            TokenTree::Ident(ident) => {
                let text = bare(&ident);
                match atoms.last_mut() {
                    // A lifetime is one word.
                    Some(last) if last.text == "'" => {
                        last.text.push_str(&text);
                        last.is_word = true;
                    }
                    _ => atoms.push(Atom { text, is_word: true }),
                }
            }
            TokenTree::Literal(literal) => {
                atoms.push(Atom { text: literal.to_string(), is_word: true });
            }
            TokenTree::Punct(punct) => {
                if punct.as_char() == '>' && atoms.last().is_some_and(|last| last.text == ",") {
                    atoms.pop();
                }
                atoms.push(sign(&punct.as_char().to_string()));
            }
        }
    }
}

/// True if a comma follows the last of several items.
fn ends_in_a_second_comma(tokens: &TokenStream) -> bool {
    let is_comma =
        |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    tokens.last().is_some_and(is_comma) && tokens.iter().filter(|token| is_comma(token)).count() > 1
}

/// True if two atoms of a type are separated by a space.
fn needs_space_in_type(atoms: &[Atom], place: usize, last: &Atom, atom: &Atom) -> bool {
    let is = |place: Option<usize>, text: &str| {
        place.and_then(|place| atoms.get(place)).is_some_and(|atom| atom.text == text)
    };
    let arrow_starts = atom.text == "-" && is(Some(place + 1), ">");
    let arrow_ended = last.text == ">" && is(place.checked_sub(2), "-");
    let colon_alone = last.text == ":" && atom.text != ":" && !is(place.checked_sub(2), ":");
    last.is_word && atom.is_word
        || matches!(last.text.as_str(), "," | ";" | "+" | "=")
        || matches!(atom.text.as_str(), "+" | "=")
        || arrow_starts
        || arrow_ended
        || colon_alone
        || last.text == ">" && atom.is_word && !arrow_ended
        || last.is_keyword() && matches!(atom.text.as_str(), "(" | "[" | "<")
}

/// Parentheses around all of it say nothing.
fn without_outer_parentheses(atoms: &[Atom]) -> &[Atom] {
    let mut depth = 0_usize;
    for (place, atom) in atoms.iter().enumerate() {
        match atom.text.as_str() {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            let around = place > 0 && place + 1 == atoms.len();
            return if around { &atoms[1..place] } else { atoms };
        }
    }
    atoms
}

fn join_operators(atoms: Vec<Atom>) -> Vec<Atom> {
    let long = ["..=", "..", "::", "==", "!=", "<=", ">=", "&&", "||", "=>", "->"];
    let mut joined: Vec<Atom> = Vec::new();
    for atom in atoms {
        if let Some(last) = joined.last_mut()
            && !last.is_word
            && !atom.is_word
        {
            let both = format!("{}{}", last.text, atom.text);
            if long.contains(&both.as_str()) {
                last.text = both;
                continue;
            }
        }
        joined.push(atom);
    }
    joined
}
