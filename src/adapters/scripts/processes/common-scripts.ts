import { END_BY_MARK } from '../exec/process-scripts.ts';

/** One folder per process, of root alone. It is part of the container's layer, so it survives a stop and a start. */
export const FOLDER = '/run/berth-processes';

/** The image's tools, before those of the program's own PATH. */
export const TOOLS_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
export const TOOLS = `
PATH=${TOOLS_PATH}:$PATH
umask 077
`;
/** A session apart, where the image can: then a program that signals its group does not reach the supervisor. */
export const SETSID = `$(PATH=${TOOLS_PATH}:$PATH; command -v setsid)`;

/**
 * `targets ID` prints the processes that a process consists of: its program, all with its mark, and their descendants.
 * `signal_all ID SIGNAL` signals them. `end_all ID` sends SIGTERM, and SIGKILL to what is left after five seconds.
 */
export const TREE = `${END_BY_MARK}
program_of() {
  { read -r program supervisor < "${FOLDER}/$1/state"; } 2>/dev/null && [ -n "$(alive "$program")" ] && echo "\${program%%:*}"
}
targets() { tree $(marked -e "BERTH_PROCESS=$1") $(program_of "$1"); }
signal_all() {
  pids=$(alive $(targets "$1"))
  [ -n "$pids" ] || return 1
  # It fails for one that has just ended by the signal to another.
  kill -"$2" $pids 2>/dev/null || return 0
}
end_all() {
  signal_all "$1" TERM || return 0
  signal_all "$1" CONT
  until=$(($(date +%s) + 5))
  while [ "$(date +%s)" -lt $until ] && [ -n "$(alive $(targets "$1"))" ]; do sleep 0.05 || sleep 1; done
  tries=0
  while [ $tries -lt 5 ] && signal_all "$1" KILL; do tries=$((tries + 1)); done
  return 0
}
`;
