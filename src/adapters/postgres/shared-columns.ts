/** Columns that several tables have. */
import type { UseLimits } from '../../domain/identity/use-limits.ts';
import { fromColumns, toColumns } from './columns.ts';
import type { UseLimitsRow } from './schema/database-schema.ts';

export const toUseLimits: (row: UseLimitsRow) => UseLimits = fromColumns(
  'requestsPerMinute maxTerminals maxEventSockets maxCommands maxUploads maxDownloads',
);

export const toResources = fromColumns('memoryMb cpuMillicores diskMb');
export const resourceColumns = toColumns('memoryMb cpuMillicores diskMb');

export const toOrigin = fromColumns('ipAddress userAgent');
export const originColumns = toColumns('ipAddress userAgent');
