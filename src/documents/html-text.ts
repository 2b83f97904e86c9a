import type { HtmlFault, HtmlPage, HtmlText } from './html.ts';

/** Elements without text. */
const noText =
  'title, script, style, noscript, template, iframe, object, embed, svg, canvas, img, picture, video, audio, link, meta';
/** Elements around the text of a page that is no article. */
const aroundText = 'nav, aside, footer, form';

/**
 * Reads the text of a web page in this thread: of its article if it has one, else of the whole page. The work to find
 * an article grows faster than the page. If it would be too much, the page is read as plain text.
 */
export async function readHtml(page: HtmlPage): Promise<HtmlText | HtmlFault> {
  const { html, url, chars, work } = page;
  // Loaded late: together with the article readers they take some 60 ms, and most processes never read a page.
  const [{ isWithinWork }, { plainTextOf }] = await Promise.all([import('./html-work.ts'), import('./plain-text.ts')]);
  if (!(await isWithinWork(html, work))) return plainTextOf(page);
  const [{ parseHTML }, { Readability }, { default: Turndown }] = await Promise.all([
    import('linkedom'),
    import('@mozilla/readability'),
    import('turndown'),
  ]);
  try {
    const { document } = parseHTML(/<html[\s>]/i.test(html) ? html : `<html><body>${html}</body></html>`);
    makeLinksAbsolute(document, url);
    const title = document.querySelector('title')?.textContent?.trim() ?? '';
    remove(document, noText);
    const article = new Readability(document.cloneNode(true) as Document, { serializer: (node) => node }).parse();
    const root = (article?.content ?? wholePage(document)) as HTMLElement | null;
    if (root === null) return 'unreadable';
    const turndown = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' });
    const text = turndown.turndown(root).trim();
    return { title: title || (article?.title?.trim() ?? ''), text: text.slice(0, chars), isCut: text.length > chars };
  } catch {
    // The error is dropped, because the error of a parser may quote the page.
    return 'unreadable';
  }
}

function wholePage(document: Document): Element | null {
  remove(document, aroundText);
  return document.body ?? document.documentElement;
}

function remove(document: Document, selector: string): void {
  for (const element of document.querySelectorAll(selector)) element.remove();
}

/** Makes links absolute, because the model may want to follow them. A link that leads to no page loses its address. */
function makeLinksAbsolute(document: Document, base: string): void {
  for (const link of document.querySelectorAll('a[href]')) {
    const href = link.getAttribute('href') ?? '';
    const target = URL.canParse(href, base) ? new URL(href, base) : null;
    if (target !== null && /^https?:$/.test(target.protocol)) link.setAttribute('href', target.href);
    else link.removeAttribute('href');
  }
}
