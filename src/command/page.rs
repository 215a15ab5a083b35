//! The page of `sagen explore --html`: one file without scripts or links, so that it works offline and in print.

use crate::explore::Best;
use crate::plot::{escape, roofline, Plot, STYLE};
use crate::report::grouped;
use search::branch::{share, Design, Found, Step};

/// PEs and lanes.
fn size(d: &Design) -> String {
    format!("{}×{}×{}", d.vsa.extent[0], d.vsa.extent[1], d.vsa.lanes)
}

/// Cycles over the share of the scarcest resource.
fn front_plot(all: &Best) -> String {
    let best = all.design();
    let of = |d: &Design| (100.0 * share(&d.need, &all.limits), d.cycles as f64);
    let designs: Vec<&Design> = all.front.iter().filter_map(|f| f.best.as_ref()).collect();
    let mut points: Vec<(f64, f64)> = designs.iter().map(|d| of(d)).chain([of(best)]).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut plot = Plot::new(&points, [true, true], ["share of the scarcest resource within the limits, %", "cycles"]);
    plot.line(&points, "#8aa", "");
    for d in designs {
        plot.dot(of(d), "#577", &size(d));
    }
    plot.dot(of(best), "#c33", &size(best));
    plot.legend("#c33", "the best design: PEs and lanes");
    plot.legend("#577", "the best designs with less");
    plot.svg()
}

/// Best and bound over exact designs.
fn course(found: &Found) -> String {
    let last = found.counts.exact.max(1) as f64;
    let mut best: Vec<(f64, f64)> = vec![];
    let mut bound: Vec<(f64, f64)> = vec![];
    for &Step { designs: n, cycles, bound: open, .. } in &found.trace {
        if let Some(before) = best.last().copied() {
            best.push((n as f64, before.1));
        }
        best.push((n as f64, cycles as f64));
        if open > 0 {
            bound.push((n as f64, open as f64));
        }
    }
    best.extend(best.last().map(|b| (last, b.1)));
    bound.push((last, found.bound as f64));
    let all: Vec<(f64, f64)> = best.iter().chain(&bound).copied().collect();
    let mut plot = Plot::new(&all, [false, true], ["designs assembled", "cycles"]);
    plot.line(&best, "#c33", "");
    plot.line(&bound, "#336", "5 3");
    plot.legend("#c33", "the best design so far");
    plot.legend("#336", "the bound: no design takes fewer");
    plot.svg()
}

/// The page; `command` builds the best design.
pub(super) fn render(all: &Best, hints: &[String], command: &str) -> String {
    let (best, found) = (all.design(), &all.found);
    let title = format!("{} on {}", escape(&all.scop.name), escape(&all.board.name));
    let hints: String = hints.iter().map(|h| format!("<p>{}.</p>", escape(h))).collect();
    format!(
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><title>{title}</title><style>{STYLE}</style></head>\
         <body>\n<h1>{title}</h1>\n{}\n<code>{}</code>\n{}\n{hints}\n\
         <h2>Cycles against area</h2>\n<div class='plots'>{}</div>\n{}\n\
         <h2>Roofline</h2>\n<p>The position of the design for each port: under the slope the port limits the speed, \
         under the flat roof the lanes do.</p><div class='plots'>{}</div>\n\
         <h2>Course of the search</h2>\n<div class='plots'>{}</div>\n<h2>The systolic array</h2>\n{}\n\
         <h2>Why designs were refused</h2>\n{}\n</body></html>\n",
        headline(all),
        escape(command),
        resources(all),
        front_plot(all),
        points(all),
        roofline(&best.vsa.at_most(), best.cycles, all.iterations),
        course(found),
        draw::draw(&best.vsa),
        refused(found),
    )
}

/// Size, speed, proof and effort.
fn headline(all: &Best) -> String {
    let (best, found, board) = (all.design(), &all.found, &all.board);
    let proof = match found.gap() {
        0.0 => "No array within the limits takes fewer.".to_string(),
        gap => {
            format!("No array within the limits takes fewer than {} ({:.2} % less).", grouped(found.bound), 100.0 * gap)
        }
    };
    let [rows, columns] = best.vsa.extent;
    let c = &found.counts;
    format!(
        "<p><b>{rows}×{columns} PEs, {} lanes each: {} cycles</b>, {:.2} µs at {} MHz, {:.1} % of the lanes' time. \
         {proof}</p>\n<p>{} designs assembled, {} walked coarsely, {} bounded in {:.1} s; {} too big.</p>",
        best.vsa.lanes,
        grouped(best.cycles),
        best.cycles as f64 / board.clock_mhz,
        board.clock_mhz,
        100.0 * all.utilization(best),
        grouped(c.exact as i64),
        grouped(c.walks as i64),
        grouped(c.bounds as i64),
        all.seconds,
        grouped(c.too_big as i64),
    )
}

/// The table of resources.
fn resources(all: &Best) -> String {
    let row = |((name, need), have): ((&str, i64), i64)| {
        let (name, share) = (name.to_uppercase(), 100.0 * need as f64 / have.max(1) as f64);
        format!("<tr><td>{name}</td><td>{}</td><td>{}</td><td>{share:.1} %</td></tr>", grouped(need), grouped(have))
    };
    let rows: String = all.design().need.named().into_iter().zip(all.limits.counts()).map(row).collect();
    format!("<table><tr><th>resource</th><th>estimate</th><th>limit</th><th>share</th></tr>{rows}</table>")
}

/// The table of the points of the front.
fn points(all: &Best) -> String {
    let designs = [&all.found].into_iter().chain(&all.front).filter_map(|f| f.best.as_ref().map(|d| (f, d)));
    let row = |(f, d): (&Found, &Design)| {
        let numbers = [d.cycles, f.bound, d.need.dsp, d.need.lut, d.need.bram36()].map(grouped);
        format!("<tr><td>{}</td><td>{}</td></tr>", size(d), numbers.join("</td><td>"))
    };
    let rows: String = designs.map(row).collect();
    format!(
        "<table><tr><th>PEs × lanes</th><th>cycles</th><th>bound</th><th>DSP</th><th>LUT</th><th>BRAM36</th></tr>\
         {rows}</table>"
    )
}

/// The table of reasons for which designs were refused.
fn refused(found: &Found) -> String {
    let row =
        |(why, times): &(String, u64)| format!("<tr><td>{}</td><td>{}</td></tr>", escape(why), grouped(*times as i64));
    let rows: String = found.refused.iter().map(row).collect();
    match rows.is_empty() {
        true => "<p>None was.</p>".to_string(),
        false => format!("<table><tr><th>why</th><th>designs</th></tr>{rows}</table>"),
    }
}
