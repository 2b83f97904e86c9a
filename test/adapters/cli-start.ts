import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { runCommand } from '../../adapters/cli/command.ts';
import type { Terminal } from '../../adapters/cli/terminal.ts';

/** Where every start without a folder of its own keeps its data. */
export const sharedData = mkdtempSync(join(tmpdir(), 'model-gateway-cli-'));
afterAll(() => rmSync(sharedData, { recursive: true, force: true }));

/** The command inside this process, with signals and time in the hands of the test. */
export function start(
  args: string[],
  env: Record<string, string> = {},
  { folder = sharedData, input = [] }: { folder?: string; input?: string[] } = {},
) {
  const printed = { out: '', error: '' };
  const serving = Promise.withResolvers<string>();
  const answers = [...input];
  let nowMs = 0;
  let stop = () => {};
  const terminal: Terminal = {
    args,
    folder,
    ask: async (question) => {
      printed.out += question;
      return answers.shift() ?? '';
    },
    env: { MODEL_GATEWAY_DATA: sharedData, ...env },
    print(text) {
      printed.out += text;
      const url = /serves (\S+)/.exec(text)?.[1];
      if (url !== undefined) serving.resolve(url);
    },
    printError: (text) => {
      printed.error += text;
    },
    isWatched: false,
    onStop: (callback) => {
      stop = callback;
    },
    onReload() {},
    now: () => Date.UTC(2026, 0, 31),
    nowMs: () => nowMs,
    after: () => () => {},
    cores: 2,
    fork() {
      throw new Error('no test of this command starts workers');
    },
    supervised: null,
  };
  const code = runCommand(terminal);
  const signalAt = (ms: number) => {
    nowMs = ms;
    stop();
  };
  return { printed, url: serving.promise, code, signalAt };
}

export const serve = (env: Record<string, string> = {}, ...args: string[]) =>
  start(['serve', '--port', '0', ...args], env);
