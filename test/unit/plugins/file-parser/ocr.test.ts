import { describe, expect, it } from 'vitest';
import { mistralOcr } from '../../../../src/plugins/file-parser/ocr.ts';

const file = {
  bytes: new TextEncoder().encode('%PDF-'),
  name: 'scan.pdf',
  maxPages: 3,
  signal: new AbortController().signal,
};
const apiKey = 'sk-ocr-0123456789';

/** The service as one that answers so. */
function serviceOf(response: () => Response, options: { maxResponseBytes?: number; baseUrl?: string } = {}) {
  const sent: { url: string; init: RequestInit }[] = [];
  const engine = mistralOcr({
    apiKey,
    ...options,
    async fetch(url, init) {
      sent.push({ url: String(url), init: init as RequestInit });
      return response();
    },
  });
  return { engine, sent };
}

// As the service's reference shows one.
const image = (at: number) => ({ id: `img-${at}.jpeg`, top_left_x: 1, image_base64: `data:image/jpeg;base64,${at}` });
const pages = [
  { index: 0, markdown: '# Title', images: [], dimensions: { dpi: 200, height: 2200, width: 1700 } },
  { index: 1, markdown: 'Text ![img-0.jpeg](img-0.jpeg)', images: Array.from({ length: 10 }, (_, at) => image(at)) },
];
const answer = { pages, model: 'mistral-ocr-2512', usage_info: { pages_processed: 2, doc_size_bytes: 5 } };

describe('the OCR service', () => {
  it('gets the file as a data URL, with the key of its account', async () => {
    const { engine, sent } = serviceOf(() => Response.json(answer), { baseUrl: 'https://ocr.test/v1/' });
    await engine.read(file);
    const [{ url, init }] = sent as [{ url: string; init: RequestInit }];
    expect(url).toBe('https://ocr.test/v1/ocr');
    expect(init).toMatchObject({ method: 'POST', redirect: 'error', headers: { authorization: `Bearer ${apiKey}` } });
    expect(JSON.parse(init.body as string)).toMatchObject({
      document: {
        type: 'document_url',
        document_url: 'data:application/pdf;base64,JVBERi0=',
        document_name: 'scan.pdf',
      },
      pages: [0, 1, 2],
    });
  });
  it('says the text of the pages, and shows at most eight pictures', async () => {
    const { content, pages: read } = await serviceOf(() => Response.json(answer)).engine.read(file);
    expect(read).toBe(2);
    expect(content).toHaveLength(9);
    expect(content[0]).toEqual({ type: 'text', text: '# Title\n\nText ![img-0.jpeg](img-0.jpeg)' });
    expect(content[8]).toEqual({ type: 'image_url', image_url: { url: 'data:image/jpeg;base64,7' } });
  });
  it.each<[string, () => Response]>([
    ['fails', () => Response.json({ detail: apiKey }, { status: 401 })],
    ['answers without pages', () => Response.json({ object: 'error', message: apiKey })],
    ['answers with what is no JSON', () => new Response(apiKey)],
    ['answers without end', () => new Response(new Uint8Array(2_000))],
  ])('%s: an error that does not show the key', async (_, response) => {
    const { engine } = serviceOf(response, { maxResponseBytes: 1_000 });
    const error = await engine.read(file).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    if (!(error instanceof SyntaxError)) expect(String(error)).not.toContain(apiKey);
  });
  it('may say anything in the fields of a page', async () => {
    const odd = {
      pages: [{ markdown: 1, images: [null, { image_base64: 'https://evil.test/x.png' }] }, null, 'x'],
      usage_info: { pages_processed: -1.5 },
    };
    expect(await serviceOf(() => Response.json(odd)).engine.read(file)).toEqual({
      content: [{ type: 'text', text: '' }],
      pages: 1,
    });
  });
});
