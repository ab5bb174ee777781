import { TMUX } from './scripts.ts';
import { CHOOSE_TMUX } from './tools-scripts.ts';

/** `SESSION LINES BYTES`: prints 1 when a program has the whole screen to itself, else 0 and the newest of the history. */
export const LOOK_BACK = `
${CHOOSE_TMUX}
choose_tmux || exit 0
full=$(${TMUX} display-message -p -t "=$1:" '#{alternate_on}' 2>/dev/null) || exit 0
echo "\${full:-0}"
[ "$full" = 1 ] && exit 0
size=$(${TMUX} display-message -p -t "=$1:" '#{history_size}')
[ "\${size:-0}" -gt 0 ] && ${TMUX} capture-pane -p -e -J -t "=$1:" -S "-$2" -E -1 | tail -c "$3"
exit 0
`;

/** `SESSION NAME=VALUE`: draws the screen anew for the attachment with this in its environment. */
export const DRAW_ANEW = `
${CHOOSE_TMUX}
choose_tmux || exit 0
${TMUX} list-clients -t "=$1" -F '#{client_pid} #{client_tty}' 2>/dev/null | while read -r pid tty; do
  tr '\\0' '\\n' < "/proc/$pid/environ" | grep -qxF "$2" && ${TMUX} refresh-client -t "$tty"
done
exit 0
`;

/**
 * `SESSION SHOWN`: prints `on` while the session that is shown is there, else `over`, with the exit code of the shell that
 * the session ended with, if it is known; nothing when tmux does not say.
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
