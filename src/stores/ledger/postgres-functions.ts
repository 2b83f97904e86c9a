import { type Definition, defineFunction, lockFor, type PostgresNames } from '../storage/postgres/sql.ts';
import { expireBatch, keepEndedMs, keepWindowsMs, maxSettled } from './ledger.ts';
import { ledgerNames } from './postgres-tables.ts';

/** The most old rows that one step removes: more than a step adds. */
const sweepBatch = 50;
/** The number of the oldest settled ids that are looked at for each new one. */
const settledBatch = 4;

const ofWorkspace = 'namespace = p_namespace AND workspace = p_workspace';
/** The same expression as in the index of settled ids, so that the server uses the index. */
const ofSettled = `(namespace || ' ' || workspace) = (p_namespace || ' ' || p_workspace)`;
const ofStep = `${ofWorkspace} AND id = v_step->>'id'`;
const isDue = `${ofWorkspace} AND ended_ms IS NULL AND lease_until_ms <= p_now`;

/** The format of windows: `{ account, interval, startMs, endMs }`, plus `limitNanoUsd` for the windows of a hold. */
const columns = 'account text, "interval" text, "startMs" bigint, "endMs" bigint, "limitNanoUsd" bigint';
const columnNames = 'account, "interval", "startMs", "endMs", "limitNanoUsd"';
const isAsked = `w.namespace = p_namespace AND w.workspace = p_workspace
        AND w.account = asked.account AND w."interval" = asked."interval" AND w.start_ms = asked."startMs"`;

export function defineLedgerFunctions(names: PostgresNames): Definition[] {
  const { windows, holds, additions, settled, book, expire, states, take } = ledgerNames(names);
  /** Adds amounts to existing windows, and inserts those that do not exist. */
  const into = `${windows} AS w (namespace, workspace, account, "interval", start_ms, end_ms, spent, held)`;
  const orAdd = `ON CONFLICT (namespace, workspace, account, "interval", start_ms)
      DO UPDATE SET spent = w.spent + excluded.spent, held = w.held + excluded.held`;

  return [
    // Books into windows. A new window is the occasion to drop some windows that ended long ago.
    defineFunction({
      isPart: true,
      name: book,
      parameters: 'p_namespace text, p_workspace text, p_windows jsonb, p_spent bigint, p_held bigint, p_now bigint',
      returns: 'void',
      body: `DECLARE
  v_is_new boolean;
BEGIN
  WITH booked AS (
    INSERT INTO ${into}
      SELECT p_namespace, p_workspace, account, "interval", "startMs", "endMs", p_spent, p_held
      FROM jsonb_to_recordset(p_windows) AS asked (${columns})
      ${orAdd}
      RETURNING w.xmax = 0 AS is_new
  )
  SELECT bool_or(is_new) INTO v_is_new FROM booked;
  IF v_is_new THEN
    ${sweep(windows, `end_ms <= p_now - ${keepWindowsMs} AND held = 0`)}
  END IF;
END`,
    }),

    // Returns the state of windows, in the order asked.
    defineFunction({
      isPart: true,
      name: states,
      parameters: 'p_namespace text, p_workspace text, p_windows jsonb',
      returns: 'jsonb',
      body: `BEGIN
  RETURN (
    SELECT coalesce(
      jsonb_agg(
        jsonb_build_object('spentNanoUsd', coalesce(w.spent, 0), 'heldNanoUsd', coalesce(w.held, 0)) ORDER BY position
      ),
      '[]'
    )
    FROM ROWS FROM (jsonb_to_recordset(p_windows) AS (${columns})) WITH ORDINALITY AS asked (${columnNames}, position)
    LEFT JOIN ${windows} AS w ON ${isAsked}
  );
END`,
    }),

    // Ends holds whose lease has ended, and returns their number.
    defineFunction({
      isPart: true,
      name: expire,
      parameters: 'p_namespace text, p_workspace text, p_charges boolean, p_now bigint',
      returns: 'integer',
      body: `DECLARE
  v_count integer;
BEGIN
  PERFORM FROM ${holds} WHERE ${isDue} LIMIT 1;
  IF NOT FOUND THEN RETURN 0; END IF;
  WITH ended AS (
    UPDATE ${holds} SET state = 'expired', charged = CASE WHEN p_charges THEN amount ELSE 0 END, ended_ms = p_now
    WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${holds} WHERE ${isDue} ORDER BY lease_until_ms LIMIT ${expireBatch}))
    RETURNING amount, charged, windows
  ), booked AS (
    INSERT INTO ${into}
      SELECT p_namespace, p_workspace, account, "interval", "startMs", max("endMs"), sum(charged), -sum(amount)
      FROM ended, jsonb_to_recordset(windows) AS asked (${columns})
      GROUP BY account, "interval", "startMs"
      ${orAdd}
  )
  SELECT count(*) INTO v_count FROM ended;
  ${sweep(holds, `ended_ms <= p_now - ${keepEndedMs}`)}
  RETURN v_count;
END`,
    }),

    // Takes settlements, then holds, then the other steps, and returns a result for each in this order.
    defineFunction({
      name: take,
      parameters: `p_namespace text, p_workspace text, p_charges boolean, p_steps jsonb, p_now bigint,
        p_settled text[], p_actual bigint[], p_windows jsonb, p_groups jsonb,
        p_held text[], p_amounts bigint[], p_leases bigint[], p_group_of integer[]`,
      returns: 'SETOF jsonb',
      body: `DECLARE
  v_now bigint;
  v_step jsonb;
  v_hold record;
  v_one jsonb;
  v_number bigint;
  v_oldest record;
  v_is_new boolean;
  v_open text[];
  v_late text[];
  v_ended text[];
  v_spent bigint[];
  v_held bigint[];
  v_more bigint[];
  v_taken integer[] := '{}';
  v_group integer := -1;
  v_at integer[];
  v_limits bigint[];
  v_fits boolean;
BEGIN
  ${lockFor(names, `'ledger', p_namespace, p_workspace`)}
  -- After the lock: another step may have taken its time from the clock while this one waited.
  v_now := coalesce(p_now, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);

  IF cardinality(p_settled) > 0 THEN
    SELECT coalesce(max(number), 0) INTO v_number FROM ${settled} WHERE ${ofSettled};
    WITH gone AS (
      DELETE FROM ${holds} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${each(holds, 'p_settled')})) AND state <> 'released'
        RETURNING id, p_actual[array_position(p_settled, id)] AS actual, state, amount, charged, windows
    ), remembered AS (
      INSERT INTO ${settled} (namespace, workspace, id, number, at_ms)
        SELECT p_namespace, p_workspace, id, v_number + row_number() OVER (), v_now FROM gone ON CONFLICT DO NOTHING
    ), sums AS (
      SELECT windows, sum(CASE WHEN state = 'held' THEN actual ELSE actual - charged END) AS more,
        sum(CASE WHEN state = 'held' THEN -amount ELSE 0 END) AS freed
      FROM gone GROUP BY windows
    ), booked AS (
      INSERT INTO ${into}
        SELECT p_namespace, p_workspace, account, "interval", "startMs", max("endMs"), sum(more), sum(freed)
        FROM sums, jsonb_to_recordset(windows) AS asked (${columns})
        GROUP BY account, "interval", "startMs"
        ${orAdd}
    )
    SELECT array_agg(id) FILTER (WHERE state = 'held'), array_agg(id) FILTER (WHERE state <> 'held')
      INTO v_open, v_late FROM gone;
    FOR i IN 1 .. cardinality(p_settled) LOOP
      IF p_settled[i] = ANY (v_open) THEN
        RETURN NEXT '"ended"';
      ELSIF p_settled[i] = ANY (v_late) THEN
        RETURN NEXT '"late"';
      ELSIF EXISTS (SELECT FROM ${settled} WHERE ${ofWorkspace} AND id = p_settled[i])
        OR EXISTS (SELECT FROM ${holds} WHERE ${ofWorkspace} AND id = p_settled[i]) THEN
        RETURN NEXT '"repeated"';
      ELSE
        RETURN NEXT '"unknown"';
      END IF;
    END LOOP;
    SELECT number, at_ms INTO v_oldest FROM ${settled} WHERE ${ofSettled} ORDER BY number LIMIT 1;
    v_number := v_number + cardinality(p_settled);
    IF v_oldest.number <= v_number - ${maxSettled} OR v_oldest.at_ms <= v_now - ${keepEndedMs} THEN
      DELETE FROM ${settled} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM (
          SELECT ctid, number, at_ms FROM ${settled} WHERE ${ofSettled}
            ORDER BY number LIMIT cardinality(p_settled) + ${settledBatch}
        ) AS oldest WHERE number <= v_number - ${maxSettled} OR at_ms <= v_now - ${keepEndedMs}
      ));
    END IF;
  END IF;

  IF cardinality(p_held) > 0 THEN
    PERFORM ${expire}(p_namespace, p_workspace, p_charges, v_now);
    SELECT array_agg(id) FILTER (WHERE state = 'held'), array_agg(id) FILTER (WHERE state <> 'held')
      INTO v_open, v_ended FROM ${each(holds, 'p_held')};
    v_ended := v_ended || ARRAY(SELECT id FROM ${each(settled, 'p_held')});
    SELECT array_agg(coalesce(w.spent, 0) ORDER BY position), array_agg(coalesce(w.held, 0) ORDER BY position),
        array_agg(0 ORDER BY position)
      INTO v_spent, v_held, v_more
      FROM ROWS FROM (jsonb_to_recordset(p_windows) AS (${columns})) WITH ORDINALITY AS asked (${columnNames}, position)
      LEFT JOIN ${windows} AS w ON ${isAsked};
    FOR i IN 1 .. cardinality(p_held) LOOP
      IF p_held[i] = ANY (v_open) THEN
        RETURN NEXT '{"isHeld":true}';
        CONTINUE;
      END IF;
      IF p_group_of[i] <> v_group THEN
        v_group := p_group_of[i];
        v_at := ARRAY(SELECT value::integer FROM jsonb_array_elements_text(p_groups->v_group->'at'));
        v_limits := ARRAY(SELECT value::bigint FROM jsonb_array_elements_text(p_groups->v_group->'limits'));
      END IF;
      v_fits := NOT coalesce(p_held[i] = ANY (v_ended), false);
      FOR k IN 1 .. cardinality(v_at) LOOP
        IF v_spent[v_at[k]] + v_held[v_at[k]] + p_amounts[i] > v_limits[k] THEN
          v_fits := false;
        END IF;
      END LOOP;
      IF NOT v_fits THEN
        RETURN NEXT jsonb_build_object('isHeld', false, 'states', (
          SELECT jsonb_agg(
            jsonb_build_object('spentNanoUsd', v_spent[place], 'heldNanoUsd', v_held[place]) ORDER BY position
          ) FROM unnest(v_at) WITH ORDINALITY AS one (place, position)
        ));
        CONTINUE;
      END IF;
      FOR k IN 1 .. cardinality(v_at) LOOP
        v_held[v_at[k]] := v_held[v_at[k]] + p_amounts[i];
        v_more[v_at[k]] := v_more[v_at[k]] + p_amounts[i];
      END LOOP;
      v_taken := v_taken || i;
      RETURN NEXT '{"isHeld":true}';
    END LOOP;
    IF cardinality(v_taken) > 0 THEN
      INSERT INTO ${holds} (namespace, workspace, id, state, amount, windows, lease_until_ms, charged)
        SELECT p_namespace, p_workspace, p_held[i], 'held', p_amounts[i], p_groups->p_group_of[i]->'windows',
          v_now + p_leases[i], 0
        FROM unnest(v_taken) AS taken (i);
      WITH booked AS (
        INSERT INTO ${into}
          SELECT p_namespace, p_workspace, account, "interval", "startMs", "endMs", 0, v_more[position]
          FROM ROWS FROM (jsonb_to_recordset(p_windows) AS (${columns})) WITH ORDINALITY
            AS asked (${columnNames}, position)
          ${orAdd}
          RETURNING w.xmax = 0 AS is_new
      )
      SELECT bool_or(is_new) INTO v_is_new FROM booked;
      IF v_is_new THEN
        ${sweep(windows, `end_ms <= v_now - ${keepWindowsMs} AND held = 0`)}
      END IF;
    END IF;
  END IF;

  FOR v_step IN SELECT value FROM jsonb_array_elements(p_steps) LOOP
    CASE v_step->>'kind'

    WHEN 'release' THEN
      SELECT state, amount, windows, charged INTO v_hold FROM ${holds} WHERE ${ofStep};
      IF EXISTS (SELECT FROM ${settled} WHERE ${ofStep}) THEN
        RETURN NEXT '"repeated"';
      ELSIF v_hold.state IS NULL THEN
        INSERT INTO ${holds} (namespace, workspace, id, state, amount, windows, lease_until_ms, charged, ended_ms)
          VALUES (p_namespace, p_workspace, v_step->>'id', 'released', 0, '[]', 0, 0, v_now);
        RETURN NEXT '"unknown"';
      ELSIF v_hold.state = 'released' THEN
        RETURN NEXT '"repeated"';
      ELSE
        UPDATE ${holds} SET state = 'released', ended_ms = v_now WHERE ${ofStep};
        IF v_hold.state = 'held' THEN
          PERFORM ${book}(p_namespace, p_workspace, v_hold.windows, 0, -v_hold.amount, v_now);
          RETURN NEXT '"ended"';
        ELSE
          PERFORM ${book}(p_namespace, p_workspace, v_hold.windows, -v_hold.charged, 0, v_now);
          RETURN NEXT '"late"';
        END IF;
      END IF;
      ${sweep(holds, `ended_ms <= v_now - ${keepEndedMs}`)}

    WHEN 'draw' THEN
      SELECT state, amount, windows, charged INTO v_hold FROM ${holds} WHERE ${ofStep};
      IF v_hold.state = 'held' AND v_hold.amount >= (v_step->>'fromNanoUsd')::bigint THEN
        UPDATE ${holds} SET amount = (v_step->>'toNanoUsd')::bigint WHERE ${ofStep};
        PERFORM ${book}(p_namespace, p_workspace, v_hold.windows,
          (v_step->>'spentNanoUsd')::bigint + v_hold.amount - (v_step->>'fromNanoUsd')::bigint,
          (v_step->>'toNanoUsd')::bigint - v_hold.amount, v_now);
        RETURN NEXT '"drawn"';
      ELSIF v_hold.state = 'expired' AND v_hold.charged >= (v_step->>'fromNanoUsd')::bigint
        AND NOT coalesce((v_step->>'isLate')::boolean, false) THEN
        RETURN NEXT '"late"';
      ELSIF v_hold.state = 'expired' AND v_hold.charged >= (v_step->>'fromNanoUsd')::bigint THEN
        UPDATE ${holds} SET charged = (v_step->>'toNanoUsd')::bigint WHERE ${ofStep};
        PERFORM ${book}(p_namespace, p_workspace, v_hold.windows,
          (v_step->>'spentNanoUsd')::bigint + (v_step->>'toNanoUsd')::bigint - (v_step->>'fromNanoUsd')::bigint,
          0, v_now);
        RETURN NEXT '"late"';
      ELSIF v_hold.state IS NOT NULL OR EXISTS (SELECT FROM ${settled} WHERE ${ofStep}) THEN
        RETURN NEXT '"repeated"';
      ELSE
        RETURN NEXT '"unknown"';
      END IF;

    WHEN 'renew' THEN
      UPDATE ${holds} SET lease_until_ms = greatest(lease_until_ms, v_now + (v_step->>'leaseMs')::bigint)
        WHERE ${ofWorkspace} AND ended_ms IS NULL
          AND id = ANY (ARRAY(SELECT value FROM jsonb_array_elements_text(v_step->'ids')));
      RETURN NEXT 'null';

    WHEN 'expire' THEN
      RETURN NEXT to_jsonb(${expire}(p_namespace, p_workspace, p_charges, v_now));

    WHEN 'lost' THEN
      PERFORM ${expire}(p_namespace, p_workspace, p_charges, v_now);
      RETURN NEXT (
        SELECT coalesce(
          jsonb_agg(jsonb_build_object('id', id, 'chargedNanoUsd', charged, 'expiredAtMs', ended_ms)),
          '[]'
        )
        FROM ${holds}
        WHERE ${ofWorkspace} AND state = 'expired' AND ended_ms >= (v_step->>'sinceMs')::bigint
          AND ended_ms > v_now - ${keepEndedMs}
      );

    WHEN 'add' THEN
      INSERT INTO ${additions} (namespace, workspace, id, at_ms)
        VALUES (p_namespace, p_workspace, v_step->>'id', v_now) ON CONFLICT DO NOTHING;
      IF FOUND THEN
        FOR v_one IN SELECT value FROM jsonb_array_elements(v_step->'additions') LOOP
          PERFORM ${book}(p_namespace, p_workspace, jsonb_build_array(v_one->'window'),
            (v_one->>'nanoUsd')::bigint, 0, v_now);
        END LOOP;
        ${sweep(additions, `at_ms <= v_now - ${keepEndedMs}`)}
      END IF;
      RETURN NEXT 'null';

    WHEN 'read' THEN
      PERFORM ${expire}(p_namespace, p_workspace, p_charges, v_now);
      RETURN NEXT ${states}(p_namespace, p_workspace, v_step->'windows');

    WHEN 'forget' THEN
      DELETE FROM ${holds} WHERE ${ofWorkspace};
      DELETE FROM ${windows} WHERE ${ofWorkspace};
      DELETE FROM ${additions} WHERE ${ofWorkspace};
      DELETE FROM ${settled} WHERE ${ofWorkspace};
      RETURN NEXT 'null';
    END CASE;
  END LOOP;
END`,
    }),
  ];
}

/**
 * The rows of some ids. A lateral join looks up each id by itself. With `id = ANY (…)` the server might read all rows
 * of the workspace, also those that were deleted a moment ago.
 */
function each(table: string, ids: string): string {
  return `unnest(${ids}) AS one (one_id), LATERAL (
        SELECT ctid, * FROM ${table} WHERE ${ofWorkspace} AND id = one_id OFFSET 0
      ) AS found`;
}

/** A statement that removes some of the old rows: there may be many after a quiet day. */
function sweep(table: string, isOld: string): string {
  return `DELETE FROM ${table}
      WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${ofWorkspace} AND ${isOld} LIMIT ${sweepBatch}));`;
}
