import Foundation

/// One kind of work, done by Persist and by hand.
struct Contest {
  /// Prepared work: its time is measured, and its checksum compared.
  typealias Work = () throws -> Int64

  let name: String
  let summary: String
  /// The ratio of Persist's time to the other's that is wanted at most.
  let target: Double
  /// Prepares a store of its own, and returns the work.
  let persist: (Setting) throws -> Work
  let plain: (Setting) throws -> Work

  struct Setting {
    /// The server, directly.
    let url: String
    /// The server behind a network with a delay.
    let distantURL: String
    let schema: String
    let rows: Int
  }

  struct Result {
    let contest: Contest
    let persist: Double
    let plain: Double
    var ratio: Double { persist / plain }
  }

  /// The medians of rounds in which both take turns, each in a new schema.
  func measure(_ url: String, distant: String, rows: Int, rounds: Int) throws -> Result {
    var times: [[Double]] = [[], []]
    for round in 0..<rounds {
      var sums: [Int64] = []
      for (index, prepare) in [persist, plain].enumerated() {
        let schema = "benchmark_\(name)_\(round)_\(index)".lowercased()
        let admin = try PlainConnection(url)
        try admin.run([("DROP SCHEMA IF EXISTS \(schema) CASCADE", [])])
        let work = try prepare(Setting(url: url, distantURL: distant, schema: schema, rows: rows))
        let begin = ContinuousClock.now
        sums.append(try work())
        times[index].append(begin.duration(to: .now) / .seconds(1))
        try admin.run([("DROP SCHEMA IF EXISTS \(schema) CASCADE", [])])
      }
      guard sums[0] == sums[1] else { throw BenchmarkError("\(name): the results differ, \(sums[0]) and \(sums[1]).") }
    }
    func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
    return Result(contest: self, persist: median(times[0]), plain: median(times[1]))
  }
}
