import { FOLDER, SETSID, TOOLS, TREE } from './common-scripts.ts';
import { RUN_IN_TERMINAL } from './terminal-scripts.ts';

/** Ended processes whose output a container keeps, how long, and how much, whichever comes first. */
const KEPT = { count: 100, seconds: 90_000, kib: 262_144 };

/**
 * `HOME UMASK PATH ID READS SEGMENT KEPT SECONDS STDIN WORKDIR TERMINAL COMMAND...`, with the program's
 * environment, and as descriptor 3 what it reports to. It runs the program in the foreground: in the background, a
 * shell makes it ignore SIGINT. So the reader of its report must end it.
 *
 * A pump copies each output to segments `NAME.NUMBER.OFFSET` and removes the oldest. The feeder copies input segments
 * `in.OFFSET`, which the program has not read yet, until an empty one; `read.OFFSET` is where it is. The folder has a `state` while the program runs,
 * and then its name says how it ended: renaming needs no disk space.
 *
 * A variable that is assigned outside a subshell would change one of the program that has this name.
 */
export const SUPERVISE = `
${TOOLS}${TREE}
cd "${FOLDER}/$4" || exit
trap '' TERM HUP INT QUIT

pump() {
  name=$1 reads=$2 segment=$3 kept=$4 n=0 base=0 size=0 first=0 cut=0
  while :; do
    before=$size
    dd bs=4096 count="$reads" >> "$name.$n.$base" || { : > "$name.lost"; cat > /dev/null; break; }
    size=$(wc -c < "$name.$n.$base") size=$((size))
    [ "$size" -gt "$before" ] || break
    [ "$size" -ge "$segment" ] || continue
    base=$((base + size)) n=$((n + 1)) size=0
    : > "$name.$n.$base"
    while [ $((base - cut)) -gt "$kept" ]; do
      rm -f "$name.$first.$cut"
      first=$((first + 1))
      set -- "$name.$first".*
      cut=\${1##*.}
    done
  done
  : > "$name.end"
}

# Records whose input the segment was, before it is removed: see WRITE.
retire() {
  old=in.$1
  for file in "by.$1".*; do
    if [ "$file" -ef "in.$1" ]; then true > "got.\${file#by.*.}" || ln "$file" "got.\${file#by.*.}"; fi
    old="$old $file"
  done
  mv read.* "read.$2"
  rm -f $old
}

feed() {
  exec 4> stdin 5<> bell
  at=0 fed=
  while :; do
    if [ -e "in.$at" ]; then
      size=$(wc -c < "in.$at") size=$((size))
      [ "$size" -gt 0 ] && cat "in.$at" >&4 || break
      [ -z "$fed" ] || retire "$fed" "$at"
      fed=$at at=$((at + size))
    else
      read -r ring <&5
    fi
  done
  : > closed
}

limit() {
  sleep "$2" &
  echo $! > timer
  wait $!
  : > late
  end_all "$1"
}

note_state() {
  start_of "$1" && program=$1:$start
  start_of $$ && echo "$program $$:$start" > state.new && mv state.new state
}

pump out "$5" "$6" "$7" < stdout 3>&- &
pump err "$5" "$6" "$7" < stderr 3>&- &
BERTH_FEEDER= BERTH_LIMIT=
[ "$9" = no ] || { feed 3>&- & BERTH_FEEDER=$!; }
[ "$8" = 0 ] || { limit "$4" "$8" 3>&- & BERTH_LIMIT=$!; }
(
  exec > stdout 2> stderr
  if [ "$9" = no ]; then exec < /dev/null; else exec < stdin; fi
  read -r BERTH_SELF BERTH_REST < /proc/self/stat
  (note_state "$BERTH_SELF")
  echo "started $BERTH_SELF" >&3
  exec 3>&-
  cd "$1"
  case "\${10}" in '') ;; /*) cd "\${10}";; *) cd "$1/\${10}";; esac || exit 126
  trap - TERM HUP INT QUIT
  umask "$2"
  PATH=$3
  export PATH
  unset BERTH_SELF BERTH_REST BERTH_FEEDER BERTH_LIMIT
  [ -z "\${11}" ] || ${RUN_IN_TERMINAL}
  BERTH_PROCESS=$4
  export BERTH_PROCESS
  shift 11
  exec ${SETSID} /bin/sh -c 'exec "$@"' sh "$@"
)
code=$?
exec 3>&-
[ -z "$BERTH_LIMIT" ] || { kill -KILL "$BERTH_LIMIT"; read -r sleeper < timer && kill -KILL "$sleeper"; }
[ -z "$BERTH_FEEDER" ] || kill -KILL "$BERTH_FEEDER"
tries=0
until { [ -e out.end ] && [ -e err.end ]; } || [ $tries -ge 40 ]; do
  sleep 0.05 || sleep 1
  tries=$((tries + 1))
done
late=no
[ ! -e late ] || late=late
mv state "exit.$code.$late.$(date +%s)"
rm -f stdin bell timer tty in.* by.* got.* read.*
`;

/** `ID STDIN TERMINAL`: makes the folder of a process, after it has removed what is no longer kept of earlier ones. */
const PREPARE = `
prepare() {
  ${TOOLS}
  for tool in dd mkfifo wc cat mv rm ln date sort du sleep tail; do
    command -v $tool > /dev/null || { echo "tools $tool"; return 1; }
  done
  [ -z "$3" ] || command -v perl > /dev/null || { echo "tools perl"; return 1; }
  mkdir -p ${FOLDER} && cd ${FOLDER} || return 1
  now=$(date +%s)
  for state in */state; do
    { read -r program supervisor < "$state"; } 2>/dev/null || continue
    [ -n "$(alive "$program" "$supervisor")" ] || mv "$state" "\${state%state}exit.-.lost.$now"
  done
  ended=$(for end in */exit.*; do [ ! -e "$end" ] || echo "\${end##*.} \${end%%/*}"; done | sort -n)
  [ -z "$ended" ] || echo "$ended" | forget "$(echo "$ended" | wc -l)"
  mkdir "$1" 2>/dev/null || { echo known; return 1; }
  cd "$1" && mkfifo stdout stderr started && : > out.0.0 && : > err.0.0 || return 1
  [ "$2" = no ] || { mkfifo stdin bell && : > read.0; }
}
forget() {
  left=$1
  while read -r at name; do
    [ "$left" -ge ${KEPT.count} ] || [ $((now - at)) -gt ${KEPT.seconds} ] || is_much || break
    rm -rf "$name"
    left=$((left - 1))
  done
}
is_much() { size=$(du -sk .); set -- $size; [ "$1" -gt ${KEPT.kib} ]; }
`;

/**
 * `SUPERVISE ID READS SEGMENT KEPT SECONDS STDIN WORKDIR TERMINAL COMMAND...`: prints `started PID`, `known` for an id
 * that it has, or `tools NAME` for one that the image lacks. It starts nothing twice.
 */
export const START = `${TREE}${PREPARE}
(prepare "$2" "$7" "$9") || exit
exec 3<> "${FOLDER}/$2/started"
rm -f "${FOLDER}/$2/started"
# Not the supervisor: some engines wait for all who could still print.
{ read -r report <&3; [ -z "$report" ] || { echo "$report"; kill -KILL $$; }; } &
(
  unset BERTH_EXEC
  BERTH_SCRIPT=$1
  shift
  set -- "$BERTH_SCRIPT" berth-process "$PWD" "$(umask)" "$PATH" "$@"
  unset BERTH_SCRIPT
  exec ${SETSID} /bin/sh -c "$@" < /dev/null > /dev/null 2>&1
)
# The reader may not have read the report of a program that ended at once.
echo >&3
wait $!
# Without a command after it, a shell runs the last subshell in itself, which the supervisor ends.
exit 1
`;
