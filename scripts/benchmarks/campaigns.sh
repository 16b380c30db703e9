# The pages mutants and abuse, which their own programs write.

mutants() {
    if quick; then
        # Its reader rows are fixed by the test; a short campaign shows that it runs.
        echo 'mutants: cargo test --release --test mutants runs a short campaign' >&2
        return
    fi
    scripts/mutants.sh
}

abuse() {
    local sections=() report=$work/abuse
    quick && sections=(journal-wrong merge-order)
    scripts/abuse.sh "$replay" "${sections[@]}" --quick --report "$report" > "$work/abuse.log" || [ $? = 77 ]
    ls "$report"
}
