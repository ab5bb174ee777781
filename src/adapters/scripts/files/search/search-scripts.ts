import { ENTER } from '../file-scripts.ts';

/**
 * Programs for `sh` that look through a user's files. They also need awk, as in Debian, Alpine and BusyBox. Nothing of a
 * request is part of a program's text: patterns are environment variables, names arguments.
 */

/** Enters the folder of the last name, or sets `root` to the file of that name. */
const TARGET = `
[ -L "./$name" ] && say special
[ -e "./$name" ] || say absent
root=.
if [ -d "./$name" ]; then
  cd -P "./$name" || say not_permitted
  inside
  [ -r . ] || say not_permitted
elif [ -f "./$name" ]; then root="./$name"
else say special; fi
`;

/**
 * One awk for many files. A record is `PATH_BYTES TEXT_BYTES LINE COLUMN SKIPPED`, a line end, path and text, and a line
 * end. Binary lines are omitted: they have NUL or other control characters.
 */
const MATCH = `
BEGIN {
  pattern = ENVIRON["BERTH_PATTERN"]
  fixed = ENVIRON["BERTH_HOW"] == "fixed"
  small = ENVIRON["BERTH_LETTERS"] == "small"
  nul = sprintf("%c", 0)
}
{
  line = small ? tolower($0) : $0
  at = fixed ? index(line, pattern) : match(line, pattern)
  if (at == 0) next
  from = at > 800 ? at - 200 : 1
  text = substr($0, from, 1000)
  if (text ~ /[\\001-\\010\\016-\\032\\034-\\037]/) next
  if (length(nul) > 0 && index(text, nul) > 0) next
  printf "%d %d %d %d %d\\n%s%s\\n", length(FILENAME), length(text), FNR, at, from - 1, FILENAME, text
}
`;

/** `fixed|regex exact|small PATTERN INCLUDE`, then as ENTER: \`matches folder|file\` and records of MATCH, then `end`, unless something could not be read. */
export const SEARCH = `
export BERTH_HOW="$1" BERTH_LETTERS="$2" BERTH_PATTERN="$3"
include=$4; shift 4
${ENTER}
command -v awk >/dev/null || say no_tools
if [ "$BERTH_HOW" = regex ]; then
  awk 'BEGIN { match("x", ENVIRON["BERTH_PATTERN"]); exit 0 }' </dev/null >/dev/null 2>&1 || say pattern_invalid
fi
${TARGET}
[ "$root" = . ] && echo "matches folder" || echo "matches file"
find "$root" -type f -name "$include" -exec awk '${MATCH}' {} + 2>/dev/null && echo end
`;

/**
 * Lists the folder again and again, and prints what differs from the time before as `created|changed|removed PATH//`, then
 * `round//`: no path has two slashes in a row. Of a folder only its presence counts; unfinished uploads are left out. The more entries, the rarer.
 */
const WATCH_LOOP = `
BEGIN {
  list = ENVIRON["BERTH_LIST"]
  max = ENVIRON["BERTH_MAX"] + 0
  for (turn = 0; ; turn++) {
    count = 0; record = ""
    while ((list | getline line) > 0) {
      record = record == "" ? line : record "\\n" line
      if (substr(line, length(line) - 1) != "//") continue
      cut = index(record, " ")
      stamp = substr(record, 1, cut - 1)
      path = substr(record, cut + 1, length(record) - cut - 2)
      record = ""
      if (stamp ~ /^4...[.]/) stamp = "folder"
      if (++count > max) { printf "too_many//"; exit }
      if (!(path in known)) { if (turn > 0) printf "created %s//", path }
      else if (known[path] != stamp) printf "changed %s//", path
      known[path] = stamp
      seen[path] = turn
    }
    close(list)
    for (path in known) if (seen[path] != turn) { printf "removed %s//", path; delete known[path]; delete seen[path] }
    printf "round//"
    fflush()
    system("sleep " (2 + int(count / 5000)))
  }
}
`;

/** `recursive|flat MAX`, then as ENTER: \`watching\` and the records of WATCH_LOOP. */
export const WATCH = `
how=$1
export BERTH_MAX="$2"
shift 2
${ENTER}
command -v awk >/dev/null || say no_tools
${TARGET}
[ "$root" = . ] || say special
depth='-maxdepth 1'
[ "$how" = recursive ] && depth=
time=%Z
case "$(stat --version 2>/dev/null)" in *GNU*) time=%.9Z ;; esac
export BERTH_LIST="find . -mindepth 1 $depth ! -name '.berth-upload-*' -exec stat -c '%f.%i.%s.$time.%Y %n//' {} + 2>/dev/null"
echo watching
exec awk '${WATCH_LOOP}'
`;
