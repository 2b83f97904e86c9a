import { useLoaded } from '../api.ts';
import { count, perMillion } from '../format.ts';
import { Card, Page, Search, State, Table, wantedText } from '../parts.tsx';
import { link } from '../router.ts';
import type { ModelsResult } from '../types.ts';

/** The models that can be asked for. */
export function Models() {
  const loaded = useLoaded<ModelsResult>('/models');
  const wanted = wantedText();
  const rows = (loaded.data?.data ?? []).filter(({ id, name }) =>
    `${id} ${name}`.toLowerCase().includes(wanted.toLowerCase()),
  );
  return (
    <Page title="Models" actions={<Search />}>
      <State of={loaded} empty={rows.length === 0 && 'No model fits.'} />
      {rows.length > 0 && (
        <Card title={`${count(rows.length)} models`}>
          <Table
            label="Models"
            rows={rows}
            columns={[
              { name: 'Slug', of: ({ id }) => <a href={link('endpoints', { q: id })}>{id}</a> },
              { name: 'Name', of: ({ name }) => name },
              { name: 'Context', isNumber: true, of: (one) => (one.context_length ? count(one.context_length) : '–') },
              { name: 'In, per million', isNumber: true, of: (one) => perMillion(one.pricing.prompt) },
              { name: 'Out, per million', isNumber: true, of: (one) => perMillion(one.pricing.completion) },
              { name: 'Takes', of: (one) => one.architecture.input_modalities.join(', ') },
              { name: 'Try', of: ({ id }) => <a href={link('playground', { model: id })}>Ask {id}</a> },
            ]}
          />
        </Card>
      )}
    </Page>
  );
}
