//! Tests of damaged logs of every kind. Unlike the input of the fuzz target `import`, the logs are nearly valid.

use super::*;

const DIRLAB: &str = "u_id,user,gpu_num,cpu_num,node_num,interval,run_time,wall_time,new_status\n\
    0,1,0,64,2,0,233.4,43200,Pass\n9,2,0,64,1,10,18.5,0,Killed\n3,1,0,64,1,5,7,60,Failed\n";
const RFOLD: &str = "#job id,arrival time (sec),topology,shape,size,duration (sec)\n\
    0,5.0,T3D_NT,8x8x8,512,2610.0\n\n1,26.0,T2D,4x4,16,2.0\n1,26.0,T2D,4x4,15,2.0\n2,30.0,CLOS,0.46,0.46,120.0\n";
const OWN: &str = "job;when;began;ended;who;hosts;limit;result\n\
    a;2025-05-01T01:00:00;2025-05-01 01:00:10;2025-05-01T00:01:10+00:00;ann;2;240;ok\n\
    a;2025-05-01T01:00:20;;;bob;3;0;what\n";

/// Records with text after numbers, records of an array, and two records of one run.
const TORQUE_TEXT: &str = "\
03/18/2017 00:46:07;E;4[1].s;user=ann qtime=100 start=110 end=160 exec_host=n1/0*4 Resource_List.walltime=48:00:00:x
03/18/2017 00:46:07;E;4[].s;user=ann qtime=100 start=110 end=160 array_indices=1-2
03/18/2017 00:46:07;E;5.s;user=ann qtime=100 start=110 end=160 Resource_List.nodect=2:ppn=24:gpu=4
03/18/2017 00:46:08;E;5.s;user=ann qtime=100 start=110 end=170 Resource_List.nodect=2:ppn=24:gpu=4
";

/// A map with a notation of times, texts for missing values and a requested size.
const RICH: &str = include_str!("../../../../docs/fixtures/dump.toml");

const KINDS: [(&str, &str, Option<&str>); 22] = [
    ("sacct", SACCT, None),
    ("sacct[size=cores,submit=eligible,running=yes,zone=Europe/Prague]", SACCT, None),
    ("cobalt", COBALT, None),
    ("cobalt[join=yes,round-up=yes,zone=-06:00]", COBALT, None),
    ("torque", TORQUE, None),
    ("torque[size=cores,submit=eligible]", TORQUE, None),
    ("dirlab[round-up=yes]", DIRLAB, None),
    ("rfold", RFOLD, None),
    ("sacct", include_str!("cases/lines.txt"), None),
    ("sacct", include_str!("cases/lines-at-end.txt"), None),
    ("sacct[size=cores]", include_str!("cases/constraints-cores.txt"), None),
    ("sacct-json", include_str!("cases/sacct.json"), None),
    ("lsf", include_str!("../../../../docs/fixtures/logs/lsb.acct"), None),
    ("lsf[size=nodes]", include_str!("../../../../docs/fixtures/logs/lsb.acct"), None),
    ("sge", include_str!("../../../../docs/fixtures/logs/accounting"), None),
    ("gwf", include_str!("../../../../docs/fixtures/logs/grid.gwf"), None),
    ("batsim", include_str!("../../../../docs/fixtures/logs/out_jobs.csv"), None),
    ("evalys", include_str!("../../../../docs/fixtures/logs/jobs.csv"), None),
    ("csv", include_str!("../../../../docs/fixtures/dump.csv"), Some(RICH)),
    ("torque", TORQUE_TEXT, None),
    ("csv", OWN, Some(MAP)),
    ("csv[join=yes]", OWN, Some(MAP)),
];

/// A character that controls terminals.
const ESCAPE: char = '\u{1b}';

/// Returns a replacement for some bytes: arbitrary bytes, or text that is significant for the readers.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let word = proptest::sample::select(vec![
        "{\"set\": true, \"number\": 18446744073709551614}",
        "[",
        "}",
        "\n",
        "\n\n",
        "\r\n",
        "|",
        ",",
        ";",
        "\"",
        "\"\"",
        "=",
        "-1",
        "0",
        "1e9",
        "99999999999999999999",
        "nan",
        "\0",
        "\u{1b}[31m",
        "[1-2]",
        "[2-1]",
        "2015-01-01 00:00:00",
        "Unknown",
        "00:00:00",
        "e",
        "A0-3",
        "+",
        "/",
    ]);
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..6),
        word.prop_map(|word| word.as_bytes().to_vec()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// The import of a damaged log gives jobs, or an error with a position, but never a panic. Every line is counted.
    #[test]
    fn damaged_logs_give_jobs_or_an_error(
        (source, log, map) in proptest::sample::select(KINDS.to_vec()),
        damage in proptest::collection::vec((any::<proptest::sample::Index>(), piece(), 0usize..9), 1..4),
        max_errors in prop_oneof![0usize..4, Just(1000)],
    ) {
        let mut log = log.as_bytes().to_vec();
        for (at, piece, cut) in damage {
            let at = at.index(log.len() + 1);
            let end = (at + cut).min(log.len());
            log.splice(at..end, piece);
        }
        match run(&Import { max_errors, ..how(source, map) }, &log) {
            Ok(made) => {
                prop_assert_eq!(made.records.len() as u64, made.report.jobs);
                prop_assert!(made.report.of(Class::Malformed) <= max_errors as u64);
                prop_assert_eq!(made.report.accounted(), made.report.lines, "{}", made.report);
                let right = |r: &Record| {
                    r.submit_time >= 0.0 && r.run_time >= 0.0 && r.allocated_processors > 0 && r.requested_time != 0.0
                };
                prop_assert!(made.records.iter().all(right));
                let acts = made.nodes.contains(ESCAPE) || made.header.contains(ESCAPE);
                prop_assert!(!acts);
            }
            Err(error) => {
                let error = error.to_string();
                prop_assert!(error.starts_with("log"), "{}", error);
                prop_assert!(!error.contains(ESCAPE), "{}", error);
            }
        }
    }
}
