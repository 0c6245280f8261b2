import fc from 'fast-check'
import { fuzz } from './apps/mcp-server/test/fuzz/fuzz.ts'
const t0 = Date.now()
const { report, counts } = await fuzz({ runs: Number(process.argv[2]), seed: Number(process.argv[3]), ...(process.argv[4] ? { path: process.argv[4] } : {}) })
console.log(counts, Date.now() - t0, (fc.defaultReportMessage(report) ?? 'OK').slice(0, 3000))
if (report.errorInstance) console.log(String((report.errorInstance as Error).stack).slice(0,3000), String(((report.errorInstance as Error).cause as Error | undefined)?.stack).slice(0,1500))
