import type { HeapProfiler, Profiler } from 'node:inspector';
import { describe, expect, it } from 'vitest';
import { bundledSources, formatShares, summariseCpu, summariseHeap } from '../../bench/profile-summary.ts';

describe('the summary of a profile', () => {
  const node = (id: number, functionName: string, url: string, lineNumber: number, children: number[] = []) => ({
    id,
    callFrame: { functionName, scriptId: '1', url, lineNumber, columnNumber: 0 },
    children,
  });
  const bundle = [
    'import a',
    '// src/pipeline/relay.ts',
    'function relay() {}',
    '// adapters/hosts/node.ts',
    'function x() {}',
    '// node_modules/zod/v4/core/parse.js',
    'function parse() {}',
  ].join('\n');
  const locate = bundledSources((url) => (url.endsWith('/dist/index.js') ? bundle : null));
  const profile: Profiler.Profile = {
    nodes: [
      node(1, '(root)', '', -1, [2, 3, 6]),
      node(2, '(idle)', '', -1),
      node(3, 'relay', 'file:///p/dist/index.js', 2, [4]),
      node(4, 'parse', 'file:///p/node_modules/zod/v4/core/parse.js', 9, [5]),
      node(5, 'write', 'node:internal/streams/writable', 9),
      node(6, 'onread', 'node:net', 9),
    ],
    samples: [2, 3, 4, 5, 6],
    timeDeltas: [0, 9000, 1000, 2000, 3000],
    startTime: 0,
    endTime: 19_000,
  };

  it('finds the source of a bundled line', () => {
    expect(locate('file:///p/dist/index.js', 0)).toBeNull();
    expect(locate('file:///p/dist/index.js', 2)).toBe('src/pipeline/relay.ts');
    expect(locate('file:///p/dist/index.js', 4)).toBe('adapters/hosts/node.ts');
    expect(locate('file:///p/dist/index.js', 6)).toBe('zod');
    expect(locate('file:///p/other.js', 4)).toBeNull();
  });
  it('leaves out idle time, and counts what a function called to it', () => {
    const { total, parts, groups, functions, onBehalf } = summariseCpu(profile, locate);
    expect(total).toBe(6);
    expect(groups.map(({ group, amount }) => [group, amount])).toEqual([
      ['node:internal/streams', 3],
      ['zod', 2],
      ['src/pipeline/relay.ts', 1],
    ]);
    expect(parts.map(({ group }) => group)).toEqual(['Node and its native code', 'zod', 'src/pipeline']);
    expect(functions[1]).toEqual({ group: 'zod', name: 'parse', amount: 2 });
    expect(onBehalf).toEqual([{ group: 'src/pipeline/relay.ts', name: 'relay', amount: 6 }]);
    expect(formatShares(functions, total, 1)).toBe(' 50.0 %  node:internal/streams write');
  });
  it('counts memory to the function that asked for it', () => {
    const live = (
      functionName: string,
      url: string,
      lineNumber: number,
      selfSize: number,
      children: Live[] = [],
    ): Live => ({
      callFrame: { functionName, scriptId: '1', url, lineNumber, columnNumber: 0 },
      selfSize,
      children,
    });
    const inZod = live('parse', 'file:///p/dist/index.js', 6, 3072);
    const head = live('(root)', '', -1, 0, [live('relay', 'file:///p/dist/index.js', 2, 1024, [inZod])]);
    const { total, groups, onBehalf } = summariseHeap({ head }, locate);
    expect(total).toBe(4096);
    expect(groups[0]).toEqual({ group: 'zod', name: '', amount: 3072 });
    expect(onBehalf).toEqual([{ group: 'src/pipeline/relay.ts', name: 'relay', amount: 4096 }]);
    expect(formatShares(onBehalf, total, 1, { name: 'KB', per: 1024 })).toBe(
      '100.0 %    4.00 KB  src/pipeline/relay.ts relay',
    );
  });
});

type Live = HeapProfiler.SamplingHeapProfileNode;
