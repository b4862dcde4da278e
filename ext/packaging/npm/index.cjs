// SPDX-License-Identifier: MIT
// Finds the library of this platform, which is a package of its own, and loads it into a connection.
'use strict';

const SUFFIX = { linux: 'so', darwin: 'dylib', win32: 'dll' };

function isMusl() {
  return process.platform === 'linux' && !process.report.getReport().header.glibcVersionRuntime;
}

/** The path of the library. HIGHWATER_LIBRARY in the environment names another one. */
function getLoadablePath() {
  if (process.env.HIGHWATER_LIBRARY) {
    return process.env.HIGHWATER_LIBRARY;
  }
  const name = `sqlite-highwater-${process.platform}-${process.arch}${isMusl() ? '-musl' : ''}`;
  try {
    return require.resolve(`${name}/highwater.${SUFFIX[process.platform]}`);
  } catch (error) {
    throw new Error(
      `the package ${name} is not installed: npm install ${name}, and look whether optional dependencies are ` +
        'switched off; if there is no such package, HIGHWATER_LIBRARY can name a library that you built',
      { cause: error },
    );
  }
}

/** Load highwater into a connection of better-sqlite3 or node:sqlite (opened with allowExtension: true). */
function load(db) {
  db.loadExtension(getLoadablePath());
}

module.exports = { getLoadablePath, load };
