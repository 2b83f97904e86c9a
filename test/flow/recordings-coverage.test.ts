import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  countReplayed,
  isSpoken,
  type RecordedFile,
  uses,
  withRecordings,
} from '../../scripts/make-recordings-table.ts';
import { readDoc, root } from '../docs/markdown.ts';
import { describeWithShared, sharedPath } from '../support/reference.ts';

describeWithShared('the recordings', () => {
  const { files }: { files: RecordedFile[] } = JSON.parse(
    readFileSync(join(sharedPath('fixtures'), 'manifest.json'), 'utf8'),
  );
  const names = [...new Set(files.map(({ dialect }) => dialect))].toSorted();

  it('are all in the manifest, and each is of a dialect with a replay test or a reason', () => {
    expect(files).toHaveLength(437);
    expect(names.filter((name) => !Object.hasOwn(uses, name))).toEqual([]);
    expect(Object.keys(uses).toSorted()).toEqual(names);
  });
  it.each(Object.entries(uses))('of %s are replayed, once the gateway speaks their dialect', (name, use) => {
    if ('reason' in use) {
      expect(use.reason).toMatch(/\w+ \w+/);
      return;
    }
    const path = join(root, use.test);
    // The test and the dialect come together: a dialect without the test has recordings that nothing replays.
    expect([name, existsSync(path)]).toEqual([name, isSpoken(use)]);
    if (!existsSync(path)) return;
    const text = readFileSync(path, 'utf8');
    expect(text).toContain(`'${name}'`);
    expect(text).toContain('countRecordedFiles(');
  });
  it('are counted in docs/providers.md as `node scripts/make-recordings-table.ts` counts them', () => {
    const page = readDoc('docs/providers.md');
    expect(withRecordings(page, files)).toBe(page);
    const total = countReplayed(files).reduce((sum, { counts }) => sum + (counts[0] ?? 0), 0);
    const spoken = files.filter(({ dialect }) => isSpoken(uses[dialect] as (typeof uses)[string]));
    expect(total).toBe(spoken.length);
    console.log(`recordings: ${total} of ${files.length} files are replayed`);
  });
});

describe('the table of recordings', () => {
  const file = (provider: string, dialect: string, ...kind: string[]): RecordedFile => ({
    file: 'x',
    provider,
    dialect,
    kind,
  });
  it('counts files by provider and dialect, each in all of its kinds, and only those that are replayed', () => {
    expect(
      countReplayed([
        file('b', 'openai-chat', 'stream', 'tool_call'),
        file('a', 'mistral-chat', 'non_stream', 'reasoning'),
        file('b', 'openai-chat', 'non_stream', 'error'),
        file('b', 'ollama-chat', 'non_stream'),
        file('b', 'constructor', 'non_stream'),
      ]),
    ).toEqual([
      { provider: 'a', dialect: 'openai-chat', counts: [1, 1, 0, 0, 1, 0] },
      { provider: 'b', dialect: 'openai-chat', counts: [2, 1, 1, 1, 0, 1] },
    ]);
  });
  it('is not written into a page without a place for it', () => {
    expect(() => withRecordings('# Providers', [])).toThrow('needs the lines');
  });
});
