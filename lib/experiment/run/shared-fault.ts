/**
 * A testbed whose node several runs break together: what breaks or mends the node is done once, when
 * all of them are there; what concerns one volume or one pod stays each run's own.
 */
import type { Backend, Kubernetes, Machine, Testbed } from '../../cluster/port.ts';
import type { Gate, Barrier } from '../../cluster/barrier.ts';
import type { Disk, Proof } from '../../storage/port.ts';

type Method = (...args: readonly unknown[]) => Promise<unknown>;

/**
 * Whose a call is. Made once for all: at the gate that it waits at, or `once` where it mends, since the
 * runs meet before they heal. A `question` is shared while it is under way. `own`: each run's.
 */
type HowShared = Gate | 'once' | 'question' | 'own';

type Calls<T> = { [K in keyof T]: T[K] extends (...args: never[]) => unknown ? K : never }[keyof T];
/** Every call, so that a new one is decided on when it comes. */
type Sharing<T> = Readonly<Record<Calls<T>, HowShared>>;

const ofMachine: Sharing<Machine> = {
  freeze: 'break',
  disconnect: 'break',
  isolate: 'break',
  stall: 'break',
  restartKubelet: 'break',
  throttle: 'break',
  // A crash has cut every run's volume before it kills the node.
  kill: 'kill',
  thaw: 'once',
  start: 'once',
  reconnect: 'once',
  rejoin: 'once',
  resume: 'once',
  unthrottle: 'once',
  // Eight runs that all ask at once make each other late. They ask as often as they last.
  reachesApi: 'question',
  reachedFromOutside: 'question',
  state: 'question',
  stalled: 'question',
  throttled: 'question',
  // Such a fault has an event to itself (lib/matrix/events.ts).
  killServer: 'own',
};

const ofKubernetes: Sharing<Kubernetes> = {
  taint: 'once',
  deleteNode: 'once',
  drain: 'once',
  uncordon: 'once',
  untaint: 'once',
  hasNode: 'question',
  isReady: 'question',
  databasePod: 'own',
  databaseContainer: 'own',
  forceDelete: 'own',
  deletePod: 'own',
  stripPodFinalizers: 'own',
  // Those of its own volume.
  deleteAttachments: 'own',
  // Such a fault has an event to itself.
  annotateLease: 'own',
  leaseAnnotation: 'own',
};

/** A backend whose testbeds are shared so. */
export const underOneFault = (backend: Backend, barrier: Barrier): Backend => ({
  ...backend,
  open: async (request) => shareFault(await backend.open(request), barrier),
});

/** Closing leaves the event: nobody waits for this run any more. */
export const shareFault = (testbed: Testbed, barrier: Barrier): Testbed => ({
  ...testbed,
  disk: {
    ...testbed.disk,
    ...breaking(testbed.disk, barrier),
    // Several at once fill the memory with pages, and the runner's timers wait until some is free.
    copy: (label, freeze, signal) =>
      barrier.inTurn('copy', () => testbed.disk.copy(label, freeze, signal)),
  },
  kubernetes: shareCalls(testbed.kubernetes, 'kubernetes', ofKubernetes, barrier),
  machine: (node) => ({
    node,
    ...shareCalls<Machine>(testbed.machine(node), node, ofMachine, barrier),
  }),
  // They mount their copies with the same loop device, that of the event's pool.
  auditor: {
    audit: (image, onRow, signal) =>
      barrier.inTurn('audit', () => testbed.auditor.audit(image, onRow, signal)),
  },
  async close() {
    try {
      await testbed.close();
    } finally {
      barrier.leave();
    }
  },
});

/** What breaks a node's way to its own volume is each run's, once all have come. */
function breaking({ losePower, sever }: Disk, barrier: Barrier): Partial<Disk> {
  const broken = <Words extends readonly unknown[]>(
    verb: (...words: Words) => Promise<Proof>,
  ): ((...words: Words) => Promise<Proof>) => {
    return async (...words) => {
      await barrier.pass('break');
      return verb(...words);
    };
  };
  return {
    ...(losePower === undefined ? {} : { losePower: broken(losePower) }),
    ...(sever === undefined ? {} : { sever: broken(sever) }),
  };
}

function shareCalls<T extends object>(
  target: T,
  owner: string,
  sharing: Sharing<T>,
  barrier: Barrier,
): Pick<T, Calls<T>> {
  const share = (name: string, how: HowShared): Method => {
    const call: Method = (...args) => (Reflect.get(target, name) as Method).call(target, ...args);
    if (how === 'own') return call;
    return async (...args) => {
      const key = `${owner} ${name} ${JSON.stringify(args)}`;
      if (how === 'question') return barrier.together(key, () => call(...args));
      if (how !== 'once') await barrier.pass(how);
      return barrier.once(key, () => call(...args));
    };
  };
  const calls = Object.entries<HowShared>(sharing).map(([name, how]) => [name, share(name, how)]);
  return Object.fromEntries(calls) as Pick<T, Calls<T>>;
}
