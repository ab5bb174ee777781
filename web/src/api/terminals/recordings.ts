import { del, get, getFile, getPage, post, under } from '../calls.ts';
import type { Recording } from '../types.ts';

const at = (id: string): string => under('/api/recordings', id);

export const listRecordings = (cursor: string | null) =>
  getPage<Recording>('/api/recordings', 'recordings', { cursor });

export const getRecording = (id: string) => get<Recording>(at(id));

export const downloadRecording = (id: string) => getFile(`${at(id)}/cast`);

export const startRecording = (containerId: string, connection_id: string) =>
  post<Recording>(`${under('/api/containers', containerId)}/recordings`, { connection_id });

export const stopRecording = (id: string) => post<Recording>(`${at(id)}/stop`);

export const deleteRecording = (id: string) => del(at(id));
