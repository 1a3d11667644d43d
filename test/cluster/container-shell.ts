/**
 * One shell that stays open in a container: a script costs no `docker exec` of its own, which on a
 * busy machine takes longer than most scripts.
 */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';

/** Runs the script as `docker exec sh -euc` would, and says its exit code and outputs' sizes. */
const wrapper = (argv: string): string =>
  `sh -euc ${argv} </dev/null >/tmp/sh.out 2>/tmp/sh.err; code=$?; ` +
  `echo "$code $(stat -c %s /tmp/sh.out) $(stat -c %s /tmp/sh.err)"; cat /tmp/sh.out /tmp/sh.err\n`;

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

export class ContainerShell {
  readonly #child: ChildProcessWithoutNullStreams;
  /** What came and was not taken yet. */
  #chunks: Buffer[] = [];
  #length = 0;
  #more = Promise.withResolvers<void>();
  #ended = false;
  /** The script under way; the next one waits for it. */
  #busy: Promise<unknown> = Promise.resolve();

  constructor(container: string) {
    this.#child = spawn('docker', ['exec', '--interactive', container, 'sh']);
    this.#child.stdout.on('data', (bytes: Buffer) => {
      this.#chunks.push(bytes);
      this.#length += bytes.length;
      this.#more.resolve();
    });
    this.#child.once('close', () => {
      this.#ended = true;
      this.#more.resolve();
    });
    this.#child.stdin.on('error', () => undefined);
  }

  /** Resolves to the script's stdout; `$1` … are its arguments. Rejects where it fails. */
  run(script: string, args: readonly (string | number)[]): Promise<string> {
    const result = this.#busy.then(() => this.#run(script, args));
    this.#busy = result.catch(() => undefined);
    return result;
  }

  close(): void {
    this.#child.stdin.end();
  }

  async #run(script: string, args: readonly (string | number)[]): Promise<string> {
    const argv = [script, 'sh', ...args.map(String)].map(quoted).join(' ');
    this.#child.stdin.write(wrapper(argv));
    const [code = 1, outBytes = 0, errBytes = 0] = (await this.#line()).split(' ').map(Number);
    const stdout = (await this.#take(outBytes)).toString();
    const stderr = (await this.#take(errBytes)).toString();
    if (code !== 0) throw new Error(`exit code ${code}: ${stderr}${stdout}\nin: ${script}`);
    return stdout;
  }

  async #line(): Promise<string> {
    while (!this.#chunks.some((chunk) => chunk.includes('\n'))) await this.#wait();
    const line = await this.#take(Buffer.concat(this.#chunks).indexOf('\n') + 1);
    return line.toString().trim();
  }

  async #take(bytes: number): Promise<Buffer> {
    while (this.#length < bytes) await this.#wait();
    const all = Buffer.concat(this.#chunks);
    this.#chunks = [all.subarray(bytes)];
    this.#length -= bytes;
    return all.subarray(0, bytes);
  }

  async #wait(): Promise<void> {
    if (this.#ended) throw new Error("the container's shell has ended");
    this.#more = Promise.withResolvers();
    await this.#more.promise;
  }
}
