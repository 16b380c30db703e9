//! Traces that are missing, damaged or odd: code 3 for bad data, one short message.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use super::dir::{Dir, TINY, shipped_trace};

trials!(
    a_missing_trace,
    a_name_nearly_right,
    an_empty_file,
    a_header_alone,
    binary_junk,
    truncated_gzip,
    damaged_gzip,
    gzip_by_content,
    a_malformed_number,
    a_record_cut_short,
    malformed_lines_up_to_a_limit,
    nothing_but_malformed_lines,
    everything_negative,
    negative_times,
    a_job_larger_than_the_machine,
    a_directory,
    an_unreadable_file,
    the_first_bad_trace_of_several,
    strict_policy_names_the_line,
);

const BAD: &str = "; MaxProcs: 4\n1 0 0 5 2 -1 -1 2 12x\n2 1 0 5 2\n";

fn a_missing_trace() {
    let dir = Dir::with_program().variable("REPLAY_TRACES", "/nowhere/a:/nowhere/b");
    let looked = "not found in /nowhere/a, /nowhere/b, traces\n";
    let fetch = "to fetch it: scripts/fetch-traces.sh LANL-CM5-1994-4.1-cln\n";
    dir.replay("--trace lanl-cm5").fails(2, 2, &["no trace \"lanl-cm5\"", looked, fetch]);
    dir.replay("--trace quarks").fails(2, 2, &["no trace \"quarks\"", looked, "--list\n"]);
}

fn a_name_nearly_right() {
    let near =
        ["\ndid you mean KTH-SP2", "\nto fetch it: scripts/fetch-traces.sh KTH-SP2-1996-2\n"];
    Dir::with_program().replay("--trace KHT-SP2.swf").fails(2, 3, &near);
}

fn an_empty_file() {
    let dir = Dir::new().file("empty.swf", "");
    dir.replay("--trace empty.swf").fails(3, 1, &["empty.swf: no job records in the file"]);
}

fn a_header_alone() {
    let dir = Dir::new().file("head.swf", "; MaxProcs: 4\n\n; Note: none came\n");
    dir.replay("--trace head.swf").fails(3, 1, &["head.swf: no job records in the file"]);
}

fn binary_junk() {
    let junk: Vec<u8> = (0..5000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let dir = Dir::new().file("junk.swf", junk);
    dir.replay("--trace junk.swf").fails(3, 1, &["junk.swf:1:1: ", "this is not an SWF trace"]);
}

/// The shipped trace, packed.
fn packed() -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(&shipped_trace()).expect("memory");
    packer.finish().expect("memory")
}

fn truncated_gzip() {
    let (short, whole) = (Dir::new().file("cut.swf.gz", &packed()[..20_000]), packed().len());
    let words = ["cut.swf.gz: the gzip data are cut short", "(after line "];
    short.replay("--trace cut.swf.gz").fails(3, 1, &words);
    // Only the checksum at the end is missing: every job has been read by then.
    let nearly = Dir::new().file("cut.swf.gz", &packed()[..whole - 4]);
    nearly.replay("--trace cut.swf.gz").fails(3, 1, &words);
}

fn damaged_gzip() {
    let mut bytes = packed();
    let checksum = bytes.len() - 8;
    bytes[checksum] ^= 1;
    let dir = Dir::new().file("sum.swf.gz", &bytes);
    dir.replay("--trace sum.swf.gz").fails(3, 1, &["sum.swf.gz: the gzip data are damaged"]);
    // What comes out of damage in the middle may be noticed as bad text first.
    bytes[10_000..10_100].fill(0x55);
    let stopped = dir.file("bad.swf.gz", bytes).replay("--trace bad.swf.gz").code(3);
    stopped.demand(stopped.stdout.is_empty(), "no data");
    stopped.says("replay: bad.swf.gz:");
}

fn gzip_by_content() {
    let dir = Dir::new().file("packed.swf", packed()).file("plain.swf.gz", shipped_trace());
    for name in ["packed.swf", "plain.swf.gz"] {
        let run = dir.replay(&format!("--trace {name} --jobs 20 --format json -q")).code(0);
        run.demand(run.fields(&["jobs"]) == ["20"], "twenty jobs");
    }
}

fn a_malformed_number() {
    let message = "replay: bad.swf:2:19: requested time \"12x\" is not a number (field 9 of 18)\n  \
                   2 | 1 0 0 5 2 -1 -1 2 12x\n    |                   ^^^\n";
    Dir::new().file("bad.swf", BAD).replay("--trace bad.swf").fails(3, 3, &[message]);
}

fn a_record_cut_short() {
    let dir = Dir::new().file("few.swf", "; MaxProcs: 4\n1 0 0 5\n");
    let message = "few.swf:2:8: allocated processors is missing: the line has 4 fields";
    dir.replay("--trace few.swf").fails(3, 3, &[message, "2 | 1 0 0 5\n"]);
}

fn malformed_lines_up_to_a_limit() {
    let dir = Dir::new().file("bad.swf", format!("{BAD}3 2 0\n"));
    let run = dir.replay("--trace bad.swf --max-errors 2 --format json").code(0);
    run.demand(run.fields(&["jobs"]) == ["1"], "one job left");
    let run = run.says("1 records, 1 jobs kept");
    run.says("2 bad lines skipped (not a number 1, too few fields 1)\n");
    let gave_up = "bad.swf: gave up after 2 bad lines, 1 were allowed\n";
    dir.replay("--trace bad.swf --max-errors 1").fails(3, 5, &[gave_up, "first: bad.swf:2:19: "]);
    dir.replay("--trace bad.swf --max-errors few").refused(&["--max-errors", "few"]);
}

fn nothing_but_malformed_lines() {
    let dir = Dir::new().file("words.swf", "hello world\nhow are you\n");
    let skipped = dir.replay("--trace words.swf --max-errors 5").code(3);
    // That there is no record is only half of the truth.
    skipped.says("words.swf: no job records in the file").says("not a number");
}

fn everything_negative() {
    let dir =
        Dir::new().file("no.swf", "; MaxProcs: 4\n-1 -1 -1 -1 -1 -1 -1 -1 -1\n-2 -5 -1 -9 -2\n");
    let words = ["no.swf: cleaning leaves no job", "2 dropped (size not positive 2)"];
    dir.replay("--trace no.swf").fails(3, 1, &words);
}

fn negative_times() {
    let dir = Dir::new().file("no.swf", "; MaxProcs: 4\n1 -5 -1 -7 2\n2 1 0 5 2\n");
    let run = dir.replay("--trace no.swf --format json").code(0);
    run.demand(run.fields(&["jobs", "makespan"]) == ["2 6"], "two jobs in six seconds");
    run.says("negative run time zeroed 1").says("negative submit time zeroed 1");
}

fn a_job_larger_than_the_machine() {
    let dir = Dir::new().file("big.swf", "; MaxProcs: 4\n1 0 0 5 2\n2 1 0 5 8\n");
    let stopped = dir.replay("--trace big.swf").code(3);
    stopped.demand(stopped.stdout.is_empty(), "no data");
    let stopped = stopped.says("big.swf:3: job 2 needs 8 processors, the machine has 4");
    stopped.says("--oversize drop or clamp");
    dir.replay("--trace big.swf -q").fails(3, 1, &["big.swf:3: job 2"]);
    dir.replay("--trace big.swf --oversize error -q").fails(3, 1, &["big.swf:3: job 2"]);
    for (rule, jobs, said) in [
        // Of the two jobs that had no estimate, one is left.
        ("drop", "1", "1 jobs kept; 1 dropped (larger than the machine 1); 1 changed"),
        ("clamp", "2", "2 jobs kept; 0 dropped; 2 changed"),
    ] {
        let run = dir.replay(&format!("--trace big.swf --oversize {rule} --format json")).code(0);
        run.demand(run.fields(&["jobs", "topology"]) == [format!("{jobs} 2x2")], rule);
        run.says(said);
    }
    let run = dir.replay("--trace big.swf --mesh 4x2 --format json").code(0);
    run.demand(run.fields(&["jobs", "topology"]) == ["2 4x2"], "a larger machine");
    dir.replay("--trace big.swf --oversize crop").refused(&["crop", "clamp"]);
}

fn a_directory() {
    let dir = Dir::new().file("folder.swf/inside", "");
    dir.replay("--trace folder.swf").fails(2, 1, &["folder.swf", "is a directory"]);
}

fn an_unreadable_file() {
    let dir = Dir::new().file("secret.swf", TINY);
    let mode = fs::Permissions::from_mode(0o000);
    fs::set_permissions(dir.path("secret.swf"), mode).expect("a mode");
    // Nothing is closed to root but what the system itself will not read.
    let open = fs::File::open(dir.path("secret.swf")).is_ok();
    let name = if open { "/proc/self/mem" } else { "secret.swf" };
    let refused = dir.replay(&format!("--trace {name}"));
    let refused = refused.fails(2, 1, &[&format!("{name}: cannot read")]);
    refused.demand(refused.stderr.matches("os error").count() == 1, "the cause once");
}

fn the_first_bad_trace_of_several() {
    let dir = Dir::new().file("good.swf", TINY).file("bad.swf", BAD);
    let stopped = dir.replay("--trace good.swf,bad.swf").code(3).says("bad.swf:2:19: ");
    stopped.demand(stopped.stdout.is_empty(), "no data");
    // Names come before contents.
    dir.replay("--trace bad.swf --trace nothing").fails(2, 2, &["no trace \"nothing\""]);
}

fn strict_policy_names_the_line() {
    let dir = Dir::new().file("tiny.swf", TINY);
    let words = ["tiny.swf:2: job 1 would be changed", "policy strict forbids it"];
    dir.replay("--trace tiny.swf --policy strict").fails(3, 1, &words);
}
