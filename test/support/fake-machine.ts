/**
 * What the driver's processes ask of the operating system, in memory: files, mounts, the lock and
 * the programs that make and mount file systems. Each is one step of the process that asks.
 */
import { AsyncResource } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import type { Life, Steps } from './steps.ts';

interface FakeMount {
  readonly device: string;
  readonly mountPoint: string;
  readonly fsType: string;
}

/** What the machine knows of the devices: the array's side. */
export interface Devices {
  /** The volume behind a device that answers; undefined where reads and writes fail. */
  readonly volumeOf: (device: string) => string | undefined;
  /** Called after each change of mounts. */
  readonly onMounts: () => void;
  /** Numbers of loop devices that have something behind them. */
  readonly isBound: (loop: number) => boolean;
}

/** A process that holds the lock or waits for it: the first of all holds it. */
interface Lock {
  readonly life: Life;
  readonly take: () => void;
  readonly exit: (code: number) => void;
}

type Ended = { readonly exitCode: number; readonly stdout: string };
type ExecCallback = (error: Error | null, stdout: string, stderr: string) => void;
const done: Ended = { exitCode: 0, stdout: '' };
const failed = (stdout: string, exitCode = 32): Ended => ({ exitCode, stdout });

export class FakeMachine {
  readonly files = new Map<string, { text: string; size: number }>();
  readonly #folders = new Set<string>();
  /** By node. */
  readonly mounts = new Map<string, FakeMount[]>();
  /** File system by volume. */
  readonly formats = new Map<string, string>();
  readonly #steps: Steps;
  readonly #devices: Devices;
  #locks: Lock[] = [];

  constructor(steps: Steps, devices: Devices) {
    this.#steps = steps;
    this.#devices = devices;
    steps.idle = () => this.#timeOutWaiters();
    steps.died = (life) => this.#release((lock) => lock.life === life);
  }

  /** Its processes are gone, and with them all that they had mounted. */
  powerOff(node: string): void {
    this.mounts.delete(node);
    this.#devices.onMounts();
  }

  /** Stands for node:fs/promises. */
  readonly fs: Readonly<Record<string, (path: string, ...rest: never[]) => Promise<unknown>>> = {
    access: (path) => this.#file(`access ${path}`, () => this.#needed(path)),
    lstat: (path) => this.#file(`lstat ${path}`, () => this.#kindOf(path)),
    mkdir: (path) => this.#file(`mkdir ${path}`, () => void this.#folders.add(path)),
    readFile: (path) => this.#file(`read ${path}`, () => this.#read(path)),
    readdir: (path) => this.#file(`list ${path}`, () => this.#list(path)),
    rename: (from, to: string) => this.#file(`rename ${from}`, () => this.#rename(from, to)),
    rm: (path) => this.#file(`rm ${path}`, () => this.#remove(path)),
    rmdir: (path) => this.#file(`rmdir ${path}`, () => this.#removeFolder(path)),
    stat: (path) => this.#file(`stat ${path}`, () => ({ size: this.#needed(path).size })),
    truncate: (path, size: number) =>
      this.#file(`truncate ${path}`, () => void (this.#needed(path).size = size)),
    unlink: (path) => this.#file(`unlink ${path}`, () => this.#remove(path)),
    writeFile: (path, text: string) => this.#write(path, text),
    open: async (path) => {
      await this.#write(path, '');
      const close = (): Promise<void> => Promise.resolve();
      const writeFile = (text: string): Promise<void> => this.#write(path, text);
      const sync = (): Promise<void> => this.#file(`sync ${path}`, () => undefined);
      return { writeFile, sync, close, [Symbol.asyncDispose]: close };
    },
  };

  /** Stands for node:child_process. */
  readonly processes = {
    execFile: (program: string, args: readonly string[], callback: ExecCallback): void => {
      const answer = ({ exitCode, stdout }: Ended): void => {
        const error = Object.assign(new Error(`exit code ${exitCode}`), { code: exitCode });
        callback(exitCode === 0 ? null : error, stdout, '');
      };
      const step = `${program} ${args.join(' ')}`;
      this.#steps
        .take(step, () => this.#run(program, args))
        .then(answer, () => answer(failed(`injected: ${step}`)));
    },
    /** Only the lock's holder is a process that stays. */
    spawn: (): object => {
      const life = this.#steps.current;
      if (life === undefined) throw new Error('only the driver locks');
      const stdout = new EventEmitter();
      const exit = (code: number): void => {
        this.#release((lock) => lock === mine);
        child.emit('exit', code);
      };
      const child = Object.assign(new EventEmitter(), { stdout, stdin: { end: () => exit(0) } });
      const held = (): void => void stdout.emit('data', 'held\n');
      const take = AsyncResource.bind(
        () => void this.#steps.take('lock', held).catch(() => exit(1)),
      );
      const mine: Lock = { life, take, exit };
      this.#locks.push(mine);
      if (this.#locks.length === 1) mine.take();
      return child;
    },
  };

  /** As flock --wait does, behind a holder that stands still. */
  #timeOutWaiters(): boolean {
    const waiting = this.#locks.slice(1);
    for (const { exit } of waiting) exit(1);
    return waiting.length > 0;
  }

  /** The next in line gets the lock where its holder let go or died. */
  #release(which: (lock: Lock) => boolean): void {
    const [holder] = this.#locks;
    this.#locks = this.#locks.filter((lock) => !which(lock));
    const [next] = this.#locks;
    if (next !== undefined && next !== holder) next.take();
  }

  #file<T>(label: string, effect: () => T): Promise<T> {
    return this.#steps.take(label, effect, (what) => new FileError('EIO', what));
  }

  #kindOf(path: string): { isDirectory: () => boolean } {
    const isFolder = this.#folders.has(path);
    if (!isFolder) this.#needed(path);
    return { isDirectory: () => isFolder };
  }

  #needed(path: string): { text: string; size: number } {
    const loop = /^\/sys\/block\/loop(\d+)\/loop$/.exec(path)?.[1];
    if (loop !== undefined && this.#devices.isBound(Number(loop))) return { text: '', size: 0 };
    const file = this.files.get(path);
    if (file === undefined) throw new FileError('ENOENT', path);
    return file;
  }

  #read(path: string): string {
    if (path !== '/proc/self/mountinfo') return this.#needed(path).text;
    const mounts = this.#mountsHere().map(({ device, mountPoint, fsType }) => {
      const number = `7:${device.replace('/dev/loop', '')}`;
      return `1 1 ${number} / ${mountPoint} rw - ${fsType} ${device} rw`;
    });
    return mounts.join('\n');
  }

  #write(path: string, text: string): Promise<void> {
    return this.#file(
      `write ${path}`,
      () => void this.files.set(path, { text, size: text.length }),
    );
  }

  #rename(from: string, to: string): void {
    this.files.set(to, this.#needed(from));
    this.files.delete(from);
  }

  /** With all below; no error where nothing is. */
  #remove(path: string): void {
    const below = [...this.files.keys()].filter((each) => each.startsWith(`${path}/`));
    for (const each of [path, ...below]) this.files.delete(each);
  }

  #removeFolder(path: string): void {
    if (!this.#folders.delete(path)) throw new FileError('ENOENT', path);
  }

  #list(path: string): string[] {
    const below = [...this.files.keys()].filter((each) => each.startsWith(`${path}/`));
    return [...new Set(below.map((each) => each.slice(path.length + 1).split('/')[0] ?? ''))];
  }

  #mountsHere(): FakeMount[] {
    const node = this.#steps.current?.name ?? '';
    const mounts = this.mounts.get(node) ?? [];
    this.mounts.set(node, mounts);
    return mounts;
  }

  #run(program: string, args: readonly string[]): Ended {
    const device = args.at(-1) ?? '';
    const volume = this.#devices.volumeOf(device);
    if (program === 'blkid') {
      const format = volume === undefined ? undefined : this.formats.get(volume);
      return format === undefined ? failed('', 2) : { exitCode: 0, stdout: `TYPE=${format}\n` };
    }
    if (program.startsWith('mkfs.')) {
      if (volume === undefined) return failed('I/O error', 1);
      this.formats.set(volume, program.slice('mkfs.'.length));
      return done;
    }
    if (program === 'fsck') return volume === undefined ? failed('I/O error', 8) : done;
    if (program === 'mount') return this.#mount(args);
    if (program === 'umount') return this.#unmount(device);
    throw new Error(`nobody said what ${program} ${args.join(' ')} does`);
  }

  #mount(args: readonly string[]): Ended {
    if (args.includes('-o') && !args.includes('-t')) return done;
    const [from = '', mountPoint = ''] = args.slice(-2);
    const mounts = this.#mountsHere();
    const source = args.includes('--bind')
      ? mounts.findLast((mount) => mount.mountPoint === from)
      : { device: from, fsType: args[1] ?? '' };
    if (source === undefined) return failed(`nothing is mounted at ${from}`);
    if (!args.includes('--bind') && this.#devices.volumeOf(from) === undefined) {
      return failed("can't read superblock");
    }
    const isThere = mounts.some(
      (mount) => mount.mountPoint === mountPoint && mount.device === source.device,
    );
    if (isThere && !args.includes('--bind')) return failed('already mounted');
    mounts.push({ ...source, mountPoint });
    this.#devices.onMounts();
    return done;
  }

  #unmount(mountPoint: string): Ended {
    const mounts = this.#mountsHere();
    const index = mounts.findLastIndex((mount) => mount.mountPoint === mountPoint);
    if (index === -1) return failed('not mounted');
    mounts.splice(index, 1);
    this.#devices.onMounts();
    return done;
  }
}

class FileError extends Error {
  readonly code: string;

  constructor(code: string, path: string) {
    super(`${code}: ${path}`);
    this.code = code;
  }
}
