import { TMUX } from '../../exec/process-scripts.ts';
import { CHOOSE_TMUX } from './tmux-volume-scripts.ts';

/**
 * `SESSION ROWS BYTES`: prints \`full_screen\` when a program uses the whole screen. Else a line of figures, then the
 * newest history and the screen, by one command, during which tmux reads no output.
 */
export const SNAPSHOT = `
${CHOOSE_TMUX}
choose_tmux || exit 0
figures='shell #{pane_width} #{pane_height} #{history_size} #{cursor_x} #{cursor_y}'
${TMUX} if-shell -F -t "=$1:" '#{alternate_on}' 'display-message -p full_screen' \\
  "display-message -p -t '=$1:' '$figures' ; capture-pane -p -e -J -t '=$1:' -S -$2" 2>/dev/null |
  { IFS= read -r first && echo "$first" && tail -c "$3"; }
exit 0
`;

/** `SESSION NAME=VALUE`: redraws the screen of the attachment with this in its environment. */
export const DRAW_ANEW = `
${CHOOSE_TMUX}
choose_tmux || exit 0
${TMUX} list-clients -t "=$1" -F '#{client_pid} #{client_tty}' 2>/dev/null | while read -r pid tty; do
  tr '\\0' '\\n' < "/proc/$pid/environ" | grep -qxF "$2" && ${TMUX} refresh-client -t "$tty"
done
exit 0
`;

/**
 * `SESSION SHOWN`: prints `on` while the shown session exists, else `over`, with the exit code of the session's last
 * shell if known; nothing when tmux does not answer.
 */
export const HOW_ENDED = `
${CHOOSE_TMUX}
choose_tmux || exit 0
said=$(${TMUX} has-session -t "=$2" 2>&1) && echo on && exit 0
case "$said" in
  *"can't find session"* | *"no server running"* | *"error connecting"*)
    echo "over $(cat "/run/berth-exit.$1" 2>/dev/null)";;
esac
exit 0
`;
