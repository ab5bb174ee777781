import { Readable, Transform } from 'node:stream';
import { stringify } from 'csv-stringify';
import type { FastifyRequest } from 'fastify';
import type { AuditRecordBody } from '../../schema/audit.ts';
import { accepts } from '../../streamed-replies.ts';

export type ExportFormat = 'csv' | 'ndjson';

const FORMATS = {
  csv: { type: 'text/csv; charset=utf-8', name: 'audit.csv' },
  ndjson: { type: 'application/x-ndjson', name: 'audit.ndjson' },
} as const;

/** The requested file format; null for a page. */
export function exportFormat(request: FastifyRequest): ExportFormat | null {
  if (accepts(request, 'text/csv')) return 'csv';
  return accepts(request, 'application/x-ndjson') ? 'ndjson' : null;
}

/** The records as a streamed file. `columns`: of the CSV, in order. */
export function exported(
  records: AsyncIterable<AuditRecordBody>,
  format: ExportFormat,
  columns: readonly (keyof AuditRecordBody)[],
) {
  const { type, name } = FORMATS[format];
  const source = Readable.from(records, { highWaterMark: 16 });
  const encoder = format === 'csv' ? csv(columns) : ndjson();
  source.once('error', (error) => encoder.destroy(error));
  // A reader that leaves ends the database read too.
  encoder.once('close', () => source.destroy());
  return { type, disposition: `attachment; filename="${name}"`, body: source.pipe(encoder) };
}

/** Cells that a spreadsheet would take for a formula start with an apostrophe. */
const csv = (columns: readonly (keyof AuditRecordBody)[]): Transform =>
  stringify({ header: true, columns: [...columns], escape_formulas: true, record_delimiter: 'windows' });

const ndjson = (): Transform =>
  new Transform({
    writableObjectMode: true,
    transform: (record: AuditRecordBody, _encoding, done) => done(null, `${JSON.stringify(record)}\n`),
  });
