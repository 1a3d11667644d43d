/** From data/drivers.yaml and what the cluster shows to the mode of a class. Pure. */
import { driversCalled, type Driver, type DriverMode, type Sign } from '../storage/drivers.ts';
import type { Facts } from './facts.ts';
import type { HowSure, Line } from './line.ts';
import { isOwnTopology } from './topology.ts';

export interface PredictedMode {
  /** Undefined where no document settles it. A prediction, no measurement. */
  readonly mode: NonNullable<DriverMode> | undefined;
  readonly sure: HowSure;
  readonly lines: readonly Line[];
}

const page = 'data/drivers.yaml';
const ofOneNode =
  'no other node can reach it. Nothing is detached: wait for the node, or give the claim up and restore the data';

export function documentedMode(facts: Facts): PredictedMode {
  const name = facts.storageClass?.provisioner ?? '';
  const rows = driversCalled(name);
  const row = rowThatCounts(rows, facts);
  return row === undefined ? withoutDocument(facts, name) : fromRow(facts, row, rows);
}

/** An opt-in row counts only where the cluster shows that it is on. */
function rowThatCounts(rows: readonly Driver[], facts: Facts): Driver | undefined {
  const isOn = ({ onlyIf, mode }: Driver): boolean =>
    onlyIf !== undefined &&
    onlyIf !== 'unread' &&
    seenIn(facts, onlyIf).length > 0 &&
    !(isUnattached(facts) && isByDetach(mode));
  return rows.find(isOn) ?? rows.find(({ onlyIf }) => onlyIf === undefined) ?? rows[0];
}

function fromRow(facts: Facts, row: Driver, rows: readonly Driver[]): PredictedMode {
  const signs = row.signs.flatMap((sign) => seenIn(facts, sign).map((seen) => ({ ...sign, seen })));
  const signed = signs.findLast(({ mode }) => mode !== undefined)?.mode;
  const documented = signed === undefined ? row.mode : signed;
  const isNever = isUnattached(facts) && isByDetach(documented);
  const mode = isNever ? 'unfenced' : (documented ?? undefined);
  const sure = isNever ? 'inferred' : weakest(row.sure);
  const { onlyIf } = row;
  const on = onlyIf === undefined || onlyIf === 'unread' ? [] : seenIn(facts, onlyIf);
  const words = `${[row.name, row.note].filter(Boolean).join(', ')}: ${row.detach}`;
  return {
    ...{ mode, sure },
    lines: [
      { what: 'predicted mode', found: `${modeWords(mode)}. ${words}`, source: page, sure },
      ...nameLines(facts, row),
      ...on.map((seen) => because(seen, `${row.name} is on`, sourceOf(facts, onlyIf as Sign))),
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
function withoutDocument({ csiDriver, nodes }: Facts, name: string): PredictedMode {
  const only = (
    mode: PredictedMode['mode'],
    sure: HowSure,
    found: string,
    source: string,
  ): PredictedMode => ({ mode, sure, lines: [{ what: 'predicted mode', found, source, sure }] });
  if (csiDriver?.spec.attachRequired !== false) {
    const found = `no document about ${name || 'this class'}: only trials (--run) answer`;
    return only(undefined, 'not found', found, page);
  }
  const served = nodes.filter(({ hasDriver }) => hasDriver);
  const isOwn = served.every((node) => node.topologyKeys.some((key) => isOwnTopology(node, key)));
  if (served.length > 0 && isOwn) {
    const found = `local: each node is a topology of its own, and nothing is attached: ${ofOneNode}`;
    return only('local', 'inferred', found, 'CSIDriver, CSINodes');
  }
  const found = 'shared-file, or a disk without any guard: nothing is ever attached';
  return only('shared-file', 'inferred', found, 'CSIDriver');
}

/** Modes that rest on a call at the detach. */
const isByDetach = (mode: DriverMode): boolean =>
  mode === 'fenced' ||
  mode === 'ack-early' ||
  mode === 'pending-while-busy' ||
  mode === 'fence-if-out-of-service';

const isUnattached = ({ csiDriver }: Facts): boolean => csiDriver?.spec.attachRequired === false;

/** Where the cluster's own CSIDriver is not what the row takes for granted. */
function attachLines({ csiDriver, driver }: Facts, mode: PredictedMode['mode']): Line[] {
  if (csiDriver === undefined || mode === 'local') return [];
  const isShared = mode === 'shared-file';
  const isAttached = csiDriver.spec.attachRequired !== false;
  if (isAttached !== isShared) return [];
  const found = isAttached
    ? 'attachRequired: true: Kubernetes waits six minutes and keeps a second node away from a ReadWriteOnce claim, but the detach cuts no node off'
    : 'attachRequired: false: Kubernetes detaches nothing. There are no six minutes and no Multi-Attach check: the next pod mounts as soon as it has a node';
  return [{ what: 'attach phase', found, source: `CSIDriver ${driver}`, sure: 'read' }];
}

/** Where the class gives another name than the row. */
function nameLines({ storageClass, driver }: Facts, { csi }: Driver): Line[] {
  const name = storageClass?.provisioner ?? '';
  const line = (found: string): Line[] => [
    { what: 'name', found, source: page, sure: 'documented' },
  ];
  if (name !== driver) return line(`${name} is served by ${driver}, by CSI migration`);
  const ending = csi.find((known) => name !== known && name.endsWith(`.${known}`));
  if (ending === undefined || csi.includes(name)) return [];
  return line(`${name} is read as ${ending} with a prefix`);
}

const because = (what: string, found: string, source: string): Line => ({
  ...{ what, found, source, sure: 'documented' },
});

function otherwise({ name, note, mode, onlyIf, sure }: Driver): Line {
  const why = onlyIf === 'unread' ? 'the probe does not read this' : 'not observed here';
  const words = [name, note].filter(Boolean).join(', ');
  const found = `${mode ?? 'no document settles it'} (${words}); ${why}`;
  return { what: 'would change it', found, source: page, sure: weakest(sure) };
}

/** What the cluster shows of a sign, as it stands there. */
function seenIn({ storageClass, driverPods }: Facts, sign: Sign): string[] {
  const there = {
    parameters: () =>
      Object.entries(storageClass?.parameters ?? {}).map(([key, value]) => `${key}=${value}`),
    mountOptions: () => storageClass?.mountOptions ?? [],
    driverPods: () =>
      driverPods.flatMap(({ containers }) => containers.flatMap(({ args }) => args)),
  }[sign.in]();
  return [...new Set(there.filter((each) => sign.matches.test(each)))];
}

const sourceOf = ({ storageClass, driverPods }: Facts, sign: Sign): string =>
  sign.in === 'driverPods'
    ? `pod ${driverPods[0]?.name}`
    : `StorageClass ${storageClass?.metadata?.name}`;

const words = ['not found', 'reported', 'documented', 'source'] as const;

/** The page names each source of a claim; the weakest one counts. */
const weakest = (sure: string): HowSure => words.find((word) => sure.includes(word)) ?? 'not found';
