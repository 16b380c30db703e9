//! replay
use replay::*;
use allocator::centre::*;
fn main(){
    let path=std::env::args().nth(1).unwrap();
    let mesh=std::env::args().nth(2).unwrap();
    let topo: topology::Topology = mesh.parse().unwrap();
    let t=std::time::Instant::now();
    let w=workload::Workload::load(&path,&workload::Policy::JOHNSON,&workload::Window::ALL,Default::default()).unwrap();
    println!("{} load {:?}", w.report, t.elapsed());
    for s in ["fcfs","easy","conservative"] {
        let t=std::time::Instant::now();
        let spec: scheduler::registry::SchedulerSpec=s.parse().unwrap();
        let p=topo.processors() as u32;
        let tl=simulation::Timeline::compute(&w.jobs,p,spec.build(p).as_mut()).unwrap();
        println!("{s} timeline {:?}",t.elapsed());
        if s=="conservative" {break;}
        for tie in std::iter::once("none".to_string()).chain(std::env::args().skip(3)) {
            let options=CentreOptions{tie:tie.parse().ok(),..Default::default()};
            let mut a=allocator::mc1x1::Mc1x1::new(topo.grid().unwrap(),options);
            for ties in [false,true]{
            if ties && tie!="none" {continue}
            let t=std::time::Instant::now();
            let mut sum=0u64; let mut tied=0; let mut tsum=0u64;
            simulation::replay(&tl,&w.jobs,&topo,&mut a,ties,|d|{ sum+=metrics::locality::pairwise_l1(&topo,d.nodes); if let Some(t)=d.tied && t>1 {tied+=1; tsum+=t as u64}}).unwrap();
            println!("{s} {tie} {:.3} ties {tied} {:.2}% {:.2}  {:?}",sum as f64/w.jobs.len() as f64, 100.0*tied as f64/w.jobs.len() as f64, tsum as f64/tied as f64, t.elapsed());
            }
        }
    }
}
