//! Checks that a drawing is well-formed XML, and extracts its texts. The reader knows elements,
//! attributes in double quotes and text, but no comments, CDATA or processing instructions.

/// The contents of the `<text>` elements with entities resolved, or an error for malformed XML.
pub(crate) fn texts(xml: &str) -> Result<Vec<String>, String> {
    if let Some(found) = xml.chars().find(|c| !is_allowed(*c)) {
        return Err(format!("XML does not allow {found:?}"));
    }
    let mut open: Vec<&str> = Vec::new();
    let mut texts: Vec<String> = Vec::new();
    let mut rest = xml;
    let mut closed = false;
    while !rest.is_empty() {
        if closed {
            return Err(format!("{rest:?} follows the root element"));
        }
        let Some(tag) = rest.strip_prefix('<') else {
            let end = rest.find('<').ok_or("text outside of the root element")?;
            let text = resolved(&rest[..end])?;
            match open.last() {
                Some(&"text") => {
                    if let Some(last) = texts.last_mut() {
                        last.push_str(&text);
                    }
                }
                Some(&"title") => {}
                other => return Err(format!("text in {other:?}")),
            }
            rest = &rest[end..];
            continue;
        };
        let end = end_of_tag(tag).ok_or("a tag that does not end")?;
        let (tag, behind) = (&tag[..end], &tag[end + 1..]);
        rest = behind;
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return Err(format!("</{name}> closes another element"));
            }
        } else {
            let (tag, empty) = match tag.strip_suffix('/') {
                Some(tag) => (tag, true),
                None => (tag, false),
            };
            let name = tag.split(' ').next().unwrap_or_default();
            attributes(&tag[name.len()..])?;
            if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric()) {
                return Err(format!("an element is named {name:?}"));
            }
            if name == "text" {
                texts.push(String::new());
            }
            if !empty {
                open.push(name);
            }
        }
        closed = open.is_empty();
    }
    if closed { Ok(texts) } else { Err(format!("{open:?} are not closed")) }
}

/// XML 1.0, production 2.
fn is_allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

/// The position of the `>` that ends the tag; one in quotes does not count.
fn end_of_tag(tag: &str) -> Option<usize> {
    let mut quoted = false;
    tag.char_indices().find_map(|(place, c)| {
        quoted ^= c == '"';
        (c == '>' && !quoted).then_some(place)
    })
}

fn attributes(text: &str) -> Result<(), String> {
    let mut rest = text.trim_start();
    let mut names = Vec::new();
    while !rest.is_empty() {
        let (name, value) = rest.split_once("=\"").ok_or("an attribute without a value")?;
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphabetic() || c == '-') {
            return Err(format!("an attribute is named {name:?}"));
        }
        if names.contains(&name) {
            return Err(format!("{name:?} is given twice"));
        }
        names.push(name);
        let (value, behind) = value.split_once('"').ok_or("a value without an end")?;
        resolved(value)?;
        if !behind.is_empty() && !behind.starts_with(' ') {
            return Err(format!("{behind:?} follows a value"));
        }
        rest = behind.trim_start();
    }
    Ok(())
}

/// Text with its entities resolved.
fn resolved(text: &str) -> Result<String, String> {
    if text.contains('<') {
        return Err(format!("`<` in {text:?}"));
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        out.push_str(&rest[..start]);
        let (entity, behind) =
            rest[start + 1..].split_once(';').ok_or("an entity that does not end")?;
        out.push(match entity {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            other => return Err(format!("unknown entity {other:?}")),
        });
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

#[test]
fn the_reader_accepts_well_formed_xml() {
    let xml = r#"<svg a="1 &lt; 2" b-c=""><title>t</title><g><path d=">"/></g><text x="1">a &amp;&quot; b</text><text></text></svg>"#;
    assert_eq!(texts(xml).unwrap(), ["a &\" b", ""]);
}

#[test]
fn the_reader_refuses_malformed_xml() {
    for xml in [
        "",
        "<svg>",
        "<svg></g>",
        "<svg/><svg/>",
        "<svg/>x",
        "<svg><text>a & b</text></svg>",
        "<svg><text>a &b; b</text></svg>",
        "<svg><text>a < b</text></svg>",
        "<svg><text>\u{1}</text></svg>",
        "<svg><text>\u{ffff}</text></svg>",
        "<svg a=1/>",
        "<svg a=\"1\" a=\"1\"/>",
        "<svg a=\"<\"/>",
        "<svg a=\"1\"b=\"1\"/>",
        "<svg><text></svg></text>",
    ] {
        assert!(texts(xml).is_err(), "{xml:?} is not well-formed");
    }
}
