import { type Definition, defineFunction, lockFor, type PostgresNames } from '../storage/postgres-sql.ts';
import { expireBatch, keepEndedMs, keepWindowsMs, maxSettled } from './ledger.ts';
import { ledgerNames } from './postgres-tables.ts';

/** The most old rows that one step removes: more than a step adds. */
const sweepBatch = 50;
/** The number of the oldest settled ids that are looked at for each new one. */
const settledBatch = 4;

const ofWorkspace = 'namespace = p_namespace AND workspace = p_workspace';
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

    // Takes several steps, runs them one after the other, and returns a result for each.
    defineFunction({
      name: take,
      parameters: 'p_namespace text, p_workspace text, p_charges boolean, p_steps jsonb',
      returns: 'SETOF jsonb',
      body: `DECLARE
  v_step jsonb;
  v_now bigint;
  v_hold record;
  v_one jsonb;
  v_number bigint;
BEGIN
  ${lockFor(names, `'ledger', p_namespace, p_workspace`)}
  FOR v_step IN SELECT value FROM jsonb_array_elements(p_steps) LOOP
    v_now := coalesce((v_step->>'nowMs')::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
    CASE v_step->>'kind'

    WHEN 'hold' THEN
      PERFORM ${expire}(p_namespace, p_workspace, p_charges, v_now);
      SELECT state INTO v_hold FROM ${holds} WHERE ${ofStep};
      IF v_hold.state = 'held' THEN
        RETURN NEXT '{"isHeld":true}';
      ELSIF v_hold.state IS NOT NULL OR EXISTS (SELECT FROM ${settled} WHERE ${ofStep}) OR EXISTS (
        SELECT FROM jsonb_to_recordset(v_step->'windows') AS asked (${columns})
        LEFT JOIN ${windows} AS w ON ${isAsked}
        WHERE coalesce(w.spent, 0) + coalesce(w.held, 0) + (v_step->>'amountNanoUsd')::bigint > asked."limitNanoUsd"
      ) THEN
        RETURN NEXT jsonb_build_object(
          'isHeld', false, 'states', ${states}(p_namespace, p_workspace, v_step->'windows')
        );
      ELSE
        INSERT INTO ${holds} (namespace, workspace, id, state, amount, windows, lease_until_ms, charged)
          VALUES (p_namespace, p_workspace, v_step->>'id', 'held', (v_step->>'amountNanoUsd')::bigint,
            v_step->'windows', v_now + (v_step->>'leaseMs')::bigint, 0);
        PERFORM ${book}(
          p_namespace, p_workspace, v_step->'windows', 0, (v_step->>'amountNanoUsd')::bigint, v_now
        );
        RETURN NEXT '{"isHeld":true}';
      END IF;

    WHEN 'settle' THEN
      DELETE FROM ${holds} WHERE ${ofStep} AND state <> 'released'
        RETURNING state, amount, windows, charged INTO v_hold;
      IF NOT FOUND THEN
        RETURN NEXT CASE
          WHEN EXISTS (SELECT FROM ${settled} WHERE ${ofStep}) OR EXISTS (SELECT FROM ${holds} WHERE ${ofStep})
          THEN '"repeated"'::jsonb ELSE '"unknown"' END;
        CONTINUE;
      END IF;
      SELECT coalesce(max(number), 0) + 1 INTO v_number FROM ${settled} WHERE ${ofWorkspace};
      INSERT INTO ${settled} (namespace, workspace, id, number, at_ms)
        VALUES (p_namespace, p_workspace, v_step->>'id', v_number, v_now) ON CONFLICT DO NOTHING;
      DELETE FROM ${settled} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM (
          SELECT ctid, number, at_ms FROM ${settled} WHERE ${ofWorkspace} ORDER BY number LIMIT ${settledBatch}
        ) AS oldest WHERE number <= v_number - ${maxSettled} OR at_ms <= v_now - ${keepEndedMs}
      ));
      IF v_hold.state = 'held' THEN
        PERFORM ${book}(
          p_namespace, p_workspace, v_hold.windows, (v_step->>'actualNanoUsd')::bigint, -v_hold.amount, v_now
        );
        RETURN NEXT '"ended"';
      ELSE
        PERFORM ${book}(
          p_namespace, p_workspace, v_hold.windows, (v_step->>'actualNanoUsd')::bigint - v_hold.charged, 0, v_now
        );
        RETURN NEXT '"late"';
      END IF;

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

    WHEN 'renew' THEN
      UPDATE ${holds} SET lease_until_ms = greatest(lease_until_ms, v_now + (v_step->>'leaseMs')::bigint)
        WHERE ${ofWorkspace} AND ended_ms IS NULL
          AND id = ANY (ARRAY(SELECT value FROM jsonb_array_elements_text(v_step->'ids')));
      RETURN NEXT 'null';

    WHEN 'expire' THEN
      RETURN NEXT to_jsonb(${expire}(p_namespace, p_workspace, p_charges, v_now));

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

/** A statement that removes some of the old rows: there may be many after a quiet day. */
function sweep(table: string, isOld: string): string {
  return `DELETE FROM ${table}
      WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${ofWorkspace} AND ${isOld} LIMIT ${sweepBatch}));`;
}
