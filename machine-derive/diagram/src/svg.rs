use crate::{
    Diagram,
    layout::{Layout, Rect, baseline},
};

/// Colours come from the page: `currentColor` for lines and text, and the page's background behind
/// labels, so that a label is readable where a line passes under it.
const BACKGROUND: &str = "var(--main-background-color, Canvas)";

pub(crate) fn draw(diagram: &Diagram, layout: &Layout) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w:.0} {h:.0}\" \
         style=\"max-width:{w:.0}px;width:100%;height:auto\" role=\"img\" \
         font-family=\"sans-serif\" font-size=\"14\" text-anchor=\"middle\" \
         fill=\"currentColor\" stroke=\"none\"><title>State machine</title>",
        w = layout.width,
        h = layout.height,
    );
    svg.extend(layout.arrows.iter().map(|arrow| line(arrow.line)));
    let behind = format!(" stroke=\"{BACKGROUND}\" stroke-width=\"4\" paint-order=\"stroke\"");
    for arrow in &layout.arrows {
        let labels = arrow.moves.iter().map(|step| (&*diagram.arrows[*step].label, &*behind));
        svg.push_str(&texts(&arrow.rect, &labels.collect::<Vec<_>>()));
    }
    for (node, rect) in diagram.nodes.iter().zip(&layout.nodes) {
        if node.initial {
            svg.push_str(&start(rect));
        }
        svg.push_str(&outline(rect, 0.0));
        if node.terminal {
            svg.push_str(&outline(rect, 3.0));
        }
        let lines = node.lines().zip(["", " font-size=\"12\""]);
        svg.push_str(&texts(rect, &lines.collect::<Vec<_>>()));
    }
    svg.push_str("</svg>");
    svg
}

/// Lines of text, each with its further attributes.
fn texts(rect: &Rect, lines: &[(&str, &str)]) -> String {
    let texts = lines.iter().enumerate().map(|(index, (text, attributes))| {
        let (x, y) = (rect.x, baseline(rect, index, lines.len()));
        format!("<text x=\"{x:.0}\" y=\"{y:.0}\"{attributes}>{}</text>", escaped(text))
    });
    texts.collect()
}

/// The box of a state; a terminal state has a second outline inside.
fn outline(rect: &Rect, inset: f64) -> String {
    let fill = if inset == 0.0 { BACKGROUND } else { "none" };
    format!(
        "<rect x=\"{:.0}\" y=\"{:.0}\" width=\"{:.0}\" height=\"{:.0}\" rx=\"6\" fill=\"{fill}\" \
         stroke=\"currentColor\"/>",
        rect.x - rect.width / 2.0 + inset,
        rect.y - rect.height / 2.0 + inset,
        rect.width - 2.0 * inset,
        rect.height - 2.0 * inset,
    )
}

/// The dot at the corner of the initial state.
fn start(rect: &Rect) -> String {
    let (x, y) = (rect.x - rect.width / 2.0, rect.y - rect.height / 2.0);
    format!("<circle cx=\"{:.0}\" cy=\"{:.0}\" r=\"5\"/>", x - 4.0, y - 4.0)
}

/// An arrow from one box via the label to another box, with its head at the border.
fn line([(x1, y1), (x, y), (x2, y2)]: [(f64, f64); 3]) -> String {
    let angle = (y2 - y).atan2(x2 - x);
    let wing = |turn: f64| {
        let angle = angle + turn;
        (x2 - 9.0 * angle.cos(), y2 - 9.0 * angle.sin())
    };
    let ((ax, ay), (bx, by)) = (wing(0.4), wing(-0.4));
    format!(
        "<path d=\"M{x1:.0} {y1:.0}L{x:.0} {y:.0}L{x2:.0} {y2:.0}\" fill=\"none\" \
         stroke=\"currentColor\" stroke-linejoin=\"round\"/>\
         <path d=\"M{x2:.0} {y2:.0}L{ax:.1} {ay:.1}L{bx:.1} {by:.1}Z\"/>",
    )
}

fn escaped(text: &str) -> String {
    // XML has no way to write most control characters.
    let allowed = |c: char| {
        matches!(c, '\t' | '\n' | '\r') || c >= ' ' && !matches!(c, '\u{fffe}' | '\u{ffff}')
    };
    let text: String = text.chars().map(|c| if allowed(c) { c } else { '\u{fffd}' }).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
