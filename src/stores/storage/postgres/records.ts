import { type Definition, defineFunction, lockFor, type PostgresNames } from './sql.ts';

/**
 * Names of the functions on records. A changed text needs a new number: old and new processes may run at the same time.
 */
export const recordFunctions = {
  read: 'read_1',
  list: 'list_1',
  seek: 'seek_1',
  seekAll: 'seek_all_1',
  commit: 'commit_1',
};

/** The table of records and its functions. */
export function defineRecords(names: PostgresNames): Definition[] {
  const table = names.of('records');
  return [
    {
      kind: 'table',
      name: table,
      text: [
        // Sorted by bytes, whatever the collation of the database.
        `CREATE TABLE ${table} (
      namespace text COLLATE "C" NOT NULL,
      partition text COLLATE "C" NOT NULL,
      kind text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      value text NOT NULL,
      rank bigint,
      PRIMARY KEY (namespace, partition, kind, id)
    )`,
        `CREATE INDEX ${names.index('records_rank')}
      ON ${table} (namespace, partition, kind, rank, id) WHERE rank IS NOT NULL`,
      ],
    },
    defineFunction({
      name: names.of(recordFunctions.read),
      parameters: 'p_namespace text, p_partition text, p_at jsonb',
      returns: 'SETOF text',
      body: `BEGIN
  RETURN QUERY SELECT r.value
    FROM jsonb_array_elements(p_at) WITH ORDINALITY AS asked (at, position)
    LEFT JOIN ${table} AS r ON r.namespace = p_namespace AND r.partition = p_partition
      AND r.kind = asked.at->>'kind' AND r.id = asked.at->>'id'
    ORDER BY asked.position;
END`,
    }),
    defineFunction({
      name: names.of(recordFunctions.list),
      parameters: 'p_namespace text, p_partition text, p_kind text, p_offset bigint, p_limit bigint',
      returns: 'json',
      body: `BEGIN
  RETURN json_build_object(
    'total', (
      SELECT count(*) FROM ${table}
      WHERE namespace = p_namespace AND partition = p_partition AND kind = p_kind AND rank IS NOT NULL
    ),
    'records', (
      SELECT coalesce(json_agg(json_build_object('id', page.id, 'value', page.value) ORDER BY page.rank, page.id), '[]')
      FROM (
        SELECT id, value, rank FROM ${table}
        WHERE namespace = p_namespace AND partition = p_partition AND kind = p_kind AND rank IS NOT NULL
        ORDER BY rank, id OFFSET p_offset LIMIT p_limit
      ) AS page
    )
  );
END`,
    }),
    defineSeek(names, table),
    defineSeekAll(names, table),
    defineFunction({
      name: names.of(recordFunctions.commit),
      parameters: 'p_namespace text, p_partition text, p_changes jsonb',
      returns: 'boolean',
      body: `DECLARE
  v_change jsonb;
  v_value text;
BEGIN
  ${lockFor(names, `'records', p_namespace, p_partition`)}
  FOR v_change IN SELECT value FROM jsonb_array_elements(p_changes) LOOP
    CONTINUE WHEN NOT v_change ? 'expect';
    SELECT r.value INTO v_value FROM ${table} AS r
      WHERE r.namespace = p_namespace AND r.partition = p_partition
        AND r.kind = v_change->>'kind' AND r.id = v_change->>'id';
    IF v_value IS DISTINCT FROM v_change->>'expect' THEN RETURN false; END IF;
  END LOOP;
  FOR v_change IN SELECT value FROM jsonb_array_elements(p_changes) LOOP
    IF v_change->>'value' IS NULL THEN
      DELETE FROM ${table} AS r
        WHERE r.namespace = p_namespace AND r.partition = p_partition
          AND r.kind = v_change->>'kind' AND r.id = v_change->>'id';
    ELSE
      INSERT INTO ${table} AS r (namespace, partition, kind, id, value, rank)
        VALUES (p_namespace, p_partition, v_change->>'kind', v_change->>'id', v_change->>'value',
          (v_change->>'rank')::bigint)
        ON CONFLICT (namespace, partition, kind, id)
        DO UPDATE SET value = excluded.value, rank = coalesce(excluded.rank, r.rank);
    END IF;
  END LOOP;
  RETURN true;
END`,
    }),
  ];
}

/** Reads a list by rank: from a rank on, or from its end. It counts up to a number. */
function defineSeek(names: PostgresNames, table: string): Definition {
  return defineFunction({
    name: names.of(recordFunctions.seek),
    parameters:
      'p_namespace text, p_partition text, p_kind text, p_from bigint, p_limit bigint, p_is_from_end boolean, p_count_up_to bigint',
    returns: 'json',
    body: `DECLARE
  v_records json;
BEGIN
  IF p_is_from_end THEN
    SELECT coalesce(json_agg(json_build_object('id', page.id, 'value', page.value) ORDER BY page.rank DESC, page.id DESC), '[]')
      INTO v_records
      FROM (
        SELECT id, value, rank FROM ${table}
        WHERE namespace = p_namespace AND partition = p_partition AND kind = p_kind AND rank IS NOT NULL AND rank >= p_from
        ORDER BY rank DESC, id DESC LIMIT p_limit
      ) AS page;
  ELSE
    SELECT coalesce(json_agg(json_build_object('id', page.id, 'value', page.value) ORDER BY page.rank, page.id), '[]')
      INTO v_records
      FROM (
        SELECT id, value, rank FROM ${table}
        WHERE namespace = p_namespace AND partition = p_partition AND kind = p_kind AND rank IS NOT NULL AND rank >= p_from
        ORDER BY rank, id LIMIT p_limit
      ) AS page;
  END IF;
  RETURN json_build_object(
    'total', (
      SELECT count(*) FROM (
        SELECT 1 FROM ${table}
        WHERE namespace = p_namespace AND partition = p_partition AND kind = p_kind AND rank IS NOT NULL
        LIMIT p_count_up_to
      ) AS counted
    ),
    'records', v_records
  );
END`,
  });
}

/**
 * Reads parts of lists. A row is a text: the number of the list, the rank, the id and the value, with a space between them.
 * As JSON, each value would be escaped here and unescaped by the reader: that took longer than the reads.
 */
function defineSeekAll(names: PostgresNames, table: string): Definition {
  return defineFunction({
    name: names.of(recordFunctions.seekAll),
    parameters: 'p_namespace text, p_lists jsonb',
    returns: 'SETOF text',
    body: `DECLARE
  v_list jsonb;
  v_number integer := 0;
  v_texts text[];
BEGIN
  FOR v_list IN SELECT value FROM jsonb_array_elements(p_lists) LOOP
    SELECT array_agg(value) INTO v_texts FROM jsonb_array_elements_text(v_list->5);
    RETURN QUERY SELECT concat_ws(' ', v_number, r.rank, r.id,
        CASE WHEN v_texts IS NULL OR NOT EXISTS (SELECT 1 FROM unnest(v_texts) AS wanted WHERE strpos(r.value, wanted) = 0)
          THEN r.value ELSE '' END)
      FROM ${table} AS r
      WHERE r.namespace = p_namespace AND r.partition = v_list->>0 AND r.kind = v_list->>1 AND r.rank IS NOT NULL
        AND r.rank >= (v_list->>2)::bigint AND r.rank < (v_list->>3)::bigint
      ORDER BY r.rank, r.id LIMIT (v_list->>4)::bigint;
    v_number := v_number + 1;
  END LOOP;
END`,
  });
}
