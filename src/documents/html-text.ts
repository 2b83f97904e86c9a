import type { HtmlFault, HtmlPage, HtmlText } from './html.ts';

/** What is no text. */
const noText =
  'title, script, style, noscript, template, iframe, object, embed, svg, canvas, img, picture, video, audio, link, meta';
/** What is around the text of a page that is no article. */
const aroundText = 'nav, aside, footer, form';

/** Reads the text of a web page, in this thread: of its article where it has one, else of the whole page. */
export async function readHtml({ html, url, chars }: HtmlPage): Promise<HtmlText | HtmlFault> {
  // Together they take some 60 ms to load: most processes never read a page.
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
    // What a parser says of a page may quote it.
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

/** The model may want to follow them. Those that lead to no page lose their address. */
function makeLinksAbsolute(document: Document, base: string): void {
  for (const link of document.querySelectorAll('a[href]')) {
    const href = link.getAttribute('href') ?? '';
    const target = URL.canParse(href, base) ? new URL(href, base) : null;
    if (target !== null && /^https?:$/.test(target.protocol)) link.setAttribute('href', target.href);
    else link.removeAttribute('href');
  }
}
