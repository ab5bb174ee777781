import { authorized } from '../session/session.ts';
import type { Recording } from './types.ts';

export type RecordingPage = {
  readonly recordings: readonly Recording[];
  readonly next_cursor: string | null;
};

/** A long recording takes its time. */
const DOWNLOAD_MS = 600_000;

const at = (id: string): string => `/api/recordings/${encodeURIComponent(id)}`;

/** `cursor`: where the page before ended. */
export const listRecordings = (cursor: string | null): Promise<RecordingPage> =>
  authorized<RecordingPage>(
    cursor === null ? '/api/recordings' : `/api/recordings?cursor=${encodeURIComponent(cursor)}`,
  );

export const getRecording = (id: string): Promise<Recording> => authorized<Recording>(at(id));

export const downloadRecording = (id: string): Promise<Blob> =>
  authorized<Blob>(`${at(id)}/cast`, { reads: 'file', timeoutMs: DOWNLOAD_MS });

export const startRecording = (containerId: string, connection_id: string): Promise<Recording> =>
  authorized<Recording>(`/api/containers/${encodeURIComponent(containerId)}/recordings`, {
    method: 'POST',
    body: { connection_id },
  });

export const stopRecording = (id: string): Promise<Recording> =>
  authorized<Recording>(`${at(id)}/stop`, { method: 'POST' });

export const deleteRecording = (id: string): Promise<unknown> => authorized(at(id), { method: 'DELETE' });
