/// One line of the table of latencies: an operation that one thread performs again and again while others save.
public struct LatencyCase: Sendable {
  public enum Operation: String, CaseIterable, Sendable {
    case save
    case fetch
    case page
  }

  public let operation: Operation
  /// The number of threads that save meanwhile.
  public let writers: Int
  /// Whether each writer waits a second after a save; otherwise it saves at full speed.
  public let isPaced: Bool
  /// Whether a save returns only when it is on the disk, where that is a choice: `synchronous = FULL`.
  public var isDurable = false

  public static let all = Operation.allCases.flatMap { operation in
    [1, 8, 64].flatMap { writers in
      [true, false].map { LatencyCase(operation: operation, writers: writers, isPaced: $0) }
    }
  }

  public static let durable = [1, 8, 64].map {
    LatencyCase(operation: .save, writers: $0, isPaced: false, isDurable: true)
  }

  /// The columns of the case.
  public var columns: String {
    "\(operation.rawValue)\(isDurable ? " to the disk" : "") | \(writers) | \(isPaced ? "1 s apart" : "full speed")"
  }

  /// Measures the case for some seconds.
  ///
  /// - Parameters:
  ///   - seconds: The time for which the operation is repeated.
  ///   - rows: The number of objects in the store; keys and pages are among them.
  ///   - newSession: Makes the session of the thread with a number from zero. The last one is the measured one's.
  /// - Returns: The operation's times: those of the measured thread, and for saves at full speed those of all threads.
  public func measure(
    seconds: Double, rows: Int, newSession: @escaping LatencySession.Maker
  ) throws -> LatencyResult {
    let run = LatencyRun(threads: writers + 1)
    let countsAll = operation == .save && !isPaced
    for thread in 0..<writers {
      run.start {
        let session = try newSession(thread)
        var times: [Duration] = []
        try run.waitForAll()
        // Not all at the same moment.
        if isPaced { run.wait(.seconds(Double(thread) / Double(writers))) }
        while !run.isStopped {
          times.append(try LatencyRun.clock.measure { try session.save() })
          if isPaced { run.wait(.seconds(1)) }
        }
        run.add(times, isMeasured: countsAll, saves: times.count)
      }
    }
    run.start {
      let session = try newSession(writers)
      var times: [Duration] = []
      var number = 0
      try run.waitForAll()
      let end = LatencyRun.clock.now + .seconds(seconds)
      while LatencyRun.clock.now < end, !run.isStopped {
        number += 1
        let key = number &* 7919 % rows
        times.append(
          try LatencyRun.clock.measure {
            switch operation {
            case .save: try session.save()
            case .fetch: try session.fetch(key)
            case .page: try session.page(key)
            }
          })
      }
      run.stop()
      run.add(times, isMeasured: true, saves: operation == .save ? times.count : 0)
    }
    return try run.result()
  }
}
