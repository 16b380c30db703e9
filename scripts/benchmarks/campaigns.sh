# The page abuse, which another program writes.

abuse() {
    local sections=() report=$work/abuse
    quick && sections=(journal-wrong merge-order)
    scripts/abuse.sh "$replay" "${sections[@]}" --quick --report "$report" > "$work/abuse.log" || [ $? = 77 ]
    ls "$report"
    quick && echo 'Not run: all sections but journal-wrong and merge-order'
    return 0
}
