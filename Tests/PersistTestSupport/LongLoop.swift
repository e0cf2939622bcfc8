import Foundation
import Persist

/// Reports the progress of a long loop on standard error in runs with `PERSIST_LONG_TESTS`: one line every ten seconds.
///
/// ```
/// killed-migrations: 312 of 1000, 41 s
/// ```
public final class LongLoop: Sendable {
  private struct State {
    var count: UInt64 = 0
    var lastReport = ContinuousClock.now
  }

  private static let interval = Duration.seconds(10)
  /// The maximum duration of a loop in a long run, so that the whole run ends.
  static let limit = Duration.seconds(300)

  private let name: String
  private let total: String
  private let isReporting: Bool
  private let start = ContinuousClock.now
  private let state = LockProtected(State())

  /// - Parameters:
  ///   - name: The name of the loop in its reports.
  ///   - total: The number of rounds; nil if it isn't known.
  public convenience init(_ name: String, of total: Int? = nil) {
    self.init(name, of: total.map { UInt64($0) }, isReporting: TestLength.isLong)
  }

  init(_ name: String, of total: UInt64?, isReporting: Bool) {
    self.name = name
    self.total = total.map { " of \($0)" } ?? ""
    self.isReporting = isReporting
  }

  /// Counts one round.
  public func advance() {
    guard isReporting else { return }
    let line: String? = state.withLock { state in
      state.count += 1
      guard ContinuousClock.now - state.lastReport >= Self.interval else { return nil }
      state.lastReport = .now
      return "\(name): \(state.count)\(total), \((ContinuousClock.now - start).components.seconds) s\n"
    }
    if let line { FileHandle.standardError.write(Data(line.utf8)) }
  }

  /// Iterates over the elements; in a long run for at most five minutes, in a random order that is always the same, and
  /// reports the number of elements visited.
  public static func forEach<Element>(
    _ elements: [Element], _ name: String, _ body: (Element) throws -> Void
  ) rethrows {
    guard TestLength.isLong else { return try elements.forEach(body) }
    let loop = LongLoop(name, of: elements.count)
    var random = SeededRandom(seed: UInt64(elements.count))
    for (number, element) in elements.shuffled(using: &random).enumerated() {
      guard ContinuousClock.now - loop.start < limit else {
        return print("\(name): there was time for \(number) of \(elements.count)")
      }
      loop.advance()
      try body(element)
    }
  }

  /// Counts the seconds while something runs that can't report its progress.
  @discardableResult
  public static func counting<Result>(
    _ name: String, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async rethrows -> Result {
    let loop = LongLoop(name, of: nil)
    let ticks = Task.detached {
      while !Task.isCancelled {
        try await Task.sleep(for: .seconds(1))
        loop.advance()
      }
    }
    defer { ticks.cancel() }
    return try await body()
  }
}
