/**
 * Plain sh: `bound_dirty DEVICE` keeps one writer to the file system on a loop device from delaying every other writer of this
 * machine. Otherwise its dirty pages take up the whole machine's share of memory for them, once for the device and once for
 * the file below it, and a `sync` of anyone waits for all of them. 64 MiB is written within a second by any disk. Older kernels
 * have no such bound (`max_bytes` came with Linux 6.2), and some file systems allow no direct access: then it stays as it was.
 */
export const BOUND_DIRTY = `
bound_dirty() {
  losetup --direct-io=on "$1" 2>/dev/null
  bdi=/sys/class/bdi/$(cat "/sys/class/block/\${1##*/}/dev")
  [ -w "$bdi/max_bytes" ] && echo 67108864 > "$bdi/max_bytes" && echo 1 > "$bdi/strict_limit"
  return 0
}
`;
