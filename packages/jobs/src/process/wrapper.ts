/** Under which name every process of a job has its job's id in its environment: how strays are told from others. */
export const JOB_VARIABLE = 'CTB_JOB_ID'

/**
 * Runs the CLI and outlives it: POSIX sh, called as `sh -c SCRIPT NAME DIRECTORY COMMAND ARGS…`. It leaves its own pid and
 * then the CLI's exit status as files in DIRECTORY, each whole or not at all. The traps keep it alive when its group is
 * signalled; a trap that is no `''` is not inherited, so the CLI starts with the usual dispositions. What the shell itself
 * has to say of a killed CLI is kept out of the CLI's stderr.
 */
export const WRAPPER = `d=$1; shift
put() { (umask 077; printf '%s\\n' "$2" >"$d/$1.new" && mv -f "$d/$1.new" "$d/$1"); }
put pid "$$"
trap : HUP INT QUIT TERM PIPE
exec 3>&2 2>/dev/null
"$@" 2>&3 3>&-
put exit "$?"
`
