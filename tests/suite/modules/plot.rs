//! Plots of the pages.

use sagen::plot::{Plot, CHARACTER};

/// The place and the length of each name that was drawn, and all names.
fn drawn(svg: &str) -> (Vec<(f64, f64, f64)>, String) {
    let number = |text: &str, name: &str| -> f64 {
        let rest = text.split_once(&format!(" {name}='")).expect("an attribute").1;
        rest.split_once('\'').expect("a quote").0.parse().expect("a number")
    };
    let mut names = String::new();
    let one = |text: &str| {
        let name = text.split_once('>').expect("a tag").1.split_once('<').expect("its end").0;
        names += &format!("{name}, ");
        (number(text, "x"), number(text, "y"), CHARACTER * name.chars().count() as f64)
    };
    let places = svg.split("<text class='name'").skip(1).map(one).collect();
    (places, names)
}

#[test]
fn names_do_not_overlap() {
    for step in [0.02, 0.2, 1.0] {
        let mut plot = Plot::new(&[(1.0, 100.0), (100.0, 2000.0)], [true, true], ["x", "y"]);
        for k in 0..9 {
            let at = (10.0 + step * f64::from(k), 1000.0 - step * f64::from(k * k));
            plot.dot(at, "#333", &format!("{k}×16"));
        }
        let (all, names) = drawn(&plot.svg());
        assert!((0..9).all(|k| names.contains(&format!("{k}×16"))), "every name is there: {names}");
        for (k, (x, y, wide)) in all.iter().enumerate() {
            for (other, y2, wide2) in &all[..k] {
                let apart = x + wide <= *other || other + wide2 <= *x || (y - y2).abs() >= 12.9;
                assert!(apart, "{all:?}");
            }
        }
    }
}
