import { loadedOnce } from '../../base/async/loaded-once.ts';
import { generationId } from '../../base/ids.ts';
import { createChatCompletion } from '../../operations/chat/create.ts';
import type { OperationDeps } from '../../operations/index.ts';
import type { ListedOperation, Operation } from '../../operations/operation.ts';
import { lateFacts } from './facts.ts';

/** The operations of a gateway as it starts. */
export interface LateOperations {
  /** Every operation of the interface, in the form that mounts them. */
  operations: ListedOperation[];
  /** Loads all of them now. Rejects where the package is not whole. */
  load(): Promise<void>;
}

/**
 * Lists every operation of the interface, without the code of most: an import of the package would take a sixth longer
 * with it. Chat completions are whole; the others are loaded, together, at the first request to one of them.
 */
export function lateOperations(deps: OperationDeps): LateOperations {
  const loaded = loadedOnce(async () => {
    const { operations } = await import('../../operations/index.ts');
    return new Map(operations(deps).map((operation) => [operation.name, operation]));
  });
  const named = (name: string, all: ReadonlyMap<string, Operation>) => all.get(name) as Operation;
  const late = lateFacts.map(([name, method, path, permissions, { hasId, ...more } = {}]): ListedOperation => {
    const whole = () => {
      const all = loaded();
      return all instanceof Promise ? all.then((they) => named(name, they)) : named(name, all);
    };
    const id = hasId ? { generationId: (receivedAtMs: number) => generationId(deps.ids, receivedAtMs) } : {};
    return { name, method, path, permissions, ...more, ...id, whole };
  });
  return {
    operations: [createChatCompletion(deps) as Operation, ...late],
    async load() {
      await loaded();
    },
  };
}
