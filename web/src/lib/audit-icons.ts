/** By the start of an action; the first that fits counts. */
const ICONS = [
  [/^(login|logged_out|session|device_sign_in)/, 'user'],
  [/^(user|account|invitation)/, 'users'],
  [/^(mfa|recovery_code|second_factor|confirmation)/, 'shield'],
  [/^(token|passkey|ssh_key|password|identity|reset_link)/, 'key'],
  [/^(screen|passcode)_/, 'lock'],
  [/^(container|lifetime|volume)/, 'box'],
  [/^snapshot/, 'camera'],
  [/^agent/, 'screen'],
  [/^role/, 'tools'],
  [/^(terminal|command|process|port|ssh_)/, 'terminal'],
  [/^recording/, 'recordings'],
  [/^file_uploaded/, 'upload'],
  [/^file_downloaded/, 'download'],
  [/^file_deleted/, 'trash'],
  [/^files_searched/, 'search'],
  [/^collaboration/, 'share'],
  [/^announcement/, 'megaphone'],
  [/^(audit|usage)/, 'search'],
  [/^(settings|tier|image)/, 'gear'],
] as const;

type AuditIcon = (typeof ICONS)[number][1];

/** The icon of a kind of record; null for one that a newer version wrote. */
export const auditIcon = (action: string): AuditIcon | null =>
  ICONS.find(([start]) => start.test(action))?.[1] ?? null;
