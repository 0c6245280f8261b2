import { readFileSync } from 'node:fs'
import { Type } from 'typebox'
import { Value } from 'typebox/value'

const Report = Type.Object({
  numPassedTests: Type.Integer(),
  numFailedTests: Type.Integer(),
  numPendingTests: Type.Integer(),
  numFailedTestSuites: Type.Integer(),
})

const file = process.argv[2]
if (file === undefined) throw new Error('usage: report-counts REPORT.json')
const report = Value.Parse(Report, JSON.parse(readFileSync(file, 'utf8')))
// A file that could not even be loaded counts no test: it must not pass unseen.
const failed =
  report.numFailedTests === 0 && report.numFailedTestSuites > 0
    ? report.numFailedTestSuites
    : report.numFailedTests
console.log(`${report.numPassedTests} passed, ${failed} failed, ${report.numPendingTests} skipped`)
if (failed > 0 || report.numPassedTests === 0) process.exitCode = 1
