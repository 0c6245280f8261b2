import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { directory, openHere, owners, receipt, row } from './support.ts'

const python = (script: string, ...args: string[]) =>
  spawnSync('python3', ['-c', script, ...args], { encoding: 'utf8' })

const canRun = python('import hashlib, json, sqlite3').status === 0
/** What the Python bridge does with its one table. */
const script = `
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=10)
db.execute('CREATE TABLE IF NOT EXISTS operations (request_id TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, receipt TEXT NOT NULL)')
with db:
    inserted = db.execute('INSERT OR IGNORE INTO operations VALUES (?, ?, ?)', ('p', 'f', json.dumps({'requestId': 'p', 'operation': 'create_thread', 'status': 'in_progress_or_unknown', 'startedAt': 1.5, 'fingerprintVersion': 2}))).rowcount
with db:
    db.execute('UPDATE operations SET receipt = ? WHERE request_id = ?', (json.dumps({'requestId': 'p', 'operation': 'create_thread', 'status': 'accepted', 'startedAt': 1.5, 'fingerprintVersion': 2}), 'p'))
rows = db.execute('SELECT request_id, fingerprint, receipt FROM operations ORDER BY request_id').fetchall()
columns = [row[1:3] for row in db.execute('PRAGMA table_info(operations)')]
print(json.dumps({'inserted': inserted, 'columns': columns, 'rows': [[i, f, json.loads(r)] for i, f, r in rows], 'check': db.execute('PRAGMA integrity_check').fetchall()}))
`

// Skipped where there is no python3 with sqlite3: plain SQL is tested in schema.test.ts.
test.skipIf(!canRun)('Python reads and writes a ledger of ours while we hold it open', async () => {
  const path = join(directory(), 'operations.sqlite3')
  const ledger = await openHere(path)
  const stored = receipt('größe 😀', {
    owner: owners.living,
    title: '日本 語',
    error: { code: 'c', message: 'm' },
  })
  ledger.claim({ fingerprint: 'f', receipt: stored })
  ledger.claim(row('r'))
  const { stdout, stderr } = python(script, path)
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toEqual({
    inserted: 1,
    columns: [
      ['request_id', 'TEXT'],
      ['fingerprint', 'TEXT'],
      ['receipt', 'TEXT'],
    ],
    rows: [
      ['größe 😀', 'f', stored],
      ['p', 'f', expect.objectContaining({ status: 'accepted' })],
      ['r', 'fingerprint of r', receipt('r')],
    ],
    check: [['ok']],
  })
  expect(ledger.get('p')?.receipt).toMatchObject({ status: 'accepted', next: 'none' })
  expect(ledger.counts()).toEqual({ operations: 3, uncertain: 0 })
})
