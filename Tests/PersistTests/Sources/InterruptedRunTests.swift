import Foundation
import PersistTestSupport
import Testing

@Suite("Interrupted test runs", .onOwnThread)
struct InterruptedRunTests {
  @Test(
    "A killed run ends its processes: those that it marked, and those that monitor it themselves",
    arguments: ["--start-marked", "--start-other"])
  func killed(mode: String) throws {
    try withTemporaryStore { url in
      let run = TestRun.newProcess()
      run.executableURL = try BuiltProgram.url("MigrationRunner")
      run.arguments = [url.path, mode]
      let output = Pipe()
      run.standardOutput = output
      try run.run()
      // All available text, because reading up to a count would wait for it.
      let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
      let child = try #require(Int32(line.trimmingCharacters(in: .newlines)), "\(line)")
      #expect(isRunning(child))
      kill(run.processIdentifier, SIGKILL)
      run.waitUntilExit()
      let limit = ContinuousClock.now + .seconds(60)
      while isRunning(child), ContinuousClock.now < limit { Thread.sleep(forTimeInterval: 0.02) }
      #expect(!isRunning(child))
    }
  }

  /// A process that has ended without being reaped counts as ended.
  private func isRunning(_ process: pid_t) -> Bool {
    guard kill(process, 0) == 0 else { return false }
    let facts = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
    return facts.split(separator: ")").last?.trimmingCharacters(in: .whitespaces).hasPrefix("Z") != true
  }

  @Test("Tests start processes only through TestRun")
  func everyProcess() throws {
    let folder = PackageFolder.url.appendingPathComponent("Tests")
    let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
    #expect(files.count > 200)
    // The server for tests ends with the pipe of the run, and then deletes its files.
    let own = ["TestRun.swift", "MigrationRunner.swift", "InterruptedRunTests.swift", "TestServer.swift"]
    for file in files where !own.contains(URL(fileURLWithPath: file).lastPathComponent) {
      let contents = try Data(contentsOf: folder.appendingPathComponent(file))
      guard contents.range(of: Data("Process()".utf8)) != nil else { continue }
      let lines = String(decoding: contents, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
      for (line, text) in lines.enumerated() where text.contains(/(?:^|[^A-Za-z])Process\(\)/) {
        let problem = "starts a process that an interrupted run would leave; use TestRun.newProcess()"
        Issue.record("\(file):\(line + 1): \(problem)")
      }
    }
  }
}
