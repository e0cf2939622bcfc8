import Foundation

/// Runs contestants in turn, round by round, each in a separate process.
struct Runner {
  let rounds: Int
  let folder: URL

  /// The results of a workload, by contestant.
  struct Result {
    let workload: Workload
    let rows: Int
    var runs: [Contestant: [Measurement]] = [:]
    /// Runs of the work that the target is relative to, if that isn't plain SQLite's.
    var basis: [Measurement] = []
  }

  /// - Parameter contestants: The contestants; nil for all that the workload has.
  func run(_ workload: Workload, rows: Int? = nil, contestants: [Contestant]? = nil) throws -> Result {
    var result = Result(workload: workload, rows: rows ?? workload.rows)
    for round in 0..<max(rounds, workload.leastRounds) {
      for contestant in contestants ?? workload.contestants {
        var measurement = try child(workload, contestant, rows: result.rows)
        if round == 0 {
          measurement.statements = try child(workload, contestant, rows: result.rows, .count).statements
        }
        result.runs[contestant, default: []].append(measurement)
      }
      switch workload.measure {
      case .timeOverFewer(let registered): result.basis.append(try child(workload, .persist, rows: registered))
      case .timeOverBasis: result.basis.append(try child(workload, .persist, rows: result.rows, .basis))
      default: break
      }
    }
    try checkThatAllDidTheSame(result)
    return result
  }

  /// Frees disk space: the stores with which runs begin are created again when they are needed.
  func forgetTemplates() {
    let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
    for file in files { try? FileManager.default.removeItem(at: file) }
  }

  private func checkThatAllDidTheSame(_ result: Result) throws {
    let runs = result.runs.values.joined()
    guard Set(runs.map(\.readChecksum)).count <= 1, Set(runs.map(\.fileChecksum)).count <= 1 else {
      let sums = result.runs.mapValues { "\($0[0].readChecksum) read, \($0[0].fileChecksum) in the file" }
      throw BenchmarkError("\(result.workload.name): the contestants did not do the same work: \(sums)")
    }
  }

  private func child(
    _ workload: Workload, _ contestant: Contestant, rows: Int, _ mode: ChildRun.Mode = .time
  ) throws -> Measurement {
    try run(try process(workload, contestant, rows: rows, mode), of: workload, contestant)
  }

  /// Counts the instructions of a child's work on all of its threads, by two runs under callgrind: one with and one
  /// without the work.
  func count(_ workload: Workload, _ contestant: Contestant, rows: Int) throws -> (Measurement, InstructionCount) {
    let (_, preparation) = try profile(workload, contestant, rows: rows, .preparation)
    let (measurement, whole) = try profile(workload, contestant, rows: rows, .profile)
    return (measurement, whole - preparation)
  }

  private func profile(
    _ workload: Workload, _ contestant: Contestant, rows: Int, _ mode: ChildRun.Mode
  ) throws -> (Measurement, InstructionCount) {
    let output = folder.appendingPathComponent("callgrind.out")
    try? FileManager.default.removeItem(at: output)
    let process = try process(workload, contestant, rows: rows, mode)
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "valgrind", "--quiet", "--tool=callgrind", "--callgrind-out-file=\(output.path)", Self.program.path,
    ] + (process.arguments ?? [])
    // Otherwise the order of sets and dictionaries, and so the work, differs from run to run.
    process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_DETERMINISTIC_HASHING": "1"]) { $1 }
    let measurement = try run(process, of: workload, contestant)
    let text = try String(contentsOf: output, encoding: .utf8)
    return (measurement, InstructionCount(callgrindOutput: text, of: Self.program.lastPathComponent))
  }

  /// The process of a run, with its file.
  private func process(
    _ workload: Workload, _ contestant: Contestant, rows: Int, _ mode: ChildRun.Mode
  ) throws -> Process {
    let file = folder.appendingPathComponent("run.sqlite")
    try workload.start.copy(to: file, rows: workload.setting(file: file, rows: rows).storeRows, in: folder)
    let process = Process()
    process.executableURL = Self.program
    process.arguments = [
      "child", workload.name, contestant.rawValue, file.path, String(rows), mode.rawValue,
    ]
    return process
  }

  private func run(_ process: Process, of workload: Workload, _ contestant: Contestant) throws -> Measurement {
    do { return try JSONDecoder().decode(Measurement.self, from: Self.lastLine(of: process)) } catch {
      throw BenchmarkError("\(workload.name) by \(contestant.rawValue) failed: \(error)")
    }
  }

  /// Creates a folder for the files of a command, which removes it at its end.
  static func makeFolder(_ command: String) throws -> URL {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("persist-\(command)-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  /// The file of this program.
  static var program: URL {
    #if os(Linux)
      URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    #else
      URL(fileURLWithPath: CommandLine.arguments[0])
    #endif
  }

  /// Runs a process.
  ///
  /// - Returns: The last line that it prints.
  static func lastLine(of process: Process) throws -> Data {
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0, let line = String(decoding: data, as: UTF8.self).split(separator: "\n").last
    else { throw BenchmarkError("A process ended with \(process.terminationStatus).") }
    return Data(line.utf8)
  }
}

struct BenchmarkError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
