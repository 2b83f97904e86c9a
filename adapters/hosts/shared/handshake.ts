/** Tells whether a client wants a WebSocket, by the header `Upgrade`; other protocols are an offer that may be ignored. */
export function isHandshake(upgrade: string | null | undefined): boolean {
  return /\bwebsocket\b/i.test(upgrade ?? '');
}
