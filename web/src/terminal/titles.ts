/** Behind its first dot, a container's host name has a suffix for the engine's name service, which users need not see. */
const HOST_NAME = /^([a-zA-Z0-9-]+)\.[0-9a-f]{16}$/;

/** A terminal's title; a host name without its suffix. */
export const plainTitle = (title: string): string => HOST_NAME.exec(title)?.[1] ?? title;
