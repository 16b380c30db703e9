//! Real machines, by name.

use super::Topology;
use crate::naming::hint;
use crate::sanitize::excerpt;

/// A real machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct System {
    /// The name to use in place of a machine description.
    pub name: &'static str,
    /// The machine description.
    pub machine: &'static str,
    /// Text that contains the manufacturer, the site and the size; the meaning of a point and of a processor; and the
    /// limits of the description.
    pub about: &'static str,
    /// The source of the description.
    pub source: &'static str,
}

/// Systems whose network is known and has up to three dimensions; the network may consist of several parts. The list
/// also contains systems for which only the size is known; their `about` states this.
pub const SYSTEMS: [System; 7] = [
    System {
        name: "blue-waters",
        machine: "torus:24x24x24*2",
        about: "Cray XE6/XK7 of the NCSA. A point is a Gemini router; a processor is one of the two nodes of a router. 26,864 of the 27,648 positions had compute nodes.",
        source: "NCSA; Jha et al. 2020",
    },
    System {
        name: "frontier",
        machine: "96x98",
        about: "HPE Cray EX of Oak Ridge, 9,408 nodes; a processor is a node. Only the size matches the \
                machine: its network is not a mesh, so distances are meaningless.",
        source: "MaxNodes of its published job traces",
    },
    System {
        name: "gb200-nvl72",
        machine: "block[18,72]:8x18",
        about: "Eight racks NVIDIA GB200 NVL72 with 144 nodes; a processor is a node of 4 GPUs. A base block is a rack: the 18 nodes of one NVLink domain. Four racks form a block of 72 nodes. The number of racks is an example and does not describe a site.",
        source: "NVIDIA GB200 NVL72: 18 compute trays and 72 GPUs in one NVLink domain",
    },
    System {
        name: "lise",
        machine: "tree:13x4x24",
        about: "HLRN-IV Lise of the Zuse Institute Berlin, the 1,248 nodes of the 13 full racks; a processor is a node. Leaves are the edge switches, with 24 nodes each. The four edge switches of a rack share a leaf module of the Omni-Path directors. The spines of the directors are the root. Rack 14, with 64 nodes, is omitted.",
        source: "HLRN documentation, OPA Fat Tree network of Lise",
    },
    System {
        name: "mira",
        machine: "torus[yz]:6x4x4*512",
        about: "IBM Blue Gene/Q of Argonne, 8x12x16x16x2 = 49,152 nodes; a processor is a node. A point is a \
                midplane of 4x4x4x4x2 nodes; x is A and B concatenated, y is C, z is D.",
        source: "column LOCATION of the published jobs of Mira",
    },
    System {
        name: "nasa-ipsc",
        machine: "hypercube:7",
        about: "Intel iPSC/860 of NASA Ames, 128 processors.",
        source: "Feitelson, Nitzberg 1995",
    },
    System {
        name: "tpu-v4",
        machine: "torus:16x16x16",
        about: "TPU v4 pod of 4,096 chips as one torus. A real pod rewires its blocks of 4x4x4 for each \
                job.",
        source: "Jouppi et al. 2023",
    },
];

/// Error: the name is not the name of a system.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("unknown system \"{name}\"{advice} (see `replay list systems`)")]
pub struct SystemError {
    name: String,
    advice: String,
}

impl System {
    /// Returns the system with this name, ignoring case.
    ///
    /// # Errors
    /// [`SystemError`] if the name is unknown. The error contains the most similar known name if there is a similar
    /// name.
    pub fn named(name: &str) -> Result<&'static System, SystemError> {
        let wanted = name.trim();
        SYSTEMS.iter().find(|system| system.name.eq_ignore_ascii_case(wanted)).ok_or_else(|| {
            let advice = hint(wanted, SYSTEMS.iter().map(|system| system.name));
            SystemError { name: excerpt(wanted), advice }
        })
    }

    /// Parses the machine description.
    ///
    /// # Errors
    /// Never fails for the systems of [`SYSTEMS`].
    pub fn topology(&self) -> Result<Topology, super::TopologyError> {
        self.machine.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_system_parses_by_name_and_by_description() {
        for system in SYSTEMS {
            let topology = system.topology().expect(system.name);
            assert_eq!(topology.to_string(), system.machine);
            assert_eq!(system.name.parse(), Ok(topology));
        }
        let size = |name: &str| System::named(name).map(|s| s.topology().map(|t| t.capacity()));
        assert_eq!(size("Blue-Waters"), Ok(Ok(27_648)));
        assert_eq!(size("nasa-ipsc"), Ok(Ok(128)));
        assert_eq!((size("mira"), size("frontier")), (Ok(Ok(49_152)), Ok(Ok(9_408))));
    }

    #[test]
    fn a_misspelt_name_gets_a_suggestion() {
        let message = |name| System::named(name).expect_err("no such system").to_string();
        let near = "unknown system \"blue-watrs\"; did you mean \"blue-waters\"? (see `replay list systems`)";
        assert_eq!(message("blue-watrs"), near);
        assert_eq!(message("quarks"), "unknown system \"quarks\" (see `replay list systems`)");
    }
}
