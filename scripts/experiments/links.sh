# The page links: contention by link loads beside contention by flits.

links() {
    local quickly=()
    if quick; then part links; quickly=(--quick); fi
    REPLAY=$replay scripts/links.py "$out" "${quickly[@]}"
}
