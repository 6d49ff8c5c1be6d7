import Groundwork

/// What `operation` gives, or nil if it takes longer than `bound`; the operation is then cancelled and its late result dropped.
///
/// It returns at the bound even if the operation ignores its cancellation. A cancelled caller gets nil at once. A process that was stopped
/// or suspended beyond the bound waits one second more: the answer may have come meanwhile, and a refresh's answer is not to be had again.
func firstWithin<Value: Sendable>(
  _ bound: Duration, time: any TimeSource, tasks: TaskStarter, _ operation: @escaping @Sendable () async -> Value
) async -> Value? {
  guard bound > .zero else { return nil }
  let result = SharedResult<Value?>()
  let work = tasks.start { result.resolve(await operation()) }
  let timer = tasks.start {
    do {
      let end = time.sinceBoot + bound
      try await time.sleep(for: bound)
      if time.sinceBoot - end > .seconds(1) { try await time.sleep(for: .seconds(1)) }
      result.resolve(nil)
      // At once, not when the caller goes on: an answer that came in between would be lost though it had been there.
      work.cancel()
    } catch {
      // Cancelled: the operation was first.
      return
    }
  }
  defer {
    timer.cancel()
    work.cancel()
  }
  do {
    return try await result.value()
  } catch {
    return nil
  }
}
