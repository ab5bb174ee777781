export type Client = {
  readonly token: string | null;
  /** Answers the parsed body of a 2xx; throws what else came. */
  readonly call: <T>(method: string, url: string, body?: object) => Promise<T>;
};

export function client(address: string, token: string | null): Client {
  return {
    token,
    async call(method, url, body) {
      const answer = await fetch(address + url, {
        method,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${url} answered ${answer.status} ${text}`);
      return JSON.parse(text);
    },
  };
}

/** The first administrator, signed in, with no limit on requests and room for thousands of terminals. */
export async function administrator(address: string, setupCode: string): Promise<Client> {
  const person = { email: 'root@example.org', username: 'root', password: 'correct horse battery' };
  const setup = { code: setupCode, ...person };
  const { token } = await client(address, null).call<{ token: string }>('POST', '/api/auth/setup', setup);
  const admin = client(address, token);
  await admin.call('PATCH', '/api/admin/settings', {
    requests_per_minute: 0,
    sockets_per_address: 1_000_000,
  });
  const { tier } = await admin.call<{ tier: string }>('GET', '/api/me');
  await admin.call('PATCH', `/api/admin/tiers/${tier}`, { max_terminals: 10_000, max_event_sockets: 10_000 });
  return admin;
}
