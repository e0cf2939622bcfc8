import PersistTestSupport
import Testing

@Suite("Synchronization: what was set last")
struct EditLawTests {
  @Test(
    "Nothing that was set last is missing, whoever was updated, copied and put back between an edit and its sending",
    .law("sync-edits", short: 30, long: 10_000))
  func edits() async throws {
    await forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      var steps = (0..<RunExtent(&random).steps(upTo: 60, &random)).map { _ in random.next() }
      var found = await EditRun.faults(seed, steps)
      guard !found.faults.isEmpty else { return }
      let first = found.faults
      var size = steps.count / 2
      while size > 0 {
        var start = 0
        while start < steps.count {
          let fewer = Array(steps[..<start] + steps[min(start + size, steps.count)...])
          let rest = await EditRun.faults(seed, fewer)
          if rest.faults.isEmpty { start += size } else { (steps, found) = (fewer, rest) }
        }
        size /= 2
      }
      Issue.record(
        """
        \(first.prefix(3).joined(separator: "\n"))
        Reduced to:
        \(found.log.joined(separator: "\n"))
        \(found.faults.prefix(4).joined(separator: "\n"))
        """)
    }
  }
}
