/** Which server acknowledged commits, and answered outside clients, when: in tenths of a second. */
import type { ClientAnswer, ServerIdentity } from '../../history/index.ts';
import { isDirectory } from '../../scenario/index.ts';
import { type Meter, isOneServer } from '../timeline/clients.ts';
import type { Story } from '../timeline/story.ts';

/** One start of one pod's server. Of times one for each tenth of a second is kept, and of these all. */
export interface Served {
  readonly server: ServerIdentity;
  /** Commits that it acknowledged, to any client. */
  readonly ackedMs: readonly number[];
  /** Whatever it answered a client outside, an opened session as well. */
  readonly outsideMs: readonly number[];
}

export function servedMeter(): Meter<Served[]> {
  const servers: { server: ServerIdentity; ackedMs: number[]; outsideMs: number[] }[] = [];
  return {
    see(answer, server) {
      if (server === undefined) return;
      let own = servers.find((each) => isOneServer(each.server, server));
      if (own === undefined) servers.push((own = { server, ackedMs: [], outsideMs: [] }));
      const isAck = answer.type === 'outcome' && answer.outcome === 'ok';
      if (isAck) keep(own.ackedMs, answer.t);
      if (isOutside(answer) && (isAck || answer.type !== 'outcome')) keep(own.outsideMs, answer.t);
    },
    result: () => servers,
  };
}

const isOutside = ({ client }: ClientAnswer): boolean => client === 'outside';

function keep(times: number[], atMs: number): void {
  if (atMs >= (times.at(-1) ?? Number.NEGATIVE_INFINITY) + 100) times.push(atMs);
}

/** One server's acknowledgements, in order of time. */
export interface AckedBy {
  readonly node: string;
  readonly atMs: readonly number[];
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
