/**
 * A testbed whose node several runs break together: what breaks or mends the node is done once, when
 * all of them are there; what concerns one volume or one pod stays each run's own.
 */
import type { Kubernetes, Machine, Testbed } from './port.ts';
import type { Gate, Party } from './rendezvous.ts';

type Method = (...args: readonly unknown[]) => Promise<unknown>;

/**
 * Made once for all: the gate that a call waits at, or none where it mends, since the runs meet before
 * they heal. A question is shared while it is under way.
 */
type Shared = Gate | 'none' | 'question';

const ofMachine: Readonly<Partial<Record<keyof Machine, Shared>>> = {
  freeze: 'break',
  disconnect: 'break',
  isolate: 'break',
  stall: 'break',
  restartKubelet: 'break',
  throttle: 'break',
  // A crash has cut every run's volume before it kills the node.
  kill: 'kill',
  thaw: 'none',
  start: 'none',
  reconnect: 'none',
  rejoin: 'none',
  resume: 'none',
  unthrottle: 'none',
  // Eight runs that all ask at once make each other late. They ask as often as they last.
  reachesApi: 'question',
  reachedFromOutside: 'question',
};

const ofKubernetes: Readonly<Partial<Record<keyof Kubernetes, 'none'>>> = {
  taint: 'none',
  deleteNode: 'none',
  drain: 'none',
  uncordon: 'none',
  untaint: 'none',
};

/** Closing leaves the event: nobody waits for this run any more. */
export function shareFault(testbed: Testbed, party: Party): Testbed {
  return {
    ...testbed,
    disk: {
      ...testbed.disk,
      async losePower(node, canary) {
        await party.pass('break');
        return testbed.disk.losePower(node, canary);
      },
      async sever(node, how) {
        await party.pass('break');
        return testbed.disk.sever(node, how);
      },
      // Several at once fill the memory with pages, and the runner's timers wait until some is free.
      copy: (label, freeze, signal) =>
        party.inTurn('copy', () => testbed.disk.copy(label, freeze, signal)),
    },
    kubernetes: shareCalls(testbed.kubernetes, 'kubernetes', ofKubernetes, party),
    machine: (node) => shareCalls(testbed.machine(node), node, ofMachine, party),
    // They mount their copies with the same loop device, that of the event's pool.
    auditor: {
      audit: (image, onRow, signal) =>
        party.inTurn('audit', () => testbed.auditor.audit(image, onRow, signal)),
    },
    async close() {
      try {
        await testbed.close();
      } finally {
        party.leave();
      }
    },
  };
}

function shareCalls<T extends object>(
  target: T,
  owner: string,
  shared: Readonly<Partial<Record<keyof T, Shared>>>,
  party: Party,
): T {
  return new Proxy(target, {
    get(object, name) {
      const value: unknown = Reflect.get(object, name, object);
      if (typeof value !== 'function') return value;
      const call = (value as Method).bind(object);
      const gate = shared[name as keyof T];
      if (gate === undefined) return call;
      return async (...args: readonly unknown[]) => {
        const key = `${owner} ${String(name)} ${JSON.stringify(args)}`;
        if (gate === 'question') return party.together(key, () => call(...args));
        if (gate !== 'none') await party.pass(gate);
        return party.once(key, () => call(...args));
      };
    },
  });
}
