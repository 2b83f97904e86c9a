// The blocks of docs/coding-agents.md, as a reader copies them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const page = readFileSync(join(import.meta.dirname, '../../../docs/coding-agents.md'), 'utf8');

/**
 * @param title  of the section
 * @returns `files`: `[path, text]` of the blocks behind a line that ends with a path in the home folder and a colon;
 *   `script`: the block of shell
 */
export function blocksOf(title) {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${title}\n`));
  if (section === undefined) throw new Error(`docs/coding-agents.md has no section ${title}`);
  const blocks = [...section.matchAll(/(.*)\n\n```(\w+)\n([\s\S]*?)^```$/gm)];
  const files = blocks.flatMap(([, line, , text]) => {
    const [, path] = /`~\/([^`]+)`:$/.exec(line) ?? [];
    return path === undefined ? [] : [[path, text]];
  });
  const script = blocks.find(([, , language]) => language === 'sh')?.[3];
  if (script === undefined) throw new Error(`The section ${title} has no block of shell`);
  return { files, script };
}
