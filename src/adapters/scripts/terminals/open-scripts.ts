import { createHash } from 'node:crypto';
import { TMUX } from '../exec/process-scripts.ts';
import { LITERAL_KEYS } from './tmux/tmux-keys.ts';
import { CHOOSE_TMUX, TOOLS_FOLDER } from './tmux/tmux-volume-scripts.ts';

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
set -s default-terminal "$term"
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
set -gq fill-character ' '
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
%if '#{!=:#{@berth_settings},${SETTINGS_VERSION} $term}'
${SETTINGS}
set -s @berth_settings "${SETTINGS_VERSION} $term"
%endif
`;

/** `prepare_tmux` chooses the tmux and the type of the terminals inside it, and writes tmux's settings, once for both. */
const PREPARE_TMUX = `
${CHOOSE_TMUX}
find_term() {
  for term in tmux-256color screen-256color screen; do
    for d in /etc/terminfo /lib/terminfo /usr/share/terminfo /usr/lib/terminfo ${TOOLS_FOLDER}/terminfo; do
      for f in "$d"/?/"$term" "$d"/??/"$term"; do [ -e "$f" ] && return 0; done
    done
  done
  return 1
}
prepare_tmux() {
  choose_tmux || return 1
  [ "$version" = ${SETTINGS_VERSION} ] && return 0
  find_term || return 1
  mkdir -p /run
  cat > "/run/berth-tmux.$$" <<END
${CONFIG}
END
  mv -f "/run/berth-tmux.$$" /run/berth-tmux.conf
  echo "$term ${SETTINGS_VERSION} $injected" > "/run/berth-tmux.$$"
  mv -f "/run/berth-tmux.$$" $chosen
}
`;

/** Prints `yes` or `no`. */
export const HAS_TMUX = `
exec 2>/dev/null
${PREPARE_TMUX}
prepare_tmux && echo yes || echo no
`;

/** Grouped sessions would keep the programs alive. */
const END_SESSION = `{
  IFS=,
  for s in $(${TMUX} display-message -p -t "=$4:" '#{session_group_list}'); do ${TMUX} kill-session -t "=$s"; done
  unset IFS
  ${TMUX} kill-session -t "=$4"
  server=ending
}`;

/** A participant's session shares the windows; its size counts only without the owner. Needs tmux 3.2. */
const AS_PARTICIPANT = `
flags=
if [ -n "$8" ]; then
  [ -z "$9" ] || ${TMUX} new-session -d -t "=$4" -s "$9"
  [ "$8" = view ] && flags=-r
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

/** Output between these is the service's, not the terminal's. Only the program knows the marker. */
export const reportStart = (marker: string): string => `\x1bP${marker};`;
export const reportEnd = (marker: string): string => `\x1bP${marker}\x1b\\`;

/**
 * `COLS ROWS SHELL SESSION new|keep|plain HISTORY_ROWS HISTORY_BYTES [view|control THEIR_SESSION]`: shows a session of
 * tmux, created when absent; without tmux, or with `plain`, a login shell. First it reports `tmux` or `plain`, `unsized`
 * if it could not set the terminal's size, and the session's newest history, unless a program uses the whole screen.
 * When tmux starts, it discards unread output of its terminal. So the program first waits for a line, which means that
 * the report was read.
 *
 * Only the attachment has the marker, since tmux's server must outlive it. A server with an earlier version's settings
 * gets these at an attach. stderr is discarded, because any output counts as a sign that the shell has started.
 */
export const OPEN_TERMINAL = `
exec 2>/dev/null
cd /workspace || cd /
${PREPARE_TMUX}
marker=$BERTH_TERM saved=$BERTH_TTY unsized=
unset BERTH_TTY
set_tty() { stty $saved cols "$1" rows "$2" $3 || { [ -z "$saved" ] || exit 1; unsized=' unsized'; }; }
if [ "$5" = plain ] || ! prepare_tmux; then
  set_tty "$1" "$2"
  printf '\\033P%s;plain%s;\\033P%s\\033\\\\' "$marker" "$unsized" "$marker"
  [ -z "$8" ] || exit 127
  exec "$3" -l 2>&1
fi
unset BERTH_TERM
set_tty "$1" "$2" -echo
server=up
[ "$5" = new ] && ${END_SESSION}
printf '\\033P%s;tmux%s;' "$marker" "$unsized"
state=$(${TMUX} display-message -p -t "=$4:" '#{alternate_on} #{history_size}') || server=absent
case "$state" in
  '0 0' | '1 '*) ;;
  '0 '*) ${TMUX} capture-pane -p -e -J -t "=$4:" -S "-$6" -E -1 | tail -c "$7";;
  *) state=;;
esac
printf '\\033P%s\\033\\\\' "$marker"
in_tmux='${SHELL_IN_TMUX}'
if [ -z "$state" ]; then
  [ -e "/run/berth-exit.$4" ] && rm -f "/run/berth-exit.$4"
  if [ $server = up ] && [ -z "$8" ]; then
    read -r go
    export BERTH_TERM="$marker"
    run=exec
    ${TMUX} source-file /run/berth-tmux.conf \\; new-session -A -s "$4" sh -c "$in_tmux" "$3" "$4" "$injected" 2>&1
  fi
  ${TMUX} new-session -d -s "$4" -x "$1" -y "$2" sh -c "$in_tmux" "$3" "$4" "$injected" ||
    ${TMUX} has-session -t "=$4" || exit 1
fi
${AS_PARTICIPANT}
read -r go
export BERTH_TERM="$marker"
run=exec
${TMUX} source-file /run/berth-tmux.conf \\; attach-session $flags -t "=\${9:-$4}" 2>&1
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
