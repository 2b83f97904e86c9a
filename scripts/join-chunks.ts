// Joins the chunks that an import of the package reads into two files. The bundler makes a chunk of what each set of
// entries shares, and to find and to open a file takes Node as long as to read 10 KB.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { entries, publicEntries } from '../tsup.config.ts';

const dist = fileURLToPath(new URL('../dist', import.meta.url));
const texts = new Map(
  readdirSync(dist)
    .filter((file) => file.endsWith('.js'))
    .map((file) => [`./${file}`, readFileSync(join(dist, file), 'utf8')]),
);
const textOf = (file: string) => texts.get(file) ?? '';

/** An import of a chunk, as the bundler writes it: the names, if there are any, and the chunk. */
const chunkImport = /^import (?:\{([^}]*)\} from )?"(\.\/chunk-\w+\.js)";\n/gm;
const importsOf = (file: string) => [...textOf(file).matchAll(chunkImport)].map(([, , chunk = '']) => chunk);
const loadsOf = (file: string) =>
  [...textOf(file).matchAll(/\bimport\("(\.\/[\w-]+\.js)"\)/g)].map(([, to = '']) => to);

/** All that is reached from entries, with these. */
function reached(names: Iterable<string>, next: (file: string) => string[]): Set<string> {
  const found = new Set<string>();
  const walk = (file: string) => {
    if (found.has(file)) return;
    found.add(file);
    next(file).forEach(walk);
  };
  for (const name of names) walk(`./${name}.js`);
  return found;
}

/** Entries that the package loads by itself. The core imports some of them, so they may import nothing of the core. */
const inner = Object.keys(entries).filter((name) => !(name in publicEntries) && name !== 'cli');
/** Public entries that need most of the core. The others are small, and need nothing of it. */
const large = ['index', 'dialects', 'search', 'stores', 'testing'];
const small = Object.keys(publicEntries).filter((name) => !large.includes(name));
const outsideCore = new Set([
  ...reached(small, importsOf),
  ...reached(inner, (file) => [...importsOf(file), ...loadsOf(file)]),
]);
/** The joined file of each chunk. */
const joined = new Map(
  [...reached(['index'], importsOf)]
    .filter((file) => file !== './index.js')
    .map((chunk) => [chunk, outsideCore.has(chunk) ? './shared.js' : './core.js']),
);

/** The names that each joined file exports, as it imports them of its chunks. */
const exported = new Map<string, Set<string>>([
  ['./core.js', new Set()],
  ['./shared.js', new Set()],
]);

/** The text of a file, with its imports of chunks turned into imports of the joined files. */
function redirected(file: string): string {
  const own = joined.get(file);
  return textOf(file).replace(chunkImport, (whole, names: string | undefined, chunk: string) => {
    const target = joined.get(chunk);
    if (target === undefined || target === own) return whole;
    if (names === undefined) return `import "${target}";\n`;
    const renamed = names.split(',').map((part) => {
      const [name = '', local = name] = part.trim().split(' as ');
      // Two chunks may export one name.
      const outer = `${name}_${chunk.slice('./chunk-'.length, -'.js'.length)}`;
      exported.get(target)?.add(`export { ${name} as ${outer} } from "${chunk}";`);
      return `${outer} as ${local}`;
    });
    return `import {\n  ${renamed.join(',\n  ')}\n} from "${target}";\n`;
  });
}

/** The chunks of a joined file as one module. */
async function joinedText(target: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: [...(exported.get(target) ?? [])].join('\n'), sourcefile: target },
    bundle: true,
    write: false,
    format: 'esm',
    target: ['es2023', 'node22'],
    platform: 'neutral',
    plugins: [
      {
        name: 'chunks',
        setup(bundler) {
          bundler.onResolve({ filter: /./ }, ({ path }) =>
            joined.get(path) === target
              ? { path, namespace: 'chunk', sideEffects: false }
              : { path, external: true, sideEffects: false },
          );
          bundler.onLoad({ filter: /./, namespace: 'chunk' }, ({ path }) => ({ contents: redirected(path) }));
        },
      },
    ],
  });
  return outputFiles[0]?.text ?? '';
}

/**
 * Writes what the bundler leaves, in comments and regular expressions, with escapes. One other character makes V8 keep all
 * of a file with two bytes a character, and decoding it takes longer.
 */
function inAscii(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the characters of ASCII
  return text.replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const written = new Map<string, string>();
for (const file of texts.keys()) if (!joined.has(file)) written.set(file, redirected(file));
// The core first: it says what it needs of the other.
for (const target of exported.keys()) written.set(target, await joinedText(target));
for (const [file, text] of written) {
  const left = [...joined.keys()].find((chunk) => text.includes(`"${chunk}"`));
  if (left !== undefined) throw new Error(`${file} still imports ${left}, which is part of ${joined.get(left)}`);
}
for (const chunk of joined.keys()) rmSync(join(dist, chunk));
for (const [file, text] of written) writeFileSync(join(dist, file), inAscii(text));
