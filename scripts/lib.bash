# Functions shared by the scripts that write results/ (source scripts/lib.bash from the root of the repository).
#
# Environment:
#   REPLAY    the program [target/release/replay]
#   RESULTS   the output directory of the scripts [results]
#   QUICK     if set, long scripts run only a part, which `scripts/results.sh --check` compares with the committed files
#   KEEP      if set, tables that take long are read from RESULTS instead of computed; use this to rewrite a page whose
#             numbers are unchanged

export PYTHONDONTWRITEBYTECODE=1
replay=$(realpath -m "$(command -v "${REPLAY:-target/release/replay}" || echo "${REPLAY:-target/release/replay}")")
[ -x "$replay" ] || { echo "${0##*/}: no program $replay: run cargo build --release, or set REPLAY" >&2; exit 2; }
results=${RESULTS:-results}

# quick: succeeds if only a part of each script is to be run.
quick() { [ -n "${QUICK:-}" ]; }

# part PAGE: records that this run writes only a part of a page.
part() { mkdir -p "$results"; echo "$1" >> "$results/.parts"; }

# kept FILE: succeeds if a table exists and is to be kept.
kept() { [ -n "${KEEP:-}" ] && [ -s "$1" ]; }

# stamp FILE: prints date and commit of a page that takes over ten minutes; for a kept table, prints the date and commit of
# the table.
stamp() {
    if kept "$1"; then
        git log -1 --format='Made on %cs by commit %h.' -- "$1"
    else
        printf 'Made on %s by commit %s.\n' "$(date -u +%Y-%m-%d)" "$(git rev-parse --short HEAD 2> /dev/null || echo unknown)"
    fi
}

# figure FROM TO [CSV]: copies the figure FROM (without suffix) to TO.svg and its numbers to CSV [TO.csv]. Attributes equal
# to defaults of SVG are removed, and numbers are cut to two decimals.
figure() {
    local from=$1 to=$2 csv=${3:-$2.csv} font='DejaVu Sans, Verdana, sans-serif'
    sed -E -e "/^</s/ font-family=\"$font\"//; /^</s/ (opacity=\"1\"|stroke=\"none\"|stroke-width=\"1\")//g" \
        -e '/^</s/([0-9]\.[0-9]{2})[0-9]+/\1/g' -e "1s/^<svg /<svg font-family=\"$font\" /" "$from.svg" > "$to.svg"
    cp "$from.csv" "$csv"
}

# unquoted: replaces commas in quoted fields by semicolons and removes quotes, so that fields can be split at commas.
unquoted() {
    sed -E -e ':again' -e 's/^(([^"]*"[^"]*")*[^"]*"[^",]*),([^"]*")/\1;\3/' -e 't again' -e 's/"//g'
}

# csv FILE [OPTION...] PROGRAM: runs an awk program over the rows of a CSV file, without its header. In the program
# get("NAME") is the field of a column; a missing column ends the program with exit code 1.
csv() {
    local file=$1 functions
    [ -r "$file" ] || { echo "$file: no such file" >&2; return 1; }
    functions='
        function get(name,    value) {
            if (!(name in column__)) {
                printf "%s: no column \"%s\"; it has %s\n", file__, name, header__ > "/dev/stderr"
                failed__ = 1
                exit 1
            }
            value = $column__[name]
            gsub(/;/, ",", value)
            return value
        }
        NR == 1 { header__ = $0; for (i = 1; i <= NF; i++) column__[$i] = i; next }
    '
    unquoted < "$file" | awk -F, -v file__="$file" "${@:2:$#-2}" "$functions ${*: -1}"
}

# without_seconds: removes a last column of wall-clock seconds from Markdown tables.
without_seconds() { awk '/^\|.*\| *seconds *\|$/ { on = 1 } !/^\|/ { on = 0 } { if (on) sub(/[^|]*\|$/, ""); print }'; }

# cell FILE FORMAT COLUMN KEY=VALUE...: prints a column of the only row with these values.
cell() {
    local file=$1 format=$2 column=$3 conditions
    shift 3
    conditions=$(printf '%s\n' "$@")
    CONDITIONS=$conditions csv "$file" -v format="$format" -v name="$column" '
        BEGIN { count = split(ENVIRON["CONDITIONS"], condition, "\n") }
        {
            for (c = 1; c <= count; c++) {
                at = index(condition[c], "=")
                if (get(substr(condition[c], 1, at - 1)) "" != substr(condition[c], at + 1)) next
            }
            found++
            value = get(name)
        }
        END {
            if (!failed__ && found != 1) {
                printf "%s: %d rows with %s\n", file__, found, ENVIRON["CONDITIONS"] > "/dev/stderr"
                exit 1
            }
            printf format, value
        }'
}
