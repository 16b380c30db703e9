# The page trees: what the placement rules of trees and blocks cost, and tree-fit against Slurm's rule.

trees() {
    local quickly=()
    if quick; then part trees; quickly=(--quick); fi
    REPLAY=$replay scripts/trees.py "$out" "${quickly[@]}"
}
