import { describe, expect, it, vi } from 'vitest';
import { readHtml } from '../../../src/documents/html-text.ts';
import { isWithinWork } from '../../../src/documents/html-work.ts';
import { htmlReader as threads } from '../../../src/documents/in-threads.ts';
import { htmlReader as inline } from '../../../src/documents/inline.ts';
import { costlyPages as costly } from '../../support/costly-pages.ts';

const never = new AbortController().signal;
const work = 200_000;
const page = (html: string, chars = 100_000) => ({ html, url: 'https://site.example/news/one.html', chars, work });
const sentence = 'Bananas are berries in the sense of botany, which surprises many people who like them. ';
const article = `<!doctype html><html><head><title>All about bananas</title><script>alert("x")</script></head><body>
  <nav><a href="/">Home</a><a href="/login">Log in</a></nav>
  <article><h1>Bananas</h1><p>${sentence.repeat(8)}</p>
  <p>See <a href="two.html">the next page</a>, <a href="javascript:steal()">a trap</a> and <em>more</em>. ${sentence.repeat(4)}</p>
  <pre><code>peel(banana)</code></pre><img src="x.png" onerror="steal()"></article>
  <footer>All rights reserved</footer></body></html>`;

describe.each(Object.entries({ 'a thread': threads, 'the same thread': inline }))(
  'a page that is read in %s',
  (_, reader) => {
    it('is the Markdown of its article, with links that lead somewhere', async () => {
      const read = await reader.read(page(article), never);
      expect(read).toMatchObject({ title: 'All about bananas', isCut: false });
      const { text } = read as { text: string };
      expect(text).toContain('[the next page](https://site.example/news/two.html)');
      expect(text).toContain('```\npeel(banana)\n```');
      expect(text).toContain('_more_');
      expect(text).not.toMatch(/alert|steal|Log in|All rights|x\.png/);
    });
    it('is the text of the whole page where there is no article', async () => {
      expect(
        await reader.read(page('<title>T</title><body><ul><li>one<li>two</ul><script>x()</script>'), never),
      ).toEqual({
        title: 'T',
        text: expect.stringMatching(/^- +one\n- +two$/),
        isCut: false,
      });
    });
    it('is cut at the limit', async () => {
      const read = (await reader.read(page(article, 50), never)) as { text: string };
      expect(read).toMatchObject({ isCut: true });
      expect(read.text).toHaveLength(50);
    });
    it.each(['', 'plain text', '<', '<html', '<!--', '<p>&#x110000;&nosuch;', '<body/><body>', '<table><tr><div>x'])(
      'is never more than unreadable: %j',
      async (html) => {
        const read = await reader.read(page(html), never);
        expect(read === 'unreadable' || typeof read === 'object').toBe(true);
      },
    );
    it('is not read for a client that has left', async () => {
      await expect(reader.read(page(article), AbortSignal.abort(new Error('left')))).rejects.toThrow('left');
    });
  },
);

describe('a page that takes long', () => {
  it.each(Object.entries(costly))('is read as plain text, in any size: %s', async (_, html) => {
    expect(await isWithinWork(html(400_000), work)).toBe(false);
    const read = await readHtml(page(html(400_000), 1000));
    expect(read).toMatchObject({ text: expect.stringContaining('one') });
    // What is over the limit by a little is no other text than before.
    expect(await readHtml({ ...page(html(3)), work: 1 })).toMatchObject({ text: expect.stringContaining('one') });
  });
  it.each(Object.entries(costly))('has a turn of the loop for each piece of it: %s', async (_, html) => {
    const turns = vi.spyOn(globalThis, 'setImmediate');
    try {
      const source = html(50_000);
      await readHtml(page(source, 100_000_000));
      expect(turns.mock.calls.length).toBeGreaterThanOrEqual(Math.floor(source.length / 65_536));
    } finally {
      turns.mockRestore();
    }
  });
  it('has its headings, lists and links as plain text too, and nothing of what is no text', async () => {
    const read = (await readHtml({ ...page(article), work: 1 })) as { text: string; title: string };
    expect(read.title).toBe('All about bananas');
    expect(read.text).toContain('# Bananas\n\nBananas are berries');
    expect(read.text).toContain('See [the next page](https://site.example/news/two.html), [a trap] and more.');
    expect(read.text).not.toMatch(/alert|steal|Log in|All rights|x\.png/);
    const list = await readHtml({
      ...page('<ul><li>one<li>two &amp; three</ul><svg><text>x</text></svg>end'),
      work: 1,
    });
    expect(list).toEqual({ title: '', text: '- one\n- two & three\n\nend', isCut: false });
  });
  it('has the text of its navigation where there is no other', async () => {
    expect(await readHtml({ ...page('<nav><p>one</nav>'), work: 1 })).toMatchObject({ text: 'one' });
  });
  it('is read as an article where it is as deep and as long as pages are', async () => {
    const html = `${'<div>'.repeat(30)}<article><h2>inside</h2>${`<p>${sentence}<em>so</em></p>`.repeat(300)}</article>`;
    expect(await isWithinWork(html, work)).toBe(true);
    expect(await readHtml(page(html))).toMatchObject({ text: expect.stringContaining('## inside') });
  });
  it.each(Object.entries(costly))('takes no less work the more parts it has: %s', async (_, html) => {
    for (const most of [1000, 10_000, 100_000]) {
      const within = [];
      for (const parts of [1, 4, 16, 64, 256, 1024, 4096]) within.push(await isWithinWork(html(parts), most));
      expect(within).toEqual(within.toSorted((one, other) => Number(other) - Number(one)));
    }
  });
  it('is given up when its reader is told so, and the next one is read', async () => {
    const long = `<p>${'word, '.repeat(1_500_000)}`;
    const controller = new AbortController();
    const reading = threads.read(page(long), controller.signal);
    controller.abort(new Error('late'));
    await expect(reading).rejects.toThrow('late');
    expect(await threads.read(page('<p>next</p>'), never)).toMatchObject({ text: 'next' });
  });
});
