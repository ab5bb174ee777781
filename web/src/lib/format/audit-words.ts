import type { AuditRecord } from '../../api/types.ts';

type Details = Readonly<Record<string, unknown>>;

/** Words for the actions whose details are a list of ids. */
const DONE: Readonly<Record<string, (details: Details) => string>> = {
  command_run: ({ command }) => `ran ${command}`,
  file_uploaded: ({ path }) => `wrote ${path}`,
  file_deleted: ({ path }) => `deleted ${path}`,
  file_downloaded: ({ path }) => `downloaded ${path}`,
  recording_downloaded: ({ recording_id }) => `downloaded recording ${recording_id}`,
};

/** The details of a record in words where there are some, else as they are. */
export function detailsInWords({ action, details }: Pick<AuditRecord, 'action' | 'details'>): string {
  const done = Object.hasOwn(DONE, action) ? DONE[action] : undefined;
  const parsed = done === undefined ? null : parsedDetails(details);
  if (done === undefined || parsed === null) return details;
  const { container_id, token_prefix, token_name, times } = parsed;
  const name = token_name === undefined ? '' : ` “${token_name}”`;
  const by = token_prefix === undefined ? 'signed in' : `token${name} ${token_prefix}…`;
  const many = typeof times === 'number' ? `, the last of ${times} in a minute` : '';
  return `${done(parsed)} in container ${container_id} (${by})${many}`;
}

function parsedDetails(details: string): Details | null {
  try {
    const parsed: unknown = JSON.parse(details);
    return typeof parsed === 'object' ? (parsed as Details | null) : null;
  } catch {
    return null;
  }
}
