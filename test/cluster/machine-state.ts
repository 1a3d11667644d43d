/** What a run may leave behind on the machine, as text: the same before and after, or there is a leak. */
import { readFileSync } from 'node:fs';
import { $ } from '../../lib/kind/engine/shell.ts';
import { label } from '../../lib/kind/ownership/registry.ts';
import { leaseAt } from '../../lib/kind/ownership/lease.ts';
import { boundLoops } from '../../lib/kind/ownership/labs.ts';

const lines = (text: string): string[] => text.split('\n').filter(Boolean).toSorted();

type State = Readonly<Record<string, readonly string[]>>;

/** Containers, networks, volumes, loop devices in use, mounts and routes; sorted lines. */
export async function machineState(): Promise<State> {
  const run = $({ quiet: true, verbose: false });
  const [containers, networks, volumes, loops, routes] = await Promise.all([
    run`docker ps --all --format {{.Names}}`,
    run`docker network ls --format {{.Name}}`,
    run`docker volume ls --format {{.Name}}`,
    run`losetup --noheadings --output NAME,BACK-FILE`,
    run`ip route show`,
  ]);
  return {
    containers: lines(containers.stdout),
    networks: lines(networks.stdout),
    volumes: lines(volumes.stdout),
    loops: lines(loops.stdout),
    routes: lines(routes.stdout),
    mounts: lines(readFileSync('/proc/self/mounts', 'utf8')).filter(
      (line) => !line.includes('/var/lib/docker/overlay2'),
    ),
  };
}

/** Index of the lease that a cluster has now. */
export async function leaseOf(cluster: string): Promise<number> {
  const format = `{{index .Labels ${JSON.stringify(label.index)}}}`;
  const { stdout } = await $({
    quiet: true,
  })`docker network inspect --format ${format} fd-${cluster}`;
  return Number(stdout);
}

/** Cluster that has the lease now; empty where none has. */
async function holderOf(lease: number): Promise<string> {
  const format = `{{.Label ${JSON.stringify(label.cluster)}}}`;
  const { stdout } = await $({
    quiet: true,
  })`docker network ls --filter label=${label.index}=${lease} --format ${format}`;
  return stdout.trim();
}

/** What of all that is one cluster's: others may come and go beside it. Without what has no lines. */
export async function stateOf(cluster: string, lease: number): Promise<State> {
  const state = await machineState();
  const { subnet, loops } = leaseAt(lease);
  const own = new RegExp(`(^|[/ ])fd-${cluster}($|[-/ ])`);
  const ofSubnet = subnet.replace(/0\/24$/, '');
  // Who came after it may have the lease by now.
  const isOthers = !['', cluster].includes(await holderOf(lease));
  const found: Record<string, readonly string[]> = {
    containers: state['containers']?.filter((line) => own.test(line)) ?? [],
    networks: state['networks']?.filter((line) => own.test(line)) ?? [],
    volumes: state['volumes']?.filter((line) => own.test(line)) ?? [],
    loops: isOthers ? [] : (await boundLoops({ loops })).map(String),
    routes: isOthers ? [] : (state['routes']?.filter((line) => line.includes(ofSubnet)) ?? []),
    mounts: state['mounts']?.filter((line) => own.test(line)) ?? [],
  };
  return Object.fromEntries(Object.entries(found).filter(([, those]) => those.length > 0));
}
