import { FOLDER, TOOLS } from './common-scripts.ts';

/**
 * `ID OFFSET SIZE END MOST WRITER`, with SIZE bytes as input: commits them as the segment `in.AT` at the present end, or
 * those that are new. Offsets are the writer's, or without one those of all input. An empty OFFSET is what there is of
 * it; END of `yes` ends the input. Prints `taken OFFSET`, `gap OFFSET`, `closed OFFSET`, `full OFFSET`, `ended`, `none`
 * for a process without input, or `short`.
 *
 * A link cannot replace a segment, so of two writers one starts over. First the segment is linked as
 * `by.AT.WRITER.OFFSET.PID`, with the writer's offset after it: it is committed if both are one file, or if the feeder
 * has made it `got.WRITER.OFFSET.PID`. The feeder reads nothing before `read.AT`, so a segment linked there comes too
 * late. An older feeder has no such file.
 */
export const WRITE = `${TOOLS}
cd "${FOLDER}/$1" 2>/dev/null || { echo ended; exit; }
offset=$2 size=$3 last=$4 most=$5 writer=$6
new=new.$$ old=
# The record stays: its segment may be committed. Bash comes here after a signal too.
trap 'rm -f "$new" "$new.rest" $old' EXIT
cat > "$new" || { echo short; exit; }
have=$(wc -c < "$new")
[ "$have" -eq "$size" ] || { echo short; exit; }
input_end() {
  end=0 waiting=0 count=0
  for file in in.*; do
    [ -e "$file" ] || continue
    at=\${file#in.}
    [ "$at" -lt "$end" ] || end=$at
    count=$((count + 1))
  done
  first=$end
  for file in in.*; do [ ! -e "$file" ] || [ "\${file#in.}" -ge "$first" ] || first=\${file#in.}; done
  isClosed=no
  [ $count -gt 0 ] || return 0
  have=$(wc -c < "in.$end") || return 1
  [ "$have" -gt 0 ] || isClosed=yes
  waiting=$((end + have - first))
  end=$((end + have))
}
read_from() { set -- read.*; from=\${1#read.}; [ "$from" != '*' ] || from=; }
is_committed() {
  read_from
  [ -n "$from" ] || { [ -e "$1" ] && [ "$2" -lt "$end" ]; return; }
  [ "$1" -ef "in.$2" ] && read_from && [ "$2" -ge "$from" ]
}
# "by" is read before "got", which it becomes.
newest_record() {
  for file in by.*."$writer".*; do
    rest=\${file#by.} at=\${rest%%.*} rest=\${rest#*.*.} n=\${rest%%.*}
    [ ! -e "$file" ] || ! is_committed "$file" "$at" || [ "$n" -lt "\${mine:-0}" ] || mine=$n
  done
  for file in got."$writer".*; do
    rest=\${file#got.*.} n=\${rest%%.*}
    [ ! -e "$file" ] || [ "$n" -lt "\${mine:-0}" ] || mine=$n
  done
}
# What the process has of the writer's input. A write that ends meanwhile may remove the older record.
writer_end() {
  mine=
  [ -n "$writer" ] || { mine=$end; return; }
  newest_record
  [ -n "$mine" ] || newest_record
  [ -z "$mine" ] || return 0
  mine=\${offset:-$end}
  [ -n "$offset" ] || remember
}
remember() {
  true > "got.$writer.$mine.$$"
  set -- got.*
  [ $# -gt 1000 ] || return 0
  oldest=$1
  for file in "$@"; do [ ! "$file" -ot "$oldest" ] || oldest=$file; done
  rm -f "$oldest"
}
# Only the newest record of a writer counts.
forget_older() {
  [ -n "$writer" ] || { old="$old $by got.\${by#by.*.}"; return; }
  for file in by.*."$writer".* got."$writer".*; do
    rest=\${file%.*} n=\${rest##*.} at=0
    case $file in by.*) at=\${file#by.} at=\${at%%.*};; esac
    [ ! -e "$file" ] || [ "$n" -ge "$1" ] || [ "$at" -ge "$end" ] || old="$old $file"
  done
}
while :; do
  [ -e state ] || { echo ended; exit; }
  [ -p stdin ] || { echo none; exit; }
  input_end 2>/dev/null || continue
  writer_end
  [ -n "$offset" ] || offset=$mine
  [ "$offset" -le "$mine" ] || { echo "gap $mine"; exit; }
  skip=$((mine - offset))
  if [ "$skip" -lt "$size" ]; then
    [ $isClosed = no ] && [ ! -e closed ] || { echo "closed $mine"; exit; }
    [ $((waiting + size)) -le "$most" ] && [ $count -lt 1024 ] || { echo "full $mine"; exit; }
    mine=$((offset + size))
    if [ $skip = 0 ]; then piece=$new; else tail -c +$((skip + 1)) "$new" > "$new.rest"; piece=$new.rest; fi
  elif [ "$last" = yes ] && [ $isClosed = no ]; then
    : > "$new.rest"
    piece=$new.rest
  else
    echo "taken $mine"
    exit
  fi
  by=by.$end.\${writer:--}.$mine.$$
  ln "$piece" "$by" || exit
  ln "$piece" "in.$end" 2>/dev/null || { rm -f "$by"; continue; }
  read_from
  if [ -n "$from" ] && [ "$from" -gt "$end" ] && [ ! -e "got.\${by#by.*.}" ]; then
    [ ! "$piece" -ef "in.$end" ] || rm -f "in.$end"
    rm -f "$by"
    continue
  fi
  forget_older "$mine"
  rm -f "$new.rest"
  { echo 1<> bell; } 2>/dev/null
done
`;

/**
 * `OUT ERR`, the segments that are read as descriptors 3 and 4: waits up to a second for more output, a next segment,
 * or the end. It checks often, because a person may wait for the echo of a key. Perl closes a descriptor with its last
 * handle, so both handles stay open for all checks.
 */
const UNTIL_MORE = `
my @segments = map { open my $segment, "<&=", $_ or exit; $segment } 3, 4;
for (1 .. 100) {
  for my $at (0, 1) {
    my ($name, $number, $base) = split /\\./, $ARGV[$at];
    my $read = sysseek $segments[$at], 0, 1;
    exit if (stat $segments[$at])[7] > $read || -e join ".", $name, $number + 1, $base + $read;
  }
  -e "state" or exit;
  select undef, undef, undef, 0.01;
}
`;

/**
 * `ID OUT ERR FOLLOW`: prints `OUT ERR`, the offsets at which it starts, then stdout as its stdout and stderr as its
 * stderr. Exits with 0 at the end of the process, 5 where a running one is not followed, 4 to be started again, which
 * bounds how long it outlives its reader, 3 where output was removed before it was read, and 44 for an unknown process.
 */
export const FOLLOW = `${TOOLS}
cd "${FOLDER}/$1" 2>/dev/null || exit 44
follow=$4 ref=ref.$$
trap 'rm -f "$ref"' EXIT
trap 'exit 4' TERM HUP INT
# The segment with the offset, or the oldest: sets n, base and skip.
find_at() {
  name=$1 after=$2 base=
  for file in "$name".[0-9]*.*; do
    offset=\${file##*.}
    if [ "$offset" -le "$after" ]; then
      [ -n "$base" ] && [ "$base" -le "$after" ] && [ "$base" -ge "$offset" ] && continue
    else
      [ -n "$base" ] && [ "$base" -le "$offset" ] && continue
    fi
    base=$offset n=\${file#*.} n=\${n%.*}
  done
  size=$(wc -c < "$name.$n.$base") || exit 3
  skip=$((after > base ? after - base : 0))
  [ $skip -le $((size)) ] || skip=$((size))
}
pass() { dd bs=4096 count=$(($1 / 4096)); dd bs=1 count=$(($1 % 4096)); }
find_at out "$2"
n_out=$n out=out.$n.$base at_out=$((base + skip))
[ -r "$out" ] || exit 3
exec 3< "$out"
pass $skip <&3 > /dev/null 2>&1
find_at err "$3"
n_err=$n err=err.$n.$base at_err=$((base + skip))
[ -r "$err" ] || exit 3
exec 4< "$err"
pass $skip <&4 > /dev/null 2>&1
echo "$at_out $at_err"

# What there is of a segment; then it moves to the next one.
step_out() {
  set -- out.$((n_out + 1)).*
  next=$1 isKept=no
  [ -e "$out" ] && isKept=yes
  cat <&3 || exit 1
  if [ -e "$next" ]; then exec 3< "$next"; out=$next n_out=$((n_out + 1)) moved=yes
  elif [ $isKept = no ]; then exit 3
  fi
}
step_err() {
  set -- err.$((n_err + 1)).*
  next=$1 isKept=no
  [ -e "$err" ] && isKept=yes
  cat <&4 >&2 || exit 1
  if [ -e "$next" ]; then exec 4< "$next"; err=$next n_err=$((n_err + 1)) moved=yes
  elif [ $isKept = no ]; then exit 3
  fi
}
rounds=0 perl=$(command -v perl)
while :; do
  : > "$ref"
  isEnded=no moved=no
  [ -e state ] || isEnded=yes
  step_out
  step_err
  rounds=$((rounds + 1))
  [ $rounds -lt 2000 ] || exit 4
  [ "$follow" = yes ] || [ $rounds -lt 40 ] || exit 5
  [ $moved = no ] || continue
  [ $isEnded = no ] || exit 0
  [ "$follow" = yes ] || exit 5
  if [ -n "$perl" ]; then "$perl" -e '${UNTIL_MORE}' "$out" "$err"; continue; fi
  # Whether a segment has grown is asked of the shell, since a program each time would cost more than all else.
  tries=0
  while [ $tries -lt 5 ]; do
    sleep 0.1 || sleep 1
    tries=$((tries + 1))
    [ -e state ] || break
    [ "$out" -nt "$ref" ] || [ "$err" -nt "$ref" ] || continue
    break
  done
done
`;
