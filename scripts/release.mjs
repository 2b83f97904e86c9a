// `npm run release [-- --publish]` makes what a release consists of, in .cache/release: the tarball, and its software bill
// of materials in CycloneDX. With `--publish` it also publishes the tarball, with a statement of its provenance, which npm
// signs only in a CI whose identity it can check.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { ensureBuilt } from './build.mjs';
import { npm } from './install.mjs';
import { cache, root } from './paths.mjs';

const folder = join(cache, 'release');
const isPublished = process.argv.slice(2).includes('--publish');

ensureBuilt({ types: true });
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
if (!npm(root, ['pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', folder]))
  fail('npm pack failed.');
const tarball = join(folder, readdirSync(folder)[0]);
writeFileSync(`${tarball.replace(/\.tgz$/, '')}.cdx.json`, `${JSON.stringify(await billOfMaterials(), null, 2)}\n`);
process.stdout.write(`${readdirSync(folder).join('\n')}\n`);
if (isPublished) {
  // Outside of such a CI npm would publish without the statement, or fail half way.
  if (process.env.ACTIONS_ID_TOKEN_REQUEST_URL === undefined && process.env.SIGSTORE_ID_TOKEN === undefined)
    fail(
      'Publish in a CI that gives npm an identity (GitHub Actions with id-token: write, or GitLab with SIGSTORE_ID_TOKEN).',
    );
  if (!npm(root, ['publish', tarball, '--provenance', '--access', 'public'])) fail('npm publish failed.');
}

/** What an installation brings, and what is part of the build, with the hash of the tarball. */
async function billOfMaterials() {
  const { stdout, status, stderr } = spawnSync(
    'npm',
    ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'library', '--package-lock-only'],
    { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 },
  );
  if (status !== 0) fail(stderr);
  const bill = JSON.parse(stdout);
  const { bundled, bundledInPage } = await import('../tsup.config.ts');
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const names = new Set([...Object.keys(manifest.dependencies), ...bundled, ...bundledInPage]);
  const own = bill.metadata.component['bom-ref'];
  const byRef = new Map(bill.components.map((component) => [component['bom-ref'], component]));
  const below = new Map(bill.dependencies.map(({ ref, dependsOn = [] }) => [ref, dependsOn]));
  // From what the package names on: development and the hosts' own packages, such as `pg`, are no part of it.
  const refs = new Set((below.get(own) ?? []).filter((ref) => names.has(byRef.get(ref)?.name)));
  for (const ref of refs) for (const one of below.get(ref) ?? []) refs.add(one);
  const missing = [...names].filter((name) => ![...refs].some((ref) => byRef.get(ref)?.name === name));
  if (missing.length > 0) fail(`The bill of materials misses ${missing.join(', ')}.`);
  const components = [...refs].map((ref) => ({ ...byRef.get(ref), scope: 'required' }));
  const dependencies = [own, ...refs].map((ref) => ({
    ref,
    dependsOn: (below.get(ref) ?? []).filter((one) => refs.has(one)),
  }));
  const content = createHash('sha512').update(readFileSync(tarball)).digest('hex');
  const component = { ...bill.metadata.component, hashes: [{ alg: 'SHA-512', content }] };
  return { ...bill, metadata: { ...bill.metadata, component }, components, dependencies };
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
