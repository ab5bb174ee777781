/** The groups of operations as the document lists them, by the start of their address; the longest counts. */
const TAGS = [
  ['/api/containers', 'Containers', 'Workspaces: an isolated container with a persistent volume.'],
  ['/api/figures', 'Containers', ''],
  ['/api/containers/:id/processes', 'Processes', 'Programs that outlive the request that starts them.'],
  ['/api/containers/:id/files', 'Files', 'Files in `/workspace`.'],
  ['/api/containers/:id/collaborations', 'Collaboration', 'Shared terminals.'],
  ['/api/containers/:id/recordings', 'Recordings', 'Recorded terminals.'],
  [
    '/api/containers/:id/terminal',
    'Terminals',
    'A WebSocket at `/api/containers/{id}/terminal`: see docs/websockets.md.',
  ],
  [
    '/api/containers/:id/ssh',
    'SSH',
    'SSH connections, by a port of their own or by a WebSocket at `/api/containers/{id}/ssh`: see docs/ssh.md.',
  ],
  [
    '/api/containers/:id/snapshots',
    'Snapshots',
    'Copies of a container with its volume, and containers made from them.',
  ],
  ['/api/containers/:id/forks', 'Snapshots', ''],
  ['/api/snapshots', 'Snapshots', ''],
  ['/api/collaborations', 'Collaboration', ''],
  ['/api/recordings', 'Recordings', ''],
  ['/api/events', 'Events', 'A WebSocket at `/api/events`: see docs/websockets.md.'],
  ['/api/agents', 'Agents', 'Machines of your own, used like containers.'],
  ['/api/images', 'Catalogue', 'Images, roles and tiers to choose from.'],
  ['/api/roles', 'Catalogue', ''],
  ['/api/tiers', 'Catalogue', ''],
  ['/api/engine', 'Catalogue', ''],
  ['/api/auth', 'Sign-in', 'Set-up, registration, sign-in and sign-out.'],
  ['/api/me/mfa', 'Second factor', 'One-time codes and recovery codes.'],
  ['/api/me/passkeys', 'Passkeys', 'Sign in with a device, alone or as second factor.'],
  ['/api/me/identities', 'Connected sign-ins', 'Accounts at the OpenID provider that sign in to yours.'],
  ['/api/me/ssh-keys', 'SSH keys', 'Public keys of the user.'],
  ['/api/me', 'Account', 'The signed-in user.'],
  ['/api/ssh', 'SSH', ''],
  ['/api/sessions', 'Sessions', 'Sign-ins of the user, and the screen lock.'],
  ['/api/tokens', 'API tokens', 'Long-lived credentials for programs.'],
  ['/api/mcp', 'MCP', 'Tools for assistants, by the Model Context Protocol: see docs/mcp.md.'],
  ['/api/audit', 'Audit', 'Who did what.'],
  ['/api/admin/audit', 'Audit', ''],
  ['/api/admin/users', 'People', 'Users, invitations and reset links: see docs/people.md.'],
  ['/api/admin/invitations', 'People', ''],
  ['/api/admin/reset-links', 'People', ''],
  [
    '/api/admin',
    'Administration',
    'Settings, catalogue, containers and terminals: see docs/administration.md.',
  ],
  ['/api/announcements', 'Announcements', 'Lines of text from administrators to everybody.'],
  ['/api/admin/announcements', 'Announcements', ''],
  ['/api/admin/health', 'Service', ''],
  ['/livez', 'Service', 'Health, version and this document.'],
  ['/readyz', 'Service', ''],
  ['/metrics', 'Service', ''],
  ['/api/version', 'Service', ''],
  ['/api/openapi.json', 'Service', ''],
] as const;

export const tags = TAGS.filter(([, , description]) => description !== '').map(([, name, description]) => ({
  name,
  description,
}));

/** Throws for an address without a group, so that none is forgotten. */
export function tagOf(url: string): string {
  const found = TAGS.filter(([start]) => url === start || url.startsWith(`${start}/`));
  const [longest] = found.sort(([a], [b]) => b.length - a.length);
  if (longest === undefined) throw new Error(`no tag for ${url}`);
  return longest[1];
}
