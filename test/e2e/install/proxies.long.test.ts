import t, { type Test } from 'tap';
import { aFolder } from '../../support/folder.ts';
import { commandsOf } from '../../support/install/commands.ts';
import { aServer, copyCheckout, put, type Server } from '../../support/install/server.ts';
import { waitFor } from '../../support/patience.ts';

const NAME = 'berth.example.org';
/** A database and a build from an empty cache, on a busy machine. */
const START_MS = 300_000;

/** An administrator, and no engine: nothing here needs a container. */
const SETTINGS = `BERTH_PUBLIC_URL=https://${NAME}
BERTH_TRUST_PROXY=127.0.0.1,::1
BERTH_ENGINE=external
BERTH_ADMIN_EMAIL=ada@${NAME}
BERTH_ADMIN_PASSWORD=correct-horse-battery
`;

/** A certificate authority that answers by ACME, instead of one that a test cannot reach. */
const ACME = {
  server: 'https://localhost:14000/dir',
  certificate: '/root/acme.pem',
  issuer: '/root/issuer.pem',
};

const ACME_SETTINGS = JSON.stringify({
  pebble: {
    listenAddress: '127.0.0.1:14000',
    managementListenAddress: '127.0.0.1:15000',
    certificate: ACME.certificate,
    privateKey: '/root/acme.key',
    httpPort: 80,
    tlsPort: 443,
  },
});

/** By its settings, so that the command is that of the docs. */
const CERTBOT_SETTINGS = `server = ${ACME.server}
agree-tos = true
register-unsafely-without-email = true
non-interactive = true
`;

type Proxy = {
  /** The service of systemd. */
  readonly name: string;
  /** Which block of commands below the docs' heading. */
  readonly block: number;
  /** What is edited in the installed file. */
  readonly edit: string;
  /** Says what is wrong with the configuration. */
  readonly validate: string;
  /** Gets a new certificate; null where the proxy does so by itself. */
  readonly renew: string | null;
};

const PROXIES: readonly Proxy[] = [
  {
    name: 'caddy',
    block: 0,
    edit: `sed -i '1i {\\nacme_ca ${ACME.server}\\nacme_ca_root ${ACME.certificate}\\n}' /etc/caddy/Caddyfile`,
    validate: 'caddy validate --config /etc/caddy/Caddyfile',
    renew: null,
  },
  {
    name: 'nginx',
    block: 1,
    edit: '',
    validate: 'nginx -t',
    renew: `REQUESTS_CA_BUNDLE=${ACME.certificate} certbot --quiet renew --force-renewal --no-random-sleep-on-renew`,
  },
];

/** Starts the authority. Its own certificate is for all to read: Caddy has a user of its own. */
async function anAuthority(server: Server): Promise<void> {
  put(server, 'root/acme.json', ACME_SETTINGS);
  put(server, 'etc/letsencrypt/cli.ini', CERTBOT_SETTINGS);
  await server.sh(`chmod 0755 /root
    openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -addext subjectAltName=DNS:localhost \\
      -keyout /root/acme.key -out ${ACME.certificate} 2>&1
    systemd-run --quiet -E PEBBLE_VA_NOSLEEP=1 -E PEBBLE_WFE_NONCEREJECT=0 pebble -config /root/acme.json`);
  const issuer = `--cacert ${ACME.certificate} --output ${ACME.issuer} https://localhost:15000/roots/0`;
  await waitFor(() => answers(server, issuer), { everyMs: 200, what: 'the authority' });
}

async function aBerth(server: Server): Promise<void> {
  await copyCheckout(server, { built: true });
  put(server, 'etc/berth/berth.env', SETTINGS);
  await server.sh(`cd /opt/berth
    systemctl disable --now caddy nginx
    install -m 0644 docs/deploy/berth.service /etc/systemd/system/
    printf '%s\\n' '127.0.0.1 localhost' '${server.address} ${NAME}' >> /etc/hosts
    systemctl daemon-reload && systemctl enable --now berth`);
  await waitFor(() => answers(server, 'http://127.0.0.1:8080/livez'), {
    everyMs: 500,
    patienceMs: START_MS,
    what: 'a start',
  });
}

const answers = ({ sh }: Server, call: string): Promise<boolean> =>
  sh(`curl -fsS ${call}`).then(
    () => true,
    () => false,
  );

/** Configures the proxy by the commands of the docs. */
async function configure({ sh }: Server, { name, block, edit, validate }: Proxy): Promise<void> {
  const commands = commandsOf('install.md', 'https')[block] ?? '';
  await sh(`cd /opt/berth; export REQUESTS_CA_BUNDLE=${ACME.certificate}
    trap '[ $? -eq 0 ] || journalctl --unit=${name} --no-pager >&2' EXIT
    systemctl start ${name}
    ${commands.replace(/ {2,}# then edit it.*/, `\n${edit}`)}
    ${validate} 2>&1`);
}

const TRUST = `--cacert ${ACME.issuer}`;

/** By https through the proxy: the client's address, HTTP/2, redirects, and what must not pass. */
async function passesRequests(t: Test, { sh, address }: Server): Promise<string> {
  const curl = (words: string): Promise<string> => sh(`curl -sS ${TRUST} ${words}`);
  const status = (url: string): Promise<string> =>
    curl(`-o /dev/null -w '%{http_version} %{http_code} %{redirect_url}' ${url}`);
  t.match(await status(`https://${NAME}/livez`), /^2 200/);
  t.match(await status(`https://${NAME}/metrics`), /^2 404/);
  t.match(await status(`http://${NAME}/people`), new RegExp(`30[18] https://${NAME}/people`));

  const spoofed = "-H 'X-Forwarded-For: 203.0.113.9' -H 'Forwarded: for=203.0.113.9'";
  const body = `-H 'Content-Type: application/json' -d '{"email": "ada@${NAME}", "password": "correct-horse-battery"}'`;
  const { token } = JSON.parse(await curl(`${spoofed} ${body} https://${NAME}/api/auth/login`));
  const bearer = `-H 'Authorization: Bearer ${token}'`;
  const { sessions } = JSON.parse(await curl(`${bearer} https://${NAME}/api/sessions`));
  t.match(sessions[0], { is_current: true, ip_address: address }, 'the address cannot be forged');
  return token;
}

async function passesSockets(t: Test, { sh }: Server, token: string): Promise<void> {
  const doctor = `berth=$(ls node_modules/node-linux-*/bin/node)
    NODE_EXTRA_CA_CERTS=${ACME.issuer} BERTH_TOKEN=${token} \
      $berth web/dist/cli/berth.mjs doctor --server https://${NAME} --output json || true`;
  const checks = JSON.parse(await sh(`cd /opt/berth; ${doctor}`));
  t.match(
    checks.find(({ check }: { check: string }) => check === 'websockets'),
    { result: 'ok' },
  );
}

async function servesRenewed({ sh }: Server, renew: string): Promise<void> {
  const shown = `openssl s_client -connect ${NAME}:443 -servername ${NAME} </dev/null 2>/dev/null`;
  const serial = (): Promise<string> => sh(`${shown} | openssl x509 -noout -serial`);
  const first = await serial();
  await sh(renew);
  await waitFor(async () => (await serial()) !== first, { everyMs: 200, what: 'the renewed certificate' });
}

t.test(
  "the docs' commands for each proxy bring a certificate, and carry the client's address, HTTP/2 and WebSockets",
  async (t) => {
    const packages = ['caddy', 'nginx', 'certbot', 'pebble', 'openssl', 'curl'];
    const server = await aServer(t, aFolder(t), packages);
    await aBerth(server);
    await anAuthority(server);
    for (const proxy of PROXIES) {
      const { name, renew } = proxy;
      await t.test(name, async (t) => {
        await configure(server, proxy);
        await waitFor(() => answers(server, `${TRUST} https://${NAME}/livez`), {
          everyMs: 200,
          patienceMs: 60_000,
          what: name,
        });
        await passesSockets(t, server, await passesRequests(t, server));
        if (renew !== null) await servesRenewed(server, renew);
        await server.sh(`systemctl stop ${name}`);
      });
    }
  },
);
