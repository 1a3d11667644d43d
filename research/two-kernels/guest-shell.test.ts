/** A virtual machine as a node's shell: its port leads to shells here, and QEMU is played. */
import { type ChildProcess, spawn } from 'node:child_process';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testNodeShell } from '../../test/contract/node-shell-contract.ts';
import { type GuestShell, guestShell } from './guest-shell.ts';

let machine: ChildProcess;
let shell: GuestShell;
let isHeld = false;
const told: string[] = [];
const held: (() => void)[] = [];
const inside = new Set<ChildProcess>();
const sockets = new Set<Socket>();

/** As `socat EXEC:sh` in the guest. */
function serve(socket: Socket): void {
  sockets.add(socket);
  socket.on('error', () => socket.destroy());
  const begin = (): void => {
    const child = spawn('sh', { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
    inside.add(child);
    child.stdin.on('error', () => undefined);
    socket.pipe(child.stdin);
    child.stdout.pipe(socket);
  };
  if (isHeld) held.push(begin);
  else begin();
}
const server = createServer(serve);

function execute(command: string): Promise<unknown> {
  told.push(command);
  isHeld = command === 'stop';
  if (!isHeld) for (const begin of held.splice(0)) begin();
  return Promise.resolve({});
}

beforeAll(async () => {
  machine = spawn('sleep', ['600']);
  machine.once('close', () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.address() as AddressInfo;
  shell = guestShell('victim', { machine, qmp: { execute }, port });
});
afterAll(() => {
  machine.kill('SIGKILL');
  for (const { pid } of inside) {
    try {
      process.kill(-(pid ?? 0), 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
});

describe('a virtual machine', () => {
  testNodeShell({ has: ['suspend', 'resume', 'powerOff'], now: () => shell });
});

test('QEMU was told to hold it, and the machine was killed', () => {
  expect(told).toEqual(['stop', 'cont']);
  expect(machine.signalCode).toBe('SIGKILL');
});
