import type { Page } from 'playwright-core';
import type { client } from '../process/running-service.ts';
import { PROMPT, typeLine, typeUntilAnswered, waitForLine } from './page.ts';

/** A small project in git; its tests are real ones. */
const PROJECT = String.raw`set -e
mkdir -p /workspace/shop/src /workspace/shop/test
cd /workspace/shop
git config --global user.email ada@example.org
git config --global user.name Ada
git config --global core.pager cat
git init -q
echo '# Shop' > README.md
git add . && git commit -qm 'Start the shop'
cat > src/cart.sh <<'FILE'
total() {
  local sum=0 price
  for price in "$@"; do sum=$((sum + price)); done
  echo "$sum"
}
FILE
git add . && git commit -qm 'Add the cart'
git checkout -qb prices
cat > src/prices.sh <<'FILE'
cents() {
  printf '%.0f\n' "$1e2"
}
FILE
git add . && git commit -qm 'Round prices to cents'
git checkout -q master
cat > test/run.sh <<'FILE'
cd "$(dirname "$0")/.." && source src/cart.sh && source src/prices.sh
expect() {
  if [ "$2" = "$3" ]; then echo -e "  \e[32m✓\e[0m $1"; else echo -e "  \e[31m✗\e[0m $1"; fi
}
echo -e "\e[1mcart\e[0m"
expect 'an empty cart costs nothing' "$(total)" 0
expect 'adds the prices' "$(total 120 80)" 200
echo -e "\e[1mprices\e[0m"
expect 'rounds to cents' "$(cents 1.999)" 200
expect 'keeps cents' "$(cents 0.25)" 25
FILE
git add . && git commit -qm 'Test the empty cart'
git merge -q --no-edit prices
`;

/** Makes the project in that container of the caller. */
export async function makeShop(call: ReturnType<typeof client>, id: string): Promise<void> {
  const command = ['bash', '-c', PROJECT];
  const { status, body } = await call('POST', `/api/containers/${id}/exec`, { command });
  if (status !== 200 || body['exit_code'] !== 0)
    throw new Error(`answered ${status} ${JSON.stringify(body)}`);
}

/** Shows the history and files of the project in the terminal of the page. */
export async function openShop(page: Page): Promise<void> {
  await waitForLine(page, PROMPT);
  await typeUntilAnswered(page, 'echo "=$((6*7))="', /^=42=$/);
  await typeLine(page, 'cd ~/shop; clear');
  await waitForLine(page, /^\S+shop# *$/);
  await typeLine(page, 'git log --oneline --graph --color');
  await waitForLine(page, / Start the shop$/);
  await waitForLine(page, /^\S+shop# *$/);
  await typeLine(page, 'ls --color -l');
  await waitForLine(page, /^-rw/);
}

/** Runs a line in the newest pane, from an empty screen. */
export async function inNewPane(page: Page, line: string, answer: RegExp): Promise<void> {
  const rows = page.locator('.pane').last().locator('.xterm-rows');
  await rows.filter({ hasText: /[#$]/ }).waitFor();
  await typeLine(page, line);
  await rows.filter({ hasText: answer }).waitFor();
}
