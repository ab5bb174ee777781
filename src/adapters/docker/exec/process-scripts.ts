import { createHash } from 'node:crypto';
import { LITERAL_KEYS } from '../terminals/tmux-keys.ts';
import { CHOOSE_TMUX, TOOLS_FOLDER } from '../terminals/tmux-volume-scripts.ts';

/**
 * Programs for `sh` inside containers: POSIX shell, /proc, `grep` and `sleep`, so that they run in any image.
 * Parameters are arguments, never program text.
 */

/**
 * A container's first program, which keeps it alive. On SIGTERM it asks all others to end and exits when they have, or
 * is killed after the grace period. Shells ignore SIGTERM and get SIGHUP; others must not, since it would end them
 * before their SIGTERM handler has run.
 */
export const INIT_SCRIPT = [
  "end() { trap '' TERM INT HUP; kill -TERM -1;",
  "for f in $(grep -lE '^SigIgn:.*[4567cdef]...$' /proc/[0-9]*/status);",
  `do f=\${f#/proc/}; kill -HUP \${f%/*}; done;`,
  'kill -CONT -1; wait;',
  'while set -- /proc/[0-9]*; [ $# -gt 2 ]; do sleep 0.02 || sleep 1; done;',
  'exit 0; } 2>/dev/null;',
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
 * `end_marked MARKERS POLLS` ends every process with a NAME=VALUE of these lines in its environment, and their descendants.
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
  [ -n "$pids" ] || return 0
  finish "$polls" $(tree $pids) 2>/dev/null
}
`;

/** The same as a program, with arguments `MARKERS POLLS`. */
export const END_MARKED = `${END_BY_MARK}
end_marked "$1" "$2"
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

export const NO_TMUX = 'none';

/** Prints the terminal type for programs inside tmux, or `none` without tmux. */
export const FIND_TMUX = `
${CHOOSE_TMUX}
choose_tmux || { echo ${NO_TMUX}; exit 0; }
for t in tmux-256color screen-256color screen; do
  for d in /etc/terminfo /lib/terminfo /usr/share/terminfo /usr/lib/terminfo ${TOOLS_FOLDER}/terminfo; do
    for f in "$d"/?/"$t" "$d"/??/"$t"; do [ -e "$f" ] && echo "$t" && exit 0; done
  done
done
echo ${NO_TMUX}
`;

/** Discards stderr, because any output counts as a sign that the shell has started. */
const PREPARE = `
exec 2>/dev/null
stty cols "$1" rows "$2"
cd /workspace || cd /
`;

/**
 * tmux settings for a browser terminal: only the program's cells on the screen, no keys taken away, true colour, no
 * half-drawn screens. Outside tmux there is no alternate screen, and lines scroll off by newlines, which fill a
 * terminal's scrollback. Lines that scroll faster than tmux draws are only in tmux's history, which is sent when the
 * user scrolls back.
 *
 * Berth alone decides when a key is complete, so tmux never gives up on a partial one, and takes no fast keys for a
 * paste.
 */
const SETTINGS = `
set -s default-terminal "$6"
set -g status off
set -g prefix None
set -g prefix2 None
unbind-key -qaT prefix
unbind-key -qaT root
set -g mouse off
set -s escape-time 3600000
set -g assume-paste-time 0
set -s focus-events on
set -s set-clipboard on
set -g history-limit 50000
set -g set-titles on
set -g set-titles-string "#T"
set -g window-size latest
set -g aggressive-resize on
set -g allow-rename off
set -g automatic-rename off
set -g bell-action any
set -g visual-bell off
set -s terminal-features "xterm*:clipboard:ccolour:cstyle:focus:title:RGB:strikethrough:usstyle:overline:sync:hyperlinks"
set -s terminal-overrides 'xterm*:smcup@:rmcup@:indn@:Sync=\\E[?2026%?%p1%{1}%-%tl%eh%;'
${LITERAL_KEYS}
`;

const SETTINGS_VERSION = createHash('sha256').update(SETTINGS).digest('hex').slice(0, 16);

/**
 * A server with these settings sets nothing again: each option redraws all its clients, and each key of the user's
 * rebuilds their key trees.
 */
const CONFIG = `
%if '#{!=:#{@berth_settings},${SETTINGS_VERSION} $6}'
${SETTINGS}
set -s @berth_settings "${SETTINGS_VERSION} $6"
%endif
`;

/** Grouped sessions would keep the programs alive. */
const END_GROUP = `(
  IFS=,
  for s in $(${TMUX} display-message -p -t "=$4:" '#{session_group_list}'); do ${TMUX} kill-session -t "=$s"; done
);`;

/** A participant's session shares the windows; its size counts only without the owner. Needs tmux 3.2. */
const AS_PARTICIPANT = `
flags=
if [ -n "$7" ]; then
  [ -z "$8" ] || ${TMUX} new-session -d -t "=$4" -s "$8"
  [ "$7" = view ] && flags=-r
  case "$(${TMUX} list-commands attach-session)" in
    *'-f flags'*) flags="$flags -f ignore-size";;
  esac
fi
`;

/**
 * `SHELL SESSION`: a login shell whose exit code is recorded, since tmux does not report it. On SIGTERM it waits for
 * the shell to exit.
 */
const SHELL_IN_TMUX =
  'unset TMUX TMUX_PANE; [ -z "$2" ] || unset LOCPATH; trap : TERM INT QUIT; "$0" -l; { echo $? > "/run/berth-exit.$1"; } 2>/dev/null';

/**
 * `COLS ROWS SHELL SESSION new|keep INNER_TERM [view|control THEIR_SESSION]`: attaches to a session, created when
 * absent. Only the attachment has the marker, since the server must outlive it. A server with an earlier version's
 * settings gets these at an attach.
 */
export const ATTACH = `${PREPARE}
${CHOOSE_TMUX}
marker=$BERTH_TERM; unset BERTH_TERM
choose_tmux || exit 127
mkdir -p /run
cat > "/run/berth-tmux.$$" <<END
${CONFIG}
END
mv -f "/run/berth-tmux.$$" /run/berth-tmux.conf
[ "$5" = new ] && { ${END_GROUP} ${TMUX} kill-session -t "=$4"; }
${TMUX} has-session -t "=$4" || {
  rm -f "/run/berth-exit.$4"
  ${TMUX} new-session -d -s "$4" -x "$1" -y "$2" sh -c '${SHELL_IN_TMUX}' "$3" "$4" "$injected" ||
    ${TMUX} has-session -t "=$4" || exit 1
}
${AS_PARTICIPANT}
export BERTH_TERM="$marker"
run=exec
${TMUX} source-file /run/berth-tmux.conf \\; attach-session $flags -t "=\${8:-$4}" 2>&1
`;

/**
 * `COLS ROWS SHELL`: a login shell where the runtime cannot hand over a terminal, which is a descriptor too. \`script\`
 * makes one inside the container.
 */
export const SHELL_WITHOUT_TTY = `
exec 2>&1
cd /workspace || cd /
command -v script >/dev/null && exec script -qfc "stty cols $1 rows $2; exec $3 -l" /dev/null
exec "$3" -li
`;

/** `COLS ROWS SHELL`: a login shell without a multiplexer. */
export const PLAIN_SHELL = `${PREPARE}
exec "$3" -l 2>&1
`;
