//! The notation of patterns.

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use super::*;
use replay_engine::naming::{Description, Entry, NameError, StrategyName, Table, kind};

const KIND: &str = "pattern";
const PRESET: &str = "preset";

const ORDERS: [(&str, Order); 3] =
    [("same", Order::Same), ("shifted", Order::Shifted), ("lexicographic", Order::Lexicographic)];
const ROOTS: [(&str, Root); 2] = [("random", Root::Random), ("first", Root::First)];
const TARGETS: [(&str, Targets); 2] =
    [("ascending", Targets::Ascending), ("cyclic", Targets::Cyclic)];
const STRIDES: [(&str, Strides); 2] =
    [("descending", Strides::Descending), ("ascending", Strides::Ascending)];
const CYCLES: [(&str, Cycle); 3] =
    [("descent", Cycle::Descent), ("ascent", Cycle::Ascent), ("v", Cycle::V)];
const STEPS: [(&str, Steps); 2] = [("direction", Steps::Direction), ("level", Steps::Level)];
const ACTIVE: [(&str, Active); 2] = [("level", Active::Level), ("all", Active::All)];
const DIMENSIONS: [(&str, u8); 3] = [("1", 1), ("2", 2), ("3", 3)];
const SOURCES: [(&str, Source); 2] = [("drawn", Source::Drawn), ("each", Source::Each)];
const VALUES: [(&str, Values); 2] = [("packets", Values::Packets), ("weights", Values::Weights)];
const SENDS: [(&str, Sends); 3] = [
    ("sequential", Sends::Sequential),
    ("pipelined", Sends::Pipelined),
    ("at-once", Sends::AtOnce),
];
const STREAMS: [(&str, Stream); 2] = [("process", Stream::Process), ("job", Stream::Job)];
const BARRIERS: [(&str, Barrier); 3] =
    [("step", Barrier::Step), ("iteration", Barrier::Iteration), ("none", Barrier::None)];

/// The patterns, with the defaults of each preset.
static TABLES: LazyLock<[(&'static str, Table<Pattern>); 2]> =
    LazyLock::new(|| Preset::ALL.map(|(name, preset)| (name, Table::new(KIND, entries(preset)))));

/// Returns descriptions of the patterns and their parameters. The descriptions show the defaults of the preset `lo`.
pub fn descriptions() -> Vec<Description> {
    TABLES[0].1.descriptions()
}

fn entries(preset: Preset) -> Vec<Entry<Pattern>> {
    const LO: &str = "Lo, Windisch, Liu, Nitzberg, CIS-TR-94-11";
    const THESIS: &str = "Bani-Mohammad, PhD thesis, chapter 4";
    const BOTH: &str =
        "Lo, Windisch, Liu, Nitzberg, CIS-TR-94-11; Bani-Mohammad, PhD thesis, chapter 4";
    let lo = preset == Preset::Lo;
    let entry = |name: &str, kind: Kind| {
        Entry::new(name, Pattern { discipline: Discipline::default_for(&kind, preset), kind })
    };
    /// Expands to a function that borrows a parameter of one kind of pattern, or returns `None` for other kinds.
    macro_rules! of {
        ($kind:ident, $field:ident) => {
            |pattern: &mut Pattern| match &mut pattern.kind {
                Kind::$kind { $field, .. } => Some($field),
                _ => None,
            }
        };
    }
    macro_rules! get {
        ($kind:ident, $field:ident) => {
            |pattern: &Pattern| match pattern.kind {
                Kind::$kind { $field, .. } => Some($field),
                _ => None,
            }
        };
    }
    /// Sets a parameter on which the default discipline depends.
    macro_rules! set {
        ($kind:ident, $field:ident) => {
            move |pattern: &mut Pattern, value| {
                if let Kind::$kind { $field, .. } = &mut pattern.kind {
                    *$field = value;
                    pattern.discipline = Discipline::default_for(&pattern.kind, preset);
                }
            }
        };
    }
    /// Borrows a parameter of a multigrid's grid.
    macro_rules! of_grid {
        ($field:ident) => {
            |pattern: &mut Pattern| match &mut pattern.kind {
                Kind::Multigrid { grid, .. } => Some(&mut grid.$field),
                _ => None,
            }
        };
    }
    let multigrid = Kind::Multigrid {
        grid: Grid { dimensions: 3, wrap: true },
        cycle: Cycle::Descent,
        steps: Steps::Direction,
        active: Active::Level,
    };
    let order = if lo { Order::Same } else { Order::Lexicographic };
    let targets = if lo { Targets::Ascending } else { Targets::Cyclic };
    let file = "the CSV file to read";
    let all = [
        entry("all-to-all", Kind::AllToAll { order })
            .about(
                "Every process sends to every other process. Under bani-mohammad: order=lexicographic, \
                 sends=at-once, barrier=none.",
            )
            .source(BOTH)
            .case(
                "order",
                kind::one_of(&ORDERS),
                "receivers 0,1,.. for every process (same); i+1,i+2,.. for process i (shifted); or 0,1,.. with one process after another sending (lexicographic)",
                of!(AllToAll, order),
            ),
        entry("one-to-all", Kind::OneToAll { root: Root::Random, targets })
            .about(
                "One process sends to every other process. Under bani-mohammad: targets=cyclic, \
                 sends=sequential, barrier=none.",
            )
            .source(BOTH)
            .case(
                "root",
                kind::one_of(&ROOTS),
                "the sender: drawn once for each job, or rank 0",
                of!(OneToAll, root),
            )
            .case(
                "targets",
                kind::one_of(&TARGETS),
                "receivers 0,1,.. or root+1,root+2,..",
                of!(OneToAll, targets),
            ),
        entry("n-body", Kind::NBody).aliases(&["nbody"]).source(LO).about(
            "A ring: n/2 steps to the next process, then one step back over n/2 processes.",
        ),
        entry("fft-2d", Kind::Fft2d { strides: Strides::Descending })
            .aliases(&["fft"])
            .about(
                "A butterfly: log2 n steps to the process whose rank differs in one bit. Processes beyond the largest \
                    power of two stay idle.",
            )
            .source(LO)
            .case(
                "strides",
                kind::one_of(&STRIDES),
                "largest or smallest stride first",
                of!(Fft2d, strides),
            ),
        entry("multigrid", multigrid)
            .about(
                "Neighbours on a grid of processes, at strides 1, 2, 4, ... Processes beyond the largest power of two \
                    stay idle.",
            )
            .source(LO)
            .case(
                "cycle",
                kind::one_of(&CYCLES),
                "strides ascending, descending, or ascending and back",
                of!(Multigrid, cycle),
            )
            .case(
                "dimensions",
                kind::one_of(&DIMENSIONS),
                "dimensions of the grid of processes",
                of_grid!(dimensions),
            )
            .case("wrap", kind::yes_no(), "whether the grid is periodic", of_grid!(wrap))
            .case(
                "steps",
                kind::one_of(&STEPS),
                "whether a step is a direction of an axis, or a level",
                of!(Multigrid, steps),
            )
            .case(
                "active",
                kind::one_of(&ACTIVE),
                "which processes send at a level: only those with a point of this level (level), or all processes (all)",
                of!(Multigrid, active),
            ),
        entry("nearest-neighbour", Kind::NearestNeighbour { dimensions: 2, wrap: false })
            .aliases(&["nearest-neighbor"])
            .about("Neighbours on a grid of processes with sides as equal as possible.")
            .case(
                "dimensions",
                kind::one_of(&DIMENSIONS),
                "dimensions of the grid of processes",
                of!(NearestNeighbour, dimensions),
            )
            .case(
                "wrap",
                kind::yes_no(),
                "whether axes longer than two wrap around",
                of!(NearestNeighbour, wrap),
            ),
        entry("random", Kind::Random { source: Source::Drawn })
            .about("Pairs of processes, uniformly drawn.")
            .source(THESIS)
            .computed(
                "source",
                kind::one_of(&SOURCES),
                "senders: drawn for each packet, or every process once per iteration",
                get!(Random, source),
                set!(Random, source),
            ),
        entry("matrix", Kind::Matrix { file: String::new(), values: Values::Packets })
            .about(
                "Row i, column j of a CSV file without a header is what rank i sends to rank j. In a job with \
                 more processes than ranks the last processes stay idle; in a job with n processes for N > n ranks, \
                 rank r runs on process floor(r n / N), and packets within a process are omitted.",
            )
            .case("file", kind::file(), file, of!(Matrix, file))
            .computed(
                "values",
                kind::one_of(&VALUES),
                "meaning of the values: packets per iteration, or weights by which the pair of each packet is drawn",
                get!(Matrix, values),
                set!(Matrix, values),
            ),
        entry("phases", Kind::Phases { file: String::new() })
            .about(
                "Steps from a CSV file with the header phase,src_rank,dst_rank,packets, in ascending order of phase; \
                    ranks run on processes as for matrix.",
            )
            .case("file", kind::file(), file, of!(Phases, file)),
    ];
    all.into_iter().map(with_discipline).collect()
}

fn with_discipline(entry: Entry<Pattern>) -> Entry<Pattern> {
    entry
        .param(
            "sends",
            kind::one_of(&SENDS),
            "when the next packet is sent: when the previous packet is delivered, when the previous packet has left \
                its sender, or at once",
            |p| &mut p.discipline.sends,
        )
        .param(
            "stream",
            kind::one_of(&STREAMS),
            "whether packets are sent one after another by each process, or by the whole job",
            |p| &mut p.discipline.stream,
        )
        .param(
            "barrier",
            kind::one_of(&BARRIERS),
            "where the job waits until all its packets are delivered",
            |p| &mut p.discipline.barrier,
        )
        // The preset selects the table before the name is parsed, so the preset needs no value here.
        .external(
            PRESET,
            kind::one_of(&Preset::ALL),
            "the paper that determines the defaults of all other parameters",
            Preset::Lo,
        )
        .check(|pattern| match pattern.kind.file() {
            Some("") => Err("name a file: file=traffic.csv".to_string()),
            _ => pattern.conflict().map_or(Ok(()), |problem| Err(problem.to_string())),
        })
}

impl Pattern {
    /// Returns the pattern with its default discipline under a preset; `None` if the pattern does not exist or
    /// needs a file.
    pub fn named(name: &str, preset: Preset) -> Option<Self> {
        let (_, table) = &TABLES[Preset::ALL.iter().position(|&(_, one)| one == preset)?];
        table.read(name).ok()
    }
}

impl TryFrom<&StrategyName> for Pattern {
    type Error = NameError;

    fn try_from(name: &StrategyName) -> Result<Self, NameError> {
        let preset = TABLES.iter().find(|(preset, _)| name.get(PRESET) == Some(preset));
        preset.unwrap_or(&TABLES[0]).1.parse(name)
    }
}

impl FromStr for Pattern {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        Self::try_from(&StrategyName::read(KIND, text)?)
    }
}

/// Formats the name and, in brackets, the parameters that differ from the defaults of a preset. The preset that
/// requires fewer parameters is used.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [plain, named] = TABLES.each_ref().map(|(preset, table)| (preset, table.name(self)));
        let (preset, mut other) = named;
        other.parameters.insert(0, (PRESET.to_string(), preset.to_string()));
        let shorter = other.parameters.len() < plain.1.parameters.len();
        if shorter { other.fmt(f) } else { plain.1.fmt(f) }
    }
}
