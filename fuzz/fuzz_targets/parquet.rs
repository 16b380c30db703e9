//! Any bytes as a Parquet table: the output is a trace with the reported number of jobs, or an error names the
//! file. The first byte selects the kind.
#![no_main]

use libfuzzer_sys::fuzz_target;
use replay_import::{Class, ColumnMap, Import, Outputs, import};
use replay_engine::swf::Reader;

const MAP: &str = "time = 'unix'\n[columns]\nid = 'id'\nsubmit = 's'\nrun = 'r'\nsize = 'n'\nnodes = 'l'\n";

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, table)) = bytes.split_first() else { return };
    let source = ["parquet", "pm100", "fdata"][usize::from(first) % 3];
    let Ok(parsed) = source.parse() else { unreachable!("{source} is a source") };
    let mut options = Import::new(parsed, "fuzz.parquet");
    options.max_errors = 4;
    if source == "parquet" {
        let Ok(map) = ColumnMap::parse(MAP, "map") else { unreachable!("it is a map") };
        options.map = Some(map);
    }
    let (mut swf, mut nodes) = (Vec::new(), Vec::new());
    let outputs = Outputs { nodes: Some(&mut nodes), ..Outputs::trace(&mut swf) };
    match import(table, &options, outputs) {
        Ok(report) => {
            assert!(report.of(Class::Malformed) <= 4);
            assert_eq!(report.accounted(), report.lines, "{report}");
            let mut reader = Reader::new(swf.as_slice(), "made.swf");
            let records = reader.records().filter(|record| record.is_ok()).count();
            assert_eq!(records as u64, report.jobs);
        }
        Err(error) => assert!(error.to_string().starts_with("fuzz.parquet")),
    }
});
