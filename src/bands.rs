//! The bands of an array on the dies of its board, for the report.

use array::contract::bands::Bands;
use array::vsa::Vsa;
use cost::board::{Board, Die, Resources};
use cost::resources;

/// A band of an array that is cut.
pub struct Band {
    /// Its PEs along the axis, by coordinates.
    pub first: i64,
    pub last: i64,
    pub need: Resources,
    /// `None` if the board has fewer dies than the array has bands.
    pub die: Option<OnDie>,
}

/// The die of a band.
pub struct OnDie {
    pub name: String,
    pub resources: Resources,
}

/// An AXI port of an array that is cut.
pub struct AtDie {
    /// The arrays behind it.
    pub arrays: Vec<String>,
    /// The die of its memory, and its place among the board's.
    pub die: String,
    pub place: usize,
    /// Borders of dies between its engines and its memory.
    pub borders: i64,
}

/// The ports of an array that is cut, if the board has a die for each band.
pub fn ports(vsa: &Vsa, board: &Board) -> Vec<AtDie> {
    let bands = Bands::of(vsa).map_or(1, |bands| bands.count());
    let Some(first) = board.first_of(bands).filter(|_| bands > 1) else { return vec![] };
    let one = |port: usize| {
        let dies = vsa.away.get(port).copied().unwrap_or(0);
        let place = board.place_from(first, dies)?;
        let die = board.dies[place].name.clone();
        let arrays = vsa.arrays_of(port).map(|a| vsa.arrays[a].name.clone()).collect();
        Some(AtDie { arrays, die, place, borders: vsa.borders(port) })
    };
    (0..vsa.axi_ports()).filter_map(one).collect()
}

/// Name of the axis, and the bands from the one where waves enter; nothing if the array is whole.
pub fn of(vsa: &Vsa, board: &Board) -> Option<(String, Vec<Band>)> {
    let bands = Bands::of(vsa).ok().filter(|bands| bands.count() > 1)?;
    let (extent, forward) = (vsa.extent[bands.axis], vsa.schedule.start[bands.axis].forward());
    let dies = board.dies_of(bands.count());
    let needs = cost::bands::bands(vsa);
    let one = |(b, need): (usize, Resources)| {
        let span = bands.span(b);
        let [first, last] =
            if forward { [span.start, span.end - 1] } else { [extent - span.end, extent - 1 - span.start] };
        let die = dies.map(|dies| OnDie { name: dies[b].name.clone(), resources: dies[b].resources });
        Band { first, last, need, die }
    };
    Some((vsa.axes[bands.axis].clone(), needs.into_iter().enumerate().map(one).collect()))
}

impl Band {
    /// The resource of which the band takes the largest share of its die, and that share in percent.
    pub fn fullest(&self) -> Option<(&'static str, f64)> {
        let die = self.die.as_ref()?;
        let share = |((name, need), all): ((&'static str, i64), i64)| (name, 100.0 * need as f64 / all.max(1) as f64);
        let shares = self.need.named().into_iter().zip(die.resources.counts()).map(share);
        shares.max_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// One line.
pub fn text(vsa: &Vsa, board: &Board) -> Option<String> {
    let Some((axis, bands)) = of(vsa, board) else {
        let fits = |die: &Die| resources::estimate(vsa).fits(&board.usable_of(die));
        let text = "in one piece, which takes more than the margins leave of a die";
        return (board.dies.len() > 1 && !board.dies.iter().any(fits)).then(|| text.into());
    };
    let one = |band: &Band| {
        let pes = format!("PEs {} to {}", band.first, band.last);
        match (&band.die, band.fullest()) {
            (Some(die), Some((name, share))) => {
                format!("{pes} on {} ({share:.1} % of its {})", die.name, name.to_uppercase())
            }
            _ => pes,
        }
    };
    let dies = if bands[0].die.is_none() { format!("; {} has no die for each", board.name) } else { String::new() };
    let ports: Vec<String> =
        ports(vsa, board).iter().map(|p| format!("{} on {}", p.arrays.join(", "), p.die)).collect();
    let memory = if ports.is_empty() { String::new() } else { format!("; memory of {}", ports.join(", ")) };
    let bands = format!("{} bands along {axis}: {}", bands.len(), bands.iter().map(one).collect::<Vec<_>>().join(", "));
    Some(bands + &dies + &memory)
}

/// For `report.json`.
pub fn json(vsa: &Vsa, board: &Board) -> serde_json::Value {
    let Some((axis, bands)) = of(vsa, board) else { return serde_json::Value::Null };
    let one = |band: &Band| {
        serde_json::json!({
            "first": band.first,
            "last": band.last,
            "die": band.die.as_ref().map(|die| die.name.clone()),
            "resources": band.need,
        })
    };
    let port = |p: &AtDie| serde_json::json!({ "arrays": p.arrays, "die": p.die, "borders": p.borders });
    serde_json::json!({
        "axis": axis,
        "bands": bands.iter().map(one).collect::<Vec<_>>(),
        "memory": ports(vsa, board).iter().map(port).collect::<Vec<_>>(),
    })
}
