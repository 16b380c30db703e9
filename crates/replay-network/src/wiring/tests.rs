use super::*;
use proptest::prelude::*;

fn machine() -> impl Strategy<Value = Topology> {
    proptest::sample::select(vec![
        "5x4",
        "1x7",
        "3x4x2",
        "torus:5x4",
        "torus[y]:3x6",
        "torus:3x4x5",
        "hypercube:4",
        "torus:7x2",
        "hypercube:0",
    ])
    .prop_map(|text| text.parse().expect("legal"))
}

fn channels(wiring: &Wiring, src: NodeId, dst: NodeId) -> Vec<Channel> {
    let mut legs = vec![Leg::default(); wiring.max_legs()];
    let hops = wiring.route(src, dst, &mut legs);
    let mut all = Vec::new();
    for leg in legs {
        for i in 0..leg.count {
            let id = ChannelId(leg.first.wrapping_add(leg.step.wrapping_mul(i)));
            all.push(wiring.channel(id).expect("a channel"));
        }
    }
    assert_eq!(all.len(), hops as usize + 2);
    all
}

fn written(machine: &str, src: u32, dst: u32) -> String {
    let topology: Topology = machine.parse().expect("legal");
    let route = channels(&Wiring::new(&topology), NodeId(src), NodeId(dst));
    route.iter().map(Channel::to_string).collect::<Vec<_>>().join(" ")
}

#[test]
fn x_comes_before_y() {
    assert_eq!(written("16x16", 0, 33), "inj(0,0) +x(0,0) +x(1,0) +y(2,0) ej(2,1)");
    assert_eq!(written("16x16", 33, 0), "inj(2,1) -x(2,1) -x(1,1) -y(0,1) ej(0,0)");
    assert_eq!(written("2x2x3", 2, 3), "inj(0,0,2) +y(0,0,2) -z(0,1,2) -z(0,1,1) ej(0,1,0)");
    assert_eq!(written("4x4", 5, 5), "inj(1,1) ej(1,1)");
}

#[test]
fn a_hypercube_clears_the_lowest_bit_first() {
    assert_eq!(written("hypercube:3", 1, 6), "inj(1) bit0(1) bit1(0) bit2(2) ej(6)");
}

#[test]
fn the_dateline_is_crossed_on_the_second_virtual_channel() {
    assert_eq!(written("torus:5x1", 3, 0), "inj(3,0) +x(3,0) +x'(4,0) ej(0,0)");
    assert_eq!(written("torus:5x1", 1, 3), "inj(1,0) +x(1,0) +x(2,0) ej(3,0)");
    assert_eq!(written("torus:5x1", 1, 4), "inj(1,0) -x(1,0) -x'(0,0) ej(4,0)");
    assert_eq!(written("torus:6x1", 4, 1), "inj(4,0) +x(4,0) +x'(5,0) +x'(0,0) ej(1,0)");
}

proptest! {
    /// A route is connected and ends at the receiver, and its length is the topology's distance.
    #[test]
    fn routes_lead_from_neighbour_to_neighbour(topology in machine(), a: u32, b: u32) {
        let n = topology.processors() as u32;
        let (src, dst) = (NodeId(a % n), NodeId(b % n));
        let route = channels(&Wiring::new(&topology), src, dst);
        prop_assert_eq!(route.len() as u32, topology.hops(src, dst) + 2);
        prop_assert_eq!((route[0].port, route[0].from), (Port::Injection, src));
        let last = &route[route.len() - 1];
        prop_assert_eq!((last.port, last.from), (Port::Ejection, dst));
        for pair in route.windows(2).skip(1) {
            prop_assert_eq!(topology.hops(pair[0].from, pair[1].from), 1);
        }
    }

    /// Dally and Seitz: the relation "a worm may hold this channel and wait for that one" has no cycle.
    #[test]
    fn channel_dependencies_have_no_cycle(topology in machine()) {
        let wiring = Wiring::new(&topology);
        let mut after = vec![Vec::new(); wiring.channels()];
        let mut legs = vec![Leg::default(); wiring.max_legs()];
        for src in topology.nodes() {
            for dst in topology.nodes() {
                legs.fill(Leg::default());
                wiring.route(src, dst, &mut legs);
                let all = legs.iter().flat_map(|leg| {
                    (0..leg.count).map(|i| leg.first.wrapping_add(leg.step.wrapping_mul(i)))
                });
                let all: Vec<u32> = all.collect();
                for pair in all.windows(2) {
                    after[pair[0] as usize].push(pair[1]);
                }
            }
        }
        // Kahn's algorithm: remove channels without predecessors until no channel remains.
        let mut before = vec![0u32; after.len()];
        after.iter().flatten().for_each(|&next| before[next as usize] += 1);
        let mut free: Vec<_> = (0..after.len()).filter(|&c| before[c] == 0).collect();
        let mut taken = 0;
        while let Some(channel) = free.pop() {
            taken += 1;
            for &next in &after[channel] {
                before[next as usize] -= 1;
                if before[next as usize] == 0 {
                    free.push(next as usize);
                }
            }
        }
        prop_assert_eq!(taken, after.len());
    }
}
