//! Missing, damaged and unusual traces: bad data gives exit code 3 and one short message.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::dir::{Dir, Outcome, TINY, gzip, shipped_trace};

trials!(
    honours_dependencies,
    rules_without_waits_accept_shifted_arrivals,
    rejects_unsupported_dependencies,
    cell_ids_of_recorded_runs_include_waits,
    missing_trace,
    suggests_similar_trace_names,
    empty_file,
    header_without_records,
    binary_file,
    truncated_gzip,
    damaged_gzip,
    detects_gzip_by_content,
    malformed_number,
    truncated_record,
    skips_malformed_lines_up_to_a_limit,
    only_malformed_lines,
    only_negative_fields,
    negative_times,
    job_larger_than_the_machine,
    directory_as_trace,
    unreadable_file,
    bad_trace_among_several,
    strict_policy_names_the_line,
    rejects_endless_lines,
    reads_only_named_pipes,
    built_in_trace_has_one_name,
    reads_a_trace_from_stdin,
    reports_fields_after_the_eighteenth,
    policies_read_sizes_from_further_fields,
    interrupts_commands_that_wait_for_input,
);

const BAD: &str = "; MaxProcs: 4\n1 0 0 5 2 -1 -1 2 12x\n2 1 0 5 2\n";

fn missing_trace() {
    let dir = Dir::with_program().variable("REPLAY_TRACES", "/nowhere/a:/nowhere/b");
    let looked = "not found in /nowhere/a, /nowhere/b, traces\n";
    let fetch = "to fetch it: replay fetch LANL-CM5-1994-4.1-cln\n";
    dir.replay("--trace lanl-cm5").fails(2, 2, &["no trace \"lanl-cm5\"", looked, fetch]);
    dir.replay("--trace quarks").fails(
        2,
        2,
        &["no trace \"quarks\"", looked, "known traces: replay list traces\n"],
    );
}

fn suggests_similar_trace_names() {
    let near = ["\ndid you mean KTH-SP2", "\nto fetch it: replay fetch KTH-SP2-1996-2\n"];
    Dir::with_program().replay("--trace KHT-SP2.swf").fails(2, 3, &near);
}

fn empty_file() {
    let dir = Dir::new().file("empty.swf", "");
    dir.replay("--trace empty.swf").fails(3, 1, &["empty.swf: no job records in the file"]);
}

fn header_without_records() {
    let dir = Dir::new().file("head.swf", "; MaxProcs: 4\n\n; Note: none came\n");
    dir.replay("--trace head.swf").fails(3, 1, &["head.swf: no job records in the file"]);
}

fn binary_file() {
    let junk: Vec<u8> = (0..5000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let dir = Dir::new().file("junk.swf", junk);
    dir.replay("--trace junk.swf").fails(3, 1, &["junk.swf:1:1: ", "this is not an SWF trace"]);
}

/// Returns the shipped trace, compressed with gzip.
fn packed() -> Vec<u8> {
    gzip(&shipped_trace())
}

fn truncated_gzip() {
    let (short, whole) = (Dir::new().file("cut.swf.gz", &packed()[..20_000]), packed().len());
    let words = ["cut.swf.gz: the gzip data are truncated", "(after line "];
    short.replay("--trace cut.swf.gz").fails(3, 1, &words);
    // Only the checksum at the end is missing, so all jobs have been read when the error occurs.
    let nearly = Dir::new().file("cut.swf.gz", &packed()[..whole - 4]);
    nearly.replay("--trace cut.swf.gz").fails(3, 1, &words);
}

fn damaged_gzip() {
    let mut bytes = packed();
    let checksum = bytes.len() - 8;
    bytes[checksum] ^= 1;
    let dir = Dir::new().file("sum.swf.gz", &bytes);
    dir.replay("--trace sum.swf.gz").fails(3, 1, &["sum.swf.gz: the gzip data are damaged"]);
    // Damage in the middle may first cause an error about malformed text.
    bytes[10_000..10_100].fill(0x55);
    let stopped = dir.file("bad.swf.gz", bytes).replay("--trace bad.swf.gz").code(3);
    stopped.demand(stopped.stdout.is_empty(), "no data");
    stopped.says("replay: bad.swf.gz:");
}

fn detects_gzip_by_content() {
    let dir = Dir::new().file("packed.swf", packed()).file("plain.swf.gz", shipped_trace());
    for name in ["packed.swf", "plain.swf.gz"] {
        let run =
            dir.replay(&format!("--trace {name} --alloc mc1x1 --jobs 20 --format json -q")).code(0);
        run.demand(run.fields(&["jobs"]) == ["20"], "twenty jobs");
    }
}

/// Standard input, plain or compressed, is read once and used under every policy, also by `sweep`.
fn reads_a_trace_from_stdin() {
    let dir = Dir::with_trace();
    let line = "--jobs 50 --sched fcfs,easy --alloc random --format json -q";
    let fields = ["trace", "jobs", "mean_wait", "mean_pairwise_l1"];
    let expected = dir.replay(&format!("{line} --trace lublin-10x10")).code(0).fields(&fields);
    let expected: Vec<_> =
        expected.iter().map(|row| row.replace("lublin-10x10", "stdin")).collect();
    for input in [shipped_trace(), packed()] {
        let run = dir.replay_on(&input, &format!("{line} --trace -")).code(0);
        run.demand(run.fields(&fields) == expected, "equal to the run on the file");
    }
    let grid = dir.file(
        "grid.toml",
        "traces = ['-']\npolicies = ['johnson', 'pwa']\nschedulers = ['fcfs']\n[[allocator]]\nname = 'random'\n",
    );
    let sweep = "sweep grid.toml --out out -q";
    grid.replay_on(&shipped_trace(), sweep).code(0);
    let rows = String::from_utf8(grid.read("out/runs.csv")).expect("text");
    let both = ["johnson", "pwa"].map(|policy| rows.contains(policy));
    assert!(rows.contains("stdin") && both == [true, true], "{rows}");
    // With the same input, the finished sweep is resumed. Another trace has other cells, although its name is the same.
    grid.replay_on(&shipped_trace(), sweep).code(0);
    assert_eq!(grid.read("out/runs.csv"), rows.into_bytes());
    grid.replay_on(TINY.as_bytes(), sweep).fails(2, 1, &["results of a sweep of stdin"]);
    grid.replay_on(TINY.as_bytes(), &format!("{sweep} --force")).code(0);
    let rows = String::from_utf8(grid.read("out/runs.csv")).expect("text");
    assert!(rows.lines().skip(1).all(|row| row.contains("2x2")), "{rows}");
    let bad = Dir::new().replay_on(BAD.as_bytes(), "--trace -");
    bad.fails(3, 3, &["stdin:2:19: requested time \"12x\" is not a number"]);
    Dir::new().replay("--trace -").fails(3, 1, &["stdin: no job records in the file"]);
}

const FRONTIER: &str = "; MaxProcs: 9408\n\
    1 0 5 60 2 -1 -1 2 90 -1 1 4 9 -1 1 1 -1 -1 16 -1 frontier:excl:2x56\n\
    2 1 5 60 140000 -1 -1 140000 90 -1 1 4 9 -1 1 1 -1 -1 20000 -1 frontier:excl:2500x56\n\
    3 2 5 60 4 -1 -1 4 90 -1 1 4 9 -1 1 1 -1 -1 -1 1850 frontier:excl:unknown\n";

fn reports_fields_after_the_eighteenth() {
    let dir = Dir::new().file("f.swf", FRONTIER);
    let line = "--trace f.swf --machine 96x98 --alloc random --format json";
    let held = "3 records with 21 fields: node descriptor 2, other text 1";
    let johnson = dir.replay(&format!("{line} --oversize drop")).code(0).says(held);
    johnson.says("; ignored (--policy frontier counts nodes)\n");
    let strict = ["f.swf:2: job 1 has more than 18 fields: policy strict forbids extra fields"];
    dir.replay(&format!("{line} --policy strict")).fails(3, 1, &strict);
}

fn policies_read_sizes_from_further_fields() {
    let sizes = |file: &str, policy: &str| {
        let dir = Dir::new().file("t.swf", file);
        let line =
            format!("--trace t.swf --machine 96x98 --alloc random -q --out out --policy {policy}");
        dir.replay(&line).code(0);
        let rows = String::from_utf8(dir.read("out/by_size.csv")).expect("text");
        let mut rows =
            rows.lines().map(|row| row.split(',').map(str::to_string).collect::<Vec<_>>());
        let size = rows.next().and_then(|head| head.iter().position(|name| name == "size"));
        rows.map(|row| row[size.expect("a column")].clone()).collect::<Vec<_>>()
    };
    assert_eq!(sizes(FRONTIER, "frontier"), ["2", "4", "2500"]);
    let cerit = "1 0 0 9 24 1 1 24 90 1 1 1 1 1 -1 1 1 1 {7,7,8} q_4d 2:ppn=12\n\
                 2 0 0 9 8 1 1 24 90 1 1 1 1 1 -1 1 1 1 {7} q_4d 1:ppn=12\n\
                 3 0 0 9 60 1 1 24 90 1 1 1 1 1 -1 1 1 1 none q_4d 5:ppn=12\n";
    assert_eq!(sizes(cerit, "cerit"), ["12", "24", "60"]);
    assert_eq!(sizes(cerit, "cerit-nodes"), ["1", "2", "5"]);
}

fn malformed_number() {
    let message = "replay: bad.swf:2:19: requested time \"12x\" is not a number (field 9 of 18)\n  \
                   2 | 1 0 0 5 2 -1 -1 2 12x\n    |                   ^^^\n";
    Dir::new().file("bad.swf", BAD).replay("--trace bad.swf").fails(3, 3, &[message]);
}

fn truncated_record() {
    let dir = Dir::new().file("few.swf", "; MaxProcs: 4\n1 0 0 5\n");
    let message = "few.swf:2:8: allocated processors is missing: the line has 4 fields";
    dir.replay("--trace few.swf").fails(3, 3, &[message, "2 | 1 0 0 5\n"]);
}

fn skips_malformed_lines_up_to_a_limit() {
    let dir = Dir::new().file("bad.swf", format!("{BAD}3 2 0\n"));
    let run = dir.replay("--trace bad.swf --alloc mc1x1 --max-errors 2 --format json").code(0);
    run.demand(run.fields(&["jobs"]) == ["1"], "one job left");
    let run = run.says("1 record, 1 job kept");
    let words = "(not a number 1, first in line 2; too few fields 1, first in line 4)";
    run.says(&format!("2 bad lines skipped {words}\n"));
    let gave_up = "bad.swf: reading stopped after 2 bad lines (at most 1 allowed)\n";
    let words = [gave_up, "first: bad.swf:2:19: ", "last: bad.swf:4:6: run time is missing"];
    dir.replay("--trace bad.swf --max-errors 1").fails(3, 8, &words);
    dir.replay("--trace bad.swf --max-errors few").refused(&["--max-errors", "few"]);
}

fn only_malformed_lines() {
    let dir = Dir::new().file("words.swf", "hello world\nhow are you\n");
    let skipped = dir.replay("--trace words.swf --max-errors 5").code(3);
    // The message contains the reason: all lines were malformed.
    skipped.says("words.swf: no job records in the file").says("not a number");
}

fn only_negative_fields() {
    let dir =
        Dir::new().file("no.swf", "; MaxProcs: 4\n-1 -1 -1 -1 -1 -1 -1 -1 -1\n-2 -5 -1 -9 -2\n");
    let words = ["no.swf: cleaning leaves no job", "2 dropped (size not positive 2)"];
    dir.replay("--trace no.swf").fails(3, 2, &words);
}

fn negative_times() {
    let dir = Dir::new().file("no.swf", "; MaxProcs: 4\n1 -5 -1 -7 2\n2 1 0 5 2\n");
    let run = dir.replay("--trace no.swf --alloc mc1x1 --format json").code(0);
    run.demand(run.fields(&["jobs", "makespan"]) == ["2 6"], "two jobs in six seconds");
    run.says("negative run time zeroed 1").says("negative submit time zeroed 1");
}

fn job_larger_than_the_machine() {
    let dir = Dir::new().file("big.swf", "; MaxProcs: 4\n1 0 0 5 2\n2 1 0 5 8\n");
    let stopped = dir.replay("--trace big.swf").code(3);
    stopped.demand(stopped.stdout.is_empty(), "no data");
    let stopped = stopped.says("big.swf:3: job 2 needs 8 processors, but the machine has 4");
    stopped.says("--oversize drop or clamp");
    dir.replay("--trace big.swf -q").fails(3, 1, &["big.swf:3: job 2"]);
    dir.replay("--trace big.swf --oversize error -q").fails(3, 1, &["big.swf:3: job 2"]);
    for (rule, jobs, note) in [
        // One of the two jobs without an estimate is kept.
        ("drop", "1", "1 job kept; 1 dropped (larger than the machine 1); 1 changed"),
        ("clamp", "2", "2 jobs kept; 0 dropped; 2 changed"),
    ] {
        let line = format!("--trace big.swf --alloc mc1x1 --oversize {rule} --format json");
        let run = dir.replay(&line).code(0);
        run.demand(run.fields(&["jobs", "topology"]) == [format!("{jobs} 2x2")], rule);
        run.says(note);
    }
    let run = dir.replay("--trace big.swf --alloc mc1x1 --machine 4x2 --format json").code(0);
    run.demand(run.fields(&["jobs", "topology"]) == ["2 4x2"], "a larger machine");
    dir.replay("--trace big.swf --oversize crop").refused(&["crop", "clamp"]);
}

fn directory_as_trace() {
    let dir = Dir::new().file("folder.swf/inside", "");
    dir.replay("--trace folder.swf").fails(2, 1, &["folder.swf", "is a directory"]);
}

fn unreadable_file() {
    let dir = Dir::new().file("secret.swf", TINY);
    let mode = fs::Permissions::from_mode(0o000);
    fs::set_permissions(dir.path("secret.swf"), mode).expect("a mode");
    // File modes do not restrict root; /proc/self/mem is unreadable for root too.
    let open = fs::File::open(dir.path("secret.swf")).is_ok();
    let name = if open { "/proc/self/mem" } else { "secret.swf" };
    let refused = dir.replay(&format!("--trace {name}"));
    let refused = refused.fails(2, 1, &[&format!("{name}: cannot read")]);
    refused.demand(refused.stderr.matches("os error").count() == 1, "the cause once");
}

fn bad_trace_among_several() {
    let dir = Dir::new().file("good.swf", TINY).file("bad.swf", BAD);
    let stopped = dir.replay("--trace good.swf,bad.swf").code(3).says("bad.swf:2:19: ");
    stopped.demand(stopped.stdout.is_empty(), "no data");
    // Names are resolved before any trace is read.
    dir.replay("--trace bad.swf --trace nothing").fails(2, 2, &["no trace \"nothing\""]);
}

fn strict_policy_names_the_line() {
    let dir = Dir::new().file("tiny.swf", TINY);
    let words = ["tiny.swf:2: job 1 would be changed", "policy strict forbids changes"];
    dir.replay("--trace tiny.swf --policy strict").fails(3, 1, &words);
}

/// Endless lines or headers give an error with file and line, in bounded memory.
fn rejects_endless_lines() {
    let tiny = "1 0 0 5 2\n";
    let dir = Dir::new().file("t.swf", format!("; MaxProcs: 4\n{tiny}")).file("j/x", "");
    let program = env!("CARGO_BIN_EXE_replay");
    let packets = "id,src,dst,flits,inject_cycle";
    let phases = "contend --trace t.swf --pattern phases[file=/dev/stdin]";
    let matrix = "contend --trace t.swf --pattern matrix[file=/dev/stdin]";
    for (begin, end, arguments, words) in [
        (packets, "tr '\\0' 7 </dev/zero", "network --packets -", "standard input:2: the line has"),
        (packets, "cat /dev/zero", "network --packets /dev/stdin", "/dev/stdin:2: the line has"),
        ("phase,src_rank,dst_rank,packets", "cat /dev/zero", phases, "/dev/stdin:2: the line has"),
        ("0,1", "tr '\\0' 7 </dev/zero", matrix, "/dev/stdin:2: the line has"),
        ("; MaxProcs: 4", "cat /dev/zero", "--trace /dev/stdin", "/dev/stdin:2:1: control byte"),
        (
            "1 0 0 5 2",
            "tr '\\0' 7 </dev/zero",
            "--trace /dev/stdin",
            "/dev/stdin:2:1048577: a line",
        ),
        ("; MaxProcs: 4", "yes ';'", "--trace /dev/stdin", "bytes of comment lines"),
        ("# a grid", "yes '#'", "plan /dev/stdin", "longer than 16777216 bytes"),
    ] {
        let line = format!(
            "ulimit -v 2000000; {{ echo '{begin}'; {end}; }} | {program} {arguments} --threads 2"
        );
        let line = line.replace(
            "--threads 2",
            if arguments.starts_with("network") { "" } else { "--threads 2" },
        );
        let output = Command::new("sh").args(["-c", &line]).current_dir(dir.path("")).output();
        let run = Outcome::new(&line, output.expect("a shell")).says(words);
        run.demand(run.stderr.len() < 400, "a short message");
    }
    let shapes = format!("job,w,h,d\n{}", "1".repeat(17 << 20));
    let dir = dir.file("t.shapes.csv", shapes);
    dir.replay("--trace t.swf -q").fails(3, 1, &["t.shapes.csv:2: the line has more than"]);
}

/// Columns that do not depend on the clock.
const SAME: [&str; 4] = ["jobs", "topology", "mean_pairwise_l1", "mean_wait"];

/// A pipe next to a trace is ignored; a pipe given as a trace is read.
fn reads_only_named_pipes() {
    let dir = Dir::new().file("t.swf", TINY);
    let made = Command::new("mkfifo").args([dir.path("t.shapes.csv"), dir.path("p.swf")]).status();
    assert!(made.expect("mkfifo runs").success());
    let words = "t.shapes.csv: cannot read: is not a regular file";
    dir.replay("--trace t.swf -q --format json").fails(2, 1, &[words]);
    fs::remove_file(dir.path("t.shapes.csv")).expect("it can be removed");
    let expected = dir.replay("--trace t.swf -q --format json").code(0).fields(&SAME);
    let program = env!("CARGO_BIN_EXE_replay");
    let line = format!("cat t.swf >p.swf & {program} --trace p.swf -q --format json");
    let output = Command::new("sh").args(["-c", &line]).current_dir(dir.path("")).output();
    let run = Outcome::new(&line, output.expect("a shell")).code(0);
    assert_eq!(run.fields(&SAME), expected);
}

/// The shipped trace is built into the program.
fn built_in_trace_has_one_name() {
    let dir = Dir::with_program();
    let main = "--alloc mc1x1 --jobs 50 -q --format json";
    for name in ["lublin-10x10", "lublin-10x10.swf", "Lublin-10x10"] {
        let named = dir.replay(&format!("{main} --trace {name}")).code(0);
        assert_eq!(named.fields(&SAME), dir.replay(main).fields(&SAME));
    }
    // A file of this name in the current directory takes precedence.
    let dir = dir.file("lublin-10x10.swf", TINY);
    dir.replay("--trace lublin-10x10 -q --machine 2x2 --format csv").code(0).prints(",2,");
}

/// If a command waits for input, a signal ends the command at once, with a message and exit code 130.
fn interrupts_commands_that_wait_for_input() {
    let dir = Dir::with_trace();
    let fifo = dir.path("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status().expect("mkfifo runs");
    assert!(made.success());
    for arguments in [
        "network --packets fifo",
        // The partial table of channels is removed.
        "network --packets fifo --channels channels.csv",
        "--trace fifo",
        "search --trace fifo",
        "contend --pattern matrix[file=fifo]",
        "stream --pattern matrix[file=fifo]",
        "sweep fifo --out out",
        "plan fifo -q",
    ] {
        let child = dir.start(arguments);
        // Opening for writing blocks until the program opens the pipe for reading.
        let writer = fs::OpenOptions::new().write(true).open(&fifo).expect("a pipe");
        let kill = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
        assert!(kill.expect("kill runs").success());
        let ended = Outcome::new(arguments, child.wait_with_output().expect("it ends"));
        ended.code(130).says("replay: interrupted");
        let left: Vec<_> =
            dir.files("").into_iter().filter(|name| name.contains("channels.csv")).collect();
        assert!(left.is_empty(), "{arguments}: {left:?}");
        drop(writer);
    }
}

/// Job 1 ends at 100 s, and job 2 arrives at least 80 s later. Job 3 names a predecessor that does not exist.
const FOLLOWING: &str = "; MaxProcs: 4\n\
    1 0 0 100 4 -1 -1 4 100 -1 1 1 1 -1 -1 -1 -1 -1\n\
    2 150 0 50 4 -1 -1 4 50 -1 1 1 1 -1 -1 -1 1 80\n\
    3 150 90 50 4 -1 -1 4 50 -1 1 1 1 -1 -1 -1 9 0\n";

fn honours_dependencies() {
    let dir = Dir::new().file("f.swf", FOLLOWING);
    let words = "2 records with a preceding job: 1 usable (1 earlier in the file, 0 later), 1 absent, 0 referring to itself; \
                1 with a think time";
    let run = |deps: &str| {
        let run = dir.replay(&format!("--trace f.swf --alloc random {deps} --format json"));
        let run = run.code(0).says(words);
        run.fields(&["makespan", "mean_wait", "policy"])
    };
    let plain = run("");
    assert_eq!(plain, ["250 16.666666666666668 johnson"]);
    assert_eq!(run("--deps ignore"), plain);
    // Job 3 starts first because job 2 arrives at 180 s.
    assert_eq!(run("--deps honour"), ["250 6.666666666666667 johnson[deps=honour]"]);
    // Job 2 arrives 50 s after the end of job 1, as in the log.
    assert_eq!(run("--deps shift"), ["250 16.666666666666668 johnson[deps=shift]"]);
    let words = "f, deps=honour: 1 job follows others";
    dir.replay("--trace f.swf --alloc random --deps honour").code(0).says(words);
    let grid = "traces = ['f.swf']\ndeps = 'honour'\nallocator = [{ name = 'random' }, { name = 'mbs' }]\n";
    let dir = dir.file("g.toml", grid);
    dir.replay("sweep g.toml --out o -q").code(0);
    let ids = |deps: &str| {
        dir.replay(&format!("plan --trace f.swf {deps} --list --format json -q")).code(0).stdout
    };
    assert_ne!(ids(""), ids("--deps honour"));
    assert_eq!(ids(""), ids("--deps ignore"));
}

/// Job 2 arrives at 20, before its submission at 50, and needs two leaves. With `wait=0`, no job waits for fewer
/// leaves, so the job starts at its arrival under every scheduler, as with `slurm-tree`.
fn rules_without_waits_accept_shifted_arrivals() {
    let log = "; MaxProcs: 4\n1 0 30 10 1 -1 -1 1 10 -1 1 1 1 1 1 1 -1 -1\n\
               2 50 0 10 3 -1 -1 3 10 -1 1 1 1 1 1 1 1 -1\n";
    let dir = Dir::new().file("shift.swf", log);
    let run = |allocator: &str, rest: &str| {
        let run = format!(
            "--trace shift.swf --machine tree:2x2 --deps shift -q -a {allocator} --format json {rest}"
        );
        dir.replay(&run).code(0).fields(&["scheduler", "makespan", "mean_wait"])
    };
    for rest in ["-s fcfs,easy,conservative", "-s easy --shake 3"] {
        let expected = run("slurm-tree", rest);
        for rule in ["slurm-tree[switches=1,wait=0]", "slurm-tree[switches=2,wait=0]"] {
            assert_eq!(run(rule, rest), expected, "{rule} {rest}");
        }
    }
}

/// Tests two logs that differ only in the waits of their jobs.
fn cell_ids_of_recorded_runs_include_waits() {
    let log = |wait| format!("; MaxProcs: 4\n1 0 0 5 2 -1 -1 2 9\n2 1 {wait} 5 2 -1 -1 2 9\n");
    let dir = Dir::new().file("a.swf", log(0)).file("b.swf", log(7));
    let id = |trace: &str, schedulers: &str, which: usize| {
        let command = format!(
            "plan --trace {trace}.swf --sched {schedulers} --alloc random --list --format json -q"
        );
        dir.replay(&command).code(0).fields(&["cell"])[which].clone()
    };
    assert_ne!(id("a", "recorded", 0), id("b", "recorded", 0));
    // Cells of other schedulers do not depend on the recorded waits.
    assert_eq!(id("a", "fcfs", 0), id("b", "fcfs", 0));
    assert_eq!(id("a", "recorded,fcfs", 1), id("b", "fcfs", 0));
    // A sweep does not reuse results of a log with other waits.
    dir.replay("sweep --trace a.swf --sched recorded --alloc random --out o -q").code(0);
    let dir = dir.file("a.swf", log(7));
    let again = "sweep --trace a.swf --sched recorded --alloc random --out o -q";
    dir.replay(again).fails(2, 1, &["results of a sweep"]);
    dir.replay(&format!("{again} --force")).code(0);
    let runs = String::from_utf8(dir.read("o/runs.csv")).expect("text");
    let row: Vec<&str> = runs.lines().nth(1).expect("a run").split(',').collect();
    let column = runs.split(',').position(|name| name == "max_wait").expect("a column");
    assert_eq!(row[column], "7");
}

fn rejects_unsupported_dependencies() {
    let dir = Dir::new().file("f.swf", FOLLOWING);
    let words = ["--deps: \"honur\" is not one of ignore", "did you mean \"honour\"?"];
    dir.replay("--trace f.swf --deps honur").fails(2, 1, &words);
    let words = ["--deps honour: scheduler recorded repeats recorded starts"];
    dir.replay("--trace f.swf --sched recorded --deps honour -q").fails(2, 1, &words);
    let words = ["--scale-load: scheduler recorded repeats recorded starts"];
    dir.replay("--trace f.swf --sched recorded --scale-load 0.9 -q").fails(2, 1, &words);
    dir.replay("contend --trace f.swf --deps shift -q").fails(2, 1, &["is for replays of traces"]);
    let dir = dir.file("g.toml", "deps = 'late'\n");
    dir.replay("plan g.toml").code(2).says("g.toml:1").says("\"late\" is not one of ignore");
}
