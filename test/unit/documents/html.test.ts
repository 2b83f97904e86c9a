import { describe, expect, it } from 'vitest';
import { htmlReader as threads } from '../../../src/documents/in-threads.ts';
import { htmlReader as inline } from '../../../src/documents/inline.ts';

const never = new AbortController().signal;
const page = (html: string, chars = 100_000) => ({ html, url: 'https://site.example/news/one.html', chars });
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
  it('is given up when its reader is told so, and the next one is read', async () => {
    const deep = '<div>'.repeat(400_000);
    const controller = new AbortController();
    const reading = threads.read(page(deep), controller.signal);
    controller.abort(new Error('late'));
    await expect(reading).rejects.toThrow('late');
    expect(await threads.read(page('<p>next</p>'), never)).toMatchObject({ text: 'next' });
  });
});
