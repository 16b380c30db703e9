# The page abuse, which another program writes.

abuse() {
    local sections=() report=$work/abuse.md
    quick && sections=(journal-cut)
    scripts/abuse.sh "$replay" "${sections[@]}" --quick --report "$report" > "$work/abuse.log" || [ $? = 77 ]
    cat "$report"
    quick && echo 'Not run: all sections but journal-cut'
    return 0
}
