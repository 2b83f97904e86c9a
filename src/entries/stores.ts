export type { StoreOption } from '../setup/stores.ts';
export type { Rotation } from '../stores/credentials/rotate.ts';
export type {
  EndOutcome,
  HoldOutcome,
  HoldRequest,
  Ledger,
  LimitedWindow,
  LostHold,
  SpendingAddition,
  SpendingWindow,
  WindowState,
} from '../stores/ledger/ledger.ts';
export type { SealedKey, Sealer } from '../stores/vault/index.ts';
