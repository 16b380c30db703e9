//! Any bytes as any kind of log: no panic, every line is in one count, and the output is a trace with the reported
//! number of jobs. The first byte selects the kind. For a table, the bytes up to a zero byte are its map.
#![no_main]

use libfuzzer_sys::fuzz_target;
use replay_import::{Class, ColumnMap, Import, Outputs, import};
use replay_engine::swf::Reader;

const SOURCES: [&str; 17] = [
    "sacct",
    "sacct[size=cores,submit=eligible,running=yes,zone=-03:30]",
    "cobalt",
    "torque",
    "torque[size=cores,submit=eligible]",
    "dirlab[round-up=yes]",
    "rfold",
    "csv",
    "csv[join=yes]",
    "cobalt[join=yes,round-up=yes,zone=Europe/Prague]",
    "sacct-json[size=cores,running=yes]",
    "lsf",
    "lsf[size=nodes,submit=eligible]",
    "sge",
    "gwf",
    "batsim",
    "evalys[round-up=yes]",
];

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, mut log)) = bytes.split_first() else { return };
    let source = SOURCES[usize::from(first) % SOURCES.len()];
    let Ok(parsed) = source.parse() else { unreachable!("{source} is a source") };
    let mut options = Import::new(parsed, "fuzz.log");
    options.max_errors = 4;
    if source.starts_with("csv") {
        let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
        let Ok(Ok(map)) = std::str::from_utf8(&log[..end]).map(|text| ColumnMap::parse(text, "map"))
        else {
            return;
        };
        options.map = Some(map);
        log = log.get(end + 1..).unwrap_or_default();
    }
    let (mut swf, mut nodes, mut shapes) = (Vec::new(), Vec::new(), Vec::new());
    let mut ids = Vec::new();
    let outputs = Outputs {
        swf: &mut swf,
        nodes: Some(&mut nodes),
        shapes: Some(&mut shapes),
        ids: Some(&mut ids),
    };
    match import(log, &options, outputs) {
        Ok(report) => {
            assert!(report.of(Class::Malformed) <= 4);
            assert_eq!(report.accounted(), report.lines, "{report}");
            let mut reader = Reader::new(swf.as_slice(), "made.swf");
            let records = reader.records().filter(|record| record.is_ok()).count();
            assert_eq!(records as u64, report.jobs, "{}", String::from_utf8_lossy(&swf));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
