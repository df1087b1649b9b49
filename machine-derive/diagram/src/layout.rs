use rust_sugiyama::{configure::Config, from_vertices_and_edges};

use crate::Diagram;

/// Height of a line of text, and the usual width of a character, in pixels of 14 px sans-serif.
const LINE: f64 = 20.0;
const CHARACTER: f64 = 8.4;

/// A rectangle, by its centre and its size in pixels.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Rect {
    /// The centre, from the left.
    pub x: f64,
    /// The centre, from the top.
    pub y: f64,
    /// The whole width.
    pub width: f64,
    /// The whole height.
    pub height: f64,
}

/// The positions of all parts, in pixels.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// The boxes of the states, in their order.
    pub nodes: Vec<Rect>,
    /// The arrows.
    pub arrows: Vec<Placed>,
    /// The whole width.
    pub width: f64,
    /// The whole height.
    pub height: f64,
}

/// All moves between two states in one direction: one arrow, with one line of text per move.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    /// The source, as an index into [`Diagram::nodes`].
    pub from: usize,
    /// The target, as an index into [`Diagram::nodes`].
    pub to: usize,
    /// The moves, as indices into [`Diagram::arrows`].
    pub moves: Vec<usize>,
    /// The rectangle of its text.
    pub rect: Rect,
    /// From the border of the source through the middle of the text to the border of the target.
    pub line: [(f64, f64); 3],
}

/// Places states and labels. A label is a separate node between its two states: the layout keeps
/// nodes apart, so labels do not overlap anything.
pub(crate) fn layout(diagram: &Diagram) -> Layout {
    let mut arrows: Vec<Placed> = Vec::new();
    for (index, arrow) in diagram.arrows.iter().enumerate() {
        let known = arrows.iter_mut().find(|one| (one.from, one.to) == (arrow.from, arrow.to));
        if let Some(known) = known {
            known.moves.push(index);
        } else {
            let (rect, line) = (Rect::default(), [(0.0, 0.0); 3]);
            arrows.push(Placed { from: arrow.from, to: arrow.to, moves: vec![index], rect, line });
        }
    }
    let mut rects: Vec<Rect> = diagram
        .nodes
        .iter()
        .map(|node| size(&node.lines().collect::<Vec<_>>(), 12.0))
        .chain(arrows.iter().map(|arrow| {
            let lines: Vec<&str> =
                arrow.moves.iter().map(|index| &*diagram.arrows[*index].label).collect();
            size(&lines, 2.0)
        }))
        .collect();

    let (width, height) = place(&mut rects, &edges(diagram, &arrows));
    let labels = rects.split_off(diagram.nodes.len());
    for (arrow, rect) in arrows.iter_mut().zip(labels) {
        arrow.rect = rect;
        let (from, to) = (&rects[arrow.from], &rects[arrow.to]);
        arrow.line = [border(from, &rect), (rect.x, rect.y), border(to, &rect)];
    }
    Layout { nodes: rects, arrows, width, height }
}

/// The point where the line from a box's centre to a label crosses the border.
fn border(rect: &Rect, towards: &Rect) -> (f64, f64) {
    let (dx, dy) = (towards.x - rect.x, towards.y - rect.y);
    if dx == 0.0 && dy == 0.0 {
        return (rect.x, rect.y);
    }
    let scale = (rect.width / 2.0 / dx.abs()).min(rect.height / 2.0 / dy.abs()).min(1.0);
    (rect.x + dx * scale, rect.y + dy * scale)
}

/// The edges from each state through the label to the target. Back edges are reversed, so that all
/// edges point down and the initial state is at the top.
fn edges(diagram: &Diagram, arrows: &[Placed]) -> Vec<(usize, usize)> {
    let first_label = diagram.nodes.len();
    let back = back(diagram, arrows);
    let mut edges = Vec::new();
    for (index, (arrow, back)) in arrows.iter().zip(back).enumerate() {
        let label = first_label + index;
        let (upper, lower) = if back { (arrow.to, arrow.from) } else { (arrow.from, arrow.to) };
        edges.push((upper, label));
        if upper != lower {
            edges.push((label, lower));
        }
    }
    edges
}

/// Marks the arrows that are back edges of a depth-first search from the initial state.
fn back(diagram: &Diagram, arrows: &[Placed]) -> Vec<bool> {
    let mut back = vec![false; arrows.len()];
    let mut seen = vec![false; diagram.nodes.len()];
    let initial = diagram.nodes.iter().position(|node| node.initial);
    for start in initial.into_iter().chain(0..diagram.nodes.len()) {
        // The path from the start: each state, with the next arrow to visit.
        let mut way = if seen[start] { Vec::new() } else { vec![(start, 0)] };
        seen[start] = true;
        while let Some((state, next)) = way.last_mut() {
            let Some(offset) = arrows[*next..].iter().position(|arrow| arrow.from == *state) else {
                way.pop();
                continue;
            };
            let (index, to) = (*next + offset, arrows[*next + offset].to);
            *next = index + 1;
            if way.iter().any(|(state, _)| *state == to) {
                back[index] = true;
            } else if !seen[to] {
                seen[to] = true;
                way.push((to, 0));
            }
        }
    }
    back
}

/// Places all rectangles; returns the total size.
fn place(rects: &mut [Rect], edges: &[(usize, usize)]) -> (f64, f64) {
    // No machine has 4 billion states.
    let id = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
    let vertices: Vec<(u32, (f64, f64))> = rects
        .iter()
        .enumerate()
        .map(|(index, rect)| (id(index), (rect.width, rect.height)))
        .collect();
    let edges: Vec<(u32, u32)> = edges.iter().map(|(from, to)| (id(*from), id(*to))).collect();
    let config = Config { vertex_spacing: 16.0, ..Config::default() };
    let margin = 16.0;
    let (mut left, mut height) = (margin, 0.0_f64);
    for (places, _, _) in from_vertices_and_edges(&vertices, &edges, &config) {
        // Unconnected components are placed side by side.
        let edge = |of: fn(&Rect) -> (f64, f64)| {
            places.iter().fold((f64::MAX, f64::MIN), |(low, high), (index, (x, y))| {
                let rect = Rect { x: *x, y: *y, ..rects[*index] };
                let (from, to) = of(&rect);
                (low.min(from), high.max(to))
            })
        };
        let (west, east) = edge(|rect| (rect.x - rect.width / 2.0, rect.x + rect.width / 2.0));
        let (north, south) = edge(|rect| (rect.y - rect.height / 2.0, rect.y + rect.height / 2.0));
        for (index, (x, y)) in places {
            rects[index].x = x - west + left;
            rects[index].y = y - north + margin;
        }
        left += east - west + margin;
        height = height.max(south - north + 2.0 * margin);
    }
    (left, height)
}

fn size(lines: &[&str], padding: f64) -> Rect {
    // Exact up to 2^52 characters.
    #[allow(clippy::cast_precision_loss, reason = "labels are short")]
    let number = |count: usize| count as f64;
    let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    Rect {
        width: number(longest) * CHARACTER + 2.0 * padding,
        height: number(lines.len()) * LINE + 2.0 * padding.min(6.0),
        ..Rect::default()
    }
}

/// The baseline of a line of a label, from the top.
pub(crate) fn baseline(rect: &Rect, line: usize, lines: usize) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "labels are short")]
    let (line, lines) = (line as f64, lines as f64);
    rect.y + (line - (lines - 1.0) / 2.0) * LINE + 5.0
}
