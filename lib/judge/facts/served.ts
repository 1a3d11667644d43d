/** Which server acknowledged commits, and answered outside clients, when: in tenths of a second. */
import {
  type ClientAnswer,
  type Meter,
  type ServerIdentity,
  sessionKey,
} from '../../history/index.ts';
import { isDirectory } from '../../scenario/index.ts';
import type { AckedBy } from '../timeline/access.ts';
import type { Story } from '../timeline/story.ts';

/** One start of one pod's server. Of times one for each tenth of a second is kept, and of these all. */
export interface Served {
  readonly server: ServerIdentity;
  /** Commits that it acknowledged, to any client. */
  readonly ackedMs: readonly number[];
  /** Whatever it answered a client outside, an opened session as well. */
  readonly outsideMs: readonly number[];
}

interface Serving {
  readonly server: ServerIdentity;
  readonly ackedMs: number[];
  readonly outsideMs: number[];
}

/** Fed answers in time order, one pass. */
export function servedMeter(): Meter<Served[]> {
  const sessions = new Map<string, Serving>();
  const servers: Serving[] = [];
  const servingOf = (server: ServerIdentity): Serving => {
    const known = servers.find((each) => isSame(each.server, server));
    if (known !== undefined) return known;
    const serving = { server, ackedMs: [], outsideMs: [] };
    servers.push(serving);
    return serving;
  };
  return {
    see(answer) {
      const serving =
        answer.type === 'outcome'
          ? sessions.get(sessionKey(answer))
          : answer.server && servingOf(answer.server);
      if (serving === undefined) return;
      if (answer.type === 'session') sessions.set(sessionKey(answer), serving);
      const isAck = answer.type === 'outcome' && answer.outcome === 'ok';
      if (isAck) keep(serving.ackedMs, answer.t);
      if (isOutside(answer) && (isAck || answer.type !== 'outcome'))
        keep(serving.outsideMs, answer.t);
    },
    result: () => servers,
  };
}

const isOutside = ({ client }: ClientAnswer): boolean => client === 'outside';

/** A server's start is known to the second. */
const isSame = (one: ServerIdentity, other: ServerIdentity): boolean =>
  one.podUid === other.podUid &&
  one.node === other.node &&
  Math.abs(one.startedAtS - other.startedAtS) <= 1;

function keep(times: number[], atMs: number): void {
  if (atMs >= (times.at(-1) ?? Number.NEGATIVE_INFINITY) + 100) times.push(atMs);
}

/** Acknowledgements that stand for a flush which the disk has answered. */
export function flushedAcks(
  { scenario, database }: Story,
  served: readonly Served[],
): readonly AckedBy[] {
  const { disk } = scenario;
  const isFlushed =
    database.durability.keepsAll(scenario.database) &&
    disk.flushes === 'honest' &&
    !isDirectory(disk.mode);
  return isFlushed
    ? served.map(({ server, ackedMs }) => ({ node: server.node, atMs: ackedMs }))
    : [];
}
