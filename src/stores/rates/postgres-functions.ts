import { type Definition, defineFunction, lockFor, type PostgresNames } from '../storage/postgres/sql.ts';
import { mostParts, mostSkewMs, partsPerUnit } from './bucket.ts';
import { expireBatch } from './rates.ts';

/** The names of the tables and of the function, quoted for SQL. */
export interface RateNames {
  buckets: string;
  calls: string;
  /** A changed text needs a new number in the name: old and new processes may run at the same time. */
  step: string;
}

export function rateNames(names: PostgresNames): RateNames {
  return { buckets: names.of('rates'), calls: names.of('calls'), step: names.of('rate_1') };
}

/** The most old rows that one step removes: more than a step adds. */
const sweepBatch = 50;

/**
 * The unit to which the time for dropping a row is rounded up. An index has that time, and most updates must not change
 * an index.
 */
const dropEveryMs = 600_000;

const ofWorkspace = 'namespace = p_namespace AND workspace = p_workspace';

/**
 * The tables and the function. The tables are unlogged: no step waits for a disk. After a crash of the server, the
 * minute begins anew.
 *
 * Parts are double precision, as everywhere: whole numbers below 2^53, and no overflow beyond.
 */
export function defineRates(names: PostgresNames): Definition[] {
  const { buckets, calls, step } = rateNames(names);
  const keys = (...columns: string[]) => columns.map((column) => `${column} text COLLATE "C" NOT NULL`).join(', ');
  return [
    {
      kind: 'table',
      name: buckets,
      text: [
        `CREATE UNLOGGED TABLE ${buckets} (
          ${keys('namespace', 'workspace', 'account')},
          requests double precision NOT NULL,
          tokens double precision NOT NULL,
          in_flight integer NOT NULL,
          at_ms bigint NOT NULL,
          drop_at_ms bigint NOT NULL,
          PRIMARY KEY (namespace, workspace, account)
        ) WITH (fillfactor = 50)`,
        `CREATE INDEX ${names.index('rates_drop')} ON ${buckets} (namespace, workspace, drop_at_ms)`,
      ],
    },
    {
      kind: 'table',
      name: calls,
      text: [
        `CREATE UNLOGGED TABLE ${calls} (
          ${keys('namespace', 'workspace', 'account', 'id')},
          lease_until_ms bigint NOT NULL,
          PRIMARY KEY (namespace, workspace, account, id)
        )`,
        `CREATE INDEX ${names.index('calls_lease')} ON ${calls} (namespace, workspace, lease_until_ms)`,
      ],
    },

    // Takes several steps, runs them one after the other, and returns a result for each.
    defineFunction({
      name: step,
      parameters: 'p_namespace text, p_workspace text, p_steps jsonb',
      returns: 'SETOF jsonb',
      body: `DECLARE
  v_step jsonb;
  v_now bigint;
  v_kind text;
  v_tokens double precision;
  v_further boolean;
  v_fits boolean;
  v_one jsonb;
  v_rpm double precision;
  v_tpm double precision;
  v_bucket record;
  v_at bigint;
  v_elapsed double precision;
  v_requests double precision;
  v_left double precision;
  v_in_flight integer;
  v_states jsonb;
  v_place text;
  v_is_new boolean;
BEGIN
  ${lockFor(names, `'rates', p_namespace, p_workspace`)}
  FOR v_step IN SELECT value FROM jsonb_array_elements(p_steps) LOOP
    v_now := coalesce((v_step->>'nowMs')::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
    v_kind := v_step->>'kind';

    IF v_kind = 'renew' THEN
      FOR v_place IN SELECT value FROM jsonb_array_elements_text(v_step->'places') LOOP
        UPDATE ${calls} SET lease_until_ms = greatest(lease_until_ms, v_now + (v_step->>'leaseMs')::bigint)
          WHERE ${ofWorkspace} AND account = split_part(v_place, ' ', 1) AND id = split_part(v_place, ' ', 2)
            AND lease_until_ms > v_now;
      END LOOP;
      RETURN NEXT 'null';
      CONTINUE;
    ELSIF v_kind = 'forget' THEN
      DELETE FROM ${buckets} WHERE ${ofWorkspace};
      DELETE FROM ${calls} WHERE ${ofWorkspace};
      RETURN NEXT 'null';
      CONTINUE;
    END IF;

    -- Calls whose lease has ended.
    PERFORM FROM ${calls} WHERE ${ofWorkspace} AND lease_until_ms <= v_now LIMIT 1;
    IF FOUND AND v_kind <> 'read' THEN
      WITH lost AS (
        DELETE FROM ${calls} WHERE ctid = ANY (ARRAY(
          SELECT ctid FROM ${calls} WHERE ${ofWorkspace} AND lease_until_ms <= v_now
            ORDER BY lease_until_ms LIMIT ${expireBatch}
        )) RETURNING account
      ), counted AS (SELECT account, count(*)::integer AS ended FROM lost GROUP BY account)
      UPDATE ${buckets} AS b SET in_flight = b.in_flight - counted.ended FROM counted
        WHERE b.namespace = p_namespace AND b.workspace = p_workspace AND b.account = counted.account;
    END IF;

    v_tokens := coalesce((v_step->>'tokens')::double precision, 0);
    v_further := coalesce((v_step->>'isFurther')::boolean, false);
    v_fits := v_kind = 'admit';
    -- The first round looks, the second one takes.
    FOR v_round IN 1..2 LOOP
      v_states := '[]';
      FOR v_one IN SELECT value FROM jsonb_array_elements(v_step->'accounts') LOOP
        v_rpm := v_one->>'requestsPerMinute';
        v_tpm := v_one->>'tokensPerMinute';
        SELECT requests, tokens, in_flight, at_ms INTO v_bucket FROM ${buckets}
          WHERE ${ofWorkspace} AND account = v_one->>'account';
        v_at := greatest(v_now, coalesce(v_bucket.at_ms, v_now));
        IF v_bucket.at_ms - v_now > ${mostSkewMs} THEN v_at := v_now; END IF;
        v_elapsed := greatest(0, v_at - coalesce(v_bucket.at_ms, v_at));
        v_requests := CASE WHEN v_rpm IS NULL THEN 0
          ELSE greatest(0, coalesce(v_bucket.requests, 0) - v_rpm * v_elapsed) END;
        v_left := CASE WHEN v_tpm IS NULL THEN 0
          ELSE greatest(0, coalesce(v_bucket.tokens, 0) - v_tpm * v_elapsed) END;
        v_in_flight := coalesce(v_bucket.in_flight, 0);
        IF v_kind = 'read' THEN
          v_in_flight := v_in_flight - (SELECT count(*) FROM ${calls}
            WHERE ${ofWorkspace} AND account = v_one->>'account' AND lease_until_ms <= v_now);
        END IF;

        IF v_kind = 'admit' AND v_round = 1 THEN
          IF v_left + v_tokens * ${partsPerUnit} > v_tpm * ${partsPerUnit} THEN v_fits := false; END IF;
          IF NOT v_further AND (v_requests + ${partsPerUnit} > v_rpm * ${partsPerUnit}
            OR v_in_flight >= (v_one->>'requestsInFlight')::integer) THEN v_fits := false; END IF;
        ELSIF v_kind = 'end' AND v_round = 1 THEN
          DELETE FROM ${calls} WHERE ${ofWorkspace} AND account = v_one->>'account' AND id = v_step->>'id';
          IF NOT FOUND THEN CONTINUE; END IF;
          v_in_flight := v_in_flight - 1;
          v_left := CASE WHEN v_tpm IS NULL THEN 0
            ELSE least(${mostParts}, greatest(0, v_left + v_tokens * ${partsPerUnit})) END;
        ELSIF v_kind = 'admit' THEN
          IF v_rpm IS NOT NULL AND NOT v_further THEN v_requests := v_requests + ${partsPerUnit}; END IF;
          IF v_tpm IS NOT NULL THEN v_left := least(${mostParts}, v_left + v_tokens * ${partsPerUnit}); END IF;
          IF (v_one->>'countsCalls')::boolean AND NOT v_further THEN
            v_in_flight := v_in_flight + 1;
            INSERT INTO ${calls} (namespace, workspace, account, id, lease_until_ms)
              VALUES (p_namespace, p_workspace, v_one->>'account', v_step->>'id',
                v_now + (v_step->>'leaseMs')::bigint);
          END IF;
        END IF;
        v_states := v_states || jsonb_build_object('requests', v_requests, 'tokens', v_left, 'inFlight', v_in_flight);

        IF (v_kind = 'admit' AND v_round = 2) OR v_kind = 'end' THEN
          INSERT INTO ${buckets} AS b (namespace, workspace, account, requests, tokens, in_flight, at_ms, drop_at_ms)
            VALUES (p_namespace, p_workspace, v_one->>'account', v_requests, v_left, v_in_flight, v_at,
              ceil((v_at + greatest(coalesce(v_requests / v_rpm, 0), coalesce(v_left / v_tpm, 0))) / ${dropEveryMs})
                * ${dropEveryMs})
            ON CONFLICT (namespace, workspace, account) DO UPDATE SET requests = excluded.requests,
              tokens = excluded.tokens, in_flight = excluded.in_flight, at_ms = excluded.at_ms,
              drop_at_ms = excluded.drop_at_ms
            RETURNING b.xmax = 0 INTO v_is_new;
          IF v_is_new THEN
            DELETE FROM ${buckets} WHERE ctid = ANY (ARRAY(
              SELECT ctid FROM ${buckets} WHERE ${ofWorkspace} AND drop_at_ms <= v_now AND in_flight = 0
                LIMIT ${sweepBatch}
            ));
          END IF;
        END IF;
      END LOOP;
      EXIT WHEN NOT v_fits;
    END LOOP;

    IF v_kind = 'admit' THEN
      RETURN NEXT jsonb_build_object('isAdmitted', v_fits, 'states', v_states);
    ELSE
      RETURN NEXT v_states;
    END IF;
  END LOOP;
END`,
    }),
  ];
}
