//! Pictures of a [`Vsa`] in the manner of the PolySA and AutoSA papers: the PEs, the links between them, feeders (L2)
//! at the border or inside of the PEs, collectors, and the DRAM side (L3) of every I/O group.
//!
//! Waves always enter at the upper left: an axis whose PEs start later towards 0 is drawn backwards. Axis 0 runs down
//! and axis 1 to the right; a single column is drawn as a row. Axes with more than [`SHOWN`] PEs are shown with their
//! middle left out. The text depends on the Vsa only.

mod canvas;
mod figure;
mod legend;
mod parts;
mod time;

use array::vsa::Vsa;

pub use parts::SHOWN;
pub use time::draw as draw_time;

/// An SVG document. The Vsa must satisfy [`array::verify::well_formed`]; without a schedule, links carry no delays.
pub fn draw(vsa: &Vsa) -> String {
    figure::Figure::new(vsa).draw()
}
