import type { Agent, buildConnector, Pool } from 'undici';

/** The parts of undici that dispatch requests. Its methods such as `request` and `connect` are not among them. */
export interface UndiciParts {
  Agent: typeof Agent;
  Pool: typeof Pool;
  buildConnector: typeof buildConnector;
}

/**
 * Loads the parts of undici by their files: the whole package, with its `fetch`, caches and mocks, takes four times as long
 * and 6 MB. These files are no interface of undici, so where a version has none of them the whole package is loaded.
 */
export async function loadUndici(): Promise<UndiciParts> {
  try {
    const [agent, pool, connect] = await Promise.all([
      import('undici/lib/dispatcher/agent.js'),
      import('undici/lib/dispatcher/pool.js'),
      import('undici/lib/core/connect.js'),
    ]);
    return { Agent: agent.default, Pool: pool.default, buildConnector: connect.default };
  } catch {
    return import('undici');
  }
}
