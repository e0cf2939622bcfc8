import Foundation
import Persist

/// Migrates the store of each case in both ways, while programs read and write it.
struct WaitContest {
  let rows: Int
  let only: String?

  private static let heading = """
    | change | way | opening, ms | until done, s | saves here, ms | fetches here | saves, other Persist | fetches, other \
    Persist | writes, without Persist | reads, without Persist |
    |---|---|---:|---:|---:|---:|---:|---:|---:|---:|
    """

  func run() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("persist-waits-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    show(Self.heading)
    for waitCase in WaitCase.all where only == nil || waitCase.name == only {
      let template = folder.appendingPathComponent("Template.sqlite")
      try waitCase.fill(template, rows: rows)
      for later in [false, true] {
        let url = folder.appendingPathComponent("Store.sqlite")
        try FileManager.default.copyItem(at: template, to: url)
        try show(later ? migrateLater(waitCase, url) : migrateAtOnce(waitCase, url))
        try remove(url)
      }
      try remove(template)
    }
  }

  private func show(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

  private func remove(_ url: URL) throws {
    for suffix in ["", "-wal", "-shm"] {
      let path = url.path + suffix
      if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
    }
  }

  private func line(_ waitCase: WaitCase, _ way: String, _ cells: [String]) -> String {
    "| \(waitCase.name) | \(way) | \(cells.joined(separator: " | ")) |"
  }

  private func migrateAtOnce(_ waitCase: WaitCase, _ url: URL) throws -> String {
    let plain = try OtherProgram(.plain, url, waitCase, rows: rows)
    Thread.sleep(forTimeInterval: 0.3)
    let (coordinator, opening) = try open(waitCase, url, later: false)
    Thread.sleep(forTimeInterval: 0.3)
    let samples = try plain.end()
    try close(coordinator)
    let wait = WaitSamples.text(opening)
    return line(
      waitCase, "one transaction",
      [wait, "", wait, wait, "", "", samples.writes.text, samples.reads.text])
  }

  /// - Returns: The open store, and the milliseconds that opening it took.
  private func open(_ waitCase: WaitCase, _ url: URL, later: Bool) throws -> (PersistentStoreCoordinator, Double) {
    let registry = try waitCase.registry
    let coordinator = PersistentStoreCoordinator(model: registry.versions[1].model, registry: registry)
    let time = try ContinuousClock().measure {
      try coordinator.addStore(at: url, options: WaitCase.options(later: later))
    }
    return (coordinator, time / .milliseconds(1))
  }

  private func close(_ coordinator: PersistentStoreCoordinator) throws {
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  /// All programs save every five milliseconds while values are converted, and two seconds longer, in which steps in
  /// one piece give way. Then they save every two seconds, until everything is done.
  private func migrateLater(_ waitCase: WaitCase, _ url: URL) throws -> String {
    let plain = try OtherProgram(.plain, url, waitCase, rows: rows)
    Thread.sleep(forTimeInterval: 0.3)
    let (coordinator, opening) = try open(waitCase, url, later: true)
    let own = WaitingProgram(coordinator, rows: rows)
    let other = try OtherProgram(.persist, url, waitCase, rows: rows)
    let done = try ContinuousClock().measure {
      while try coordinator.deferredSteps().contains(where: { if case .convertValues = $0 { true } else { false } }) {
        try coordinator.finishDeferredMigration(within: .milliseconds(100))
      }
      try coordinator.finishDeferredMigration(within: .seconds(2))
      own.slowDown(2)
      for program in [other, plain] { try program.slowDown(2) }
      try coordinator.finishDeferredMigration()
    }
    let (ownSamples, otherSamples, plainSamples) = try (own.end(), other.end(), plain.end())
    try close(coordinator)
    let samples = [ownSamples, otherSamples, plainSamples].flatMap { [$0.writes.text, $0.reads.text] }
    return line(
      waitCase, "beside programs", [WaitSamples.text(opening), String(format: "%.1f", done / .seconds(1))] + samples)
  }
}
