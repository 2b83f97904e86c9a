type Core = typeof import('../src/index.ts');
type NodeAdapter = typeof import('../adapters/node.ts');

/** The built package, as its users get it; the types are those of the sources, which exist before a build. */
export async function loadBuilt(): Promise<Pick<Core, 'createGateway'> & Pick<NodeAdapter, 'toNodeHandler'>> {
  const core: Core = await import(new URL('../dist/index.js', import.meta.url).href);
  const node: NodeAdapter = await import(new URL('../dist/node.js', import.meta.url).href);
  return { createGateway: core.createGateway, toNodeHandler: node.toNodeHandler };
}
