#!/usr/bin/env bash
# Fetches traces of the Parallel Workloads Archive and verifies them. Names, addresses and checksums are in
# traces/manifest.toml. See usage() below, or --help.
set -euo pipefail
export LC_ALL=C

readonly FAILED=1 USAGE=2
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
manifest=${MANIFEST:-$here/../traces/manifest.toml}
to=$here/../traces
from=
names=()
all=no
list=no

usage() {
    cat <<'TEXT'
Usage: fetch-traces.sh NAME... | --all  [--to DIR] [--from DIR]
       fetch-traces.sh --list

Fetches traces by name or alias (case does not matter) and verifies them.

  --all        fetch every trace in the archive or, with --from, in the directory
  --to DIR     write the traces into DIR      [default: traces/ of the repository]
  --from DIR   copy from a directory instead of the network
  --list       list known traces, one per line: name, aliases, records, processors, verification
  -h, --help   print this text

An interrupted download is resumed. A file gets its final name only if its SHA-256 (or, if none is
known, its number of records) is correct; an existing correct file is kept.

Environment: MANIFEST, a list of traces that replaces traces/manifest.toml.
Exit status: 0 all traces present and verified, 1 some failed, 2 usage.
TEXT
}

say() { printf '%s\n' "$*"; }
warn() { printf 'fetch-traces: %s\n' "$*" >&2; }
die() {
    warn "$1"
    exit "$USAGE"
}

# Prints a line for each trace in the manifest: name, aliases (comma-separated), url, sha256, records, procs, separated by
# '|' ('-' if absent). Reads the subset of TOML used in the manifest.
entries() {
    awk '
        function flush() {
            if (name != "") printf "%s|%s|%s|%s|%s|%s\n", name, aliases, url, sum, records, procs
            name = ""; aliases = url = sum = records = procs = "-"
        }
        function value(line) {
            sub(/^[^=]*=[ \t]*/, "", line)
            if (line ~ /^"/) { sub(/^"/, "", line); sub(/".*$/, "", line) } else sub(/[ \t]*(#.*)?$/, "", line)
            return line
        }
        BEGIN { flush() }
        { sub(/\r$/, "") }
        /^\[\[trace\]\]/ { flush(); next }
        /^name[ \t]*=/ { name = value($0) }
        /^url[ \t]*=/ { url = value($0) }
        /^sha256[ \t]*=/ { sum = value($0) }
        /^records[ \t]*=/ { records = value($0) }
        /^procs[ \t]*=/ { procs = value($0) }
        /^aliases[ \t]*=/ {
            aliases = $0
            sub(/^[^[]*\[/, "", aliases); sub(/\].*$/, "", aliases); gsub(/[" \t]/, "", aliases)
            if (aliases == "") aliases = "-"
        }
        END { flush() }
    ' "$manifest"
}

# matching NAME: prints the entries with this name or alias, names before aliases.
matching() {
    awk -F '|' -v want="$1" '
        BEGIN { want = tolower(want); sub(/\.gz$/, "", want); sub(/\.swf$/, "", want) }
        tolower($1) == want { own = own $0 "\n"; next }
        index("," tolower($2) ",", "," want ",") { other = other $0 "\n" }
        END { printf "%s%s", own, other }
    ' <<<"$known"
}

sha256_of() {
    if command -v sha256sum >/dev/null; then
        sha256sum -- "$1" | cut -d ' ' -f 1
    else
        shasum -a 256 -- "$1" | cut -d ' ' -f 1
    fi
}

# verify FILE SUM RECORDS: succeeds if the file has this checksum and number of records; otherwise prints the reason.
verify() {
    local file=$1 sum=$2 records=$3 got
    if [[ $sum != - ]]; then
        got=$(sha256_of "$file")
        [[ $got == "$sum" ]] && return 0
        warn "$file: SHA-256 is $got, expected $sum"
        return 1
    fi
    if ! gzip -t -- "$file" 2>/dev/null; then
        warn "$file: not a complete gzip file"
        return 1
    fi
    if [[ $records == - ]]; then
        warn "$file: checksum and number of records are unknown: not verified"
        return 0
    fi
    got=$(gzip -dc -- "$file" | awk '!/^[ \t\r]*(;|$)/ { n++ } END { print n + 0 }')
    [[ $got == "$records" ]] && return 0
    warn "$file: $got records, expected $records"
    return 1
}

# download URL FILE: downloads a file; if a part of the file is present, resumes the download.
download() {
    if command -v curl >/dev/null; then
        curl --fail --location --silent --show-error --retry 2 --connect-timeout 20 \
            --continue-at - --output "$2" -- "$1"
    elif command -v wget >/dev/null; then
        wget --quiet --tries 3 --timeout 20 --continue --output-document "$2" -- "$1"
    else
        warn "neither curl nor wget is installed"
        return 1
    fi
}

# obtain NAME URL SUM RECORDS: downloads and verifies a trace unless it is present.
obtain() {
    local name=$1 url=$2 sum=$3 records=$4
    local file=$to/$name.swf.gz part=$to/$name.swf.gz.part
    if [[ -e $file ]]; then
        if verify "$file" "$sum" "$records"; then
            say "$name: already present and verified"
            return 0
        fi
        warn "$name: the existing file is incorrect: remove it and run the command again"
        return 1
    fi
    if [[ -n $from ]]; then
        if [[ ! -f $from/$name.swf.gz ]]; then
            warn "$name: no $name.swf.gz in $from"
            return 1
        fi
        cp -- "$from/$name.swf.gz" "$part" || return 1
    elif [[ $url == - ]]; then
        warn "$name: not in the archive; copy it from a directory with --from DIR"
        return 1
    elif [[ -s $part ]] && verify "$part" "$sum" "$records" 2>/dev/null; then
        # The file is already complete, and servers refuse to resume a complete file.
        :
    elif ! download "$url" "$part"; then
        warn "$name: cannot fetch $url"
        [[ ! -e $part ]] || warn "$name: run the command again to resume the download; if that fails, remove $part"
        return 1
    fi
    if ! verify "$part" "$sum" "$records"; then
        # Delete an incorrect file, so that the next download does not resume it.
        rm -f -- "$part"
        return 1
    fi
    mv -- "$part" "$file" || return 1
    say "$name: fetched and verified"
}

# resolve NAME: prints the first entry with this name or alias that is present, or else the first entry that can be
# downloaded.
resolve() {
    local candidates line name url
    candidates=$(matching "$1")
    [[ -n $candidates ]] || return 1
    while IFS='|' read -r name _; do
        if [[ -e $to/$name.swf.gz || (-n $from && -f $from/$name.swf.gz) ]]; then
            matching "$name" | head -n 1
            return 0
        fi
    done <<<"$candidates"
    while IFS= read -r line; do
        IFS='|' read -r name _ url _ <<<"$line"
        if [[ $url != - ]]; then
            printf '%s\n' "$line"
            return 0
        fi
    done <<<"$candidates"
    head -n 1 <<<"$candidates"
}

while [[ $# -gt 0 ]]; do
    case $1 in
        --all) all=yes ;;
        --list) list=yes ;;
        --to | --from)
            [[ $# -ge 2 ]] || die "$1 needs a directory"
            if [[ $1 == --to ]]; then to=$2; else from=$2; fi
            shift
            ;;
        -h | --help)
            usage
            exit 0
            ;;
        -*) die "unknown option $1 (see --help)" ;;
        *) names+=("$1") ;;
    esac
    shift
done

[[ -r $manifest ]] || die "cannot read the list of traces, $manifest"
known=$(entries)
[[ -n $known ]] || die "no traces in $manifest"

if [[ $list == yes ]]; then
    while IFS='|' read -r name aliases url sum records procs; do
        check=unverified
        [[ $records != - ]] && check="by records"
        [[ $sum != - ]] && check=sha256
        [[ $url == - ]] && check="$check, not in the archive"
        printf '%-30s %-40s %8s %6s  %s\n' "$name" "$aliases" "$records" "$procs" "$check"
    done <<<"$known"
    exit 0
fi
if [[ $all == yes ]]; then
    [[ ${#names[@]} -eq 0 ]] || die "--all takes no names"
    [[ -z $from || -d $from ]] || die "--from $from: no such directory"
    while IFS='|' read -r name _ url _; do
        if [[ -n $from ]]; then
            if [[ -f $from/$name.swf.gz ]]; then names+=("$name"); fi
        elif [[ $url != - ]]; then
            names+=("$name")
        fi
    done <<<"$known"
fi
[[ -z $from || -d $from ]] || die "--from $from: no such directory"
[[ ${#names[@]} -gt 0 ]] || die "no trace named (see --help, --list)"
for name in "${names[@]}"; do
    [[ -n $(matching "$name") ]] || die "unknown trace $name (see --list)"
done
mkdir -p -- "$to" || exit "$FAILED"

status=0
for wanted in "${names[@]}"; do
    IFS='|' read -r name _ url sum records _ <<<"$(resolve "$wanted")"
    obtain "$name" "$url" "$sum" "$records" || status=$FAILED
done
exit "$status"
