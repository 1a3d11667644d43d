/** From what was read, and data/drivers.yaml, to the mode of a class: each line with its source and how sure. Pure. */
import { driversCalled, type Driver, type DriverMode, type Sign } from '../scenario/index.ts';
import type { HowSure, Line, PredictedMode } from './certificate.ts';
import { isOwnTopology, type Facts, type NodeFacts } from './facts.ts';

export function predictDriver(facts: Facts): PredictedMode {
  const { lines, ...predicted } = documentedMode(facts);
  const known = [...classLines(facts), ...driverLines(facts), ...clusterLines(facts)];
  return { ...predicted, lines: [...known, ...lines] };
}

const line =
  (sure: HowSure) =>
  (what: string, found: string, source: string): Line => ({ what, found, source, sure });
const read = line('read');
const notFound = line('not found');
const because = line('documented');

function classLines({ storageClass }: Facts): Line[] {
  if (storageClass === undefined) return [];
  const { metadata, provisioner, reclaimPolicy, volumeBindingMode, mountOptions } = storageClass;
  const source = `StorageClass ${metadata?.name}`;
  return [
    read('provisioner', provisioner, source),
    read('parameters', pairsOf(storageClass).join(', ') || 'none', source),
    ...(mountOptions === undefined ? [] : [read('mount options', mountOptions.join(', '), source)]),
    read('reclaim policy', reclaimPolicy ?? 'Delete', source),
    read('binding', volumeBindingMode ?? 'Immediate', source),
  ];
}

const pairsOf = ({ parameters = {} }: Pick<Facts['storageClass'] & {}, 'parameters'>): string[] =>
  Object.entries(parameters).map(([key, value]) => `${key}=${value}`);

/** Arguments that change when or how a volume is detached. */
const tellingFlag =
  /^--?(timeout|reconcile-sync|worker-threads|disable-force-detach-on-timeout|terminated-pod-gc-threshold|feature-gates|node-monitor-grace-period)\b/;

function driverLines({ driver, csiDriver, driverPods }: Facts): Line[] {
  const { attachRequired, fsGroupPolicy, seLinuxMount } = csiDriver?.spec ?? {};
  const source = `CSIDriver ${driver}`;
  const containers = driverPods.flatMap(({ name, containers: all }) =>
    all.map(({ image, args }) => ({ name, image, args })),
  );
  return [
    ...(csiDriver === undefined
      ? []
      : [
          read('attach phase', attachRequired === false ? 'none' : 'yes', source),
          read('fsGroupPolicy', fsGroupPolicy ?? 'ReadWriteOnceWithFSType', source),
          read('seLinuxMount', String(seLinuxMount ?? false), source),
        ]),
    ...[...Map.groupBy(containers, ({ image }) => image)].map(([image, [first, ...same]]) => {
      const flags = first?.args.filter((each) => tellingFlag.test(each)) ?? [];
      const where = `pod ${first?.name} (${1 + same.length} in all)`;
      return read('runs', [image, ...flags].join(' '), where);
    }),
  ];
}

function clusterLines({ kubernetes, nodes, controllerManager, refused }: Facts): Line[] {
  const flags = controllerManager?.filter((each) => tellingFlag.test(each));
  const manager = 'kube-controller-manager';
  return [
    read('Kubernetes', kubernetes, 'version'),
    flags === undefined
      ? notFound(manager, 'its flags can not be read here', 'pods of kube-system')
      : read(manager, flags.join(' ') || 'no flag that matters', 'its pod'),
    ...[...Map.groupBy(nodes, machineOf)].map(([machine, same]) =>
      read(`node ${same.map(({ name }) => name).join(', ')}`, machine, 'Node'),
    ),
    ...refused.map(({ what, why }) => notFound(what, why, 'the API server')),
  ];
}

const machineOf = ({ kubelet, kernel, osImage, runtime, hasDriver }: NodeFacts): string =>
  `kubelet ${kubelet}, kernel ${kernel}, ${osImage}, ${runtime}` +
  (hasDriver ? '' : '; without the driver');

const page = 'data/drivers.yaml';
const ofOneNode =
  'no other node can reach it. Nothing is detached: wait for the node, or give the claim up and restore the data';

/** What the documents rest on. */
type DriverFacts = Pick<Facts, 'storageClass' | 'driver' | 'csiDriver' | 'nodes' | 'driverPods'>;

export function documentedMode(facts: DriverFacts): PredictedMode {
  const name = facts.storageClass?.provisioner ?? '';
  const rows = driversCalled(name);
  const row = rowThatCounts(rows, facts);
  return row === undefined ? withoutDocument(facts, name) : fromRow(facts, row, rows);
}

/** An opt-in row counts only where the cluster shows that it is on. */
function rowThatCounts(rows: readonly Driver[], facts: DriverFacts): Driver | undefined {
  const isOn = (row: Driver): boolean =>
    optIn(facts, row).length > 0 && !(isUnattached(facts) && isByDetach(row.mode));
  return rows.find(isOn) ?? rows.find(({ onlyIf }) => onlyIf === undefined) ?? rows[0];
}

/** What the cluster shows of a row that has to be switched on. */
const optIn = (facts: DriverFacts, { name, onlyIf }: Driver): Line[] =>
  onlyIf === undefined || onlyIf === 'unread'
    ? []
    : seenIn(facts, onlyIf).map((seen) => because(seen, `${name} is on`, sourceOf(facts, onlyIf)));

function fromRow(facts: DriverFacts, row: Driver, rows: readonly Driver[]): PredictedMode {
  const signs = row.signs.flatMap((sign) => seenIn(facts, sign).map((seen) => ({ ...sign, seen })));
  const signed = signs.findLast(({ mode }) => mode !== undefined)?.mode;
  const documented = signed === undefined ? row.mode : signed;
  const isNever = isUnattached(facts) && isByDetach(documented);
  const mode = isNever ? 'unfenced' : (documented ?? undefined);
  const sure = isNever ? 'inferred' : weakest(row.sure);
  const words = [row.name, row.note].filter(Boolean).join(', ');
  const found = isNever
    ? `unfenced. ${words}: the documents tell of a detach, and here nothing is attached, so none is ever asked for`
    : `${modeWords(mode)}. ${words}: ${row.detach}`;
  return {
    ...{ mode, sure },
    lines: [
      { what: 'predicted mode', found, source: page, sure },
      ...nameLines(facts, row),
      ...optIn(facts, row),
      ...signs.map((sign) => because(sign.seen, sign.says, sourceOf(facts, sign))),
      ...attachLines(facts, mode),
      ...rows
        .filter((other) => other !== row && other.onlyIf !== undefined)
        .map((other) => otherwise(other)),
    ],
  };
}

const modeWords = (mode: PredictedMode['mode']): string => {
  if (mode === undefined) return 'no document settles it; measure it with --run or --cut';
  return mode === 'local' ? `local: ${ofOneNode}` : mode;
};

/** A driver of which drivers.yaml has no row. */
function withoutDocument(facts: DriverFacts, name: string): PredictedMode {
  const only = (
    mode: PredictedMode['mode'],
    sure: HowSure,
    found: string,
    source: string,
  ): PredictedMode => ({ mode, sure, lines: [{ what: 'predicted mode', found, source, sure }] });
  const none = `no document about ${name || 'this class'}`;
  if (!isUnattached(facts)) {
    return only(undefined, 'not found', `${none}: only trials (--run) answer`, page);
  }
  const served = facts.nodes.filter(({ hasDriver }) => hasDriver);
  const isOwn = served.every((node) => node.topologyKeys.some((key) => isOwnTopology(node, key)));
  if (served.length > 0 && isOwn) {
    const found = `local: each node is a topology of its own, and nothing is attached: ${ofOneNode}`;
    return only('local', 'inferred', found, 'CSIDriver, CSINodes');
  }
  const found = `${none}, and nothing is ever attached: mostly these are volumes of one node, which no other node can reach; else they are files that all nodes share, or disks without any guard. Only its documentation tells`;
  return only(undefined, 'not found', found, 'CSIDriver');
}

/** Modes that rest on a call at the detach. */
const byDetach: readonly DriverMode[] = [
  ...(['fenced', 'ack-early', 'pending-while-busy', 'fence-if-out-of-service'] as const),
];
const isByDetach = (mode: DriverMode): boolean => byDetach.includes(mode);

const isUnattached = ({ csiDriver }: DriverFacts): boolean =>
  csiDriver?.spec.attachRequired === false;

/** Where the cluster's own CSIDriver is not what the row takes for granted. */
function attachLines(facts: DriverFacts, mode: PredictedMode['mode']): Line[] {
  if (facts.csiDriver === undefined || mode === 'local') return [];
  const isAttached = !isUnattached(facts);
  if (isAttached !== (mode === 'shared-file')) return [];
  const found = isAttached
    ? 'attachRequired: true: Kubernetes waits six minutes and keeps a second node away from a ReadWriteOnce claim, but the detach cuts no node off'
    : 'attachRequired: false: Kubernetes detaches nothing. There are no six minutes and no Multi-Attach check: the next pod mounts as soon as it has a node';
  return [read('attach phase', found, `CSIDriver ${facts.driver}`)];
}

/** Where the class gives another name than the row. */
function nameLines({ storageClass, driver }: DriverFacts, { csi }: Driver): Line[] {
  const name = storageClass?.provisioner ?? '';
  if (name !== driver) {
    return [because('name', `${name} is served by ${driver}, by CSI migration`, page)];
  }
  const ending = csi.find((known) => name !== known && name.endsWith(`.${known}`));
  if (ending === undefined || csi.includes(name)) return [];
  return [because('name', `${name} is read as ${ending} with a prefix`, page)];
}

function otherwise({ name, note, mode, onlyIf, sure }: Driver): Line {
  const why = onlyIf === 'unread' ? 'the probe does not read this' : 'not observed here';
  const words = [name, note].filter(Boolean).join(', ');
  const found = `${mode ?? 'no document settles it'} (${words}); ${why}`;
  return { what: 'would change it', found, source: page, sure: weakest(sure) };
}

/** What the cluster shows of a sign, as it stands there. */
function seenIn({ storageClass, driverPods }: DriverFacts, sign: Sign): string[] {
  const there = {
    parameters: () => pairsOf(storageClass ?? {}),
    mountOptions: () => storageClass?.mountOptions ?? [],
    driverPods: () =>
      driverPods.flatMap(({ containers }) => containers.flatMap(({ args }) => args)),
  }[sign.in]();
  return [...new Set(there.filter((each) => sign.matches.test(each)))];
}

const sourceOf = ({ storageClass, driverPods }: DriverFacts, sign: Sign): string =>
  sign.in === 'driverPods'
    ? `pod ${driverPods[0]?.name}`
    : `StorageClass ${storageClass?.metadata?.name}`;

const words = ['not found', 'reported', 'documented', 'source'] as const;

const weakest = (sure: string): HowSure => words.find((word) => sure.includes(word)) ?? 'not found';
