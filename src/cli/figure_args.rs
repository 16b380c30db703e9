//! Options for the appearance of figures, which are the same in all commands that draw figures.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::exit::Failure;
use replay_output::plot::{FigureSize, FigureStyle, FontSize};

/// Options for the appearance of figures, as typed.
#[derive(Clone, Copy, Debug, Default, Args, Serialize, Deserialize)]
pub struct FigureArgs {
    /// Draw figures of this size, such as 85x60mm, 8.5x6cm or 3.35x2.4in [default: 1000 pt wide, height by kind].
    ///
    /// The width is exact. A figure is taller if its text needs more height, for example if the figure has many rows.
    /// SVG, PNG and PDF have this size on paper.
    #[arg(
        long,
        value_name = "WxH",
        requires = "figures",
        help_heading = "Output",
        hide_short_help = true
    )]
    pub figure_size: Option<FigureSize>,

    /// Draw figures with this font size in points [default: 8 with --figure-size, else 13.5].
    ///
    /// Tick labels and legends have this size; titles and gaps are in proportion.
    #[arg(
        long,
        value_name = "PT",
        requires = "figures",
        help_heading = "Output",
        hide_short_help = true
    )]
    pub font_size: Option<FontSize>,

    /// Draw figures without title and subtitle.
    #[arg(long, requires = "figures", help_heading = "Output", hide_short_help = true)]
    pub no_title: bool,

    /// Draw at most N strategies in a figure [default: 12].
    ///
    /// The subtitle gives the number of omitted strategies. Figures of waits, slowdowns and stretch have at most seven
    /// curves, one for each colour. Tables have all strategies.
    #[arg(
        long,
        value_name = "N",
        requires = "figures",
        value_parser = clap::value_parser!(u16).range(1..),
        help_heading = "Output",
        hide_short_help = true
    )]
    pub figure_strategies: Option<u16>,
}

impl FigureArgs {
    /// Returns the style.
    ///
    /// # Errors
    /// A usage error if the text does not fit the page.
    pub fn style(&self) -> Result<FigureStyle, Failure> {
        let style = FigureStyle {
            size: self.figure_size,
            font_size: self.font_size,
            titles: !self.no_title,
            strategies: self.figure_strategies.map_or(FigureStyle::STRATEGIES, usize::from),
        };
        style.check().map_err(Failure::usage_message)?;
        Ok(style)
    }
}
