/**
 * The lab of two machines as a testbed: a new volume on the array, a victim and a successor with a
 * path of their own to it, and no Kubernetes.
 */
import type { RealClock } from '../../lib/core/index.ts';
import { observeMachine } from '../../lib/kind/index.ts';
import type { Closes, CommonTestbed, Testbed, TestbedOptions, Disk } from '../../lib/run/index.ts';
import type { CaseRecord } from '../../lib/history/index.ts';
import { LabClient } from './client.ts';
import type { DiskLab } from './disk-lab.ts';
import { labObserved } from './observations.ts';
import { nodeNames, type ComparedFilesystem, type Host, type Node, type NodeName } from './host.ts';
import { LabSide } from './side.ts';

export interface LabTestbed
  extends CommonTestbed,
    Closes,
    Pick<Testbed, 'auditor' | 'removeDatabase'>,
    Readonly<Record<NodeName, LabSide>> {
  readonly disk: Pick<Disk, 'copy'>;
  /** Puts on record that a step begins, and what each side has done by then. */
  onStep(step: string): Promise<void>;
}

export interface LabTestbedOptions extends Omit<TestbedOptions, 'database' | 'scenario' | 'runId'> {
  readonly lab: DiskLab;
  readonly host: Host;
  /** Its name was never used before. */
  readonly volume: string;
  readonly filesystem: ComparedFilesystem;
  readonly settings: CaseRecord['scenario'];
  readonly clock: RealClock;
}

/** Undone where it fails half-way. */
export async function openLabTestbed(options: LabTestbedOptions): Promise<LabTestbed> {
  const { lab, host, volume, seed, clock, recorder, settings, onProgress, signal } = options;
  const { array } = lab;
  await using opening = new AsyncDisposableStack();
  onProgress('a new volume');
  await lab.newVolume(volume, options.filesystem);
  opening.defer(() => lab.removeVolume(volume));
  onProgress('two nodes');
  const machines = opening.use(new AsyncDisposableStack());
  const start = async (name: NodeName): Promise<Node> => {
    signal.throwIfAborted();
    return machines.use(await host.start(name));
  };
  const nodes = { victim: await start('victim'), successor: await start('successor') };
  // What a held path has in hand must go before its node can.
  machines.defer(async () => {
    for (const node of nodeNames) await array.link({ node, state: 'pass' });
  });
  const onStep = async (step: string): Promise<void> => {
    onProgress(step);
    const t = clock.nowMs();
    const acked = { victim: victim.client.acked, successor: successor.client.acked };
    const bytesWritten = { victim: 0, successor: 0 };
    for (const { generation, bytesWritten: bytes } of await array.status(volume)) {
      bytesWritten[generation === 1 ? 'victim' : 'successor'] += bytes;
    }
    const data = { step, acked, bytesWritten };
    recorder.record({ type: 'note', t, source: 'lab', name: labObserved.step, data });
  };
  const side = (name: NodeName, generation: number): LabSide => {
    const node = nodes[name];
    const client = new LabClient({ ...options, ...settings.load, node });
    const { trxCommit } = settings.database;
    const loop = lab.lease.loops[name];
    return new LabSide({ ...options, array, trxCommit, node, generation, loop, client, onStep });
  };
  const [victim, successor] = [side('victim', 1), side('successor', 2)];
  const kernels = Object.entries(nodes).map(([name, { kernel }]) => [`kernel ${name}`, kernel]);
  const identity = await lab.identify(volume);
  const opened = opening.move();
  return {
    clock,
    versions: Object.fromEntries(kernels) as Readonly<Record<string, string>>,
    nodes: nodeNames,
    volume: identity,
    victim,
    successor,
    disk: { copy: (label, _paused, aborted) => lab.copy(volume, label, aborted) },
    auditor: lab.auditor(seed),
    onStep,
    observe(to) {
      const observers = new AsyncDisposableStack();
      observers.use(observeMachine(to));
      return Promise.resolve(observers);
    },
    removeDatabase: () => machines.disposeAsync(),
    close: () => opened.disposeAsync(),
  };
}
