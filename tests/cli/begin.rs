//! First use: runs without arguments, help, completions, manual pages.

use super::dir::{Dir, checkout};

trials!(
    runs_the_main_job_in_a_checkout,
    finds_the_checkout_from_another_folder,
    runs_the_main_job_without_a_checkout,
    finds_the_built_in_trace_by_each_name,
    short_help_fits_a_screen,
    long_help_lists_all_commands,
    lists_one_entry,
    version_is_that_of_the_package,
    messages_cut_long_arguments,
    completions_name_every_command,
    completes_the_last_item_of_a_list,
    manual_pages_are_complete,
    reports_threads_that_cannot_start,
);

/// Allocator and tie vector of each run that the program starts without arguments. Strategies that break ties occur
/// twice.
const MAIN_JOB: [&str; 9] = [
    "mc1x1 -",
    "mc1x1 2,13,20,6",
    "mm -",
    "mm 2,13,20,6",
    "gen-alg -",
    "gen-alg 2,13,20,6",
    "hilbert-best-fit -",
    "snake-best-fit -",
    "random -",
];

fn is_main_job(stdout: &str) -> bool {
    let rows: Vec<Vec<&str>> =
        stdout.lines().skip(2).map(|line| line.split_whitespace().collect()).collect();
    let names: Vec<String> = rows.iter().map(|row| row[4..6].join(" ")).collect();
    rows.iter().all(|row| row[..4] == ["lublin-10x10", "5,000", "10x10", "fcfs"])
        && names == MAIN_JOB
}

fn runs_the_main_job_in_a_checkout() {
    // The trace is found from the current directory, not from the location of the program.
    let outcome = Dir::with_program().replay_in(checkout(), "").code(0);
    outcome.demand(is_main_job(&outcome.stdout), "the main job");
    let report = "lublin-10x10: 5,000 records, 5,000 jobs kept; 0 dropped; 0 changed\n";
    outcome.says(report).says("lublin-10x10: machine 10x10 (square of the header's MaxProcs)\n");
}

fn finds_the_checkout_from_another_folder() {
    // The trace is found by name from another folder. The trace is shortened, to distinguish it from the trace built
    // into the program.
    let text = String::from_utf8_lossy(&super::dir::shipped_trace()).into_owned();
    let short: String = text.lines().take(30).map(|line| format!("{line}\n")).collect();
    let checkout = Dir::with_program()
        .file("traces/lublin-10x10.swf", short.as_bytes())
        .file("traces/manifest.toml", "");
    let elsewhere = Dir::new();
    let outcome = checkout.replay_in(&elsewhere.path(""), "--trace lublin-10x10").code(0);
    outcome.says("lublin-10x10: 21 records, 21 jobs kept");
}

/// The name `lublin` also denotes a workload model; without parameters, the name selects the shipped trace.
fn finds_the_built_in_trace_by_each_name() {
    for name in ["lublin", "synthetic", "lublin-10x10", "LUBLIN-10x10.swf"] {
        let outcome = Dir::with_program().replay(&format!("--trace {name} --jobs 20")).code(0);
        outcome.says("lublin-10x10: 5,000 records");
    }
    let made = Dir::with_program().replay("--trace lublin[jobs=50] --jobs 20").code(0);
    made.says("lublin[jobs=50]");
}

fn runs_the_main_job_without_a_checkout() {
    let outcome = Dir::with_program().replay("").code(0);
    outcome.demand(is_main_job(&outcome.stdout), "the main job");
}

fn short_help_fits_a_screen() {
    let main_job = Dir::new().replay("-h").code(0).says_nothing().prints("Usage: replay");
    let listed = |line: &&str| line.starts_with("  ") && !line.trim_start().starts_with('-');
    let all = Dir::new().replay("--help").code(0);
    let groups = all.stdout.split("\n\n").find(|part| part.starts_with("Get a log:"));
    let lines: Vec<&str> = groups.unwrap_or_default().lines().filter(listed).collect();
    let names = lines.iter().filter_map(|line| line.split_whitespace().next());
    let commands: Vec<&str> = names.filter(|name| *name != "run").collect();
    assert!(commands.len() >= 23, "{commands:?}");
    for hidden in ["network", "place", "completions", "man"] {
        assert!(commands.contains(&hidden), "{hidden}");
        let line = format!("\n  {hidden} ");
        main_job.demand(!main_job.stdout.contains(&line), "commands that only --help lists");
    }
    let helps = commands.iter().map(|name| Dir::new().replay(&format!("{name} -h")).code(0));
    for help in std::iter::once(main_job).chain(helps) {
        let lines = help.stdout.lines().count();
        help.demand(lines <= 48, "at most 48 lines");
        let is_narrow = help.stdout.lines().all(|line| line.chars().count() <= 80);
        help.demand(is_narrow, "at most 80 columns");
        let options = help.stdout.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
        help.demand(options.count() <= 20, "at most 20 options");
    }
}

fn lists_one_entry() {
    let dir = Dir::new();
    let one = dir.replay("list allocators MBS").code(0).prints("  mbs (or multiple-buddy)\n");
    one.demand(!one.stdout.contains("mc1x1"), "only the named allocator");
    dir.replay("list allocators multiple-buddy --format json").code(0).prints("\"name\":\"mbs\"");
    let columns = dir.replay("list columns mean_wait").code(0).prints("mean_wait [s]");
    columns.demand(!columns.stdout.contains("mean_turnaround"), "only the named column");
    dir.replay("list systems blue-gene --format names").fails(
        2,
        1,
        &["list systems \"blue-gene\""],
    );
    dir.replay("list allocators mbz").fails(2, 1, &["list allocators \"mbz\": unknown", "mbs"]);
    dir.replay("list traces nothing").fails(2, 1, &["list traces \"nothing\""]);
}

fn long_help_lists_all_commands() {
    let help = Dir::new().replay("--help").code(0).says_nothing();
    let help = help.prints("Exit codes: 0 done; 1 done, but").prints("Examples:").prints("Units:");
    for command in ["verify", "sweep", "plan", "merge", "list", "synth"] {
        Dir::new()
            .replay(&format!("{command} --help"))
            .code(0)
            .says_nothing()
            .prints("Usage: replay");
        help.demand(help.stdout.contains(command), command);
    }
}

fn version_is_that_of_the_package() {
    let first = concat!("replay ", env!("CARGO_PKG_VERSION"), "\n");
    let version = Dir::new().replay("-V").code(0).says_nothing();
    version.demand(version.stdout == first, "version");
    let long = Dir::new().replay("--version").code(0).says_nothing();
    long.demand(long.stdout.starts_with(first), "version");
    for (line, begin) in long.stdout.lines().skip(1).zip(["commit ", "sources ", "compiler rustc "])
    {
        long.demand(line.len() > begin.len() && line.starts_with(begin), begin);
    }
}

/// Messages are short even if the arguments are long.
fn messages_cut_long_arguments() {
    let dir = Dir::with_trace();
    let word = "y".repeat(100_000);
    for command in
        ["", "--alloc ", "--jobs ", "--trace ", "--", "list ", "verify ", "synth ", "search --tie "]
    {
        let refused = dir.replay(&format!("{command}{word}"));
        let length = refused.stderr.len();
        assert!((1..6000).contains(&length), "{command}: {length} bytes");
    }
}

/// The bash completion completes the item after the last comma. The completion offers only traces that exist in the
/// directory.
fn completes_the_last_item_of_a_list() {
    let dir = Dir::with_trace().file("traces/mine.swf", "").file("traces/made.swf.gz", "");
    let names = dir.replay("list traces --format names").code(0);
    let names = names.prints("lublin-10x10\n").prints("mine\n").prints("made\n");
    names.demand(!names.stdout.contains("KTH-SP2"), "only traces that exist here");
    let allocators = dir.replay("list allocators --format names").code(0);
    allocators.prints("curve\n").prints("hilbert-best-fit\n");
    dir.replay("list schedulers --format names").code(0).prints("easy\n");
    let script = dir.replay("completions bash").code(0).stdout;
    let dir = dir.file("replay.bash", script.as_str());
    let complete = |words: &str, last: &str| {
        let program = env!("CARGO_BIN_EXE_replay");
        let before = words.split(' ').next_back().filter(|word| !word.is_empty());
        let line = format!(
            "source ./replay.bash; COMP_WORDS=({program} {words} '{last}'); \
             COMP_CWORD=$((${{#COMP_WORDS[@]}}-1)); _replay_lists {program} '{last}' {}; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            before.unwrap_or(program),
        );
        let mut found = dir.shell(&line);
        found.sort();
        found
    };
    assert_eq!(complete("--trace", "m"), ["made", "mine"]);
    assert_eq!(complete("--trace", "KTH,mi"), ["KTH,mine"]);
    assert_eq!(complete("sweep -s", "fcfs,eas"), ["fcfs,easy"]);
    assert!(complete("--alloc", "").len() > 40);
    // Words that are not items of a list are completed by the generated script.
    assert!(complete("", "verif").contains(&"verify".to_string()));
}

fn completions_name_every_command() {
    for (shell, mark) in [
        ("bash", "complete -F _replay"),
        ("zsh", "#compdef replay"),
        ("fish", "complete -c replay"),
    ] {
        let script = Dir::new().replay(&format!("completions {shell}")).code(0).says_nothing();
        let script = script.prints(mark);
        for word in ["verify", "list", "synth", "oversize", "no-plots"] {
            script.demand(script.stdout.contains(word), word);
        }
    }
    let offers = |shell: &str, words: &[&str]| {
        let script = Dir::new().replay(&format!("completions {shell}")).code(0).says_nothing();
        words.iter().for_each(|word| script.demand(script.stdout.contains(word), word));
    };
    offers("bash", &["turning-busy-list", "out-of-order", "one-to-all", "bani-mohammad"]);
    offers("fish", &["gen-alg\\t", "conservative\\t", "pareto\\t", "johnson\\t"]);
    for (shell, open, close) in [("fish", "[", "]"), ("zsh", "\\[", "\\]")] {
        let script = Dir::new().replay(&format!("completions {shell}")).code(0).stdout;
        for [form, order, fit] in [
            ["hilbert-best-fit", "hilbert", "best-fit"],
            ["snake-sum-of-squares", "snake", "sum-of-squares"],
            ["shuffled-row-major-free-list", "shuffled-row-major", "free-list"],
        ] {
            let line = |line: &&str| line.contains(form) && line.contains("order=");
            let described = script.lines().find(line).unwrap_or_default().replace('\\', "");
            let [open, close] = [open, close].map(|mark| mark.replace('\\', ""));
            let about = format!("curve{open}order={order},fit={fit}{close}");
            assert!(described.contains(&about), "{shell} {form}: {described}");
        }
    }
    Dir::new().replay("completions csh").refused(&["csh", "bash", "zsh", "fish"]);
}

fn manual_pages_are_complete() {
    let page = Dir::new().replay("man").code(0).says_nothing();
    let page = page.prints(".TH replay 1").prints(".SH SYNOPSIS").prints("\\-\\-oversize");
    page.demand(page.stdout.contains("Exit codes"), "the exit codes");
    let dir = Dir::new();
    let all = dir.replay("man --all man/man1").code(0).says_nothing();
    let files = dir.files("man/man1");
    all.demand(
        files.len() > 15 && files.contains(&"replay.1".to_string()),
        "a page for each command",
    );
    assert_eq!(all.stdout.lines().count(), files.len());
    for name in files.iter().filter(|name| *name != "replay.1") {
        let text = String::from_utf8(dir.read(&format!("man/man1/{name}"))).expect("text");
        assert!(text.contains(&format!(".TH {}", name.trim_end_matches(".1"))), "{name}");
        assert!(text.contains(".SH SYNOPSIS") && text.contains(".SH DESCRIPTION"), "{name}");
    }
    let show = String::from_utf8(dir.read("man/man1/replay-show.1")).expect("text");
    assert!(show.contains("\\-\\-gantt") && show.contains("\\-\\-job"));
}

/// The stack size exceeds the address space, so that no thread can start.
fn reports_threads_that_cannot_start() {
    let dir = Dir::with_trace().variable("RUST_MIN_STACK", (1u64 << 50).to_string());
    for command in ["--jobs 50 --out out", "search --jobs 50", "stream --jobs 50 --out out"] {
        dir.replay(&format!("{command} --threads 3")).fails(
            2,
            1,
            &["cannot start 3 threads", "use fewer with --threads"],
        );
        assert!(!dir.path("out").exists());
    }
}
