//! Shell completion of the last name in a comma-separated list of names. The completion script calls the program, which
//! lists the possible names.

use std::collections::BTreeSet;

use clap_complete::Shell;

use super::exit::Failure;
use replay_engine::workload::{Manifest, SearchPath};

/// Returns shell code to append to the completion script of a shell. The completion scripts of the argument parser
/// complete only single words from a fixed set. This code completes the last name of a list from the output of `replay
/// list WHAT --format names`.
pub fn lists(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => BASH,
        Shell::Zsh => ZSH,
        Shell::Fish => FISH,
        _ => "",
    }
}

const BASH: &str = r#"
# Completes the name after the last comma.
_replay_lists() {
    local cur prev what before last
    cur="${COMP_WORDS[COMP_CWORD]}"
    prev="${COMP_WORDS[COMP_CWORD-1]}"
    case "$prev" in
        --trace|--train|-t) what=traces ;;
        --alloc|-a) what=allocators ;;
        --sched|-s) what=schedulers ;;
        *) _replay "$@"; return ;;
    esac
    before=""
    last="$cur"
    if [[ "$cur" == *,* ]]; then
        before="${cur%,*},"
        last="${cur##*,}"
    fi
    COMPREPLY=($(compgen -P "$before" -W "$("${COMP_WORDS[0]}" list "$what" --format names 2>/dev/null)" -- "$last"))
    if [[ "$what" == traces && -z "$before" ]]; then
        COMPREPLY+=($(compgen -f -- "$cur"))
    fi
}
complete -F _replay_lists -o nosort -o bashdefault -o default replay
"#;

const ZSH: &str = r#"
# Completes the name after the last comma.
_replay_lists() {
    local what
    case "${words[CURRENT-1]}" in
        --trace|--train|-t) what=traces ;;
        --alloc|-a) what=allocators ;;
        --sched|-s) what=schedulers ;;
        *) _replay "$@"; return ;;
    esac
    local -a names
    names=(${(f)"$("${words[1]}" list "$what" --format names 2>/dev/null)"})
    compset -P '*,'
    compadd -q -S '' -a names
    [[ "$what" == traces ]] && _files
}
compdef _replay_lists replay
"#;

const FISH: &str = r#"
# Completes the name after the last comma.
function __replay_list
    set -l before (string match -r '^.*,' -- (commandline -ct))
    replay list $argv[1] --format names 2>/dev/null | string replace -r '^' "$before"
end
complete -c replay -s t -l trace -x -a '(__replay_list traces; __fish_complete_path (commandline -ct))'
complete -c replay -s a -l alloc -x -a '(__replay_list allocators)'
complete -c replay -s s -l sched -x -a '(__replay_list schedulers)'
"#;

/// Returns the names of the traces that are present: names and aliases of known traces, and files in the searched
/// folders.
///
/// # Errors
/// A usage error if the list of known traces cannot be read.
pub fn traces() -> Result<Vec<String>, Failure> {
    let manifest = Manifest::embedded().map_err(Failure::usage)?;
    let search = SearchPath::from_env();
    let mut names = BTreeSet::new();
    for trace in manifest.traces.iter().filter(|one| search.resolve(&one.name, &manifest).is_ok()) {
        names.insert(trace.name.clone());
        names.extend(trace.aliases.iter().cloned());
    }
    for dir in search.dirs() {
        // An absent folder has no traces.
        let files = std::fs::read_dir(dir).into_iter().flatten().flatten();
        for name in files.filter_map(|file| file.file_name().into_string().ok()) {
            let stem = name.strip_suffix(".gz").unwrap_or(&name).strip_suffix(".swf");
            names.extend(stem.map(str::to_string));
        }
    }
    // Names that a shell would split are not completed.
    let plain = |name: &String| !name.contains(|c: char| c.is_whitespace() || ",'\"$`".contains(c));
    Ok(names.into_iter().filter(plain).collect())
}
