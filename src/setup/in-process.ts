import type { Caller } from '../call/call.ts';
import { defaultWorkspaceId } from '../call/workspace.ts';
import type { OperationTable } from '../operations/index.ts';
import type { ApiOperation, ListedOperation } from '../operations/operation.ts';

/** An operation that has a function, and its types. */
type Callable = Extract<OperationTable[number], { api: string }>;
type Place = Callable['api'];
type GroupOf<P extends Place> = P extends `${infer Group}.${string}` ? Group : never;
type NameIn<P extends Place, Group extends string> = P extends `${Group}.${infer Name}` ? FirstOf<Name> : never;
type FirstOf<Name extends string> = Name extends `${infer First}.${string}` ? First : Name;

/** The functions of a group. A group may be in another, as `responses.inputItems` is. */
type FunctionsIn<Group extends string> = {
  [P in Place as NameIn<P, Group>]: P extends `${Group}.${infer Inner}.${string}`
    ? FunctionsIn<`${Group}.${Inner}`>
    : FunctionOf<Extract<Callable, { api: P }>>;
};

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
  readonly [Group in GroupOf<Place>]: FunctionsIn<Group>;
};

/** Runs an operation; see `Edge.call`. */
export type CallOperation = (operation: ListedOperation, given: unknown, caller: Caller) => Promise<unknown>;

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
export function createInProcess(operations: readonly ListedOperation[], call: CallOperation): ApiFor {
  const groups = new Map<string, Member[]>();
  for (const operation of operations) {
    const [group, ...path] = operation.api?.split('.') ?? [];
    if (group === undefined || path.length === 0) continue;
    groups.set(group, [...(groups.get(group) ?? []), { path, operation }]);
  }
  return (caller) => {
    const api = {};
    for (const [group, members] of groups) {
      const make = () => functionsOf(members, (operation) => (given?: unknown) => call(operation, given, caller));
      let made: object | undefined;
      Object.defineProperty(api, group, { enumerable: true, configurable: true, get: () => (made ??= make()) });
    }
    return api as InProcessApi;
  };
}

/** An operation in a group. */
interface Member {
  /** The names that lead to its function, such as `['inputItems', 'list']`. */
  path: readonly string[];
  operation: ListedOperation;
}

function functionsOf(members: readonly Member[], functionOf: (operation: ListedOperation) => unknown): object {
  const made: Record<string, unknown> = {};
  for (const [name = '', inside] of Map.groupBy(members, ({ path }) => path[0])) {
    const [{ path, operation }] = inside as [Member];
    if (path.length === 1) made[name] = functionOf(operation);
    else
      made[name] = functionsOf(
        inside.map((one) => ({ ...one, path: one.path.slice(1) })),
        functionOf,
      );
  }
  return made;
}

/**
 * Joins the functions and further members in one object. Members of `more` replace groups. No group is made by this.
 */
export function mergeApi<Api extends object, More extends object>(api: Api, more: More): Omit<Api, keyof More> & More {
  const merged = Object.defineProperties({}, Object.getOwnPropertyDescriptors(api));
  return Object.defineProperties(merged, Object.getOwnPropertyDescriptors(more)) as Omit<Api, keyof More> & More;
}
