import type { Page } from 'playwright-core';
import { PROMPT, typeLine, typeUntilAnswered, waitForLine } from './page.ts';

const PROJECT = `git config --global user.email ada@example.org; git config --global user.name Ada; mkdir -p shop/src shop/test; cd shop; git init -q
echo shop > README.md; git add .; git commit -qm 'Start the shop'; echo cart > src/cart; git add .; git commit -qm 'Add the cart'
git checkout -qb prices; echo round > src/prices; git add .; git commit -qm 'Round prices to cents'; git checkout -q master
echo empty > test/cart; git add .; git commit -qm 'Test the empty cart'; git merge -q --no-edit prices; clear`;

/** Makes a small project in the terminal of the page, and shows its history and files. */
export async function openShop(page: Page): Promise<void> {
  await waitForLine(page, PROMPT);
  await typeUntilAnswered(page, 'echo "=$((6*7))="', /^=42=$/);
  for (const line of PROJECT.split('\n')) await typeLine(page, line);
  await typeLine(page, 'git log --oneline --graph --color\nls --color -l');
  await waitForLine(page, /^-rw/);
}
