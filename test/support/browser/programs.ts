import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { newContainer, PROMPT, typeLine, waitForLine } from './page.ts';
import { atTheList, type Visit, visit } from './visit.ts';

/** A shell in a container, on a page of its own; null when this machine can not have them. */
export async function aShell(t: Test): Promise<Visit | null> {
  const scene = await visit(t);
  if (scene === null) return null;
  await atTheList(scene);
  await newContainer(scene.page, 'programs');
  await waitForLine(scene.page, PROMPT);
  return scene;
}

/** Turns the wheel over the terminal by so many rows, up for less than 0. */
export async function wheel(page: Page, rows: number): Promise<void> {
  const box = await page.locator('.xterm-screen').boundingBox();
  const count = await page.locator('.xterm-rows > div').count();
  if (box === null) throw new Error('there is no terminal');
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.wheel(0, (rows * box.height) / count);
}

/** What the page has, and Node.js has not. */
export type InPage = {
  DataTransfer: new () => { setData(type: string, data: string): void };
  ClipboardEvent: new (type: string, options: object) => Event;
  getComputedStyle(element: unknown): { readonly color: string; readonly backgroundColor: string };
};

/** Leaves a program by its key. What is typed before it has gone is lost with it. */
export async function quit(page: Page): Promise<void> {
  await page.keyboard.press('q');
  await waitForLine(page, PROMPT);
}

/** An empty screen with a prompt, whatever was on it before. */
export async function clear(page: Page): Promise<void> {
  await typeLine(page, 'clear; echo cleared-$((1+1))');
  await waitForLine(page, /^cleared-2$/);
}
