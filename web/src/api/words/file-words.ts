/** Why a file was not stored or read, and what to do next. */
export const FILE_WORDS = {
  disk_full:
    'There is no space left in the workspace. Delete files that you no longer need, or increase the disk size under “Settings…”.',
  file_too_large:
    'This file is larger than the workspace. Increase the disk size under “Settings…”, or choose a smaller file.',
  file_not_found: 'This file is gone. It was moved or deleted meanwhile. Check the folder.',
  file_outside: 'The path leads outside the workspace. Choose a path in /workspace.',
  file_special: 'This is not a regular file or folder. Choose another one.',
  file_in_the_way: 'A file or folder with that name is in the way. Rename it, or choose another name.',
  file_not_permitted:
    'The permissions in the container do not allow this. Change them in a terminal, then try again.',
  file_tools_missing:
    'The image lacks a program that this needs. Ask an administrator, or create a container from another image.',
} as const;

/** The same for recordings. */
export const RECORDING_WORDS = {
  recording_quota_reached:
    'Your recordings use all the space they are allowed. Delete some that you no longer need.',
  recording_elsewhere:
    'This recording is stored by another process of this server, which this page does not reach. Ask an administrator to let all processes share the folder of recordings.',
  terminal_not_open: 'This terminal is not open. Only an open one can be recorded. Connect it first.',
} as const;
