import { crowd } from './apps/mcp-server/test/crowd/crowd.ts'
console.log(await crowd({ version: process.argv[2]!, bridges: 8, requests: Number(process.argv[3]), seed: Number(process.argv[4]) }))
