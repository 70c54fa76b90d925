import { EventEmitter } from 'node:events';
import { Socket } from 'node:net';
import { Stream } from 'node:stream';

/** Whatever the library reports. */
export class HermesError extends Error {
  /** The library's name for it: `HERMES_ERR_UNSAFE_GROUP` and so on. */
  readonly hermesCode: string;
  /** The same; for a child that could not be started what `child_process` says: `ENOENT` and so on. */
  readonly code: string;
  /** What was being done: `execve`, `chdir`, `own_process_groups` and so on. */
  readonly step: string;
  /** Negative, as Node's. */
  readonly errno?: number;
  readonly syscall?: string;
  readonly path?: string;
  readonly spawnargs?: string[];
}

export type StdioOption = 'pipe' | 'overlapped' | 'ignore' | 'inherit' | Stream | number | null | undefined;

export interface SpawnOwnedOptions {
  cwd?: string | URL;
  /** The child's whole environment; this process's if there is none. */
  env?: NodeJS.ProcessEnv;
  /** Default: `'pipe'`. At most three; for more see `passFds`. */
  stdio?: 'pipe' | 'overlapped' | 'ignore' | 'inherit' | StdioOption[];
  /** What kind of thing this is, for people. */
  family?: string;
  /** Only the process group is owned: what leaves it is not searched for when this process dies. */
  groupOnly?: boolean;
  /** A process group of its own in this session. */
  keepSession?: boolean;
  /** The terminal on the child's stdin becomes its controlling terminal. */
  controllingTty?: boolean;
  /** Aborting it stops the group, and is an `error` event. */
  signal?: AbortSignal;
  /** Descriptors that the child gets under the same numbers; all others are closed. */
  passFds?: Iterable<number>;
  /** It always is. */
  detached?: boolean;
  windowsHide?: boolean;
  windowsVerbatimArguments?: boolean;
}

/** An owned child, in the shape of `ChildProcess`. Losing it stops nothing: the child stays owned. */
export class OwnedChild extends EventEmitter {
  private constructor();
  /** `undefined` if it could not be started, and before `spawn` if its start has to wait. */
  readonly pid?: number;
  readonly pgid?: number;
  readonly exitCode: number | null;
  readonly signalCode: NodeJS.Signals | null;
  /** It has ended, and somebody else took its status: `exit` has neither code nor signal. */
  readonly statusUnknown: boolean;
  /** `kill` has sent a signal. */
  readonly killed: boolean;
  readonly spawnfile: string;
  readonly spawnargs: string[];
  readonly stdin: Socket | null;
  readonly stdout: Socket | null;
  readonly stderr: Socket | null;
  readonly stdio: [Socket | null, Socket | null, Socket | null];

  /** To the leader alone. Whether it was sent. */
  kill(signal?: NodeJS.Signals | number): boolean;
  /**
   * Ends the whole group: SIGTERM, time to comply (3000 ms), SIGKILL. Settles when nothing in it runs and `exit` was
   * emitted: `exitCode` and `signalCode` are known then.
   */
  stop(options?: { graceMs?: number }): Promise<void>;
  /** The event loop stays for this child: so by default. */
  ref(): void;
  unref(): void;

  on(event: 'spawn', listener: () => void): this;
  on(event: 'exit' | 'close', listener: (code: number | null, signal: NodeJS.Signals | null) => void): this;
  on(event: 'error', listener: (error: Error) => void): this;
  on(event: string | symbol, listener: (...args: any[]) => void): this;
  once(event: 'spawn', listener: () => void): this;
  once(event: 'exit' | 'close', listener: (code: number | null, signal: NodeJS.Signals | null) => void): this;
  once(event: 'error', listener: (error: Error) => void): this;
  once(event: string | symbol, listener: (...args: any[]) => void): this;
}

/**
 * Starts a long-lived child in a session and process group of its own. It cannot outlive this process.
 *
 * As `child_process.spawn`: what is wrong with the arguments is thrown, a child that cannot be started is an `error`
 * event. The child exists, with its `pid`, when this returns; but if the supervisor was killed a moment ago, only at its
 * `spawn` event: the event loop is not held up for that.
 */
export function spawnOwned(command: string, args?: readonly string[], options?: SpawnOwnedOptions): OwnedChild;
export function spawnOwned(command: string, options?: SpawnOwnedOptions): OwnedChild;

/**
 * Takes over process groups that somebody else has started: they die with this process. All of them, or none.
 *
 * What is wrong is thrown. They are taken over when this returns; but if the supervisor was killed a moment ago, only
 * when the promise settles.
 */
export function ownProcessGroups(pgids: Iterable<number>): Promise<void>;
/** Lets groups go: they may outlive this process. An unknown number is no error. */
export function releaseProcessGroups(pgids: Iterable<number>): void;
/** Lets a group go when nothing that runs is left in it, and not before. */
export function releaseProcessGroupOnceEmpty(pgid: number): void;

export interface Settings {
  /** Between TERM and KILL once this process has died. Default 3000. */
  graceMs?: number;
  /** How long the supervisor stays without work. Default 30000. */
  idleMs?: number;
  /** An absolute path. Default `$HERMES_HOME`, else `~/.hermes`. */
  home?: string | null;
  /** Of no consequence yet: background jobs, which may outlive a gateway, are not in this version. */
  role?: 'task' | 'gateway';
}

/** Settings, before anything else of the library is used in this process. */
export function configure(settings?: Settings): void;

export interface Guarantee {
  value: string;
  /** Why it is not the strongest value. */
  why: string | null;
}

export interface Status {
  /** 0 while there is none. */
  supervisorPid: number;
  supervisorGeneration: number;
  slotsInUse: number;
  weakGroups: number;
  graceMs: number;
  idleMs: number;
  guarantees: Record<string, Guarantee>;
  lastSupervisorError: string | null;
}

/** What is in force in this process, and why. */
export function status(): Status;

/** The version of the library that was loaded. */
export const version: string;
