/** Lanes of the time axis while they are drawn: bars that begin and end, then whose lane each is. */
import { database } from '../database/chosen.ts';
import type { Role, Tone } from './axis/palette.ts';
import type { Bar, Lane } from './axis/timeline.ts';

/** Order of the groups on a node, top to bottom: from decisions down to the disk. */
const groups = [
  'run',
  'node',
  'pod',
  'attachment',
  'volumesAttached',
  'volumesInUse',
  'csi',
  'mount',
  'link',
  'server',
] as const;
type LaneGroup = (typeof groups)[number];

/** Name on pages: a server's lanes by its program. */
export const groupName = (group: LaneGroup): string =>
  group === 'server' ? database.server : group;

/** Who comes first, top to bottom. */
const roles: readonly Role[] = ['run', 'victim', 'successor', 'control-plane', 'other'];

/** A bar in ms on the run's clock; `toMs` is undefined while it lasts. */
interface OpenBar {
  readonly fromMs: number;
  toMs: number | undefined;
  readonly tone: Tone;
  readonly label: string;
}

interface LaneDraft {
  readonly group: LaneGroup;
  label: string;
  node: string | undefined;
  readonly bars: OpenBar[];
}

/** Which lane; `node` is undefined where none is meant. */
export interface LaneName {
  readonly group: LaneGroup;
  readonly node?: string | undefined;
  readonly name: string;
}

export class LaneDrafts {
  readonly #drafts = new Map<string, LaneDraft>();

  /** The lane of that name, made at its first use; its label is its name until it is changed. */
  lane({ group, node, name }: LaneName): LaneDraft {
    const key = [group, node, name].join('\n');
    const draft = this.#drafts.get(key) ?? { group, label: name, node, bars: [] };
    this.#drafts.set(key, draft);
    return draft;
  }

  /** Ends the lane's bar and, where there is a label, begins the next; the same label goes on. */
  become(lane: LaneName, t: number, label: string, tone: Tone): void {
    const { bars } = this.lane(lane);
    // Moments, a cut for one, may have come after it began.
    const open = bars.findLast(({ toMs }) => toMs === undefined);
    if (open !== undefined) {
      if (open.label === label) return;
      open.toMs = t;
    }
    if (label !== '') bars.push({ fromMs: t, toMs: undefined, tone, label });
  }

  moment(lane: LaneName, fromMs: number, toMs: number, label: string, tone: Tone): void {
    this.lane(lane).bars.push({ fromMs, toMs, tone, label });
  }

  /** Open bars end at `endMs`; times become seconds after `zeroMs`, the fault. */
  finish(victim: string | undefined, zeroMs: number, endMs: number): Lane[] {
    const seconds = (ms: number): number => Math.round(ms - zeroMs) / 1000;
    const finished = ({ fromMs, toMs, tone, label }: OpenBar): Bar => ({
      ...{ fromS: seconds(fromMs), toS: seconds(toMs ?? endMs), tone, label },
    });
    const drafts = [...this.#drafts.values()].filter(({ bars }) => bars.length > 0);
    const successor = victim === undefined ? undefined : successorOf(drafts, victim, zeroMs);
    return drafts
      .map(({ group, label, node = null, bars }) => ({
        ...{ group, role: roleOf(group, node, victim, successor), node, label },
        bars: bars.map(finished),
      }))
      .toSorted(
        (a, b) =>
          roles.indexOf(a.role) - roles.indexOf(b.role) ||
          (a.node ?? '').localeCompare(b.node ?? '', 'en') ||
          groups.indexOf(a.group) - groups.indexOf(b.group),
      )
      .map((lane) => ({ ...lane, group: groupName(lane.group) }));
  }
}

function roleOf(
  group: LaneGroup,
  node: string | null,
  victim: string | undefined,
  successor: string | undefined,
): Role {
  if (group === 'run') return 'run';
  if (node === null || node.endsWith('control-plane')) return 'control-plane';
  if (node === victim) return 'victim';
  return node === successor ? 'successor' : 'other';
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
