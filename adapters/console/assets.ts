import { assetResponse, errorResponse } from './responses.ts';

/** The script and the styles of the page, as the build has made them. */
export interface ConsolePage {
  /** The names under which the page asks for them, each with a hash of the content. */
  script: string;
  /** As `script`. */
  styles: string;
  /** Types and texts by name. */
  files: Readonly<Record<string, { type: string; text: string }>>;
}

let loaded: Promise<ConsolePage> | null = null;

/** Loads the page at its first use: an import of the gateway or of the console alone costs nothing. */
export function loadPage(): Promise<ConsolePage> {
  loaded ??= import('#console-page').then((module: { consolePage: ConsolePage }) => module.consolePage);
  return loaded;
}

const compressed = new Map<string, Promise<ArrayBuffer>>();

/** Serves an asset, compressed where the browser takes that. Each is compressed once. */
export async function serveAsset(page: ConsolePage, name: string, request: Request): Promise<Response> {
  const file = Object.hasOwn(page.files, name) ? page.files[name] : undefined;
  if (file === undefined) return errorResponse(404, 'not_found', 'The console has no file of this name');
  const takesGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(request.headers.get('accept-encoding') ?? '');
  const isHead = request.method === 'HEAD';
  if (!takesGzip || typeof CompressionStream === 'undefined')
    return assetResponse(isHead ? null : file.text, file.type, {});
  let bytes = compressed.get(name);
  if (bytes === undefined) {
    bytes = new Response(new Blob([file.text]).stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer();
    compressed.set(name, bytes);
  }
  const body = await bytes;
  return assetResponse(isHead ? null : body, file.type, { 'content-encoding': 'gzip' });
}

/**
 * The text of the page.
 * @param base  the place of the page, for `<base href>`
 */
export function pageHtml({ script, styles }: ConsolePage, base: string, title: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<base href="${escaped(base)}">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="assets/${styles}">
<script type="module" src="assets/${script}"></script>
</head>
<body>
<div id="app"><noscript>The console needs JavaScript.</noscript></div>
</body>
</html>
`;
}

function escaped(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(/[&<>"]/g, (char) => entities[char] as string);
}
