import { CHOOSE_TMUX } from '../terminals/tmux/tmux-volume-scripts.ts';

/**
 * Programs for `sh` inside containers: POSIX shell, /proc, `grep` and `sleep`, so that they run in any image.
 * Parameters are arguments, never program text.
 */

/**
 * A container's first program, which keeps it alive. On SIGTERM it asks all others to end, and exits when there are as
 * few as at its own start, or is killed after the grace period. Shells ignore SIGTERM and get SIGHUP; others must not,
 * since it would end them before their SIGTERM handler has run.
 */
export const INIT_SCRIPT = [
  "end() { trap '' TERM INT HUP; kill -TERM -1;",
  "for f in $(grep -lE '^SigIgn:.*[4567cdef]...$' /proc/[0-9]*/status);",
  `do f=\${f#/proc/}; kill -HUP \${f%/*}; done;`,
  'kill -CONT -1; wait;',
  'while set -- /proc/[0-9]*; [ $# -gt $n ]; do sleep 0.02 || sleep 1; done;',
  'exit 0; } 2>/dev/null;',
  'set -- /proc/[0-9]*; n=$#;',
  'trap end TERM INT;',
  'while :; do sleep 3600 & wait $!; done',
].join(' ');

/**
 * `tree PID...` prints the processes and their descendants as `pid:start`; the start time reveals a reused pid. Daemons
 * that left their parent are not included. `finish POLLS PID:START...` sends SIGHUP, and SIGKILL to what remains after
 * that many twentieths of a second.
 */
const PROCESS_TREE = `
stat_of() { { read -r s < "/proc/$1/stat"; } 2>/dev/null || return 1; s=\${s##*) }; }
start_of() { stat_of "$1" || return 1; set -- $s; start=\${20}; }
tree() {
  found=" $* "; grew=1
  while [ $grew = 1 ]; do
    grew=0
    for d in /proc/[0-9]*; do
      p=\${d#/proc/}
      case "$found" in *" $p "*) continue;; esac
      stat_of "$p" || continue
      q=\${s#? }
      case "$found" in *" \${q%% *} "*) found="$found$p "; grew=1;; esac
    done
  done
  for p in $found; do start_of "$p" && echo "$p:$start"; done
}
alive() { for x in "$@"; do start_of "\${x%%:*}" && [ "$start" = "\${x#*:}" ] && echo "\${x%%:*}"; done; }
finish() {
  n=$1; shift; left=$(alive "$@")
  [ -n "$left" ] || return 0
  kill -HUP $left; kill -CONT $left
  while [ "$n" -gt 0 ]; do
    sleep 0.05 || sleep 1
    left=$(alive "$@"); [ -n "$left" ] || return 0
    n=$((n - 1))
  done
  kill -KILL $(alive $(tree $left))
}
`;

/**
 * `end_marked MARKERS POLLS` ends every process with a NAME=VALUE of these lines in its environment, and their
 * descendants. It fails when there is none.
 * BusyBox's grep looks no further than the first variable, and an older one takes several lines for one pattern.
 */
export const END_BY_MARK = `${PROCESS_TREE}
marked() {
  if printf 'a\\0b' | grep -qF b; then
    grep -lsF "$@" /proc/[0-9]*/environ | while IFS=/ read -r a b p rest; do echo "$p"; done
  else
    for d in /proc/[0-9]*; do
      { tr '\\0' '\\n' < "$d/environ" | grep -qxF "$@" && echo "\${d#/proc/}"; } 2>/dev/null
    done
  fi
}
end_marked() {
  markers=$1; polls=$2; set --
  for marker in $markers; do set -- "$@" -e "$marker"; done
  pids=$(marked "$@")
  [ -n "$pids" ] || return 1
  finish "$polls" $(tree $pids) 2>/dev/null
  return 0
}
`;

/** The same as a program, with arguments `MARKERS POLLS`. Prints `none` when there was no such process. */
export const END_MARKED = `${END_BY_MARK}
end_marked "$1" "$2" || echo none
exit 0
`;

/** `MARKERS SIGNAL`: sends a signal to every process with one of these in its environment. Prints `none` likewise. */
export const SIGNAL_MARKED = `${END_BY_MARK}
signal=$2; all=
for marker in $1; do
  pids=$(marked -e "$marker")
  [ -z "$pids" ] || { all="$all $pids"; kill -s "$signal" $pids; }
done 2>/dev/null
[ -n "$all" ] || echo none
exit 0
`;

/** Berth's own tmux server, apart from the user's, which nests because TMUX is unset. Use after CHOOSE_TMUX. */
export const TMUX = 'berth_tmux -u -S /run/berth-tmux -f /run/berth-tmux.conf';

/**
 * `POLLS SESSION...`: ends sessions and their programs, and prints `gone` and the name of each that is absent; one
 * grouped with other sessions ends alone. Starting programs is the main cost, and a busy container has hundreds of
 * processes.
 */
export const END_SESSIONS = `${PROCESS_TREE}
${CHOOSE_TMUX}
polls=$1; shift
asked=" $* "; present=' '
only_asked() {
  list=$1,
  while [ -n "$list" ]; do
    case "$asked" in *" \${list%%,*} "*) list=\${list#*,};; *) return 1;; esac
  done
}
panes_of_asked() {
  ${TMUX} list-panes -a -F '#{session_name} #{pane_pid} #{session_group_list}' | while read -r name pid group; do
    only_asked "$name" && only_asked "\${group:-$name}" && echo "$pid"
  done
}
sessions() { for one in $(${TMUX} list-sessions -F '#{session_name}'); do present="$present$one "; done; }
if choose_tmux; then
  panes=$(panes_of_asked)
  all=$(tree $panes)
  sessions
  for session in "$@"; do
    case "$present" in *" $session "*) ${TMUX} kill-session -t "=$session";; esac
  done
  finish "$polls" $all
  present=' '
  sessions
fi 2>/dev/null
for session in "$@"; do
  case "$present" in *" $session "*) ;; *) echo "gone $session";; esac
done
`;

/**
 * Prints a line per session and marked process, then `end`. The marker is in a process's original environment, whatever
 * it has changed since.
 */
export const LIST_LEFTOVERS = `
${CHOOSE_TMUX}
choose_tmux && ${TMUX} list-sessions -F 'session #{session_name}' 2>/dev/null
grep -hsoaE 'BERTH_TERM=[0-9a-f-]{36}' /proc/[0-9]*/environ
echo end
`;
