//! Readers of the library, each with valid inputs. A reader accepts or rejects any bytes, without a panic. Accepted
//! data must satisfy the invariants checked here, and an error must name the file.

use std::fs;
use std::io::BufReader;

use replay::experiment::RunResult;
use replay::experiment::files::Dir;
use replay::experiment::journal::{HEADER, JOURNAL_FILE, Journal};
use replay::import::{Class, ColumnMap, Import, Outputs, import};
use replay::simulation::{OutageFile, Outages, WhenDown};
use replay::slurm::placement::config::Config;
use replay::swf::{ReadOptions, Reader};
use replay::topology::{NodeMap, Topology};
use replay::workload::stochastic::ShapeFile;
use replay::workload::{Job, Policy, RecordedPlacements, Window, Workload};

/// The file name that every error must contain.
const FILE: &str = "mutant.file";

/// A reader that runs in this process.
pub struct InProcess {
    /// Name in the table of results.
    pub name: &'static str,
    /// Valid inputs.
    pub inputs: &'static [&'static str],
    /// Reads a mutant and returns whether it was accepted. The number of the case selects settings. Panics if
    /// an invariant is violated.
    pub read: fn(&[u8], u64) -> bool,
}

/// Readers that run in this process.
pub const READERS: [InProcess; 17] = [
    InProcess { name: "swf", inputs: &[SWF, WIDE], read: swf },
    InProcess { name: "sacct", inputs: &[SACCT, SACCT_TEXTS], read: sacct },
    InProcess { name: "sacct-json", inputs: &[SACCT_JSON], read: sacct_json },
    InProcess { name: "cobalt", inputs: &[COBALT], read: cobalt },
    InProcess { name: "torque", inputs: &[TORQUE], read: torque },
    InProcess { name: "lsf", inputs: &[LSF], read: lsf },
    InProcess { name: "sge", inputs: &[SGE], read: sge },
    InProcess { name: "gwf", inputs: &[GWF], read: gwf },
    InProcess { name: "simulated", inputs: &[BATSIM, EVALYS], read: simulated },
    InProcess { name: "csv", inputs: &[TABLE], read: csv },
    InProcess { name: "map", inputs: &[MAP, RICH_MAP, FORMAT_MAP], read: map },
    InProcess { name: "nodes", inputs: &[NODES], read: nodes },
    InProcess { name: "shapes", inputs: &[SHAPES], read: shapes },
    InProcess { name: "down", inputs: &[DOWN], read: down },
    InProcess { name: "node-map", inputs: &[NODE_MAP], read: node_map },
    InProcess { name: "topology", inputs: &[TOPOLOGY], read: topology },
    InProcess { name: "journal", inputs: &[JOURNAL], read: journal },
];

const SWF: &str = "\
; Version: 2.2
; Computer: <b>none</b> & \"more\"
; MaxProcs: 16
; UnixStartTime: 843436800
; TimeZoneString: Europe/Stockholm
; Queue: 1 short
1 0 5 60 4 55 -1 4 120 -1 1 1 1 3 1 -1 -1 -1
2 5 0 30 8 -1 -1 8 60 -1 1 2 1 3 1 -1 1 10
3 5 -1 1.5 1 -1 -1 1 60 -1 0 2 1 3 1 -1 -1 -1
4 90 0 10 -1 -1 -1 16 -1 -1 5 2 1 -1 1 -1 -1 -1
";
const WIDE: &str = "\
; MaxProcs: 8
1 0 5 60 4 -1 -1 4 120 -1 1 1 1 3 1 -1 -1 -1 {1,2,3,4}
2 9 5 60 2 -1 -1 2 120 -1 1 1 1 3 1 -1 -1 -1 {5,6} 7
3 9 5 60 2 -1 -1 2 120
";
/// A log with delimiters and line breaks in free text.
const SACCT_TEXTS: &str = "\
JobID|JobName|AllocNodes|AllocCPUS|Submit|Eligible|Constraints|Start|End|Elapsed|State|SubmitLine
1|a|b|2|64|2024-05-01T10:00:00|2024-05-01T10:00:00|c|d|2024-05-01T10:00:10|2024-05-01T11:00:10|01:00:00|COMPLETED|sbatch a.sh
2|a|2|64|2024-05-01T10:00:00|2024-05-01T10:00:05|c|2024-05-01T10:00:10|2024-05-01T11:00:10|INVALID|RESIZING|srun bash -c a |
b
3|a
b|2|64|2024-05-01T10:00:00|2024-05-01T10:00:00|c|2024-05-01T10:00:10|2024-05-01T11:00:10|01:00:00|FAILED|x
";
const SACCT_JSON: &str = include_str!("../../docs/fixtures/sacct.json");

const SACCT: &str = "\
JobID|User|Account|Partition|Submit|Eligible|Start|End|Elapsed|ElapsedRaw|TimelimitRaw|AllocNodes|ReqNodes|AllocCPUS|NodeList|State
11|ann|phys|batch|2026-03-01T08:00:00|2026-03-01T08:00:00|2026-03-01T08:00:05|2026-03-01T09:00:05|01:00:00|3600|120|4|4|256|n[001-004]|COMPLETED
11.0|||||2026-03-01T08:00:00|2026-03-01T08:00:05|2026-03-01T09:00:05|01:00:00|3600||4|4|256|n[001-004]|COMPLETED
12|bob|chem|batch|2026-03-01T08:02:00|2026-03-01T08:02:00|Unknown|2026-03-01T08:40:00|00:00:00|0||0|8|0|None assigned|CANCELLED by 2017
13_1|cid|bio|fast|2026-03-01T08:03:00|2026-03-01T08:03:00|2026-03-01T08:03:02|2026-03-01T08:13:02|00:10:00|600|2-12|2|2|64|n[5-6],m1|TIMEOUT
13_[3-6%2]|cid|bio|fast|2026-03-01T08:03:00|2026-03-01T08:03:00|Unknown|Unknown|00:00:00|0|20|0|1|0|None assigned|PENDING
14+0|ann|phys|batch|2026-03-29T01:59:00|2026-03-29T02:30:00|2026-03-29T03:00:04|2026-10-25T02:30:04|02:00:00|7200|UNLIMITED|2|2|128|n[001-002]|PREEMPTED
";
const COBALT: &str = "\
JOB_NAME,COBALT_JOBID,QUEUED_TIMESTAMP,START_TIMESTAMP,END_TIMESTAMP,USERNAME_GENID,QUEUE_NAME,WALLTIME_SECONDS,NODES_USED,NODES_REQUESTED,LOCATION,EXIT_STATUS
\"a,b\",40.00000,2015-01-01 00:00:00.000000,2015-01-01 01:06:41.000000,2015-01-01 01:29:54.000000,47,short,21600.0,512.0,512.0,MIR-04880-37BB1-512,143
c,41.00000,2015-01-01 00:11:40.000000,2015-01-01 00:38:33.000000,2015-01-01 01:28:14.000000,25,short,7200.0,1024.0,924.0,MIR-048C0-77BF1-1024,0
e,42.00000,2015-01-01 00:11:40.000000,2015-01-01 00:38:33.000000,2015-01-01 01:28:14.000000,25,short,,129,,\"0-127,256\",0
";
const TORQUE: &str = "\
03/18/2017 00:00:00;Q;70.bw;queue=normal
03/18/2017 00:05:22;S;70.bw;user=ann queue=normal qtime=1000 start=1322
03/18/2017 00:46:07;E;70.bw;user=ann group=g queue=normal ctime=999 qtime=1000 etime=1100 start=1322 exec_host=26/0+26/1+27/0-31+28/0,2 Resource_List.nodect=9 Resource_List.walltime=48:00:00 total_execution_slots=96 unique_node_count=3 end=3767 Exit_status=271
03/18/2017 00:46:08;E;71.bw;user=bob group=g queue=low ctime=900 start=1000 exec_host=26/0 Resource_List.nodect=1 end=1060 Exit_status=0
03/18/2017 01:43:17;D;72.bw;requestor=ann
";
const LSF: &str = include_str!("../../docs/fixtures/logs/lsb.acct");
const SGE: &str = include_str!("../../docs/fixtures/logs/accounting");
const GWF: &str = include_str!("../../docs/fixtures/logs/grid.gwf");
const BATSIM: &str = include_str!("../../docs/fixtures/logs/out_jobs.csv");
const EVALYS: &str = include_str!("../../docs/fixtures/logs/jobs.csv");
const TABLE: &str = "\
id;t;start;r;n;who;where;state
7;2026-03-01T08:00:00;2026-03-01T08:00:05;01:00:00;4;ann;\"n[1-4]\";done
8;2026-03-01T08:00:09;2026-03-01T08:00:10;90;2;<b>;n5,n6;failed
8;2026-03-01T08:00:09;2026-03-01T08:00:10;90;2;bob;n7;failed
";
const MAP: &str =
    "separator = ';'\ntime = 'unix'\n[columns]\nsubmit = 't'\nrun = 'r'\nsize = 'n'\n";
const RICH_MAP: &str = "\
separator = ';'
time = 'iso'
zone = 'Europe/Prague'
[columns]
id = 'id'
submit = 't'
start = 'start'
run = { column = 'r', unit = 'minutes' }
size = 'n'
user = 'who'
nodes = 'where'
status = { column = 'state', ok = ['done'], failed = ['failed'] }
";
const FORMAT_MAP: &str = include_str!("../../docs/fixtures/dump.toml");
const NODES: &str = "\
job,nodes
1,0-3
2,\"n[01-02,7],m1\"
3,rack[1-2]n[0-3]
4,\"A0-0 B0-0 C3-4 D0-0 E0-1\"
# trace blake3:0000000000000000000000000000000000000000000000000000000000000000
";
const SHAPES: &str = "\
job,w,h,d
1,2,2,1
2,4,2,1
3,1,1,1
# trace blake3:0000000000000000000000000000000000000000000000000000000000000000
";
const DOWN: &str = "\
# down
from,until,what
3600,7200,box 0 0 3 3
5000,6000,node 7
10000,,node 3-5,6
40000,50000,all
5,9,box 0 0 0 1 1 1
";
const NODE_MAP: &str = "# nodes and their points\nnode,x,y,z\na,1,2,3\nn1,0,0,0\n7,1,1,1\n";
const TOPOLOGY: &str = "\
- topology: small
  cluster_default: true
  torus3d:
    toruses:
      - name: t
        dims: {x: 4, y: 4, z: 2}
        regions:
          - {dims: {x: 4, y: 4, z: 1}, nodes: 'node[1-16]'}
          - {anchor: {z: 1}, dims: {x: 4, y: 4, z: 1}, nodes: 'node[17-32]'}
        placements:
          - dims: {x: 2, y: 2, z: 2}
          - dims: {x: 2, y: 2, z: 1}
";
/// Bodies of journal records. The reader adds correct checksums to most bodies.
const JOURNAL: &str = "\
00000000000000000000000000000001 failed \"no room\"
00000000000000000000000000000002 done {\"key\":{\"trace\":\"t\"},\"metrics\":{\"jobs\":3}}
00000000000000000000000000000001 failed \"again\"
";

/// Asserts that an error names the file. Returns `false`, because the mutant was rejected.
fn refused(error: impl std::fmt::Display) -> bool {
    let message = error.to_string();
    assert!(message.contains(FILE), "the error does not name the file: {message}");
    false
}

fn machine(name: &str) -> Topology {
    name.parse().expect("a machine")
}

fn swf(bytes: &[u8], number: u64) -> bool {
    let options = ReadOptions { max_errors: [0, 8][number as usize % 2] };
    let policies = Policy::ALL;
    let policy = policies[number as usize / 2 % policies.len()];
    if let Err(error) = RecordedPlacements::of_records(bytes, FILE, options) {
        refused(error);
    }
    match Workload::from_reader(bytes, FILE, policy, &Window::ALL, options) {
        Ok(workload) => {
            assert_eq!(workload.report.kept, workload.jobs.len() as u64);
            assert!(workload.jobs.is_sorted_by_key(|job| job.submit));
            true
        }
        Err(error) => refused(error),
    }
}

/// Imports a log. Checks that every line is counted once and that the output is a trace with the reported
/// number of jobs.
fn imported(source: &str, map: Option<ColumnMap>, log: &[u8]) -> bool {
    let mut how = Import::new(source.parse().expect("a source"), FILE);
    (how.max_errors, how.map) = (4, map);
    let [mut swf, mut nodes, mut shapes, mut ids] = [const { Vec::new() }; 4];
    let outputs = Outputs {
        swf: &mut swf,
        nodes: Some(&mut nodes),
        shapes: Some(&mut shapes),
        ids: Some(&mut ids),
    };
    match import(log, &how, outputs) {
        Ok(report) => {
            assert!(report.of(Class::Malformed) <= 4);
            assert_eq!(report.accounted(), report.lines, "{report}");
            let mut reader = Reader::new(swf.as_slice(), "made.swf");
            let records = reader.records().filter(|record| record.is_ok()).count();
            assert_eq!(records as u64, report.jobs, "{}", String::from_utf8_lossy(&swf));
            RecordedPlacements::of_file(nodes.as_slice(), "made.nodes.csv")
                .expect("a written map can be read");
            ShapeFile::read(shapes.as_slice(), "made.shapes.csv")
                .expect("written shapes can be read");
            true
        }
        Err(error) => refused(error),
    }
}

fn any_of<'a>(sources: &[&'a str], number: u64) -> &'a str {
    sources[number as usize % sources.len()]
}

fn sacct(bytes: &[u8], number: u64) -> bool {
    let sources = [
        "sacct",
        "sacct[size=cores,submit=eligible,running=yes,zone=-03:30]",
        "sacct[submit=eligible,zone=Europe/Prague]",
    ];
    imported(any_of(&sources, number), None, bytes)
}

fn sacct_json(bytes: &[u8], number: u64) -> bool {
    let sources = ["sacct-json", "sacct-json[size=cores,submit=eligible,running=yes]"];
    imported(any_of(&sources, number), None, bytes)
}

fn cobalt(bytes: &[u8], number: u64) -> bool {
    let sources = ["cobalt", "cobalt[join=yes,round-up=yes,zone=Europe/Prague]"];
    imported(any_of(&sources, number), None, bytes)
}

fn torque(bytes: &[u8], number: u64) -> bool {
    let sources = ["torque", "torque[size=cores,submit=eligible]"];
    imported(any_of(&sources, number), None, bytes)
}

fn lsf(bytes: &[u8], number: u64) -> bool {
    imported(any_of(&["lsf", "lsf[size=nodes,submit=eligible]"], number), None, bytes)
}

fn sge(bytes: &[u8], _: u64) -> bool {
    imported("sge", None, bytes)
}

fn gwf(bytes: &[u8], number: u64) -> bool {
    imported(any_of(&["gwf", "gwf[round-up=yes]"], number), None, bytes)
}

fn simulated(bytes: &[u8], number: u64) -> bool {
    imported(any_of(&["batsim", "evalys[round-up=yes]"], number), None, bytes)
}

fn csv(bytes: &[u8], number: u64) -> bool {
    let map = ColumnMap::parse(RICH_MAP, "map.toml").expect("a map");
    imported(any_of(&["csv", "csv[join=yes]"], number), Some(map), bytes)
}

fn map(bytes: &[u8], _: u64) -> bool {
    let text = String::from_utf8_lossy(bytes);
    match ColumnMap::parse(&text, FILE) {
        // The table may lack a column of the map; then the error is about the table.
        Ok(map) => {
            imported("csv", Some(map), TABLE.as_bytes());
            true
        }
        Err(error) => refused(error),
    }
}

fn job(number: i64, size: u32) -> Job {
    Job { number, submit: 0, run: 1, estimate: 1, size, line: 1, shape: None, limit: None }
}

fn nodes(bytes: &[u8], _: u64) -> bool {
    let placed = match RecordedPlacements::of_file(bytes, FILE) {
        Ok(placed) => placed,
        Err(error) => return refused(error),
    };
    for number in -1..20 {
        if let Some(nodes) = placed.of(&job(number, 1)) {
            assert!(!nodes.is_empty());
            assert!(nodes.iter().all(|&node| (node as usize) < placed.names().len()));
        }
    }
    let (placed, _) = placed.each_once().within(16);
    if let Some(points) = placed.points(16) {
        assert!(points.iter().all(|&point| point < 16) && points.len() == placed.names().len());
    }
    true
}

fn shapes(bytes: &[u8], _: u64) -> bool {
    let shapes = match ShapeFile::read(BufReader::with_capacity(61, bytes), FILE) {
        Ok(shapes) => shapes,
        Err(error) => return refused(error),
    };
    let mut jobs = [job(1, 4), job(2, 8), job(3, 1)];
    match shapes.assign(&mut jobs, &Default::default()) {
        Ok(without) => {
            let with = jobs.iter().filter_map(|job| Some((job.size, job.shape?)));
            let sides =
                |shape: [u16; 3]| shape.iter().map(|&side| u32::from(side)).product::<u32>();
            assert!(with.clone().all(|(size, shape)| size == sides(shape)));
            assert_eq!(with.count() as u64, 3 - without);
        }
        Err(error) => assert!(!refused(error)),
    }
    true
}

fn down(bytes: &[u8], _: u64) -> bool {
    let file = match OutageFile::read(bytes, FILE) {
        Ok(file) => file,
        Err(error) => return refused(error),
    };
    for machine in ["4x4", "3x2x5", "torus:8x8*2", "hypercube:3"].map(machine) {
        match file.on(&machine) {
            Ok(windows) => {
                let outages = Outages { windows, running: WhenDown::Drain, walls: false };
                let steps = outages.steps();
                assert!(steps.iter().all(|step| step.from < step.until));
                assert!(steps.iter().all(|step| step.processors as usize <= machine.processors()));
            }
            Err(error) => assert!(!refused(error)),
        }
    }
    true
}

fn node_map(bytes: &[u8], _: u64) -> bool {
    let names = ["a", "n1", "7"].map(str::to_string);
    let map = match NodeMap::read(bytes, FILE) {
        Ok(map) => map,
        Err(error) => return refused(error),
    };
    for machine in ["4x4", "torus:2x3x4*2", "hypercube:3"].map(machine) {
        match map.points(&names, &machine) {
            Ok(points) => assert!(points.iter().all(|one| one.index() < machine.processors())),
            Err(error) => assert!(!refused(error)),
        }
    }
    true
}

fn topology(bytes: &[u8], _: u64) -> bool {
    match Config::read(&String::from_utf8_lossy(bytes), FILE, None, None) {
        Ok(config) => {
            assert_eq!(config.hosts.len(), config.layout.nodes());
            true
        }
        Err(error) => {
            assert!(error.line > 0);
            refused(error)
        }
    }
}

/// Returns a journal line with the correct checksum.
fn sealed(body: &[u8]) -> Vec<u8> {
    let sum = blake3::hash(body).to_hex();
    [&sum.as_bytes()[..16], b" ", body, b"\n"].concat()
}

/// Reads the lines of the mutant as bodies of journal records; in every fourth case, the bodies get no correct
/// checksums.
fn journal(bytes: &[u8], number: u64) -> bool {
    let mut text = HEADER.to_vec();
    match number % 4 {
        0 => text.extend(bytes),
        _ => bytes.split(|&byte| byte == b'\n').for_each(|body| text.extend(sealed(body))),
    }
    fs::create_dir_all("journal").expect("a folder");
    let path = std::path::Path::new("journal").join(JOURNAL_FILE);
    fs::write(&path, &text).expect("a file");
    let dir = Dir::open("journal".as_ref()).expect("a folder");
    let read = match Journal::<RunResult>::read_only(&dir) {
        Ok(mut journal) => {
            let cells = (0..4).map(|cell| format!("{cell:032x}").parse().expect("an id"));
            cells.for_each(|cell| drop(journal.read(cell)));
            true
        }
        Err(error) => {
            assert!(error.to_string().contains(JOURNAL_FILE), "{error}");
            false
        }
    };
    assert_eq!(fs::read(&path).expect("the file"), text, "a reader changed the journal");
    read
}
