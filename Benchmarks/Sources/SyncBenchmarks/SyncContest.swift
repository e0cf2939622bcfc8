import Foundation
import Persist
import PersistSync

/// Two devices with a hub in a folder, and the same written by hand.
struct SyncContest {
  let folder: URL
  /// The number of items.
  let items: Int
  /// The number of changed values.
  let changes: Int
  let rounds: Int
  let identification: SyncSample.Identification

  private var hub: FolderHub { FolderHub(folder.appendingPathComponent("hub")) }

  func file(_ name: String) -> URL { folder.appendingPathComponent("\(name).sqlite") }

  private func device(_ name: String) throws -> SyncDevice { try SyncDevice(file(name), identification) }

  // MARK: Steps

  /// Fills the first store.
  func fill() throws {
    let device = try self.device("one")
    try device.addItems(items)
    try device.close()
  }

  /// Writes a snapshot of the first store.
  func begin() async throws {
    let device = try self.device("one")
    try await device.replica.compact(hub, forgetting: .zero)
    try device.close()
  }

  /// Applies the snapshot to an empty store.
  func arrive(as name: String = "two") async throws {
    let device = try self.device(name)
    try await device.replica.synchronize(with: hub)
    try device.close()
  }

  /// Changes items of the first store.
  func change(_ spread: SyncSample.Spread, round: Int) throws {
    let device = try self.device("one")
    try device.change(changes, of: items, spread, round: round).save()
    try device.close()
  }

  /// Synchronizes a store.
  func synchronize(_ name: String) async throws {
    let device = try self.device(name)
    try await device.replica.synchronize(with: hub)
    try device.close()
  }

  /// The two stores, which are open as in a program that runs: what is read once for an open store has been read.
  private func devices() async throws -> [SyncDevice] {
    let devices = try ["one", "two"].map { try device($0) }
    for device in devices { try await device.replica.synchronize(with: hub) }
    return devices
  }

  private func bytesOnHub() async throws -> Int {
    var count = 0
    for entry in try await hub.entries(after: [:]) where !entry.isSnapshot {
      count += try await hub.content(of: entry)?.count ?? 0
    }
    return count
  }

  private func checkEquality() throws {
    let sums = try ["one", "two"].map { name in
      let device = try self.device(name)
      defer { try? device.close() }
      return try device.checksum(of: items)
    }
    if sums[0] != sums[1] { throw SyncBenchmarkError("The stores differ.") }
  }

  // MARK: Measurements

  /// Measures the arrival of all objects.
  func measureArrival() async throws {
    try fill()
    var copies = SyncTimes()
    for round in 0..<rounds { copies.add(try await copy("copy \(round)")) }
    let beginning = try await SyncTime { try await begin() }
    var (arrivals, upserts) = (SyncTimes(), SyncTimes())
    for round in 0..<rounds {
      remove("two")
      arrivals.add(try await SyncTime { try await arrive() })
      let (one, two) = ("plain one", "plain two")
      if round == 0 {
        let device = try PlainDevice(file(one))
        try device.addItems(items)
        try device.send(after: 0, to: sent)
      }
      remove(two)
      let device = try PlainDevice(file(two))
      upserts.add(try await SyncTime { try device.apply(sent) })
      guard try device.integer("SELECT count(*) FROM ITEM") == items else {
        throw SyncBenchmarkError("Rows are missing.")
      }
    }
    try checkEquality()
    let work = "arrival of \(items) objects as a snapshot"
    SyncTable.show(SyncTable.heading)
    SyncTable.show(SyncTable.line(work, arrivals, beside: "`persist copy`", copies, goal: 2))
    SyncTable.show(SyncTable.line(work, arrivals, beside: "upsert by hand", upserts))
    FileHandle.standardError.write(
      Data("The first synchronization with a snapshot took \(Int(beginning.seconds * 1000)) ms.\n".utf8))
  }

  private var sent: URL { folder.appendingPathComponent("sent") }

  private func remove(_ name: String) {
    for suffix in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(at: folder.appendingPathComponent("\(name).sqlite\(suffix)"))
    }
    try? FileManager.default.removeItem(at: folder.appendingPathComponent(".\(name)_SUPPORT"))
  }

  /// Copies the first store with the command `persist`, which is built beside this program.
  private func copy(_ name: String) async throws -> SyncTime {
    let process = Process()
    process.executableURL = Bundle.main.executableURL?.deletingLastPathComponent().appendingPathComponent("persist")
    process.arguments = ["copy", file("one").path, file(name).path]
    process.standardOutput = FileHandle.nullDevice
    let time = try await SyncTime {
      try process.run()
      process.waitUntilExit()
    }
    guard process.terminationStatus == 0 else { throw SyncBenchmarkError("The copy failed.") }
    remove(name)
    return time
  }

  /// Measures sending and applying changed values; the stores have arrived.
  func measureChanges(_ spread: SyncSample.Spread) async throws {
    var (saves, sends, applications) = (SyncTimes(), SyncTimes(), SyncTimes())
    var (plainSends, plainApplications) = (SyncTimes(), SyncTimes())
    let (one, two) = (try PlainDevice(file("plain one")), try PlainDevice(file("plain two")))
    let facts = try PlainFactContest(self)
    let devices = try await devices()
    var bytes = 0
    for index in 0..<rounds {
      let round = spread == .together ? index : rounds + index
      let context = try devices[0].change(changes, of: items, spread, round: round)
      saves.add(try await SyncTime { try context.save() })
      let before = try await bytesOnHub()
      sends.add(try await SyncTime { try await devices[0].replica.synchronize(with: hub) })
      bytes = try await bytesOnHub() - before
      applications.add(try await SyncTime { try await devices[1].replica.synchronize(with: hub) })
      try one.change(changes, of: items, spread, round: round + 1)
      plainSends.add(try await SyncTime { try one.send(after: round + 1, to: sent) })
      plainApplications.add(try await SyncTime { try two.apply(sent) })
      let count = try two.integer("SELECT count(*) FROM ITEM WHERE CHANGED = \(round + 2)")
      guard count == changes else { throw SyncBenchmarkError("\(count) rows were applied instead of \(changes).") }
      try await facts.run(spread, round: round)
    }
    for device in devices { try device.close() }
    try checkEquality()
    let values = "\(changes) changed values, \(spread)"
    SyncTable.show(SyncTable.line("sending \(values)", sends, beside: "saving them", saves, goal: 3))
    SyncTable.show(SyncTable.line("applying \(values)", applications, beside: "saving them", saves, goal: 3))
    SyncTable.show(SyncTable.line("sending \(values)", sends, beside: "by hand", plainSends))
    SyncTable.show(SyncTable.line("applying \(values)", applications, beside: "by hand", plainApplications))
    SyncTable.show(SyncTable.line("sending \(values)", sends, beside: "the same facts by hand", facts.sends))
    SyncTable.show(
      SyncTable.line("applying \(values)", applications, beside: "the same facts by hand", facts.applications))
    let size = String(format: "%.1f", Double(bytes) / Double(changes))
    SyncTable.show("| bytes for each changed value, \(spread) | \(size) | | | | | | | 40 |")
  }

  /// Measures synchronizations without changes.
  func measureIdle() async throws {
    var times = SyncTimes()
    let devices = try await devices()
    for _ in 0..<rounds {
      for device in devices { times.add(try await SyncTime { try await device.replica.synchronize(with: hub) }) }
    }
    let counting = CountingHub(hub)
    try await devices[1].replica.synchronize(with: counting)
    for device in devices { try device.close() }
    let text = String(format: "%.2f | %.2f", times.median * 1000, times.medianOfProcessor * 1000)
    SyncTable.show("| a synchronization without changes, requests: \(await counting.requests) | \(text) | | | | | | |")
  }

  /// Measures sending and applying as many changed values as before, in a store of another size.
  func measureGrowth() async throws {
    try fill()
    try await begin()
    try await arrive()
    var (sends, applications) = (SyncTimes(), SyncTimes())
    let devices = try await devices()
    for round in 0..<rounds {
      try devices[0].change(changes, of: items, .apart, round: round).save()
      sends.add(try await SyncTime { try await devices[0].replica.synchronize(with: hub) })
      applications.add(try await SyncTime { try await devices[1].replica.synchronize(with: hub) })
    }
    for device in devices { try device.close() }
    let text = [sends, applications].map { times in
      String(format: "%.1f | %.1f", times.median * 1000, times.medianOfProcessor * 1000)
    }
    SyncTable.show("| \(items) | \(changes) | \(text.joined(separator: " | ")) |")
  }
}

/// A hub that counts requests.
private actor CountingHub: SyncHub {
  private let hub: FolderHub
  private(set) var requests = 0

  init(_ hub: FolderHub) { self.hub = hub }

  private func counted() -> FolderHub {
    requests += 1
    return hub
  }

  func entries(after numbers: [UUID: Int64]) async throws -> [SyncEntry] { try await counted().entries(after: numbers) }
  func content(of entry: SyncEntry) async throws -> Data? { try await counted().content(of: entry) }
  func put(_ content: Data, as entry: SyncEntry) async throws -> Bool { try await counted().put(content, as: entry) }
  func remove(_ entries: [SyncEntry]) async throws { try await counted().remove(entries) }
  func positions() async throws -> [ReplicaPosition] { try await counted().positions() }
  func setPosition(_ position: ReplicaPosition) async throws { try await counted().setPosition(position) }
}
