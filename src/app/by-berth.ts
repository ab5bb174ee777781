/** Berth itself in the audit: no user asked for it. */
export const BY_BERTH = { userId: null, ipAddress: '', userAgent: 'berth' } as const;
