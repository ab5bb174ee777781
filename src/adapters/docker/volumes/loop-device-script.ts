/**
 * Plain sh: `bound_dirty DEVICE` keeps a writer on a loop device from delaying all other writers of this machine.
 * Otherwise its dirty pages use the machine's whole allowance, once for the device and once for the file below it, and
 * every `sync` waits for them. Any disk writes 64 MiB within a second. Older kernels have no such limit (`max_bytes`
 * came with Linux 6.2), and some file systems allow no direct access: then nothing changes.
 */
export const BOUND_DIRTY = `
bound_dirty() {
  losetup --direct-io=on "$1" 2>/dev/null
  bdi=/sys/class/bdi/$(cat "/sys/class/block/\${1##*/}/dev")
  [ -w "$bdi/max_bytes" ] && echo 67108864 > "$bdi/max_bytes" && echo 1 > "$bdi/strict_limit"
  return 0
}
`;
