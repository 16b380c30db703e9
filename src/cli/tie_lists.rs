//! Lists of the entries of tie vectors, given in the same way to `sweep`, `plan` and `search`.

use clap::Args;

use super::exit::Failure;
use replay_experiment::grid::{TieRanges, Values};
use replay_experiment::search::Numbers;

/// Lists of the entries SR, AF, WF and BF, as typed.
#[derive(Clone, Debug, Default, Args)]
#[group(id = "TieLists", multiple = true)]
pub struct TieLists {
    /// Try these scan radii SR of tie vectors: a number, a list or a range, such as 2 or 1,2,5 or 1..9.
    ///
    /// The commands sweep and plan need --sr and all three factors, and accept SR 0, which breaks no tie. The command
    /// search tries SR 1..9 and the values 0..10 of every entry without a list, and refuses SR 0. In sweep and plan,
    /// these lists cannot be used with --tie; the command search adds the vectors of --tie to its table. Vectors with
    /// the same ratio AF:WF:BF give the same decisions. The command sweep runs only the first of these vectors. The
    /// command search reduces vectors to the smallest whole numbers and omits vectors that break no tie.
    #[arg(long, value_name = "LIST", help_heading = "Tie vectors")]
    sr: Option<String>,

    /// Try these values of all three factors AF, WF and BF: a list or range.
    ///
    /// --af, --wf and --bf override these values for one factor.
    #[arg(long, value_name = "LIST", allow_hyphen_values = true, help_heading = "Tie vectors")]
    factors: Option<String>,

    /// Try these values of AF, the weight of free processors nearby.
    #[arg(
        long,
        value_name = "LIST",
        allow_hyphen_values = true,
        help_heading = "Tie vectors",
        hide_short_help = true
    )]
    af: Option<String>,

    /// Try these values of WF, the weight of the candidate's processors along walls.
    #[arg(
        long,
        value_name = "LIST",
        allow_hyphen_values = true,
        help_heading = "Tie vectors",
        hide_short_help = true
    )]
    wf: Option<String>,

    /// Try these values of BF, the weight of busy processors just outside.
    #[arg(
        long,
        value_name = "LIST",
        allow_hyphen_values = true,
        help_heading = "Tie vectors",
        hide_short_help = true
    )]
    bf: Option<String>,
}

/// An option and its list.
type Listed<'a> = (&'static str, &'a str);

impl TieLists {
    /// Returns the first option that is given, in the order of declaration.
    pub fn first(&self) -> Option<&'static str> {
        self.sr.as_ref().map(|_| "--sr").or_else(|| self.first_factor())
    }

    /// Returns the first factor option that is given.
    pub fn first_factor(&self) -> Option<&'static str> {
        let Self { factors, af, wf, bf, .. } = self;
        let all = [("--factors", factors), ("--af", af), ("--wf", wf), ("--bf", bf)];
        all.into_iter().find_map(|(option, list)| list.as_ref().map(|_| option))
    }

    fn scan_radii(&self) -> Option<Listed<'_>> {
        self.sr.as_deref().map(|list| ("--sr", list))
    }

    /// Returns the lists of AF, WF and BF.
    fn factors(&self) -> [Option<Listed<'_>>; 3] {
        let Self { factors, af, wf, bf, .. } = self;
        [("--af", af), ("--wf", wf), ("--bf", bf)].map(|(option, own)| {
            let own = own.as_deref().map(|list| (option, list));
            own.or_else(|| factors.as_deref().map(|list| ("--factors", list)))
        })
    }

    /// Returns the lists of a grid; `None` if no option was given.
    ///
    /// # Errors
    /// A usage error if a list is missing or contains a value that is not an integer.
    pub fn ranges(&self) -> Result<Option<TieRanges>, Failure> {
        let Some(given) = self.first() else { return Ok(None) };
        let [af, wf, bf] = self.factors();
        let (Some(sr), Some(af), Some(wf), Some(bf)) = (self.scan_radii(), af, wf, bf) else {
            return Err(Failure::usage_message(format!(
                "{given}: a grid of tie vectors needs --sr and --factors, or --sr, --af, --wf and --bf"
            )));
        };
        let values = |(option, list): Listed<'_>| {
            let values = Values::listed(list);
            let checked = values.integers::<i32>();
            checked.map(|_| values).map_err(|e| Failure::usage_message(format!("{option}: {e}")))
        };
        Ok(Some(TieRanges { sr: values(sr)?, af: values(af)?, wf: values(wf)?, bf: values(bf)? }))
    }

    /// Returns the scan radii of a search; `None` if they were not given.
    ///
    /// # Errors
    /// A usage error if the list contains a value that is not a whole number.
    pub fn searched_radii(&self) -> Result<Option<Numbers>, Failure> {
        self.scan_radii().map(numbers).transpose()
    }

    /// Returns the factors of a search; the default is `usual`.
    ///
    /// # Errors
    /// A usage error if a list contains a value that is not a whole number.
    pub fn searched_factors(&self, usual: [Numbers; 3]) -> Result<[Numbers; 3], Failure> {
        let mut factors = usual;
        for (factor, list) in factors.iter_mut().zip(self.factors()) {
            if let Some(list) = list {
                *factor = numbers(list)?;
            }
        }
        Ok(factors)
    }
}

/// Parses a list of whole numbers.
fn numbers((option, list): Listed<'_>) -> Result<Numbers, Failure> {
    list.parse().map_err(|error| {
        Failure::usage_message(format!("{option}: {error}; a search takes whole numbers from 0"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(sr: Option<&str>, factors: Option<&str>, bf: Option<&str>) -> TieLists {
        let owned = |list: Option<&str>| list.map(str::to_string);
        TieLists { sr: owned(sr), factors: owned(factors), bf: owned(bf), ..TieLists::default() }
    }

    #[test]
    fn a_factor_has_its_own_list_or_that_of_all() {
        let lists = lists(Some("1..3"), Some("0,5"), Some("7"));
        let ranges = lists.ranges().expect("lists").expect("a grid");
        let texts = ranges.lists().map(|(_, list)| list.texts().expect("numbers").join(","));
        assert_eq!(texts, ["1,2,3", "0,5", "0,5", "7"]);
        let usual = ["1", "2", "3"].map(|list| list.parse::<Numbers>().expect("numbers"));
        let factors = lists.searched_factors(usual.clone()).expect("lists");
        assert_eq!(factors.map(|list| list.to_string()), ["0,5", "0,5", "7..7"]);
        let none = TieLists::default();
        assert!(none.ranges().expect("no lists").is_none());
        assert_eq!(none.searched_factors(usual.clone()).expect("no lists"), usual);
    }

    #[test]
    fn a_grid_needs_every_list() {
        for (sr, factors, bf) in [(Some("1"), None, Some("1")), (None, Some("0..2"), None)] {
            let error = lists(sr, factors, bf).ranges().expect_err("a list is missing").message();
            assert!(error.contains("needs --sr and --factors"), "{error}");
        }
    }
}
