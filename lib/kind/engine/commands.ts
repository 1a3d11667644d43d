/**
 * The words of the Docker engine's command line, and the one place that knows them. Each is a command
 * as data: it is run (run.ts), read as a stream, or shown to a person who pastes it.
 */

export const program = 'docker';

const engine = (...words: readonly string[]): string[] => [program, ...words];

export const exec = (container: string, ...argv: readonly string[]): string[] =>
  engine('exec', container, ...argv);

/** With a stdin. */
export const execWithInput = (container: string, ...argv: readonly string[]): string[] =>
  engine('exec', '-i', container, ...argv);

/** `args`: `$0` and what follows it. */
export const shell = (container: string, script: string, ...args: readonly string[]): string[] =>
  exec(container, 'sh', '-c', script, ...args);

/** A container that stays. `flags`: of its making. */
export const start = (
  flags: readonly string[],
  image: string,
  ...argv: readonly string[]
): string[] => engine('run', '--detach', ...flags, image, ...argv);

/** A container that is gone with its command. */
export const runOnce = (
  flags: readonly string[],
  image: string,
  ...argv: readonly string[]
): string[] => engine('run', '--rm', ...flags, image, ...argv);

export const create = (
  flags: readonly string[],
  image: string,
  ...argv: readonly string[]
): string[] => engine('create', ...flags, image, ...argv);
export const boot = (container: string): string[] => engine('start', container);
export const pause = (container: string): string[] => engine('pause', container);
export const unpause = (container: string): string[] => engine('unpause', container);
export const kill = (...containers: readonly string[]): string[] => engine('kill', ...containers);
export const remove = (...containers: readonly string[]): string[] =>
  engine('rm', '--force', ...containers);
/** With the volumes that only they have. */
export const removeWhole = (...containers: readonly string[]): string[] =>
  remove('--volumes', ...containers);
export const update = (container: string, ...flags: readonly string[]): string[] =>
  engine('update', ...flags, container);
export const logs = (container: string): string[] => engine('logs', container);
export const copyOut = (container: string, path: string, to: string): string[] =>
  engine('cp', `${container}:${path}`, to);
export const exportFiles = (container: string): string[] => engine('export', container);
/** Where the host has a container's port. */
export const publishedPort = (container: string, port: string): string[] =>
  engine('port', container, port);

export const createNetwork = (
  name: string,
  { subnet, gateway }: { readonly subnet: string; readonly gateway: string },
  labels: readonly string[],
): string[] =>
  engine(
    ...['network', 'create', '--subnet', subnet, '--gateway', gateway],
    ...['--opt', 'com.docker.network.bridge.enable_ip_masquerade=true', ...labels, name],
  );
export const removeNetwork = (name: string): string[] => engine('network', 'rm', name);
export const connect = (network: string, container: string, ip: string): string[] =>
  engine('network', 'connect', '--ip', ip, network, container);
export const disconnect = (network: string, container: string): string[] =>
  engine('network', 'disconnect', network, container);

export const createVolume = (name: string, ...flags: readonly string[]): string[] =>
  engine('volume', 'create', ...flags, name);
export const removeVolume = (name: string): string[] => engine('volume', 'rm', '--force', name);

export type EngineObject = 'container' | 'network' | 'volume' | 'image';

export const inspect = (kind: EngineObject, names: readonly string[], format?: string): string[] =>
  engine(kind, 'inspect', ...(format === undefined ? [] : ['--format', format]), ...names);
export const imageIds = (refs: readonly string[]): string[] => inspect('image', refs, '{{.Id}}');

/** Things with all these labels (`key` or `key=value`), by id. */
export const list = (kind: Exclude<EngineObject, 'image'>, labels: readonly string[]): string[] => [
  ...engine(kind, 'ls', '--quiet', ...(kind === 'container' ? ['--all', '--no-trunc'] : [])),
  ...labels.flatMap((one) => ['--filter', `label=${one}`]),
];

/** Images, newest first, as `repository:tag`. `which`: a repository, or filters. Default: all. */
export const listImages = (...which: readonly string[]): string[] =>
  engine('image', 'ls', '--format', '{{.Repository}}:{{.Tag}}', ...which);
/** Exit code 0 where the registry has it. */
export const askManifest = (ref: string): string[] => engine('manifest', 'inspect', ref);
export const tagImage = (image: string, ref: string): string[] => engine('tag', image, ref);
export const pushImage = (ref: string): string[] => engine('push', ref);
export const removeImage = (ref: string): string[] => engine('image', 'rm', ref);

/** The value of that label of each container that runs and has it, a line each. */
export const runningLabels = (label: string): string[] =>
  engine('ps', '--filter', `label=${label}`, '--format', `{{.Label "${label}"}}`);

/** A line with its name for each container that is started from now on. */
export const starts = (): string[] =>
  engine(
    ...['events', '--filter', 'type=container', '--filter', 'event=start'],
    ...['--format', '{{.Actor.Attributes.name}}'],
  );

export const info = (format: string): string[] => engine('info', '--format', format);
export const version = (): string[] => engine('version', '--format', '{{.Server.Version}}');

/** What a person does with an engine: to look, and to make room. */
export const byHand = {
  start: 'systemctl start docker || dockerd &',
  look: 'docker version',
  lookAtRights: 'docker info',
  lookAtContainers: (label: string): string => `docker ps --all --filter label=${label}`,
  lookAtState: (container: string): string =>
    `docker inspect --format '{{json .State}}' ${container}`,
  makeRoom: 'docker system df; docker image prune',
} as const;
