/** Any connection that can load an extension: of better-sqlite3, or node:sqlite with allowExtension. */
export interface Connection {
  loadExtension(path: string): unknown;
}

/** The path of the library for this platform. */
export declare function getLoadablePath(): string;

/** Load highwater into a connection. */
export declare function load(db: Connection): void;
