import { expect, test } from 'vitest'
import { throttledProgress } from '../src/progress.ts'

test('passes progress on at most once a second, counting up', () => {
  const sent: [number, string][] = []
  let now = 5_000
  const progress = throttledProgress(
    (count, message) => void sent.push([count, message]),
    () => now,
  )
  const at = (time: number, message: string): void => {
    now = time
    progress.report(message)
  }
  at(5_000, 'first')
  at(5_999, 'too early')
  at(6_000, 'second')
  at(6_001, 'too early again')
  at(60_000, 'third')
  expect(sent).toEqual([
    [1, 'first'],
    [2, 'second'],
    [3, 'third'],
  ])
})

test('passes nothing on after the end', () => {
  const sent: string[] = []
  const progress = throttledProgress((_, message) => void sent.push(message))
  progress.end()
  progress.report('late')
  expect(sent).toEqual([])
})
