# To be read by scripts that keep figures (source scripts/figure.bash).

# figure FROM TO [CSV]: a figure, FROM without its ending, as TO.png; its numbers as CSV [TO.csv]; and, if it is a
# chart, its specification as TO.vl.json, which names that CSV.
figure() {
    local from=$1 to=$2 csv=${3:-$2.csv}
    cp "$from.png" "$to.png"
    cp "$from.csv" "$csv"
    [ ! -e "$from.vl.json" ] ||
        sed "s|\"url\": \"[^\"]*\"|\"url\": \"$(basename "$csv")\"|" "$from.vl.json" > "$to.vl.json"
}
