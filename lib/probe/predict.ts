/** From what was read to the mode that is to be expected, each line with its source and how sure. */
import { allDrivers } from '../storage/drivers.ts';
import type { DiskMode } from '../disk-modes/index.ts';
import type { Facts, NodeFacts } from './facts.ts';

export interface Line {
  readonly what: string;
  readonly found: string;
  /** Where it was read, or on what it rests. */
  readonly source: string;
  readonly sure: HowSure;
}

export interface DriverPrediction {
  /** Undefined where nothing is known of the driver. A prediction, no measurement. */
  readonly mode: DiskMode | 'local' | undefined;
  readonly sure: HowSure;
  readonly lines: readonly Line[];
}

const page = 'docs/reference/drivers.yaml';

export function predictDriver(facts: Facts): DriverPrediction {
  const { storageClass, csiDriver } = facts;
  const driver = storageClass?.provisioner ?? '';
  const lines = [...classLines(facts), ...driverLines(facts), ...clusterLines(facts)];
  if ((localProvisioners as readonly string[]).includes(driver)) {
    const found = 'a volume of one node: no other node can ever mount it, nothing is detached';
    lines.push({ what: 'predicted mode', found, source: page, sure: 'documented' });
    return { mode: 'local', sure: 'documented', lines };
  }
  const known = knownDriver(driver);
  if (known !== undefined) {
    const found = `${known.mode}: ${known.note}`;
    lines.push({ what: 'predicted mode', found, source: page, sure: known.sure });
    return { mode: known.mode, sure: known.sure, lines };
  }
  if (csiDriver?.spec.attachRequired === false) {
    const found = 'shared-file, or a disk without any guard: nothing is ever attached';
    lines.push({ what: 'predicted mode', found, source: 'CSIDriver', sure: 'inferred' });
    return { mode: 'shared-file', sure: 'inferred', lines };
  }
  const found = `nothing is known of ${driver || 'this class'}: only trials tell`;
  lines.push({ what: 'predicted mode', found, source: page, sure: 'not found' });
  return { mode: undefined, sure: 'not found', lines };
}

const read = (what: string, found: string, source: string): Line => ({
  ...{ what, found, source, sure: 'read' },
});

function classLines({ storageClass }: Facts): Line[] {
  if (storageClass === undefined) return [];
  const { metadata, provisioner, reclaimPolicy, volumeBindingMode } = storageClass;
  const source = `StorageClass ${metadata?.name}`;
  const parameters = Object.entries(storageClass.parameters ?? {});
  return [
    read('provisioner', provisioner, source),
    read(
      'parameters',
      parameters.map(([key, value]) => `${key}=${value}`).join(', ') || 'none',
      source,
    ),
    read('reclaim policy', reclaimPolicy ?? 'Delete', source),
    read('binding', volumeBindingMode ?? 'Immediate', source),
  ];
}

/** Arguments that change when or how a volume is detached. */
const tellingFlag =
  /^--?(timeout|reconcile-sync|worker-threads|disable-force-detach-on-timeout|terminated-pod-gc-threshold|feature-gates|node-monitor-grace-period)\b/;

function driverLines({ storageClass, csiDriver, driverPods }: Facts): Line[] {
  const name = storageClass?.provisioner ?? '';
  const source = `CSIDriver ${name}`;
  const lines =
    csiDriver === undefined
      ? []
      : [
          read('attach phase', csiDriver.spec.attachRequired === false ? 'none' : 'yes', source),
          read('fsGroupPolicy', csiDriver.spec.fsGroupPolicy ?? 'ReadWriteOnceWithFSType', source),
          read('seLinuxMount', String(csiDriver.spec.seLinuxMount ?? false), source),
        ];
  const containers = new Map<
    string,
    { readonly pods: string[]; readonly args: readonly string[] }
  >();
  for (const pod of driverPods) {
    for (const { image, args } of pod.containers) {
      const same = containers.get(image) ?? { pods: [], args };
      same.pods.push(pod.name);
      containers.set(image, same);
    }
  }
  for (const [image, { pods, args }] of containers) {
    const flags = args.filter((each) => tellingFlag.test(each));
    lines.push(read('runs', [image, ...flags].join(' '), `pod ${pods[0]} (${pods.length} in all)`));
  }
  return lines;
}

function clusterLines({ kubernetes, nodes, controllerManager, refused }: Facts): Line[] {
  const flags = controllerManager?.filter((each) => tellingFlag.test(each));
  return [
    read('Kubernetes', kubernetes, 'version'),
    flags === undefined
      ? {
          ...{ what: 'kube-controller-manager', found: 'its flags can not be read here' },
          ...{ source: 'pods of kube-system', sure: 'not found' as const },
        }
      : read('kube-controller-manager', flags.join(' ') || 'no flag that matters', 'its pod'),
    ...[...Map.groupBy(nodes, machineOf)].map(([machine, same]) =>
      read(`node ${same.map(({ name }) => name).join(', ')}`, machine, 'Node'),
    ),
    ...refused.map(({ what, why }) => ({
      ...{ what, found: why, source: 'the API server', sure: 'not found' as const },
    })),
  ];
}

const machineOf = ({ kubelet, kernel, osImage, runtime, hasDriver }: NodeFacts): string =>
  `kubelet ${kubelet}, kernel ${kernel}, ${osImage}, ${runtime}` +
  (hasDriver ? '' : '; without the driver');

/** `read`: it was looked up on this cluster. The others are words of that page. */
export const howSure = [
  'read',
  'source',
  'documented',
  'reported',
  'not found',
  'inferred',
] as const;
type HowSure = (typeof howSure)[number];

interface KnownDriver {
  readonly mode: DiskMode;
  readonly sure: HowSure;
  readonly note: string;
}

/** Finds the driver in docs/reference/drivers.yaml, by the name that it registers; where the page has several rows for one driver, the first, and the others' modes. */
function knownDriver(name: string): KnownDriver | undefined {
  const rows = allDrivers().filter(({ csi }) => csi.some((known) => isCalled(name, known)));
  const [first] = rows;
  if (first === undefined || first.mode === null) return undefined;
  const others = rows.slice(1).map((row) => `${row.mode ?? 'none'} (${row.name})`);
  const also = others.length === 0 ? '' : `; or, by its settings or history, ${others.join(', ')}`;
  return {
    mode: first.mode,
    sure: weakest(first.sure),
    note: `${[first.name, first.note].filter(Boolean).join(', ')}: ${first.detach}${also}`,
  };
}

const isCalled = (name: string, known: string): boolean =>
  known.endsWith('*') ? name.startsWith(known.slice(0, -1)) : name === known;

const words = ['not found', 'reported', 'documented', 'source'] as const;

/** The page names each source of a claim; the weakest one counts. */
const weakest = (sure: string): HowSure => words.find((word) => sure.includes(word)) ?? 'not found';

/** Volumes of one node: no other can ever have them. */
export const localProvisioners = ['kubernetes.io/no-provisioner', 'rancher.io/local-path'] as const;
