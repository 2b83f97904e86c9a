import { computed, signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { withQuery } from './router.ts';

/** The one who looks, as the console tells it. */
export interface Identity {
  signed_in: boolean;
  /** The kind of sign-in: with a key, or by the host app. */
  by: 'key' | 'host';
  title: string;
  /** The path of the gateway itself. */
  gateway_path?: string;
  sign_in_url?: string | null;
  label?: string;
  workspace_id?: string;
  permissions?: string[];
  manages_all?: boolean;
  /** The host app's id of who looks; null: it names nobody. */
  user_id?: string | null;
  session_expires_at?: string;
}

/** A mistake in what was sent, and the field that has it, such as `content_filters[0].pattern`. */
export interface Issue {
  path: string;
  message: string;
}

/** An error of an operation, in the words of the gateway. */
export class ApiError extends Error {
  readonly status: number;
  readonly issues: readonly Issue[];

  constructor(status: number, message: string, issues: readonly Issue[] = []) {
    super(message);
    this.status = status;
    this.issues = issues;
  }
}

/** The words for an error: those of the gateway, else what was tried did not work. */
export function messageOf(error: unknown, otherwise = 'It did not work'): string {
  return error instanceof ApiError ? error.message : otherwise;
}

const unreachable = 'The server cannot be reached';

export const identity = signal<Identity | null>(null);
/** true: the one who looks may manage. */
export const manages = computed(() => identity.value?.permissions?.includes('management') === true);
/** true: the one who looks may see sums: all of them, or those of his own requests. */
export const seesSums = computed(() => manages.value || typeof identity.value?.user_id === 'string');
/** The workspace that is looked at; empty: all, for who manages all. */
export const workspace = signal('');

/** The address of the gateway for other clients. */
export function gatewayUrl(): string {
  return new URL(identity.value?.gateway_path ?? '/v1', document.baseURI).href;
}

export function placeOf(path: string): URL {
  return new URL(path, document.baseURI);
}

async function errorOf(response: Response): Promise<ApiError> {
  try {
    const { error } = (await response.json()) as { error: { message: string; metadata?: { issues?: Issue[] } } };
    return new ApiError(response.status, error.message, error.metadata?.issues);
  } catch {
    return new ApiError(response.status, `The server answered with the status ${response.status}`);
  }
}

async function send(path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(placeOf(path), init);
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error;
    throw new ApiError(0, unreachable);
  }
  if (response.ok) return response;
  const failure = await errorOf(response);
  if (failure.status === 401) await whoAmI();
  throw failure;
}

function withJson(method: string, body: unknown): RequestInit {
  return body === undefined
    ? { method }
    : { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

/** Asks an operation. @throws ApiError */
export async function ask<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const response = await send(`api${path}`, { ...withJson(method, body), signal: signal ?? null });
  return (await response.json()) as T;
}

/** Asks an operation whose response is a stream of events. */
export function askStream(path: string, body: unknown, signal: AbortSignal): Promise<Response> {
  return send(`api${path}`, { ...withJson('POST', body), signal });
}

/** The address of the session, which tells the server the path that its cookie is for. */
function sessionPlace(): URL {
  return placeOf(`session?path=${encodeURIComponent(placeOf('.').pathname)}`);
}

/** Finds out who is signed in. */
export async function whoAmI(): Promise<void> {
  const response = await fetch(sessionPlace());
  const { data, error } = (await response.json()) as { data?: Identity; error?: { message: string } };
  if (data) identity.value = data;
  else throw new ApiError(response.status, error?.message ?? unreachable);
}

/** @throws ApiError */
export async function signIn(key: string): Promise<void> {
  const response = await fetch(sessionPlace(), withJson('POST', { key }));
  if (!response.ok) throw await errorOf(response);
  const { data } = (await response.json()) as { data: Identity };
  // Whoever was here before may have looked at a workspace that this key does not see.
  workspace.value = '';
  identity.value = data;
}

export async function signOut(): Promise<void> {
  await fetch(sessionPlace(), { method: 'DELETE' });
  await whoAmI();
}

/** The parameter of the workspace that is looked at. */
export function ofWorkspace(): { workspace_id?: string } {
  return workspace.value === '' ? {} : { workspace_id: workspace.value };
}

/** The id of the workspace that is looked at, for operations that need one. */
export function workspaceId(): string {
  return workspace.value || identity.value?.workspace_id || 'default';
}

/** Something that was loaded. While the server is out of reach, the last state stays. */
export interface Loaded<T> {
  data: T | null;
  error: ApiError | null;
  /** The time of `data`, epoch ms. */
  atMs: number;
  reload(): void;
}

/**
 * Loads from an operation, again whenever the path changes.
 * @param path     null: nothing
 * @param everyMs  loads again after this time while the page is seen; 0: never
 */
export function useLoaded<T>(path: string | null, everyMs = 0): Loaded<T> {
  return useRead(path, everyMs, (of, signal) => ask<T>('GET', of, undefined, signal));
}

/** The most entries of one page of the interface, and of a list here. */
const pageLength = 100;
export const longestList = 2_000;

/**
 * Loads a whole list, a page of the interface after the other. A list that is longer than `longestList` is cut.
 * @param path  null: nothing
 */
export function useList<T extends { data: readonly unknown[] }>(path: string | null): Loaded<T> {
  return useRead(path, 0, async (of, signal) => {
    const pageAt = (offset: number) =>
      ask<T>('GET', withQuery(of, { limit: pageLength, offset: offset || undefined }), undefined, signal);
    const first = await pageAt(0);
    const data = [...first.data];
    let last = first;
    while (last.data.length === pageLength && data.length < longestList) {
      last = await pageAt(data.length);
      data.push(...last.data);
    }
    return { ...first, data };
  });
}

function useRead<T>(
  path: string | null,
  everyMs: number,
  read: (path: string, signal: AbortSignal) => Promise<T>,
): Loaded<T> {
  const [state, setState] = useState<{ path: string | null; data: T | null; error: ApiError | null; atMs: number }>({
    path: null,
    data: null,
    error: null,
    atMs: 0,
  });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (path === null) return undefined;
    const controller = new AbortController();
    const load = async () => {
      try {
        const data = await read(path, controller.signal);
        if (!controller.signal.aborted) setState({ path, data, error: null, atMs: Date.now() });
      } catch (error) {
        if (controller.signal.aborted) return;
        const known = error instanceof ApiError ? error : new ApiError(0, unreachable);
        setState((old) => ({ ...old, data: old.path === path ? old.data : null, path, error: known }));
      }
    };
    void load();
    const loadIfSeen = () => (document.hidden ? undefined : load());
    const timer = everyMs > 0 ? setInterval(loadIfSeen, everyMs) : undefined;
    return () => {
      controller.abort();
      clearInterval(timer);
    };
  }, [path, everyMs, turn]);
  return { data: state.data, error: state.error, atMs: state.atMs, reload: () => setTurn((old) => old + 1) };
}
