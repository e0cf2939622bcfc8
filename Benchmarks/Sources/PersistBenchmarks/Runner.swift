import Foundation

/// Runs contestants in turn, round by round, each in a process of its own.
struct Runner {
  let rounds: Int
  let rowsOverride: Int?
  let folder: URL

  /// What a workload gave, by contestant.
  struct Result {
    let workload: Workload
    let rows: Int
    var runs: [Contestant: [Measurement]] = [:]
  }

  func run(_ workload: Workload) throws -> Result {
    let rows = rowsOverride.map { min($0, workload.rows * 5) } ?? workload.rows
    var result = Result(workload: workload, rows: rows)
    for round in 0..<rounds {
      for contestant in workload.contestants {
        var measurement = try child(workload, contestant, rows: rows, counting: false)
        if round == 0 {
          measurement.statements = try child(workload, contestant, rows: rows, counting: true).statements
        }
        result.runs[contestant, default: []].append(measurement)
      }
    }
    let sums = Set(result.runs.values.flatMap { $0.map(\.checksum) })
    guard sums.count <= 1 else {
      throw BenchmarkError("\(workload.name): the contestants did not do the same work: \(result.runs.mapValues { $0.first?.checksum ?? 0 })")
    }
    return result
  }

  private func child(_ workload: Workload, _ contestant: Contestant, rows: Int, counting: Bool) throws -> Measurement {
    let file = folder.appendingPathComponent("run.sqlite")
    for suffix in ["", "-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
    if workload.start == .filled {
      try FileManager.default.copyItem(at: try template(rows: rows), to: file)
    }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = [
      "child", workload.name, contestant.rawValue, file.path, String(rows), counting ? "count" : "time",
    ]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0, let line = String(decoding: data, as: UTF8.self).split(separator: "\n").last
    else { throw BenchmarkError("\(workload.name) by \(contestant.rawValue) failed.") }
    return try JSONDecoder().decode(Measurement.self, from: Data(line.utf8))
  }

  /// A store with `rows` rows, made once.
  private func template(rows: Int) throws -> URL {
    let url = folder.appendingPathComponent("template-\(rows).sqlite")
    if !FileManager.default.fileExists(atPath: url.path) { try PersistParts.fill(url, rows: rows) }
    return url
  }
}

struct BenchmarkError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
