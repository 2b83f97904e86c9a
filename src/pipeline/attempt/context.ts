import type { Clock } from '../../base/clock.ts';
import type { Redactor } from '../../base/secrets.ts';
import type { EncodedRequest } from '../../dialects/dialect.ts';
import type { Credential, OutgoingRequest, Provider } from '../../providers/provider.ts';
import type { UpstreamLimitSettings } from '../../schema/settings/settings.ts';
import type { TimeoutSettings } from '../../schema/settings/timeouts.ts';
import { redactorOf } from '../secrets/redaction.ts';
import type { Watchdog } from './watchdog.ts';

/** A request for a provider as it is sent: that of a dialect, or one with a body of bytes. */
export type WireRequest = Omit<EncodedRequest, 'body'> & Pick<OutgoingRequest, 'body'>;

/** The settings that are the same for every attempt. */
export interface AttemptSettings {
  clock: Clock;
  limits: UpstreamLimitSettings;
  timeouts: TimeoutSettings;
}

/**
 * Everything that the parts of one attempt need. A class: docs/performance.md, "Classes instead of literals".
 */
export class AttemptContext {
  readonly settings: AttemptSettings;
  readonly provider: Provider;
  readonly credential: Credential;
  /** After the request is signed, the redactor also knows the secrets that signing has made. */
  redactor: Redactor;
  readonly encoded: WireRequest;
  readonly watchdog: Watchdog;

  constructor(
    settings: AttemptSettings,
    provider: Provider,
    credential: Credential,
    encoded: WireRequest,
    watchdog: Watchdog,
  ) {
    this.settings = settings;
    this.provider = provider;
    this.credential = credential;
    this.redactor = redactorOf(provider, credential);
    this.encoded = encoded;
    this.watchdog = watchdog;
  }
}
