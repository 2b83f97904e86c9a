export type { ByteSource } from '../base/bytes.ts';
export type { Clock } from '../base/clock.ts';
export type { SaidAnswer, SandboxAnswer, ScriptRequest } from '../providers/sandbox/answer.ts';
export { type SandboxScript, type ScriptEntry, ScriptError, sandboxScript } from '../providers/sandbox/script.ts';
export type {
  Transport,
  TransportLimits,
  TransportRequest,
  TransportResponse,
} from '../transport/transport.ts';
