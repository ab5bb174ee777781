/** Nothing of what is logged is shown. */
export const silentLog = { info: () => {}, warn: () => {}, error: () => {} };
