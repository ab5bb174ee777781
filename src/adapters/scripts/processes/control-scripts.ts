import { END_BY_MARK } from '../exec/process-scripts.ts';
import { FOLDER, TOOLS, TREE } from './common-scripts.ts';

/**
 * Prints how a process is, in its folder: `ID running PID`, `ID exit CODE no|late|lost EPOCH`, `ID lost` or `ID
 * starting`.
 */
const SHOW = `
show() {
  for end in exit.*; do
    [ -e "$end" ] || continue
    end=\${end#exit.} code=\${end%%.*} end=\${end#*.}
    case "$end" in lost.*) echo "$1 lost";; *) echo "$1 exit $code \${end%%.*} \${end##*.}";; esac
    return
  done
  if { read -r program supervisor < state; } 2>/dev/null; then
    if [ -n "$(alive "$program" "$supervisor")" ]; then echo "$1 running \${program%%:*}"; else echo "$1 lost"; fi
  else
    echo "$1 starting"
  fi
}
`;

/** Prints a line for each known process. */
export const LIST = `${TOOLS}${END_BY_MARK}${SHOW}
cd ${FOLDER} 2>/dev/null || exit 0
for id in *; do
  [ -d "$id" ] && cd "$id" && { show "$id"; cd ..; }
done
`;

const SIZES = `
sizes() {
  set -- "$1".[0-9]*.*
  first= last=0
  for file in "$@"; do
    offset=\${file##*.}
    [ -n "$first" ] && [ "$first" -le "$offset" ] || first=$offset
    [ "$last" -gt "$offset" ] || last=$offset end=$file
  done
  size=$(wc -c < "$end") && echo "$first $((last + size))"
}
`;

/** `ID`: its line, then `FIRST END` for each output. Nothing for one that is not known. */
export const INSPECT = `${TOOLS}${END_BY_MARK}${SHOW}${SIZES}
cd "${FOLDER}/$1" 2>/dev/null || exit 0
show "$1"
sizes out
sizes err
`;

/** `ID SIGNAL`: prints `sent` when a process got it. */
export const SIGNAL = `${TOOLS}${TREE}
signal_all "$1" "$2" && echo sent
exit 0
`;

/** `ID`: ends it with everything that it started, and prints its line. */
export const END = `${TOOLS}${TREE}${SHOW}
end_all "$1"
cd "${FOLDER}/$1" 2>/dev/null || exit 0
tries=0
while [ -e state ] && [ -n "$(alive $(cat state))" ] && [ $tries -lt 80 ]; do
  sleep 0.05 || sleep 1
  tries=$((tries + 1))
done
show "$1"
`;
