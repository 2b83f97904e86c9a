import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { cache, root } from './paths.mjs';

const stampFile = join(cache, 'build.json');
const makeDeclarations = 'scripts/make-declarations.ts';
const makeConsolePage = 'scripts/make-console-page.ts';
const joinChunks = 'scripts/join-chunks.ts';
const inputs = [
  'src',
  'adapters',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsup.config.ts',
  makeDeclarations,
  makeConsolePage,
  joinChunks,
  'scripts/zod-in-build.ts',
  'scripts/console-page.ts',
  'scripts/print-types.ts',
];

/**
 * Builds dist unless the build is up to date.
 * @param types  true: with type declarations. They take most of the time, and only packing needs them
 * @throws Error when tsup fails; the message holds tsup's output
 */
export function ensureBuilt({ types }) {
  const hash = hashInputs();
  if (isBuilt(hash, types)) return;
  build(hash, types);
}

function isBuilt(hash, types) {
  if (!existsSync(stampFile) || !existsSync(join(root, 'dist', 'index.js'))) return false;
  const stamp = JSON.parse(readFileSync(stampFile, 'utf8'));
  return stamp.hash === hash && (stamp.types || !types);
}

function build(hash, types) {
  const started = Date.now();
  // The stamp is written only after the build, so that an interrupted build does not count as complete.
  rmSync(stampFile, { force: true });
  runNode([makeConsolePage]);
  if (types) runNode([makeDeclarations]);
  runNode([join('node_modules', 'tsup', 'dist', 'cli-default.js'), ...(types ? [] : ['--no-dts'])]);
  runNode([joinChunks]);
  if (types) checkDeclarations();
  mkdirSync(cache, { recursive: true });
  writeFileSync(stampFile, JSON.stringify({ hash, types }));
  process.stdout.write(`Built in ${((Date.now() - started) / 1000).toFixed(1)} s.\n`);
}

/**
 * zod is part of the build and not installed with it: where a declaration needed it, a host app's types would be `any`.
 */
function checkDeclarations() {
  const dist = join(root, 'dist');
  const wrong = readdirSync(dist)
    .filter((name) => name.endsWith('.d.ts'))
    .filter((name) => /\bfrom ['"]zod|\bimport\(?\s*['"]zod/.test(readFileSync(join(dist, name), 'utf8')));
  if (wrong.length > 0) throw new Error(`These declarations need zod: ${wrong.join(', ')}. Give the type a name.`);
}

function runNode(args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`The build failed:\n${stdout}${stderr}`);
}

/** Hashes contents, not modification times, because a checkout gives old content a new time. */
function hashInputs() {
  const hash = createHash('sha256');
  const add = (path) => {
    hash
      .update(path)
      .update('\0')
      .update(readFileSync(join(root, path)))
      .update('\0');
  };
  for (const input of inputs) {
    if (input.includes('.')) add(input);
    else for (const file of listFiles(input)) add(file);
  }
  return hash.digest('hex');
}

function listFiles(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      return entry.isDirectory() ? listFiles(path) : [path];
    });
}
