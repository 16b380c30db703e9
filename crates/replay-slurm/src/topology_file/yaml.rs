//! Parser of `topology.yaml`.

use crate::placement::config::fields::Field;
use crate::placement::config::{ConfigError, ENTRY_KEYS, choose, named_topologies, yaml};
use crate::topology_file::{Entries, TopologyFileError};
use replay_engine::topology::hierarchy::{BlockEntry, SwitchEntry};

impl From<ConfigError> for TopologyFileError {
    fn from(error: ConfigError) -> Self {
        let ConfigError { file, line, path, problem, .. } = error;
        let problem = if path.is_empty() { problem } else { format!("{path}: {problem}") };
        Self { file, line, problem }
    }
}

/// Calls `then` with the selected topology of a text and with all topologies of the text.
fn chosen<T>(
    text: &str,
    file: &str,
    entry: Option<&str>,
    then: impl FnOnce(Field<'_>, &[Field<'_>]) -> Result<T, TopologyFileError>,
) -> Result<T, TopologyFileError> {
    let whole = |line, problem| TopologyFileError { file: file.to_string(), line, problem };
    let root = yaml::read(text).map_err(|(line, problem)| whole(line, problem))?;
    let Some(root) = root else {
        return Err(whole(1, "the file is empty; a list of topologies was expected".to_string()));
    };
    let root = Field::root(file, &root);
    let topologies = root.list("a list of topologies")?;
    then(choose(&root, &topologies, entry)?, &topologies)
}

/// Returns whether the selected topology of a text is a tree or a block machine; `false` if the text is not valid. The
/// function that reads the text reports the error.
pub fn is_hierarchy(text: &str, entry: Option<&str>) -> bool {
    let kinds =
        |field: Field<'_>, _: &[Field<'_>]| Ok(field.get("tree").or(field.get("block")).is_some());
    chosen(text, "", entry, kinds).unwrap_or(false)
}

/// Parses the entries of a text.
///
/// # Errors
/// [`ConfigError`] with the line and the path of keys to the problem.
pub fn read(text: &str, file: &str, entry: Option<&str>) -> Result<Entries, TopologyFileError> {
    chosen(text, file, entry, |topology, all| {
        topology.reject_unknown_keys(&ENTRY_KEYS)?;
        let name = topology.required("topology")?.text()?;
        let others = ["flat", "ring", "torus3d"].iter().find_map(|kind| topology.get(kind));
        match (topology.get("tree"), topology.get("block"), others) {
            (Some(_), Some(block), _) => Err(block
                .error("cannot be combined with tree; a topology has one kind".into())
                .into()),
            (Some(_), None, Some(other)) | (None, Some(_), Some(other)) if !other.is_empty() => {
                Err(other
                    .error(
                        "cannot be combined with a tree or blocks; a topology has one kind".into(),
                    )
                    .into())
            }
            (Some(tree), None, _) => switches(&tree),
            (None, Some(block), _) => blocks(&block),
            (None, None, _) => {
                let others = named_topologies(file, all, &["tree", "block"]);
                let problem = format!("the topology {name} is neither a tree nor blocks; {others}");
                Err(topology.error(problem).into())
            }
        }
    })
}

/// Returns the names of a list; empty if the list is missing.
fn names_or_none(
    entries: &mut Entries,
    field: Option<Field<'_>>,
) -> Result<Vec<String>, TopologyFileError> {
    let Some(field) = field.filter(|field| !field.is_empty()) else { return Ok(Vec::new()) };
    entries.names(&field.text()?).map_err(|problem| field.error(problem).into())
}

fn switches(tree: &Field<'_>) -> Result<Entries, TopologyFileError> {
    tree.expect_map("a map with the key switches")?;
    tree.reject_unknown_keys(&["switches"])?;
    let mut entries = Entries::default();
    for field in tree.required("switches")?.list_or_one()? {
        field.expect_map("a map with the key switch")?;
        field.reject_unknown_keys(&["switch", "children", "nodes"])?;
        let name = field.required("switch")?.text()?;
        let (nodes, switches) = (field.get("nodes"), field.get("children"));
        if nodes.is_some()
            && let Some(switches) = switches
        {
            let problem = format!(
                "switch {name} has both nodes and children; a switch has either nodes or children"
            );
            return Err(switches.error(problem).into());
        }
        let (nodes, switches) =
            (names_or_none(&mut entries, nodes)?, names_or_none(&mut entries, switches)?);
        entries.switches.push(SwitchEntry { line: field.line(), name, nodes, switches });
    }
    Ok(entries)
}

fn blocks(block: &Field<'_>) -> Result<Entries, TopologyFileError> {
    block.expect_map("a map with the keys block_sizes and blocks")?;
    block.reject_unknown_keys(&["block_sizes", "blocks"])?;
    let mut entries = Entries::default();
    if let Some(field) = block.get("block_sizes").filter(|field| !field.is_empty()) {
        let size = |field: &Field<'_>| {
            let text = field.text()?;
            text.parse().map_err(|_| field.error(format!("\"{text}\" is not a block size")))
        };
        // A single size may be given without a list, and several sizes may be given as one text.
        let sizes: Result<Vec<u32>, ConfigError> = match field.list("a list of sizes") {
            Ok(items) => items.iter().map(size).collect(),
            Err(_) => {
                let text = field.text()?;
                let bad = |part: &str| field.error(format!("\"{part}\" is not a block size"));
                text.split(',').map(|part| part.trim().parse().map_err(|_| bad(part))).collect()
            }
        };
        entries.sizes = Some((field.line(), sizes?));
    }
    for field in block.required("blocks")?.list_or_one()? {
        field.expect_map("a map with the key block")?;
        field.reject_unknown_keys(&["block", "nodes"])?;
        let name = field.required("block")?.text()?;
        let nodes = names_or_none(&mut entries, field.get("nodes"))?;
        entries.blocks.push(BlockEntry { line: field.line(), name, nodes });
    }
    Ok(entries)
}
