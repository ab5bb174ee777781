import os from 'node:os';

declare const BERTH_VERSION: string | undefined;

/** The version of the service that this command was built with. The bundle has it inside. */
export const VERSION: string = typeof BERTH_VERSION === 'string' ? BERTH_VERSION : '0.0.0';

/** Shown in the list of sessions and the audit. */
export const USER_AGENT = `berth/${VERSION} (${os.platform()}; ${os.arch()})`;
