# The page links: contention estimated from link loads, compared with contention of flits.

links() {
    local quickly=()
    if quick; then part links; quickly=(--quick); fi
    REPLAY=$replay scripts/links.py "$out" "${quickly[@]}"
}
