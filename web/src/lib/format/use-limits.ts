import type { Me } from '../../api/types.ts';

export type LimitLine = { readonly label: string; readonly value: string; readonly note: string };

type Line = { readonly key: keyof Me['limits']; readonly label: string; readonly note: string };

const LINES: readonly Line[] = [
  {
    key: 'requests_per_minute',
    label: 'Requests',
    note: 'From this page and from everything that uses your API tokens.',
  },
  { key: 'max_terminals', label: 'Open terminals', note: 'Each pane counts as one.' },
  { key: 'max_event_sockets', label: 'Open event streams', note: 'Each open Berth page uses one.' },
  { key: 'max_commands', label: 'Running commands', note: 'Started over the API, until they end.' },
  { key: 'max_uploads', label: 'Uploads', note: 'Files being sent to your containers.' },
  { key: 'max_downloads', label: 'Downloads', note: 'Files, archives, recordings, logs and exports.' },
];

function inWords(key: Line['key'], limit: number): string {
  const count = limit.toLocaleString('en');
  if (key === 'requests_per_minute') return limit === 0 ? 'unlimited' : `${count} a minute`;
  return limit === 0 ? 'none' : `${count} at once`;
}

/** The user's limits in words. */
export const limitLines = (limits: Me['limits']): readonly LimitLine[] =>
  LINES.map(({ key, label, note }) => ({ label, note, value: inWords(key, limits[key]) }));
