import Foundation
import PersistTestSupport
import Testing

extension DisturbedMigration {
  /// Migrates a copy of the seeded store in another process.
  ///
  /// - Parameters:
  ///   - folder: The folder for the copy.
  ///   - environment: Variables that are added to those of the process.
  ///   - moment: The number of seconds after which the process is killed; nil for letting it end.
  func runProcess(
    in folder: URL, _ environment: [String: String] = [:], killAfter moment: Double?
  ) throws -> (store: URL, duration: Double, wasKilled: Bool) {
    let work = folder.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
    let store = try copyStore(seed, to: work)
    let process = TestRun.newProcess()
    process.executableURL = try BuiltProgram.url("MigrationRunner")
    process.arguments = [store.path, scenario.way.rawValue]
    process.environment?.merge(environment) { $1 }
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    _ = try output.fileHandleForReading.read(upToCount: 6)
    let start = Date()
    if let moment {
      Thread.sleep(forTimeInterval: moment)
      // The identifier of a process that has ended may be another's.
      if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
    process.waitUntilExit()
    let wasKilled = process.terminationReason == .uncaughtSignal
    if moment == nil { #expect(process.terminationStatus == 0) }
    return (store, Date().timeIntervalSince(start), wasKilled)
  }
}
