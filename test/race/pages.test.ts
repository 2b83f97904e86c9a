import { expect, it } from 'vitest';
import { readHtml } from '../../src/documents/html-text.ts';
import { isWithinWork } from '../../src/documents/html-work.ts';
import { costlyPages } from '../support/costly-pages.ts';

const work = 200_000;
const usual = (parts: number) =>
  `<article>${`<h2>Part</h2><p>${'Some words, and more of them. '.repeat(10)}<a href="/x">link</a></p>`.repeat(parts)}</article>`;

/** The page of the most parts that is still read as an article. */
async function largest(html: (parts: number) => string): Promise<string> {
  let parts = 1;
  while (await isWithinWork(html(parts * 2), work)) parts *= 2;
  for (let step = parts / 2; step >= 1; step /= 2) if (await isWithinWork(html(parts + step), work)) parts += step;
  return html(parts);
}

/** The shortest of three times: the machine's speed is no matter, as both sides are measured on it. */
async function msFor(html: string, most = work): Promise<number> {
  const page = { html, url: 'https://site.example/', chars: 1e9, work: most };
  let least = Number.POSITIVE_INFINITY;
  for (let time = 0; time < 3; time++) {
    const before = performance.now();
    await readHtml(page);
    least = Math.min(least, performance.now() - before);
  }
  return least;
}

it('no page that is read as an article takes several times what a page of its work usually takes', async () => {
  const html = await largest(usual);
  await msFor(html);
  const unit = await msFor(html);
  for (const [name, make] of Object.entries(costlyPages)) {
    const ms = await msFor(await largest(make));
    expect({ name, times: Math.round(ms / unit) }).toEqual({ name, times: expect.toSatisfy((times) => times <= 8) });
  }
});

it('a page that is read as plain text takes time in proportion to its length, whatever it is made of', async () => {
  for (const [name, html] of Object.entries(costlyPages)) {
    const small = Math.max(await msFor(html(10_000), 1), 2);
    // Twelve times the page: a square would be 144 times the work.
    expect({ name, isLinear: (await msFor(html(120_000), 1)) < small * 60 }).toEqual({ name, isLinear: true });
  }
});
