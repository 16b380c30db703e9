//! Options that say how figures look, the same in every command that draws.

use clap::Args;

use super::exit::Failure;
use replay_output::plot::{FigureSize, FigureStyle, FontSize};

/// How figures look, as typed.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct FigureArgs {
    /// Draw figures of this size, such as 85x60mm, 8.5x6cm or 3.35x2.4in [default: 1000 pt wide, height by kind].
    ///
    /// The width is exact; a figure whose text needs more height, such as one with many rows, is taller. SVG, PNG and PDF
    /// have this size on paper.
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
    /// The subtitle counts the others. Curves of waits, slowdowns and stretch are at most seven, one for each colour.
    /// Tables have all strategies.
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
    /// The style.
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
