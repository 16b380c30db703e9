//! Figures. Every figure is saved as SVG, PNG and PDF, and its data as CSV. [`gallery`] draws all figures for which a
//! set of results has data. [`search_gallery`] draws the figures of a search. Each figure is also a value that can be
//! constructed and [`save`]d:
//!
//! | figure | shows |
//! |---|---|
//! | [`Improvement`] | improvement by tie-breaking, by job size or by rank of the size |
//! | [`StrategyBars`] | mean pairwise L1 by strategy |
//! | [`Comparison`] | strategies compared by several measures |
//! | [`Ties`] | how often the best score is tied, and among how many sets |
//! | [`Load`] | utilization and queue length over time |
//! | [`Lines`] | named lines on linear or logarithmic axes, with error bars |
//! | [`Areas`] | nested quantities as filled areas |
//! | [`Spreads`] | distributions of per-job values: cumulative curves above box plots |
//! | [`Scatter`] | scatter plots, one panel per pair of measures |
//! | [`HeatMap`] | a matrix of values with a colour bar |
//! | [`LinkMaps`] | the utilization of a machine's links by direction, on one colour scale |
//! | [`MachineMap`] | the job on each processor of a machine at one time |
//! | [`Candidates`] | the candidates of one decision, with their shells and the weights in their tie values |
//! | [`Gantt`] | the job on each processor over time |
//! | [`Shifts`] | the differences of start times between two schedules |
//! | [`Convergence`] | the best improvement of searches against the work done |
//! | [`Surface`] | the best improvement found by a search, one map per scan radius |
//!
//! # How to add a figure
//!
//! 1. Write a file that contains a struct with public fields and its `impl` of [`Figure`]: `head` (title and legend),
//!    `draw`, and `table` (the numbers shown). Implement `least_body` if the text needs more room than a panel. Declare
//!    the module here. [`Ties`] is a short example.
//! 2. If the figure is drawn from results, add the figure to the [`gallery`], with the condition under which the figure
//!    is drawn, the parts of its file name, and its values. Every `--out` then saves the figure as SVG, PNG, PDF and
//!    CSV.
//!
//! # Layout
//!
//! A [`Figure`] draws on a [`Canvas`], which hides the back end (SVG, PDF or PNG). The unit of lengths is chosen so
//! that tick labels have size 13.5. [`FigureStyle`] sets the size of page and text; by default a unit is a point and a
//! page is 1000 units wide. `panel` and `header` draw axes, grids and legends. The chart builder of the plotting
//! library is not used, because it does not support a second logarithmic axis beside bars and does not prevent
//! overlapping labels. All sizes and colours are in `style`. The font is embedded in the binary.

mod areas;
mod candidates;
mod canvas;
mod changes;
mod comparison;
mod convergence;
mod edge;
mod error;
mod figure;
mod figure_style;
mod gallery;
mod gantt;
mod header;
mod heat_map;
mod hierarchy;
mod improvement;
mod job_names;
mod jobs_legend;
mod lines;
mod link_maps;
mod load;
mod machine;
mod name;
mod number;
mod panel;
mod pdf;
mod published_comparison;
mod raster;
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
mod waits_by_load;
mod waits_by_size;

pub use areas::Areas;
pub use candidates::{CandidateMap, Candidates, ProcessorState, TieTerm};
pub use canvas::{Align, Canvas, Text};
pub use changes::{Change, ChangeRow, Changes};
pub use comparison::{Comparison, Marks};
pub use convergence::{Convergence, ConvergenceCurve};
pub use edge::Edge;
pub use error::PlotError;
pub use figure::Figure;
pub use figure_style::{FigureSize, FigureStyle, FontSize, Page, Plots};
pub use gallery::gallery;
pub use gantt::{Bar, Gantt};
pub use header::Head;
pub use heat_map::HeatMap;
pub use improvement::{Improvement, Order};
pub use job_names::JobNames;
pub use lines::{Line, Lines, Point};
pub use link_maps::{LinkMap, LinkMaps};
pub use load::{Load, LoadShare, Span};
pub use machine::MachineMap;
pub use name::{FileNames, joined};
pub use published_comparison::{PublishedComparison, PublishedRow};
pub use save::save;
pub use scale::{Scale, Tick};
pub use scatter::{Scatter, ScatterPanel};
pub use search::{SearchRun, convergence, portability_map, search_gallery, surface};
pub use shifts::{Shift, Shifts};
pub use spread::{
    AxisLabels, Distribution, STRETCHES, SpreadCurve, WaitDistributions, not_shown, spreads,
};
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
