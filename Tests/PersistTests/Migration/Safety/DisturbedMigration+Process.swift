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
    let (seconds, status) = try TestRun.run(
      BuiltProgram.url("MigrationRunner"), [store.path, scenario.way.rawValue], environment: environment,
      killedAfter: moment)
    if moment == nil { #expect(status == 0) }
    return (store, seconds, status == nil)
  }
}
