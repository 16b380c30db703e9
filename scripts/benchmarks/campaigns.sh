# The pages mutants and abuse, which other programs write.

mutants() {
    if quick; then
        echo 'Not run: the campaign takes hours; cargo test --release --test mutants runs a short one'
        return
    fi
    scripts/mutants.sh
}

abuse() {
    local sections=() report=$work/abuse
    quick && sections=(journal-wrong merge-order)
    scripts/abuse.sh "$replay" "${sections[@]}" --quick --report "$report" > "$work/abuse.log" || [ $? = 77 ]
    ls "$report"
    quick && echo 'Not run: all sections but journal-wrong and merge-order'
    return 0
}
