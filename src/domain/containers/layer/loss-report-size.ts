import { jsonBytes } from '../../json-size.ts';
import type { PackageChange } from './layer-changes.ts';

/** The limit of a report's rows as JSON. A usual report has 20 KB. */
export const REPORT_JSON_BYTES = 262_144;
/** A row without its texts: field names and numbers. */
const ROW_BYTES = 128;

type Rows = {
  readonly packages: readonly PackageChange[];
  readonly files: readonly { readonly path: string }[];
  readonly complete: boolean;
};

/** The report without rows too long for an answer, since the container controls its paths and versions. */
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
