import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** A page that shows `/openapi.json` with Scalar (https://scalar.com). */
export interface ReferencePage {
  /** @returns null: the path is not of the page */
  answer(url: string): Promise<ReferenceAnswer> | null;
}

/** The response for a browser. */
export interface ReferenceAnswer {
  status: 200 | 503;
  headers: Readonly<Record<string, string>>;
  body: string | Buffer;
}

const version = '1.72.1';
/** The URL of Scalar's script, unless the project has it. The hash is of that file in the npm package. */
const remote = {
  src: `https://cdn.jsdelivr.net/npm/@scalar/api-reference@${version}/dist/browser/standalone.js`,
  integrity: 'sha384-U11tb2XnKvmwt8RlTvnwUnYgrN+ur4Xyh9htLhjajWNR/Oyl5AX5DEz00qRmlrmK',
};
const pagePath = '/reference';
const scriptPath = '/reference/scalar.js';
const startPath = '/reference/start.js';

/**
 * The page, at `/reference`.
 * @param basePath  the path of the mount
 * @param folder    the project that may have installed `@scalar/api-reference`
 */
export function referencePage(basePath: string, folder: string): ReferencePage {
  const local = installedScript(folder);
  return {
    answer(url) {
      const path = url.split('?', 1)[0];
      if (path === pagePath) return Promise.resolve(page(local === null));
      if (path === startPath) return Promise.resolve(script(start(basePath)));
      return path === scriptPath && local !== null ? localScript(local) : null;
    },
  };
}

/** null: it is not installed. */
function installedScript(folder: string): string | null {
  try {
    const main = createRequire(join(folder, 'package.json')).resolve('@scalar/api-reference');
    return fileURLToPath(new URL('browser/standalone.js', pathToFileURL(main)));
  } catch {
    return null;
  }
}

async function localScript(path: string): Promise<ReferenceAnswer> {
  try {
    return script(await readFile(path));
  } catch {
    const body = `There is no ${path}; install @scalar/api-reference@${version}`;
    return { status: 503, headers: { ...common, 'content-type': 'text/plain; charset=utf-8' }, body };
  }
}

const common = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

function script(body: string | Buffer): ReferenceAnswer {
  return { status: 200, headers: { ...common, 'content-type': 'text/javascript; charset=utf-8' }, body };
}

function page(isRemote: boolean): ReferenceAnswer {
  const policy = [
    "default-src 'none'",
    `script-src 'self'${isRemote ? ` ${remote.src}` : ''}`,
    "style-src 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    // A key that a user types in goes only to this server.
    "connect-src 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
  const attributes = isRemote
    ? `src="${remote.src}" integrity="${remote.integrity}" crossorigin="anonymous"`
    : `src="${scriptPath}"`;
  const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>model-gateway: reference</title>
</head>
<body>
<div id="reference"></div>
<script ${attributes}></script>
<script src="${startPath}"></script>
</body>
</html>
`;
  return {
    status: 200,
    headers: {
      ...common,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'referrer-policy': 'no-referrer',
    },
    body,
  };
}

/** The script without features that would call other servers: a proxy, fonts, an agent, statistics. */
function start(basePath: string): string {
  const settings = {
    url: `${basePath === '/' ? '' : basePath}/openapi.json`,
    proxyUrl: '',
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    showDeveloperTools: 'never',
    hideClientButton: true,
  };
  return `Scalar.createApiReference('#reference', ${JSON.stringify(settings)});\n`;
}
