import Foundation
import Persist
import PersistTestSupport

@testable import PersistSync

/// Replicas that change, exchange, copy, put back and update their stores in steps.
struct SyncRun {
  /// Everything that a run depends on, except for its steps.
  struct Setting: Sendable {
    let extent: RunExtent
    let seed: UInt64
    let devices: Int
    /// The number of versions of the model.
    let versions: Int
    /// Whether one device begins with objects, and sends them.
    let beginsTogether: Bool
    /// The kinds of changes; nil for all.
    let kinds: [Int]?
    let ending: Ending

    init(_ random: inout SeededRandom) {
      extent = RunExtent(&random)
      seed = random.next()
      devices = extent.parts(upTo: 4, &random)
      // A quarter of the runs has one version of the model.
      versions = random.next() % 4 == 0 ? 1 : extent.parts(upTo: 5, &random)
      beginsTogether = random.next() % 2 == 0
      // A run with changes of few kinds has more of them on the same values.
      kinds = extent != .large && random.next() % 2 == 0 ? SyncEdit.someKinds(&random) : nil
      ending = extent == .large ? .both : Ending.allCases[Int(random.next() % 3)]
    }
  }

  /// The comparisons at the end: with the rules, when all devices have the newest version, or when one of them has
  /// changed something then.
  enum Ending: CaseIterable {
    case newest, changed, both
  }

  /// A step has a seed of its own, so that it does the same if others are left out.
  struct Step: Sendable {
    enum Kind: Sendable {
      case edit, synchronize, copy, compact, putBack, update, kill
    }

    let kind: Kind
    let seed: UInt64

    init(_ random: inout SeededRandom) {
      kind =
        switch Int.random(in: 0..<40, using: &random) {
        case 0...19: .edit
        case 20...31: .synchronize
        case 32: .copy
        case 33: .compact
        case 34: .putBack
        case 35, 36: .kill
        default: .update
        }
      seed = random.next()
    }
  }

  private let folder: URL
  private let setting: Setting
  private let chain: SyncModelChain
  private var devices: [Device] = []
  private var versions: [Int] = []
  private let hub: ChaoticHub
  private let sources: SeededSources
  private var faults: [String] = []

  private init(_ setting: Setting, _ folder: URL) throws {
    (self.folder, self.setting) = (folder, setting)
    var random = SeededRandom(seed: setting.seed)
    chain = try SyncModelChain(&random, count: setting.versions)
    hub = ChaoticHub(setting.seed)
    sources = SeededSources(setting.seed)
    for _ in 0..<setting.devices {
      try addDevice(version: Int.random(in: 0..<setting.versions, using: &random), &random)
    }
  }

  private mutating func addDevice(version: Int, _ random: inout SeededRandom) throws {
    // Some clocks are wrong by years.
    let years = [0, 0, 0, -10, 10][Int.random(in: 0..<5, using: &random)]
    let url = folder.appendingPathComponent("\(devices.count).sqlite")
    devices.append(
      try Device(
        url, chain.versions[version], identifiedBy: chain.identifiers(version), registry: chain.registry(upTo: version),
        sources: sources.sources(years: years)))
    versions.append(version)
  }

  // MARK: Running

  /// The ways in which a run breaks the law.
  static func faults(_ setting: Setting, _ steps: [Step]) async -> [String] {
    do {
      return try await withTemporaryFolder { folder in
        var run = try SyncRun(setting, folder)
        do { try await run.run(steps) } catch { run.faults.append("\(error)") }
        for device in run.devices { try? device.close() }
        return run.faults
      }
    } catch {
      return ["\(error)"]
    }
  }

  /// Leaves out steps as long as the law is still broken.
  static func reduced(_ setting: Setting, _ steps: [Step]) async -> (steps: [Step], faults: [String]) {
    var (steps, size) = (steps, steps.count / 2)
    var faults = await faults(setting, steps)
    while size > 0 {
      var start = 0
      while start < steps.count {
        let fewer = Array(steps[..<start] + steps[min(start + size, steps.count)...])
        let found = await self.faults(setting, fewer)
        if found.isEmpty { start += size } else { (steps, faults) = (fewer, found) }
      }
      size /= 2
    }
    return (steps, faults)
  }

  private mutating func run(_ steps: [Step]) async throws {
    var random = SeededRandom(seed: setting.seed &+ 1)
    if setting.beginsTogether { try await begin(&random) }
    for (number, step) in steps.enumerated() {
      random = SeededRandom(seed: step.seed)
      let index = Int.random(in: 0..<devices.count, using: &random)
      await hub.restart(random.next())
      sources.advance()
      do {
        try await take(step.kind, index, &random)
      } catch let error as PersistenceError {
        faults.append("\(step.kind) on device \(index) of version \(versions[index]): \(error)")
        return
      }
      if number % 4 == 0 { check(index) }
    }
    await hub.becomeReliable()
    // Stores may also be migrated with changes that others don't know.
    if Int.random(in: 0..<2, using: &random) == 0 { try await synchronizeAll() }
    for index in devices.indices { try update(index, to: chain.versions.count - 1) }
    try await synchronizeAll()
    if setting.ending != .changed { try expectEqual(await wanted(), "the rules") }
    if setting.ending != .newest { try await end(&random) }
    for index in devices.indices { check(index) }
  }

  /// Creates objects of all entities, for all devices that receive them.
  private mutating func begin(_ random: inout SeededRandom) async throws {
    try change(0, &random) { try $0.createSome() }
    for device in devices { try await synchronize(device) }
  }

  /// Changes one device, and compares all others with it.
  private mutating func end(_ random: inout SeededRandom) async throws {
    // Whoever knows all changes decides, whatever its clock shows.
    let last = Int.random(in: 0..<devices.count, using: &random)
    for _ in 0..<4 { try edit(last, &random) }
    // References without an inverse to objects that were deleted become nil.
    _ = try devices[last].replica.work.capture()
    let wanted = try devices[last].contents()
    try await synchronize(devices[last])
    try await synchronizeAll()
    try expectEqual(wanted, "the last one")
    try expectEqual(await self.wanted(), "the rules")
    guard Int.random(in: 0..<4, using: &random) == 0 else { return }
    // A device that begins now gets everything, although large values that nobody has are deleted.
    for _ in 0..<2 { try await compact(devices[last]) }
    try addDevice(version: chain.versions.count - 1, &random)
    try await synchronize(devices[devices.count - 1])
    try expectEqual(wanted, "the last one, with a device that begins with a snapshot,")
  }

  private mutating func take(_ kind: Step.Kind, _ index: Int, _ random: inout SeededRandom) async throws {
    switch kind {
    case .edit: try edit(index, &random)
    case .synchronize: try await synchronize(devices[index])
    case .copy: try copy(index, &random)
    case .compact: try await compact(devices[index])
    case .putBack: try await putBack(index, &random)
    case .update: try update(index, to: Int.random(in: versions[index]..<chain.versions.count, using: &random))
    case .kill: try devices[index].reopen()
    }
  }

  /// The objects that follow from the rules and all changes.
  private func wanted() async throws -> [String] {
    let version = chain.versions.count - 1
    let oracle = try SyncOracle(chain, await hub.everything, parts: await hub.partContents)
    let coordinator = PersistentStoreCoordinator(model: chain.versions[version])
    try coordinator.addInMemoryStore()
    let context = ManagedObjectContext(coordinator)
    try oracle.create(in: context)
    try context.save()
    return try coordinator.contents()
  }

  private mutating func expectEqual(_ wanted: [String], _ name: String) throws {
    for (index, device) in devices.enumerated() {
      let contents = try device.contents()
      guard contents != wanted else { continue }
      let (first, second) = (Set(wanted), Set(contents))
      faults.append(
        """
        Device \(index) differs from \(name), which has: \(first.subtracting(second).sorted().prefix(3)) \
        It has: \(second.subtracting(first).sorted().prefix(3)) \(wanted.count) \(contents.count)
        """)
    }
  }

  private mutating func check(_ index: Int) {
    do {
      let outdated = try devices[index].outdatedRows()
      if !outdated.isEmpty { faults.append("Device \(index): \(outdated.prefix(3))") }
    } catch {
      faults.append("Device \(index): \(error)")
    }
  }

  // MARK: Steps

  /// - Returns: Whether something was sent or received.
  @discardableResult
  private mutating func synchronize(_ device: Device) async throws -> Bool {
    do {
      let report = try await device.replica.synchronize(with: hub)
      // A part of a large value is late.
      for refused in report.refused where !refused.error.message.contains("isn't on the hub") {
        faults.append("\(refused)")
      }
      for error in report.waiting { faults.append("\(error)") }
      return report.sent > 0 || report.received > 0
    } catch is ChaoticHub.Interruption { return true }
  }

  /// Synchronizes all devices until none of them sends or receives anything.
  private mutating func synchronizeAll() async throws {
    for _ in 0..<8 {
      var isAtRest = true
      for device in devices where try await synchronize(device) { isAtRest = false }
      if isAtRest { return }
    }
    faults.append("The devices still exchange changes.")
  }

  private func compact(_ device: Device) async throws {
    do {
      // Any replica may be forgotten, and begins with the snapshot.
      _ = try await device.replica.compact(hub, forgetting: .seconds(-86_400 * 36_500))
    } catch is ChaoticHub.Interruption {}
  }

  private mutating func update(_ index: Int, to version: Int) throws {
    guard versions[index] != version else { return }
    versions[index] = version
    try devices[index].update(
      to: chain.versions[version], chain.registry(upTo: version), identifiedBy: chain.identifiers(version))
  }

  /// Copies a store, perhaps for a program with a later version.
  private mutating func copy(_ index: Int, _ random: inout SeededRandom) throws {
    guard devices.count < 6 else { return }
    try devices[index].close()
    let url = folder.appendingPathComponent("\(devices.count).sqlite")
    try devices[index].copyFiles(to: url)
    try devices[index].reopen()
    try addDevice(version: Int.random(in: versions[index]..<chain.versions.count, using: &random), &random)
  }

  /// Puts a store back to an earlier state; it has sent everything, so that nothing is lost.
  private mutating func putBack(_ index: Int, _ random: inout SeededRandom) async throws {
    let device = devices[index]
    try device.close()
    let backup = folder.appendingPathComponent("backup.sqlite")
    try device.copyFiles(to: backup)
    let version = versions[index]
    try device.reopen()
    for _ in 0..<Int.random(in: 0..<3, using: &random) { try edit(index, &random) }
    try await synchronize(device)
    if Int.random(in: 0..<3, using: &random) == 0 {
      try update(index, to: Int.random(in: version..<chain.versions.count, using: &random))
      try await synchronize(device)
    }
    try device.close()
    let saved = try Device(backup, chain.versions[version], identifiedBy: [:], sources: sources.sources(years: 0))
    try saved.close()
    try saved.copyFiles(to: device.url)
    try device.reopen()
  }

  private func edit(_ index: Int, _ random: inout SeededRandom) throws {
    try change(index, &random) { edit in
      for _ in 0...edit.number(4) { try edit.change() }
    }
  }

  private func change(
    _ index: Int, _ random: inout SeededRandom, _ body: (inout SyncEdit) throws -> Void
  ) throws {
    let context = ManagedObjectContext(devices[index].coordinator)
    var edit = SyncEdit(
      context: context, names: chain.names[versions[index]], kinds: setting.kinds, random: random)
    try body(&edit)
    random = edit.random
    do {
      try context.save()
    } catch let error as PersistenceError where error.code == .constraintConflict {
      // Two tags of one store can't have the same label.
      context.rollback()
    }
  }
}
