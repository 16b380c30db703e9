//! Spelling of the command line, and the layout of help and tables in a terminal.

use super::dir::{Dir, TINY};

trials![
    main_job_has_the_name_run,
    numbers_have_thousands_separators,
    words_after_a_value_have_a_tip,
    help_fits_the_terminal,
    an_alias_names_a_file_of_the_current_folder,
    patterns_need_arrivals,
    overload_is_reported,
    means_and_half_widths_are_one_cell,
];

fn main_job_has_the_name_run() {
    let dir = Dir::with_trace();
    let options = "--jobs 50 --alloc mc1x1 --format json --columns run,mean_wait";
    let expected = dir.replay(&format!("-q {options}")).code(0).stdout;
    for command in ["-q run", "run -q", "--quiet run"] {
        assert_eq!(dir.replay(&format!("{command} {options}")).code(0).stdout, expected);
    }
    dir.replay("run --help").code(0).prints("Usage: replay [COMMAND] [OPTIONS]");
    dir.replay("help run").code(0).prints("Usage: replay [COMMAND] [OPTIONS]");
    dir.replay("--alloc mc1x1 run").refused(&["'run' comes before the options"]);
}

fn numbers_have_thousands_separators() {
    let dir = Dir::with_trace();
    let explained = dir.replay("explain -q --job 3333").code(0).stdout;
    assert_eq!(dir.replay("explain -q --job 3,333").code(0).stdout, explained);
    assert_eq!(dir.replay("explain -q --job=3,333").code(0).stdout, explained);
    // The number of seconds as `show` prints it.
    dir.replay("show -q --at 352,182").code(0).prints("at 352,182 s");
    let jobs = dir.replay("-q --from 352,182 --jobs 1,000 --alloc mc1x1 --format json").code(0);
    assert_eq!(jobs.fields(&["jobs"]), ["1000"]);
    dir.replay("--jobs 33,33").refused(&["invalid value '33,33' for '--jobs <N>'"]);
}

fn words_after_a_value_have_a_tip() {
    let dir = Dir::new();
    dir.replay("--tie 2 13 20 6").refused(&["separate the values by commas: --tie 2,13,20,6"]);
    dir.replay("stream --arrivals 1 2").refused(&["separate the values by commas: --arrivals 1,2"]);
    dir.replay("explain --job 3 4").refused(&["'--job' takes one value"]);
}

/// Returns the number of visible characters of a line.
fn width(line: &str) -> usize {
    let visible = line.split('\u{1b}').enumerate().map(|(part, text)| match part {
        0 => text,
        _ => text.split_once('m').map_or("", |(_, text)| text),
    });
    visible.map(|text| text.chars().count()).sum()
}

fn help_fits_the_terminal() {
    let dir = Dir::new();
    // The parser does not wrap the line of usage.
    for line in ["-h", "--help", "compare -h", "report -h", "stream --help", "help network"] {
        for columns in [72, 80] {
            let lines = dir.in_terminal(columns, line);
            assert!(lines.len() > 10, "{line}: {lines:?}");
            let long = lines.iter().find(|line| width(line) > columns && !line.contains("Usage:"));
            assert!(long.is_none(), "{line} in {columns} columns: {long:?}");
        }
        let widest = dir.in_terminal(200, line).iter().map(|line| width(line)).max();
        assert!(widest.is_some_and(|widest| (70..=80).contains(&widest)), "{line}: {widest:?}");
    }
}

/// The file has the name that the message about an absent trace gives.
fn an_alias_names_a_file_of_the_current_folder() {
    let dir = Dir::new().file("KTH-SP2-1996-2.swf", TINY);
    for name in ["KTH-SP2", "kth", "KTH-SP2.swf"] {
        let run = dir.replay(&format!("-q -t {name} --alloc mc1x1 --format json")).code(0);
        assert_eq!(run.fields(&["trace"]), ["KTH-SP2-1996-2"]);
    }
}

const QUICK: &str = "--jobs 60 --replications 3 --alloc mbs";

fn patterns_need_arrivals() {
    let dir = Dir::new();
    for preset in ["", "--preset bani-mohammad"] {
        let command = format!("stream --machine 8x8 --pattern one-to-all {preset} {QUICK}");
        dir.replay(&command).fails(2, 1, &["--pattern: needs --arrivals", "per cycle"]);
        dir.replay(&format!("{command} --arrivals 0.001 -q")).code(0);
    }
}

fn overload_is_reported() {
    let dir = Dir::new();
    let run = dir.replay(&format!("stream --machine 8x8 --arrivals 0.1,20 {QUICK}")).code(0);
    let load =
        run.stderr.split("arrivals 20 fcfs mbs: 3 replications, overloaded: the load reached is ");
    let load = load.last().and_then(|rest| rest.split(" %").next()?.parse::<f64>().ok());
    run.demand(load.is_some_and(|load| (30.0..100.0).contains(&load)), "the load reached");
    let run =
        run.says("warning: at 1 of 2 points, jobs arrive faster than the machine serves them");
    run.demand(
        !run.stderr.contains("arrivals 0.1 fcfs mbs: 3 replications, overloaded"),
        "no overload",
    );
    let run = dir.replay(&format!("stream --machine 8x8 --arrivals 0.1 {QUICK}")).code(0);
    run.demand(!run.stderr.contains("warning"), "no warning");
}

fn means_and_half_widths_are_one_cell() {
    let dir = Dir::new();
    for columns in [60, 90, 120, 300] {
        let command = format!("stream -q --machine 8x8 --arrivals 1,2 {QUICK}");
        let lines = dir.in_terminal(columns, &command);
        assert!(lines.iter().all(|line| !line.contains("+-")), "{lines:?}");
        let pairs = |line: &str| line.matches(" ± ").count();
        assert!(pairs(&lines[2]) > 0 && pairs(&lines[2]) == pairs(&lines[3]), "{lines:?}");
    }
}
