# SPDX-License-Identifier: MIT
# Completions for bash.
_highwater() {
    local word=${COMP_WORDS[COMP_CWORD]} i command=
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} == -* ]] || { command=${COMP_WORDS[i]} && break; }
    done
    if [ -n "$command" ]; then
        COMPREPLY=($(compgen -f -- "$word"))
    else
        COMPREPLY=($(compgen -W 'dump check diff run version --json --sql --help' -- "$word"))
    fi
}
complete -o filenames -F _highwater highwater
