/** Differences between model and reality that are known, each with its reason. */

export interface ListedDifference {
  /** A phase, `A before B`, `A only real`, `A only model`, or `verdict X`. */
  readonly what: string;
  /** Names of runs it is about; every run where absent. */
  readonly runs?: readonly string[];
  /** A phase may take so long in reality and still be this difference, s. Default: without end. */
  readonly toS?: number;
  readonly why: string;
}

const busy =
  'the machine was busy (2 cores, up to five clusters side by side): the model has one of its own speed';
/** Those with a load of up to 90. */
const loaded = [
  'back-before-the-wait-is-over',
  'controller-restart-after-node-deletion',
  'controller-restart-at-force-detach',
];
const deletedNode =
  'the healed kubelet of a deleted Node did nothing until it was restarted 215 s, 181 s and 181 s later (three runs, cause not known); in the model it hears of its pods as any other';

export const listedDifferences: readonly ListedDifference[] = [
  { what: 'not-ready → no-execute', toS: 1, why: busy },
  { what: 'removal → pod-gone', runs: ['back-before-the-wait-is-over'], toS: 1, why: busy },
  // What the API tells came later than what the driver's own log did.
  { what: 'attach-answered before attach-asked', runs: ['node-crash'], why: busy },
  { what: 'stage-begun before listed', runs: ['partition-force-delete-unfenced'], why: busy },
  {
    ...{ what: 'no-execute → evicted', runs: ['partition-force-delete-unfenced'] },
    ...{ toS: 301, why: busy },
  },
  { what: 'stage-begun → staged', runs: ['controller-restart'], toS: 3, why: busy },
  // The pod was removed before it was marked.
  { what: 'victim-unready only model', runs: ['back-before-the-wait-is-over'], why: busy },
  { what: 'detach-asked → detach-answered', toS: 1, why: busy },
  // The detach took 1.04 s, and what came before it counts from its end.
  ...['detach-asked → detach-answered', 'detached → attach-asked'].map((what) => ({
    ...{ what, runs: ['controller-restart-after-node-deletion'], toS: 1.1, why: busy },
  })),
  { what: 'pod-gone → created', toS: 2, why: busy },
  { what: 'pod-gone → unlisted', runs: ['partition-out-of-service'], toS: 2, why: busy },
  { what: 'unlisted → detach-asked', toS: 1, why: busy },
  { what: 'no-schedule before victim-unready', runs: ['partition-none'], why: busy },
  // The certificate and the crash took 29 s, so that the boot came sooner after the removal.
  { what: 'pod-gone → unlisted', runs: ['reboot-before-force-detach'], why: busy },
  { what: 'stage-begun → staged', runs: loaded, toS: 3.5, why: busy },
  { what: 'running → serving', runs: ['partition-no-grace-period', ...loaded], toS: 72, why: busy },
  { what: 'unpublished → unstaged', runs: ['attacher-down-at-force-detach'], toS: 1.1, why: busy },
  ...['heal → ready-again', 'ready-again → untainted'].map((what) => ({
    ...{ what, runs: ['controller-restart-before-node-deletion'], why: deletedNode },
  })),
  {
    what: 'serving → ready',
    runs: ['partition-force-delete-fenced'],
    toS: 0.2,
    why: 'a probe found the server sooner than any does in the model, as in 6 of the 16 runs of untuned.yaml: the model’s probes are too regular',
  },
  {
    what: 'struck → not-ready',
    runs: ['reboot-at-force-detach'],
    why: 'the engine told of the kill 7 s after the victim’s mount was gone: the machine was busy',
  },
  ...[
    'heal → ready-again',
    'heal → unpublished',
    'ready-again before unpublished',
    'untainted before unpublished',
  ].map((what) => ({ what, runs: ['controller-restart-after-node-deletion'], why: deletedNode })),
  ...[
    'heal → ready-again',
    'ready-again → untainted',
    'heal → unpublished',
    ...['ready-again', 'untainted'].flatMap((step) => [
      `${step} before unpublished`,
      `${step} before unstaged`,
    ]),
  ].map((what) => ({ what, runs: ['partition-delete-node'], why: deletedNode })),
  ...['removed', 'evicted', 'pod-gone'].map((step) => ({
    ...{ what: `detach-answered before ${step}`, runs: ['hang-dap'] },
    why: 'from the attachment to the pod a remedy took a quarter of a second, and the attacher was faster; a call of the model takes some milliseconds',
  })),
  {
    what: 'untainted before not-in-use',
    runs: ['shut0', '1.34-crash', '1.36-crash'],
    why: 'the first report of a kubelet that began kept the list of before, since its volume manager had not read the disk (StatesHasBeenSynced): the next came 10 s later; in the model the first one has it',
  },
  {
    what: 'heal → unpublished',
    runs: ['stale-global-mount'],
    why: 'the victim’s mysqld ended of the damage 2.3 s after the heal (a redo log file had gone under it), so that nobody waited for its preStop hook; in the model a victim serves until it is stopped',
  },
];

export interface FoundDifference {
  readonly what: string;
  readonly run: string;
  /** Seconds that a phase took in the run. */
  readonly realS?: number;
}

/** Why this difference is no news; undefined where it is. */
export const reasonFor = (
  { what, run, realS }: FoundDifference,
  listed: readonly ListedDifference[] = listedDifferences,
): string | undefined =>
  listed.find(
    (entry) =>
      entry.what === what &&
      (entry.runs === undefined || entry.runs.includes(run)) &&
      (entry.toS === undefined || realS === undefined || realS <= entry.toS),
  )?.why;
