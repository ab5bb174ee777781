/** Columns that several tables have. */
import type { UseLimits } from '../../domain/identity/use-limits.ts';
import { fromColumns, toColumns } from './columns.ts';
import type { UseLimitsRow } from './schema/database-schema.ts';

export const USE_LIMITS =
  'requestsPerMinute maxTerminals maxEventSockets maxCommands maxUploads maxDownloads';
export const toUseLimits: (row: UseLimitsRow) => UseLimits = fromColumns(USE_LIMITS);

const RESOURCES = 'memoryMb cpuMillicores diskMb';
export const toResources = fromColumns(RESOURCES);
export const resourceColumns = toColumns(RESOURCES);

const ORIGIN = 'ipAddress userAgent';
export const toOrigin = fromColumns(ORIGIN);
export const originColumns = toColumns(ORIGIN);
