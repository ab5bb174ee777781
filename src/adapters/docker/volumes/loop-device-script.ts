/**
 * Plain sh for a new mount namespace, which keeps every mount that it has copied: unmounts there what Berth has mounted.
 * Otherwise its loop devices stay in use until the namespace ends, and an image cannot be replaced or grown.
 */
export const FORGET_MOUNTS = `
for mounted in $(cut -d' ' -f5 /proc/self/mountinfo | grep '^/run/berth-' | sort -r); do
  umount --lazy "$mounted"
done
`;

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

/**
 * Plain sh for the loop device of `$image`, mounted at `$at`. A device is released when the last mount namespace drops
 * it, such as that of a container that is ending, and may then get another image at once.
 *
 * - `mount_attached OPTIONS`: mounts the device that the image still has. 1: it has none. 2: it cannot be mounted.
 * - `released`: waits until the image has no device; only then may a program write to the image.
 *
 * Both wait up to 20 seconds: on a busy machine the last process of a container takes that long to end.
 */
export const LOOP_DEVICE = `
attached() { losetup -n -O NAME -j "$image"; }
device() { attached | head -n 1; }
mount_attached() {
  tries=0
  while device=$(device); [ -n "$device" ]; do
    if fault=$(mount -o "$1" "$device" "$at" 2>&1); then
      attached | grep -qx "$device" && return 0
      umount "$at"
    fi
    [ $tries -lt 200 ] || { echo "$fault" >&2; return 2; }
    tries=$((tries + 1)); sleep 0.1
  done
  return 1
}
released() {
  tries=0
  while [ -n "$(attached)" ]; do
    [ $tries -lt 200 ] || { echo 'it is in use' >&2; return 1; }
    tries=$((tries + 1)); sleep 0.1
  done
}
`;
