/** What a run may leave behind on the machine, as text: the same before and after, or there is a leak. */
import { readFileSync } from 'node:fs';
import { $ } from 'zx';

const lines = (text: string): string[] => text.split('\n').filter(Boolean).toSorted();

/** Containers, networks, volumes, loop devices in use, mounts and routes; sorted lines. */
export async function machineState(): Promise<Readonly<Record<string, readonly string[]>>> {
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
