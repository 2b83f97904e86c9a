import type { Caller } from '../call/call.ts';
import { defaultWorkspaceId } from '../call/workspace.ts';
import type { OperationTable } from '../operations/index.ts';
import type { ApiOperation, Operation } from '../operations/operation.ts';

/** An operation that has a function, and its types. */
type Callable = Extract<OperationTable[number], { api: string }>;
type Place = Callable['api'];
type GroupOf<P extends Place> = P extends `${infer Group}.${string}` ? Group : never;

/** A function whose argument may be left out if it has no required fields. */
type FunctionOf<O> =
  // biome-ignore lint/suspicious/noExplicitAny: the types of body and query are those of its schemas, not of its function
  O extends ApiOperation<string, infer Given, infer Result, any, any>
    ? Record<never, never> extends Given
      ? (given?: Given) => Promise<Result>
      : (given: Given) => Promise<Result>
    : never;

/**
 * The operations of the interface as functions, in groups: `workspaces.create` is POST /workspaces. Each takes one
 * object with the parameters of its path and the fields of its body or its query, by the names of the interface. It
 * returns the content of the response. It throws the GatewayError of which a response would tell.
 */
export type InProcessApi = {
  readonly [Group in GroupOf<Place>]: {
    [P in Place as P extends `${Group}.${infer Name}` ? Name : never]: FunctionOf<Extract<Callable, { api: P }>>;
  };
};

/** Runs an operation; see `Edge.call`. */
export type CallOperation = (operation: Operation, given: unknown, caller: Caller) => Promise<unknown>;

/** The operator of the host app: permitted everything, in every workspace. */
export const operator: Caller = {
  permissions: ['inference', 'management'],
  apiKeyHash: null,
  workspaceId: defaultWorkspaceId,
  managesAll: true,
  keyLimit: null,
  rateLimits: undefined,
  userId: null,
};

export type ApiFor = (caller: Caller) => InProcessApi;

/** Makes the functions of a caller. A group is made at its first use: most gateways only serve requests. */
export function createInProcess(operations: readonly Operation[], call: CallOperation): ApiFor {
  const groups = new Map<string, { name: string; operation: Operation }[]>();
  for (const operation of operations) {
    const [group, name] = operation.api?.split('.') ?? [];
    if (group === undefined || name === undefined) continue;
    groups.set(group, [...(groups.get(group) ?? []), { name, operation }]);
  }
  return (caller) => {
    const api = {};
    for (const [group, members] of groups) {
      const make = () =>
        Object.fromEntries(
          members.map(({ name, operation }) => [name, (given?: unknown) => call(operation, given, caller)]),
        );
      let made: object | undefined;
      Object.defineProperty(api, group, { enumerable: true, configurable: true, get: () => (made ??= make()) });
    }
    return api as InProcessApi;
  };
}

/**
 * Joins the functions and further members in one object. Members of `more` replace groups. No group is made by this.
 */
export function mergeApi<More extends object>(api: InProcessApi, more: More): Omit<InProcessApi, keyof More> & More {
  const merged = Object.defineProperties({}, Object.getOwnPropertyDescriptors(api));
  return Object.defineProperties(merged, Object.getOwnPropertyDescriptors(more)) as Omit<InProcessApi, keyof More> &
    More;
}
