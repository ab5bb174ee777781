import { jsonBytes } from '../json-size.ts';
import type { PackageChange } from './layer-changes.ts';

/** What the rows of a report may take as JSON. A usual one takes 20 KB. */
export const REPORT_JSON_BYTES = 262_144;
/** Of a row without its texts: names of fields and figures. */
const ROW_BYTES = 128;

type Rows = {
  readonly packages: readonly PackageChange[];
  readonly files: readonly { readonly path: string }[];
  readonly complete: boolean;
};

/** The report without rows that are too long for an answer; a container decides what its paths and versions look like. */
export function shortened<Report extends Rows>(report: Report): Report {
  let left = REPORT_JSON_BYTES;
  const fits = (...texts: readonly string[]): boolean => {
    const bytes = texts.reduce((sum, text) => sum + jsonBytes(text), ROW_BYTES);
    if (bytes > left) return false;
    left -= bytes;
    return true;
  };
  const packages = report.packages.filter(({ name, version }) => fits(name, version ?? ''));
  const files = report.files.filter(({ path }) => fits(path));
  const isWhole = packages.length === report.packages.length && files.length === report.files.length;
  return isWhole ? report : { ...report, packages, files, complete: false };
}
