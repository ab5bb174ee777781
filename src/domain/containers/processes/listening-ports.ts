export type ListeningPort = { readonly port: number; readonly address: string };

const LISTEN = '0A';
const ANY: Readonly<Record<string, string>> = {
  '00000000': 'all addresses',
  '0100007F': '127.0.0.1',
  '00000000000000000000000000000000': 'all addresses',
  '00000000000000000000000001000000': '::1',
};

/** The listening ports in `/proc/net/tcp` and `/proc/net/tcp6`, each once and in order. */
export function listeningPorts(tables: string): readonly ListeningPort[] {
  const found = new Map<number, ListeningPort>();
  for (const line of tables.split('\n')) {
    const [, local = '', , state] = line.trim().split(/\s+/);
    const [address = '', port = ''] = local.split(':');
    if (state !== LISTEN) continue;
    const number = Number.parseInt(port, 16);
    const known = found.get(number);
    if (known === undefined || ANY[address] === 'all addresses')
      found.set(number, { port: number, address: ANY[address] ?? 'one address' });
  }
  return [...found.values()].sort((a, b) => a.port - b.port);
}
