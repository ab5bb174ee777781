import { authorized } from '../session/session.ts';
import { getPage, type Page } from './pages.ts';
import type { Recording } from './types.ts';

/** A long recording takes its time. */
const DOWNLOAD_MS = 600_000;

const at = (id: string): string => `/api/recordings/${encodeURIComponent(id)}`;

export const listRecordings = (cursor: string | null): Promise<Page<Recording>> =>
  getPage('/api/recordings', 'recordings', { cursor });

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
