//! The known traces, from `traces/manifest.toml`, which is compiled into the program.

use serde::{Deserialize, Serialize};

use super::load::strip_extensions;

/// A trace of the Parallel Workloads Archive, or a trace derived from the archive.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct KnownTrace {
    /// File name in the archive without `.swf.gz`.
    pub name: String,
    /// Short names. If several traces have the same short name, the first trace in the manifest is preferred.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Address in the archive; `None` if the archive does not contain the trace.
    pub url: Option<String>,
    /// SHA-256 of the `.swf.gz` file, hexadecimal.
    pub sha256: Option<String>,
    /// Records in the file.
    pub records: Option<u64>,
    /// Number of jobs that the policy `johnson` keeps.
    pub jobs: Option<u64>,
    /// Processors of the machine.
    pub procs: u32,
    /// Usual mesh for replays, e.g. `10x10`.
    pub mesh: Option<String>,
    /// Whether the trace comes with the project.
    #[serde(default)]
    pub shipped: bool,
    /// Remarks.
    #[serde(default)]
    pub note: String,
}

/// The known traces, in order of preference.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Traces in order of preference.
    #[serde(rename = "trace")]
    pub traces: Vec<KnownTrace>,
}

/// The manifest cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot parse the manifest of traces: {0}")]
pub struct ManifestError(#[from] toml::de::Error);

impl Manifest {
    /// Returns the manifest compiled into the program.
    ///
    /// # Errors
    /// [`ManifestError`] if the repository's file was invalid when the program was built.
    ///
    /// ```
    /// let manifest = replay_workload::workload::Manifest::embedded()?;
    /// let names: Vec<&str> = manifest.matching("kth-sp2").map(|trace| trace.name.as_str()).collect();
    /// assert_eq!(names, ["KTH-SP2-1996-2", "KTH-SP2-1996-2.1-cln"]);
    /// # Ok::<(), replay_workload::workload::ManifestError>(())
    /// ```
    pub fn embedded() -> Result<Manifest, ManifestError> {
        Manifest::parse(include_str!("../../../../traces/manifest.toml"))
    }

    /// Parses the text of a manifest.
    ///
    /// # Errors
    /// [`ManifestError`] for invalid TOML, or an unknown or missing key.
    pub fn parse(text: &str) -> Result<Manifest, ManifestError> {
        Ok(toml::from_str(text)?)
    }

    /// Returns the traces with this name or alias. Case and extensions are ignored.
    ///
    /// Traces with this name come before traces with this alias. Within each group, preferred traces come first.
    pub fn matching(&self, name: &str) -> impl Iterator<Item = &KnownTrace> {
        let name = strip_extensions(name);
        let own = self.traces.iter().filter(move |trace| trace.name.eq_ignore_ascii_case(name));
        let others = self.traces.iter().filter(move |trace| {
            !trace.name.eq_ignore_ascii_case(name)
                && trace.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name))
        });
        own.chain(others)
    }

    /// Returns names and aliases in the manifest's order, without duplicates.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for trace in &self.traces {
            for name in trace.aliases.iter().chain([&trace.name]) {
                if !names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
                    names.push(name);
                }
            }
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_manifest_is_valid() {
        let manifest = Manifest::embedded().unwrap();
        for trace in &manifest.traces {
            let name = &trace.name;
            assert_eq!(manifest.matching(name).next(), Some(trace), "{name} occurs twice");
            assert!(
                trace.url.is_some() || trace.sha256.is_some() || trace.shipped,
                "{name} can be neither fetched nor checked"
            );
            if let Some(url) = &trace.url {
                assert!(url.ends_with(&format!("/{name}.swf.gz")), "{url}");
            }
            if let Some(sum) = &trace.sha256 {
                assert!(
                    sum.len() == 64 && sum.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')),
                    "{name}"
                );
            }
            if let Some(mesh) = &trace.mesh {
                let sides: Vec<u32> = mesh.split('x').map(|side| side.parse().unwrap()).collect();
                assert_eq!(sides.iter().product::<u32>(), trace.procs, "{name}");
            }
            assert!(trace.jobs <= trace.records || trace.records.is_none(), "{name}");
        }
    }

    #[test]
    fn aliases_prefer_the_earlier_trace() {
        let manifest = Manifest::embedded().unwrap();
        let names =
            |alias| manifest.matching(alias).map(|trace| trace.name.as_str()).collect::<Vec<_>>();
        assert_eq!(
            names("sdsc-PAR95"),
            ["SDSC-Par-1995-3.1-cln", "SDSC-Par-1995-2.1-cln", "SDSC-Par-1995-3.1-cln.rebuilt"]
        );
        assert_eq!(
            names("SDSC-Par-1995-3.1-cln.swf.gz"),
            ["SDSC-Par-1995-3.1-cln", "SDSC-Par-1995-3.1-cln.rebuilt"]
        );
        for alias in ["SDSC-Par96", "LANL-CM5", "LLNL-T3D", "NASA-iPSC", "CTC-SP2", "SDSC-SP2"] {
            assert!(!names(alias).is_empty(), "{alias}");
        }
    }

    #[test]
    fn refuses_unknown_keys() {
        assert!(Manifest::parse("[[trace]]\nname = \"a\"\nprocs = 1\nsha265 = \"\"\n").is_err());
    }
}
