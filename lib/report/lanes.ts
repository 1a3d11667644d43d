/** Lanes of the time axis, from observations and actions: which node held what, and when. */
import type { Database } from '../run/index.ts';
import { powerFaults } from '../scenario/index.ts';
import {
  type ActionRecord,
  type HistoryRecord,
  type ObservationRecord,
  observed,
} from '../history/index.ts';
import type { Role, Tone } from './axis/palette.ts';
import type { Lane } from './axis/timeline.ts';

/** Order of the groups on a node, top to bottom: from decisions down to the disk. */
const groups = [
  ...['run', 'node', 'pod', 'attachment', 'volumesAttached', 'volumesInUse'],
  ...['csi', 'mount', 'link', 'server'],
] as const;
type LaneGroup = (typeof groups)[number];

/** Top to bottom. */
const roles: readonly Role[] = ['run', 'victim', 'successor', 'control-plane', 'other'];

/** Which lane; `node` is undefined where none is meant. */
interface LaneName {
  readonly group: LaneGroup;
  readonly node?: string | undefined;
  readonly name: string;
}

interface LaneDraft {
  readonly group: LaneGroup;
  label: string;
  node: string | undefined;
  /** In ms on the run's clock; `toMs` is undefined while it lasts. */
  readonly bars: { readonly fromMs: number; toMs: number | undefined; tone: Tone; label: string }[];
}

type Data = ObservationRecord['data'];
/** What its lane shows from then on; '' ends the lane's bar. `name`: where it is not the group's own. */
type State = readonly [label: string, tone: Tone, name?: string];

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const list = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
const always = (label: string, tone: Tone) => (): State => [label, tone];
const listed = ({ volumes }: Data): State => [list(volumes).length > 0 ? 'listed' : '', 'neutral'];

/** A control plane's node has its taint for ever. */
const taintsOf = ({ taints }: Data): State => [
  list(taints)
    .filter((taint) => !taint.startsWith('node-role.'))
    .map((taint) => taint.replace(/^node\.kubernetes\.io\//, ''))
    .join(', '),
  'warn',
  'taints',
];

/** The node's way to the storage; while it passes there is nothing to draw. */
const linkStates: Readonly<Record<string, string>> = { stall: 'stalls', fail: 'fails' };

const states: Readonly<Record<string, readonly [LaneGroup, (data: Data) => State]>> = {
  [observed.podCreated]: ['pod', always('pending', 'neutral')],
  [observed.podScheduled]: ['pod', always('scheduled', 'neutral')],
  [observed.podRunning]: ['pod', always('running', 'busy')],
  [observed.podReady]: [
    'pod',
    ({ ready }): State => (ready === true ? ['ready', 'good'] : ['not ready', 'warn']),
  ],
  [observed.podTerminating]: ['pod', always('terminating', 'warn')],
  [observed.podGone]: ['pod', always('', 'neutral')],
  [observed.attachmentCreated]: ['attachment', always('attaching', 'busy')],
  [observed.attachmentAttached]: ['attachment', always('attached', 'good')],
  [observed.attachmentDeleting]: ['attachment', always('detaching', 'warn')],
  [observed.attachmentGone]: ['attachment', always('', 'neutral')],
  [observed.nodeReady]: [
    'node',
    ({ status }): State =>
      status === 'True' ? ['Ready', 'good'] : [`Ready=${text(status)}`, 'warn'],
  ],
  [observed.nodeTaints]: ['node', taintsOf],
  [observed.volumesAttached]: ['volumesAttached', listed],
  [observed.volumesInUse]: ['volumesInUse', listed],
  [observed.mounted]: ['mount', always('mounted', 'busy')],
  [observed.unmounted]: ['mount', always('', 'busy')],
  [observed.linkChanged]: ['link', ({ state }) => [linkStates[text(state)] ?? '', 'warn']],
  [observed.requestsHeld]: [
    'link',
    ({ held = 0, device }) => [held === 0 ? '' : `${held} held`, 'warn', `held ${text(device)}`],
  ],
};

/** Errors this close together are one bar. */
const errorGapMs = 1000;

export class Lanes {
  readonly #database: Database;
  readonly #drafts = new Map<string, LaneDraft>();
  #victim: string | undefined;
  #fault: string | undefined;
  #isBroken = false;

  constructor(database: Database) {
    this.#database = database;
  }

  see(record: HistoryRecord): void {
    if (record.type === 'run') this.#fault = record.scenario.fault.kind;
    else if (record.type === 'phase') {
      this.#become({ group: 'run', name: 'phase' }, record.t, record.phase, 'neutral');
    } else if (record.type === 'action') this.#action(record);
    else if (record.type === 'observation') this.#observation(record);
  }

  /** Open bars end at `endMs`; times become seconds after `zeroMs`, the fault. */
  result(zeroMs: number, endMs: number): Lane[] {
    const seconds = (ms: number): number => Math.round(ms - zeroMs) / 1000;
    const drafts = [...this.#drafts.values()].filter(({ bars }) => bars.length > 0);
    const successor = this.#victim && successorOf(drafts, this.#victim, zeroMs);
    const roleOf = ({ group, node }: LaneDraft): Role => {
      if (group === 'run') return 'run';
      if (node === undefined || node.endsWith('control-plane')) return 'control-plane';
      if (node === this.#victim) return 'victim';
      return node === successor ? 'successor' : 'other';
    };
    return drafts
      .map((draft) => ({ ...draft, role: roleOf(draft) }))
      .toSorted(
        (a, b) =>
          roles.indexOf(a.role) - roles.indexOf(b.role) ||
          (a.node ?? '').localeCompare(b.node ?? '', 'en') ||
          groups.indexOf(a.group) - groups.indexOf(b.group),
      )
      .map(({ group, role, node = null, label, bars }) => ({
        ...{ group, role, node, label },
        bars: bars.map(({ fromMs, toMs, tone, label }) => ({
          ...{ fromS: seconds(fromMs), toS: seconds(toMs ?? endMs), tone, label },
        })),
      }));
  }

  /** The lane of that name, made at its first use; its label is its name until it is changed. */
  #lane({ group, node, name }: LaneName): LaneDraft {
    const key = [group, node, name].join('\n');
    const draft = this.#drafts.get(key) ?? { group, label: name, node, bars: [] };
    this.#drafts.set(key, draft);
    return draft;
  }

  /** Ends the lane's bar and, where there is a label, begins the next; the same label goes on. */
  #become(lane: LaneName, t: number, label: string, tone: Tone): void {
    const { bars } = this.#lane(lane);
    // Moments, a cut for one, may have come after it began.
    const open = bars.findLast(({ toMs }) => toMs === undefined);
    if (open !== undefined) {
      if (open.label === label) return;
      open.toMs = t;
    }
    if (label !== '') bars.push({ fromMs: t, toMs: undefined, tone, label });
  }

  #action({ actor, name, step, t, node }: ActionRecord): void {
    if (actor === 'runner') return;
    if (actor === 'fault') {
      this.#victim ??= node;
      this.#break(step, t);
    }
    const isOver =
      ['healed', 'failed', 'refused'].includes(step) || (actor === 'remedy' && step === 'done');
    if (step !== 'begin' && !isOver) return;
    const lane = { group: 'run', name: actor } as const;
    this.#become(lane, t, isOver ? '' : name, actor === 'fault' ? 'bad' : 'action');
  }

  #break(step: ActionRecord['step'], t: number): void {
    if (step === 'done') this.#isBroken = true;
    if (this.#fault !== 'freeze' || this.#victim === undefined) return;
    const server = this.#serverOn(this.#victim);
    if (this.#lane(server).bars.every(({ toMs }) => toMs !== undefined)) return;
    if (step === 'done') this.#become(server, t, 'frozen', 'warn');
    if (step === 'heal') this.#become(server, t, 'up', 'good');
  }

  #observation({ name, data, t, node }: ObservationRecord): void {
    const [group, stateOf] = Object.hasOwn(states, name) ? (states[name] ?? []) : [];
    if (group !== undefined && stateOf !== undefined) {
      const [label, tone, own = group] = stateOf(data);
      const lane = group === 'pod' ? this.#podLane(data, node) : { group, node, name: own };
      this.#become(lane, t, label, tone);
    } else if (name === observed.csiCall) {
      const failed = data.error !== undefined;
      const label = `${text(data.call)}${failed ? ' failed' : ''}`;
      const { bars } = this.#lane({ group: 'csi', node, name: 'CSI' });
      const fromMs = t - (data.durationMs ?? 0);
      bars.push({ fromMs, toMs: t, label, tone: failed ? 'bad' : 'busy' });
    } else if (name === observed.deviceCut) {
      // A crash's own cut is the harness playing the loss of power.
      const isOfCrash = !this.#isBroken && powerFaults.some((fault) => fault === this.#fault);
      const label = isOfCrash ? 'power lost' : 'cut';
      const { bars } = this.#lane({ group: 'mount', node, name: 'mount' });
      bars.push({ fromMs: t, toMs: t, tone: 'bad', label });
    } else if (name === observed.serverLog) {
      this.#server(text(data.line), text(data.level), node, t);
    }
    // A server whose volume is gone or cut off may end without a last word.
    if (name === observed.unmounted || name === observed.deviceCut) {
      this.#become(this.#serverOn(node), t, '', 'good');
    }
  }

  /** One lane per pod and UID; it is its node's once it has one. */
  #podLane(data: Data, node: string | undefined): LaneName {
    const uid = text(data.uid);
    const lane = { group: 'pod', name: uid } as const;
    const draft = this.#lane(lane);
    draft.node ??= node;
    draft.label = `pod ${text(data.pod)} ${uid.slice(0, 5)}`;
    return lane;
  }

  /** A line of the server's error log; a broken database says the same a thousand times. */
  #server(line: string, level: string, node: string | undefined, t: number): void {
    const { server, log } = this.#database;
    const { signs } = log;
    if (line.includes(signs.ready)) this.#become(this.#serverOn(node), t, 'up', 'good');
    else if (line.includes(signs.stopped)) this.#become(this.#serverOn(node), t, '', 'good');
    else if (line.includes(signs.error) || level.toLowerCase() === 'error') {
      const { bars } = this.#lane({ group: 'server', node, name: `${server} errors` });
      const last = bars.at(-1);
      if (last?.toMs !== undefined && t - last.toMs < errorGapMs) last.toMs = t;
      else bars.push({ fromMs: t, toMs: t, tone: 'bad', label: line.slice(0, 160) });
    }
  }

  #serverOn(node: string | undefined): LaneName {
    return { group: 'server', node, name: this.#database.server };
  }
}

/** The first other node that had the volume after the fault: mounted, or else attached. */
function successorOf(
  drafts: readonly LaneDraft[],
  victim: string,
  zeroMs: number,
): string | undefined {
  const firstIn = (group: LaneGroup): string | undefined =>
    drafts
      .filter((draft) => draft.group === group && draft.node !== victim)
      .flatMap(({ node, bars }) => bars.map(({ fromMs }) => ({ node, fromMs })))
      .filter(({ fromMs }) => fromMs >= zeroMs)
      .toSorted((a, b) => a.fromMs - b.fromMs)[0]?.node;
  return firstIn('mount') ?? firstIn('attachment');
}
