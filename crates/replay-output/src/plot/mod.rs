//! Figures: every plot as SVG, PNG and PDF, with its data beside it as CSV.
//!
//! [`gallery`] draws what a set of results gives, [`search_gallery`] a search; each figure is also a plain value that
//! can be filled by hand and [`save`]d:
//!
//! | figure | shows |
//! |---|---|
//! | [`Improvement`] | tie-breaking against none, by job size or by rank of the size |
//! | [`StrategyBars`] | mean pairwise L1 by strategy |
//! | [`Comparison`] | strategies by several measures side by side |
//! | [`Ties`] | how often and how widely the best score is shared |
//! | [`Load`] | utilization and queue length over time |
//! | [`Lines`] | named lines, linear or logarithmic, with error bars |
//! | [`Areas`] | lines each of which is a part of the one before, as areas |
//! | [`Spreads`] | how values of jobs spread: cumulative curves above boxes |
//! | [`Scatter`] | points of two measures, a panel for each pair |
//! | [`HeatMap`] | a matrix of values with a colour bar |
//! | [`LinkMaps`] | the use of a machine's links, direction by direction, on one scale |
//! | [`MachineMap`] | who holds which processors of a machine |
//! | [`Candidates`] | who competed for a request, with shells and what counts in tie values |
//! | [`Gantt`] | who held which processors when |
//! | [`Shifts`] | which jobs of two schedules start earlier, which later |
//! | [`Film`] | the same as an animated SVG |
//! | [`Convergence`] | how searches got better, by evaluations |
//! | [`Surface`] | small maps of what a search found, one per scan radius |
//!
//! # How to add one
//!
//! 1. Write its file: a struct with what it shows, all public, and `impl` [`Figure`] for it: `head` with title and
//!    legend, `least_body` if its text needs more room than a panel, `draw`,
//!    and `table` with the numbers shown; and its `mod` line here. [`Ties`] is a short one to start from.
//! 2. Where it is drawn of results, add it to the [`gallery`]: when, its parts of a file name, its
//!    values. It is then saved as SVG, PNG, PDF and CSV, beside the others, in every `--out`.
//!
//! # The house
//!
//! A [`Figure`] draws on a [`Canvas`], which hides the back end: lengths are units of a layout in which ticks are
//! 13.5 high, whether the page is an SVG, a PDF or a PNG. [`FigureStyle`] says how large page and text are; by
//! default a unit is a point and a page is 1000 wide. Axes, grids and legends are drawn by `panel` and `header` rather than by the chart builder of the
//! plotting library, which has no second logarithmic axis beside bars and no control over
//! where labels meet. Sizes and colours are all in `style`. The font is inside the binary.

mod areas;
mod beside;
mod candidates;
mod canvas;
mod comparison;
mod convergence;
mod edge;
mod error;
mod figure;
mod film;
mod gallery;
mod gantt;
mod header;
mod heat_map;
mod improvement;
mod jobs_legend;
mod lines;
mod link_maps;
mod load;
mod look;
mod machine;
mod name;
mod number;
mod panel;
mod pdf;
mod raster;
mod recorded;
mod rows;
mod save;
mod scale;
mod scatter;
mod search;
mod shaken;
mod shifts;
mod spread;
mod spreads;
mod strategies;
mod style;
mod surface;
mod table;
mod ties;
mod waits;

pub use areas::Areas;
pub use beside::{Beside, BesideRow};
pub use candidates::{CandidateMap, Candidates, Counted, ProcessorState};
pub use canvas::{Align, Canvas, Text};
pub use comparison::{Comparison, Marks};
pub use convergence::{Climb, Convergence};
pub use edge::Edge;
pub use error::PlotError;
pub use figure::Figure;
pub use film::{Film, Scene};
pub use gallery::gallery;
pub use gantt::{Bar, Gantt};
pub use header::Head;
pub use heat_map::HeatMap;
pub use improvement::{Improvement, Order};
pub use lines::{Line, Lines, Point};
pub use link_maps::{LinkMap, LinkMaps};
pub use load::{Load, Of, Span};
pub use look::{FigureSize, FigureStyle, FontSize, Page, Plots};
pub use machine::MachineMap;
pub use name::{FileNames, joined};
pub use save::save;
pub use scale::{Scale, Tick};
pub use scatter::{Scatter, ScatterPanel};
pub use search::{Searched, convergence, portability_map, search_gallery, surface};
pub use shifts::{Shift, Shifts};
pub use spread::{AxisLabels, Distribution, STRETCHES, SpreadCurve, Waits, not_shown, spreads};
pub use spreads::{BoxPlot, Spreads};
pub use strategies::{StrategyBar, StrategyBars};
pub use style::{Colour, PALETTE};
pub use surface::{Surface, SurfaceMap};
pub use table::Table;
pub use ties::{TieRow, Ties};

#[cfg(test)]
mod layout_tests;
#[cfg(test)]
mod tests;
