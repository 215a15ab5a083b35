//! Pictures of hand-made arrays.

use crate::vsa_common::*;
use array::vsa::*;
use uniform::affine::Form;
use uniform::sizes::Formula;

const SMALL: Mm = Mm { n: 7, m: 6, k: 9, pes: [2, 3], steps: 2, points: 2, lanes: 2, words: [8, 4, 4] };

/// Every kind of link: diagonal, backwards, far; a group for each PE, and one that enters at the corner only.
fn strange() -> Vsa {
    let mut vsa = stationary(&Mm { pes: [3, 8], points: 1, ..SMALL }, [2, 0, 1], true);
    let source = NodeId(0);
    for (name, hop) in
        [("d", [1, 1]), ("e", [1, -1]), ("far", [0, 2]), ("deep", [2, 0]), ("west", [0, -1]), ("south", [1, 0])]
    {
        vsa.nodes.push(Node { op: Op::Past { source, hop, waves: Formula::Const(1) }, ty: I32, name: name.into() });
        vsa.nodes[0].name = String::new();
    }
    vsa.inputs[1].forward = [true, true];
    vsa.schedule = Schedule { start: [1, -1].map(AxisStart::even), ..Schedule::default() };
    vsa
}

/// Contents of all `<text>` elements, in order.
fn texts(svg: &str) -> Vec<String> {
    let inside = |t: &str| t.split_once('>').and_then(|(_, t)| t.split_once("</text>")).map(|(t, _)| t.to_string());
    svg.split("<text ").skip(1).map(|t| inside(t).expect("closed")).collect()
}

/// Elements are closed and all references resolve.
fn sound(svg: &str) {
    for name in ["svg", "g", "text", "defs", "marker", "title"] {
        let opened = svg.matches(&format!("<{name}>")).count() + svg.matches(&format!("<{name} ")).count();
        assert_eq!(opened, svg.matches(&format!("</{name}>")).count(), "{name}");
    }
    for reference in svg.split("url(#").skip(1) {
        let id = reference.split(')').next().unwrap();
        assert!(svg.contains(&format!("id=\"{id}\"")), "{id}");
    }
}

#[test]
fn a_small_array_is_complete() {
    let svg = draw::draw(&stationary(&SMALL, [0, 1, 2], false));
    sound(&svg);
    let texts = texts(&svg);
    for pe in ["0,0", "0,1", "0,2", "1,0", "1,1", "1,2"] {
        assert_eq!(texts.iter().filter(|t| **t == format!("PE {pe}")).count(), 1, "{pe}");
    }
    // DRAM and legend once, then feeders or collectors.
    let count = |text: &str| texts.iter().filter(|t| *t == text).count();
    assert_eq!((count("A"), count("B"), count("C")), (2 + 2, 2 + 3, 2 + 6));
    assert_eq!((count("L3"), count("DRAM")), (3, 2));
    assert_eq!(count("acc +2w"), 6);
    for label in ["a +1", "b +1", "i.tile 2 › j.tile 2 › k.tile 3", "k.time 2 › i.latency 2"] {
        assert!(texts.iter().any(|t| t == label), "{label} in {texts:?}");
    }
    assert!(!svg.contains('⋯'));
}

#[test]
fn a_large_array_leaves_out_its_middle() {
    let s = Mm { n: 1040, m: 1024, k: 1024, pes: [13, 16], steps: 8, points: 8, lanes: 8, words: [32, 32, 16] };
    let svg = draw::draw(&stationary(&s, [0, 1, 2], false));
    sound(&svg);
    let texts = texts(&svg);
    assert_eq!(texts.iter().filter(|t| t.starts_with("PE ")).count(), 16);
    for text in ["PE 12,15", "⋯", "⋮", "⋱", "13 × 16 PEs, 8 lanes each"] {
        assert!(texts.iter().any(|t| t == text), "{text}");
    }
}

#[test]
fn a_row_is_fed_from_above() {
    let vsa = travelling(&Mm { k: 3, pes: [1, 3], ..SMALL });
    let svg = draw::draw(&vsa);
    assert!(texts(&svg).contains(&"acc +1".to_string()), "the adder's register and the link's, less the adder's");
    // The same array as a column.
    let mut column = vsa.clone();
    let turn = |f: &mut Form| f.space.swap(0, 1);
    (column.extent, column.schedule.start, column.axes) =
        ([3, 1], [2, 0].map(AxisStart::even), ["k".into(), "".into()]);
    column.nodes.iter_mut().for_each(|n| {
        if let Op::Past { hop, .. } = &mut n.op {
            hop.swap(0, 1)
        }
    });
    column.inputs.iter_mut().for_each(|g| {
        (g.first.swap(0, 1), g.last.swap(0, 1), g.forward.swap(0, 1), g.subscripts.iter_mut().for_each(turn)).0
    });
    column.outputs.iter_mut().for_each(|g| (g.first.swap(0, 1), g.last.swap(0, 1)).0);
    let drawn = draw::draw(&column);
    sound(&drawn);
    assert_eq!(texts(&drawn), texts(&svg));
}

#[test]
fn every_kind_of_link_is_drawn_once_labelled() {
    let mut vsa = strange();
    vsa.arrays[0].name = "A<&>".into();
    let svg = draw::draw(&vsa);
    sound(&svg);
    assert!(svg.contains("A&lt;&amp;&gt;") && !svg.contains("A<&>"));
    let texts = texts(&svg);
    for link in ["d", "e", "far", "deep", "west", "south"] {
        // A label is a halo and its text.
        assert_eq!(texts.iter().filter(|t| **t == format!("{link} +1w")).count(), 2, "{link}");
    }
    let first = texts.iter().position(|t| t == "PE 0,7").unwrap();
    let last = texts.iter().position(|t| t == "PE 0,0").unwrap();
    assert!(first < last, "the axis along which waves travel backwards");
}
