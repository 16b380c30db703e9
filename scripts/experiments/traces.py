"""The page traces: every allocator on three logs."""

from common import Page, quick

ALLOCATORS = (
    "first-fit,turning-first-fit,best-fit,frame-sliding,busy-list,turning-busy-list,gabl,anca,as-mb,mbs,granular-mbs,paging,"
    "paging[size=1],mc1x1,mc1x1[tie=2,13,20,6],mm,gen-alg,mc,hilbert-best-fit,snake-best-fit,random"
)


def write(page: Page) -> None:
    page.add(
        "# Every allocator on real traces",
        "",
        "The schedule depends on the allocator if it may refuse jobs. `lost` is internal fragmentation.",
    )
    for trace in ("KTH-SP2",) if quick() else ("KTH-SP2", "SDSC-Par96", "LANL-CM5"):
        page.on_trace("traces", trace, f"--alloc {ALLOCATORS}")
