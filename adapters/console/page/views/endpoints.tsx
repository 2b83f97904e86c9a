import { useLoaded } from '../api.ts';
import { count, duration, perMillion, time, withUnit } from '../format.ts';
import { Card, Page, Search, State, Table, wantedText } from '../parts.tsx';
import { link } from '../router.ts';
import type { Endpoint, EndpointsResult } from '../types.ts';

const colors: Readonly<Record<string, string>> = { default: 'good', degraded: 'warn', down: 'bad', disabled: 'soft' };
const words: Readonly<Record<string, string>> = { default: 'healthy' };

/** Each model at each provider, with its health. */
export function Endpoints() {
  const loaded = useLoaded<EndpointsResult>('/endpoints', 15_000);
  const wanted = wantedText();
  const rows = (loaded.data?.data ?? []).filter(({ name, tag }) =>
    `${name} ${tag}`.toLowerCase().includes(wanted.toLowerCase()),
  );
  return (
    <Page title="Endpoints" actions={<Search />}>
      <State of={loaded} empty={rows.length === 0 && 'No endpoint fits.'} />
      {rows.length > 0 && (
        <Card title={`Health and prices of ${count(rows.length)} endpoints`}>
          <Table
            label="Endpoints"
            rows={rows}
            columns={[
              { name: 'Model', of: ({ model_id }) => <a href={link('requests', { model: model_id })}>{model_id}</a> },
              { name: 'Endpoint', of: ({ provider_name, tag }) => <span title={provider_name}>{tag}</span> },
              { name: 'State', of: (one) => <Health of={one} /> },
              { name: 'Up, 30 min', isNumber: true, of: (one) => share(one.uptime_last_30m) },
              { name: 'Up, 1 d', isNumber: true, of: (one) => share(one.uptime_last_1d) },
              { name: 'First p50', isNumber: true, of: (one) => duration(one.latency_last_30m?.p50) },
              { name: 'First p99', isNumber: true, of: (one) => duration(one.latency_last_30m?.p99) },
              {
                name: 'Tokens/s p50',
                isNumber: true,
                of: (one) => (one.throughput_last_30m ? one.throughput_last_30m.p50.toFixed(1) : '–'),
              },
              {
                name: 'Per million in, out',
                isNumber: true,
                of: ({ pricing }) => `${perMillion(pricing.prompt)}, ${perMillion(pricing.completion)}`,
              },
              { name: 'ZDR', of: ({ is_zdr }) => (is_zdr ? 'yes' : 'no') },
            ]}
          />
          <p class="soft">
            First: time to the first token. ZDR: keeps nothing. Percentiles are of the last 30 minutes of this process;
            – means too few attempts.
          </p>
        </Card>
      )}
    </Page>
  );
}

function share(percentage: number | null): string {
  return percentage === null ? '–' : withUnit(percentage.toFixed(1), '%');
}

function Health({ of }: { of: Endpoint }) {
  const status = String(of.status);
  return (
    <>
      <span class={`pill ${colors[status] ?? 'soft'}`}>{words[status] ?? status}</span>
      {of.cooldown_until && <span class="warn"> left alone until {time(of.cooldown_until).slice(11)}</span>}
    </>
  );
}
