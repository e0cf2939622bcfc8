import Foundation
import PersistTestSupport
import Testing

@testable import Persist

/// How many processes are killed: `PERSIST_KILLS=1000` asks for more.
private let kills = ProcessInfo.processInfo.environment["PERSIST_KILLS"].flatMap { Int($0) } ?? 30

@Suite("Migration in a process that is killed", .serialized)
struct KilledProcessTests {
  @Test("A process that is killed at a random moment leaves the old or the new version, whole")
  func killed() throws {
    var random = SeededRandom(seed: UInt64(kills))
    for way in MigrationScenario.Way.allCases {
      try withTemporaryFolder { folder in
        let law = try DisturbedMigration(way, in: folder, marks: 200)
        let durations = try (0..<2).map { try run(law, in: folder, killAfter: nil, name: "whole-\($0)").duration }
        let whole = durations.max() ?? 0
        var ends = 0
        for number in 0..<(kills / MigrationScenario.Way.allCases.count) {
          let moment = Double.random(in: 0...whole * 1.1, using: &random)
          let (store, _, wasKilled) = try run(law, in: folder, killAfter: moment, name: "\(number)")
          if !wasKilled { ends += 1 }
          try law.expectWhole(store, "killed after \(moment) s")
          try FileManager.default.removeItem(at: store.deletingLastPathComponent())
        }
        print("\(way): \(ends) of \(kills / MigrationScenario.Way.allCases.count) processes came to their end")
      }
    }
  }

  private func run(
    _ law: DisturbedMigration, in folder: URL, killAfter moment: Double?, name: String
  ) throws -> (store: URL, duration: Double, wasKilled: Bool) {
    let work = folder.appendingPathComponent(name)
    try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
    let store = try copyStore(law.seed, to: work)
    let process = Process()
    process.executableURL = try BuiltProgram.url("MigrationRunner")
    process.arguments = [store.path, law.scenario.way.rawValue]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    _ = try output.fileHandleForReading.read(upToCount: 6)
    let start = Date()
    if let moment {
      Thread.sleep(forTimeInterval: moment)
      kill(process.processIdentifier, SIGKILL)
    }
    process.waitUntilExit()
    let wasKilled = process.terminationReason == .uncaughtSignal
    if moment == nil { #expect(process.terminationStatus == 0) }
    return (store, Date().timeIntervalSince(start), wasKilled)
  }

  @Test("Two processes that migrate one store: one does it, the other waits or refuses, and nothing is lost")
  func together() throws {
    for way in MigrationScenario.Way.allCases {
      try withTemporaryFolder { folder in
        let law = try DisturbedMigration(way, in: folder, marks: 200)
        let work = folder.appendingPathComponent("work")
        try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
        let store = try copyStore(law.seed, to: work)
        let program = try BuiltProgram.url("MigrationRunner")
        let processes = try (0..<3).map { _ in
          let process = Process()
          process.executableURL = program
          process.arguments = [store.path, way.rawValue]
          process.standardOutput = FileHandle.nullDevice
          process.standardError = FileHandle.nullDevice
          try process.run()
          return process
        }
        for process in processes { process.waitUntilExit() }
        try law.expectWhole(store, "three processes")
      }
    }
  }
}
