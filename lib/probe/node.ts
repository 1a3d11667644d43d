/**
 * The node that is cut off: what the other node and the API see of it, and what is done on its own host by a pod that
 * enters its namespaces. A heal is armed there, twice, before the cut. No pod heals: it dies with its node's network, or
 * with its namespace. All names are of one run, so that what a killed run left is in nobody's way.
 */
import { answered, isReady, type UserClients } from '../core/index.ts';
import {
  type ArmedUnit,
  type Arming,
  type Ended,
  type NodeRunOptions,
  type NodeShell,
  type Sent,
  shBy,
  type ShellWith,
} from '../run/index.ts';
import type { ReachabilityLook } from './judge/record.ts';
import { containerName, hostPod, vantageName, vantagePod } from './objects.ts';
import type { CutWay } from './plan.ts';
import { createPod, type PodsContext } from './pods.ts';
import { refusal } from './refusals.ts';
import {
  type Came,
  followLog,
  lastEvent,
  mustStart,
  nowMs,
  poll,
  stateOf,
  untilRunning,
} from './view.ts';

export interface NodeContext extends PodsContext {
  readonly namespace: string;
  readonly plan: { readonly nodes: readonly [string, string]; readonly image: string };
}

/** What is armed goes on whatever becomes of the pod. It can neither hold its node nor end it. */
export type PodShell = ShellWith<'arm'>;

const hostPodMs = 120_000;

/**
 * Shell of the first node, to which only its API leads: each command is a privileged pod that enters the
 * namespaces of the node's own first process, and ends. So it needs the node's network and its kubelet. `name`:
 * its pod's; a second command's ends with `-2`.
 */
export function podShell(context: NodeContext, name: string): PodShell {
  const { clients, namespace, plan, signal } = context;
  const [node] = plan.nodes;
  let sent = 0;
  const send = async (argv: readonly string[]): Promise<Sent> => {
    sent += 1;
    const pod = sent === 1 ? name : `${name}-${sent}`;
    const body = hostPod({ namespace, node, image: plan.image }, pod, argv);
    await createPod(clients.core, namespace, body, signal);
    return { ended: (options) => endOf(context, pod, options) };
  };
  const run: NodeShell['run'] = async (argv, options) => (await send(argv)).ended(options);
  return {
    ...{ node, run, sh: shBy({ node, run }) },
    arm: (arming) => send(['sh', '-c', armingScript(arming)]),
  };
}

/** Throws as `mustStart` and `View.until` do. */
async function endOf(
  { clients, namespace, plan, view }: NodeContext,
  name: string,
  { signal, timeoutMs = hostPodMs }: NodeRunOptions = {},
): Promise<Ended> {
  const what = `the pod ${name} has ended on ${plan.nodes[0]}`;
  const { exitCode } = await view.until({ what, timeoutMs }, () => {
    signal?.throwIfAborted();
    const pod = view.pod(name)?.pod;
    const { phase } = pod?.status ?? {};
    // To end is what it is for.
    mustStart(name, pod, false);
    if (phase === 'Succeeded') return { exitCode: 0 };
    // One that was evicted may have ended well, or never begun.
    if (phase === 'Failed') return { exitCode: (pod && stateOf(pod)?.terminated?.exitCode) || -1 };
    return `it is ${phase ?? 'not there'}, ${lastEvent(view, name)}`;
  });
  const logged = { name, namespace, container: containerName };
  const said = await clients.core.readNamespacedPodLog(logged);
  return { exitCode, stdout: said.trimEnd(), stderr: '' };
}

/**
 * What a script said on the first node's host, or what was said as something was left with it. Throws as
 * `heard` does, and as the pod shell.
 */
export async function onHost(
  context: NodeContext,
  name: string,
  what: string | Arming,
): Promise<readonly string[]> {
  const shell = podShell(context, name);
  return heard(
    shell,
    name,
    typeof what === 'string'
      ? await shell.run(['sh', '-c', what])
      : await (await shell.arm(what)).ended(),
  );
}

/** Lines that a host said. Throws InfrastructureError `CUT_HOST` where its command failed. */
export function heard(
  { node }: Pick<NodeShell, 'node'>,
  name: string,
  { exitCode, stdout }: Ended,
): readonly string[] {
  const lines = stdout.split('\n').filter(Boolean);
  if (exitCode === 0) return lines;
  throw refusal('CUT_HOST', `${name} failed on ${node}: ${lines.join('; ')}`);
}

/** What the second node sees of the first one's kubelet, from now on. */
export class Vantage {
  readonly #lines: readonly Came[];
  readonly #signal: AbortSignal;

  private constructor(lines: readonly Came[], signal: AbortSignal) {
    this.#lines = lines;
    this.#signal = signal;
  }

  static async start({ clients, namespace, plan, signal, view }: NodeContext): Promise<Vantage> {
    const [a, node] = plan.nodes;
    const pod = vantagePod({ namespace, node, image: plan.image }, await addressOf(clients, a));
    await createPod(clients.core, namespace, pod, signal);
    await untilRunning(view, vantageName, hostPodMs);
    const lines = followLog(clients, { namespace, pod: vantageName, signal });
    const vantage = new Vantage(lines, signal);
    await vantage.until('up', nowMs() - hostPodMs, 30_000);
    return vantage;
  }

  /** Changes of the word only. */
  get looks(): readonly ReachabilityLook[] {
    const looks = this.#lines.flatMap(({ line }): ReachabilityLook[] => {
      const [, word, at] = /^\d+ (up|down) (\d+)$/.exec(line) ?? [];
      return word === undefined
        ? []
        : [{ word: word as ReachabilityLook['word'], atMs: Number(at) }];
    });
    return looks.filter((look, index) => looks[index - 1]?.word !== look.word);
  }

  until(word: ReachabilityLook['word'], sinceMs: number, timeoutMs: number): Promise<number> {
    const what = word === 'up' ? 'reachable again' : 'cut off';
    const late = (): Error =>
      refusal(
        'CUT_NOT_SEEN',
        `the second node did not observe the first one ${what} within ${timeoutMs / 1000} s`,
      );
    return poll({ timeoutMs, signal: this.#signal, late }, () => {
      const lines = this.#lines.filter(({ atMs }) => atMs >= sinceMs);
      return lines.find(({ line }) => line.split(' ')[1] === word)?.atMs ?? '';
    });
  }
}

async function addressOf(clients: UserClients, name: string): Promise<string> {
  const reading = clients.core.readNode({ name });
  const { status } = await answered(clients, `read the node ${name}`, reading);
  return status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '';
}

/** When the API first says so. Throws `CUT_NODE` after `timeoutMs`. */
export function nodeIs(
  { clients, plan, signal }: NodeContext,
  ready: boolean,
  timeoutMs: number,
): Promise<number> {
  const [name] = plan.nodes;
  const what = `${name} is ${ready ? 'not Ready again' : 'Ready still'}`;
  const late = (): Error =>
    refusal('CUT_NODE', `${what} after ${timeoutMs / 1000} s`, {
      hint: ready
        ? 'its kubelet does not run, or does not reach the API: look at the console of the node'
        : 'the kubelet still reaches the API, or the cluster waits longer for a silent node',
      ...{ at: clients, look: `describe node ${name}` },
    });
  return poll({ timeoutMs, signal, late }, async () => {
    const node = await clients.core.readNode({ name }).catch(() => undefined);
    return node !== undefined && isReady(node.status) === ready ? nowMs() : '';
  });
}

const inSeconds = (ms: number): number => Math.ceil(ms / 1000);
const inWords = (ms: number): string => (ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`);

const unitOf = (run: string, name: string): string => `${run}-${name}`;

export function armingScript({ run, folder, before, units, proof }: Arming): string {
  const fileOf = ({ name }: ArmedUnit): string => `${folder}/${name}.sh`;
  const written = ({ name, script }: ArmedUnit, file: string): string =>
    `cat > ${file} <<'${name.toUpperCase()}'\n${script}\n${name.toUpperCase()}`;
  return [
    ...['set -eu', before],
    ...units.map((unit) => written(unit, fileOf(unit))),
    ...units.map((unit) => started(run, fileOf(unit), unit)),
    proof,
  ]
    .filter(Boolean)
    .join('\n');
}

function started(run: string, file: string, { name, afterMs, accuracyMs }: ArmedUnit): string {
  const when = [
    ...(afterMs === undefined ? [] : [`--on-active=${inSeconds(afterMs)}s`]),
    ...(accuracyMs === undefined ? [] : [`--timer-property=AccuracySec=${inWords(accuracyMs)}`]),
  ].join(' ');
  return `systemd-run --quiet --collect --unit=${unitOf(run, name)} ${when} /bin/sh ${file}`;
}

export const tableOf = (run: string): string => run.replaceAll('-', '_');
const filesOf = (run: string): string => `/run/${run}`;

/** `heal` and `belt` know nothing of each other: a timer of systemd, and a service that sleeps. */
const healsOf = (run: string): readonly [string, string] => [
  `${unitOf(run, 'heal')}.timer`,
  `${unitOf(run, 'belt')}.service`,
];

/** Folder of the writers' journals on a node that is cut off: pods' logs may go with the pods. */
export const journalFolder = (run: string): string => `/var/tmp/${run}`;

/** May run twice. For a console on the node, too. */
export const healCommand = (way: CutWay, run: string): string =>
  way === 'network'
    ? `nft delete table inet ${tableOf(run)} 2>/dev/null || true`
    : 'systemctl start kubelet';

const tools: Readonly<Record<CutWay, string>> = {
  network: 'systemd-run systemctl nft ip',
  kubelet: 'systemd-run systemctl',
};

const devices = `$( (ip -o route show default; ip -6 -o route show default) |
  sed -n 's/.* dev \\([^ ]*\\).*/\\1/p' | sort -u | paste -sd, )`;

/** In its own table, before all others; the loopback and the pods of the node go on. */
const cutCommand = (way: CutWay, run: string): string =>
  way === 'kubelet'
    ? 'systemctl stop kubelet'
    : `devices="${devices}"
test -n "$devices"
nft -f - <<RULES
table inet ${tableOf(run)} {
  chain input { type filter hook input priority -400; iifname { $devices } drop; }
  chain output { type filter hook output priority -400; oifname { $devices } drop; }
  chain forward { type filter hook forward priority -400;
    iifname { $devices } drop; oifname { $devices } drop; }
}
RULES`;

/** The second belt comes so much later than the first. */
const beltLaterS = 30;

export const latestHealMs = (healAfterMs: number): number => healAfterMs + 1000 * (beltLaterS + 5);

/** Whoever lives has taken its files from the host by then; it starts before the writers do. */
export const tidyLaterMs = 900_000;

/** A host that was started anew has another: whoever wrote on it is gone, whatever a driver did. */
const sayBoot = 'echo "boot $(cat /proc/sys/kernel/random/boot_id)"';

export const bootOf = (lines: readonly string[]): string | undefined =>
  lines.flatMap((line) => /^boot ([0-9a-f-]+)$/.exec(line)?.[1] ?? [])[0];

/**
 * Before anything is written there: whatever becomes of the probe, its files go by themselves. Says
 * `will be tidied` once that is proven, and refuses a node on which another run is armed.
 */
export function tidyArming(run: string, healAfterMs: number): Arming {
  const folder = filesOf(run);
  const afterMs = latestHealMs(healAfterMs) + tidyLaterMs;
  return {
    ...{ run, folder },
    before: `command -v systemd-run >/dev/null || { echo "lacks systemd-run"; exit 3; }
other=$(systemctl list-units --no-legend --plain 'forcedetach-probe-*-heal.timer' 'forcedetach-probe-*-belt.service')
test -z "$other" || { echo "another run is armed here: $other"; exit 3; }
mkdir -p ${folder}`,
    units: [{ name: 'tidy', afterMs, script: `rm -rf ${journalFolder(run)}\nrm -rf ${folder}` }],
    proof: `systemctl is-active --quiet ${unitOf(run, 'tidy')}.timer
echo "will be tidied"`,
  };
}

/** Says which boot it is and `armed` once both belts are proven; leaves nothing armed where one is not. */
export function healArming(way: CutWay, run: string, healAfterMs: number): Arming {
  const healS = inSeconds(healAfterMs);
  const folder = filesOf(run);
  const [heal, belt] = healsOf(run);
  const script = healCommand(way, run);
  return {
    ...{ run, folder },
    before: `for tool in ${tools[way]}; do
  command -v "$tool" >/dev/null || { echo "lacks $tool"; exit 3; }
done
mkdir -p ${folder}`,
    units: [
      { name: 'heal', afterMs: healAfterMs, accuracyMs: 1000, script },
      { name: 'belt', script: `sleep ${healS + beltLaterS}\n${script}` },
    ],
    proof: `if systemctl is-active --quiet ${heal} && systemctl is-active --quiet ${belt}
then ${sayBoot}; echo "armed ${healS}"
else systemctl stop ${heal} ${belt}; echo "not armed"; exit 4
fi`,
  };
}

/** A moment later, so that its pod can end and say so. Without both belts nothing is cut. */
export function cutArming(way: CutWay, run: string): Arming {
  const active = healsOf(run).map((unit) => `systemctl is-active --quiet ${unit}\n`);
  const script = `set -eu\n${active.join('')}${cutCommand(way, run)}`;
  return {
    ...{ run, folder: filesOf(run), before: '' },
    units: [{ name: 'cut', afterMs: 3000, accuracyMs: 100, script }],
    proof: 'echo "cutting"',
  };
}

/** Undoes all of it but the tidying, whatever was done; says which boot it is and `healed` where nothing of it is left. */
export const checkScript = (way: CutWay, run: string): string => `set -u
systemctl stop ${unitOf(run, 'cut')}.timer ${healsOf(run).join(' ')} 2>/dev/null
${healCommand(way, run)}
if nft list table inet ${tableOf(run)} >/dev/null 2>&1; then echo "the table is there"; exit 5; fi
systemctl is-active --quiet kubelet || { echo "kubelet is not active"; exit 5; }
${sayBoot}
echo "healed"`;

/** Lines as `<pod> <line>`; then all of the run is gone from the host. */
export const collectScript = (run: string): string => `set -eu
cd ${journalFolder(run)}
for file in *.log; do sed "s/^/\${file%.log} /" "$file"; done
cd /
systemctl stop ${unitOf(run, 'tidy')}.timer
rm -rf ${journalFolder(run)} ${filesOf(run)}
echo "end of journals"`;
