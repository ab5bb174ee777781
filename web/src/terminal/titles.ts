/** What an engine's name service answers for comes behind the workspace's name and is of no use to people. */
const HOST_NAME = /^([a-zA-Z0-9-]+)\.[0-9a-f]{16}$/;

/** A terminal's title as it is shown: one that is the host's name without what is behind its dot. */
export const plainTitle = (title: string): string => HOST_NAME.exec(title)?.[1] ?? title;
