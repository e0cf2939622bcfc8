import Foundation
import Persist
import PersistTestSupport

@testable import PersistSync

/// Devices that edit objects in versions of their own, and record every edit. Their clocks are right.
struct EditRun {
  private struct Holder {
    var device: Device
    var version: Int
    /// The edits that weren't sent.
    var unsent: Set<Int> = []
    var backup: Backup?
  }

  private struct Backup {
    let url: URL
    let version: Int
    let unsent: Set<Int>
  }

  private let folder: URL
  private let chain: EditChain
  private let isIdentified: Bool
  private let hub: ChaoticHub
  private let isLossy: Bool
  private let known = KnownVersions()
  private var holders: [Holder] = []
  private var record = EditRecord()
  /// The edits that others may have received.
  private var sent: Set<Int> = []
  private var created = 0
  private(set) var log: [String] = []

  private init(_ seed: UInt64, _ folder: URL) throws {
    self.folder = folder
    var random = SeededRandom(seed: seed)
    let extent = RunExtent(&random)
    chain = try EditChain(&random, count: extent.parts(upTo: 5, &random))
    isIdentified = random.next() % 2 == 0
    isLossy = random.next() % 3 == 0
    hub = ChaoticHub(seed)
    for _ in 0..<extent.parts(upTo: 4, &random) {
      try add(version: Int.random(in: 0..<chain.models.count, using: &random))
    }
  }

  private func open(_ url: URL, _ version: Int) throws -> Device {
    try Device(
      url, chain.models[version], identifiedBy: isIdentified ? chain.identifiers(version) : [:],
      registry: chain.registry(upTo: version), sources: SyncSources(known: known))
  }

  private mutating func add(version: Int, unsent: Set<Int> = []) throws {
    let url = folder.appendingPathComponent("\(holders.count).sqlite")
    holders.append(Holder(device: try open(url, version), version: version, unsent: unsent))
  }

  /// The ways in which a run breaks the law.
  static func faults(_ seed: UInt64, _ steps: [UInt64]) async -> (faults: [String], log: [String]) {
    do {
      return try await withTemporaryFolder { folder in
        var run = try EditRun(seed, folder)
        defer { for holder in run.holders { try? holder.device.close() } }
        var faults: [String] = []
        do { faults = try await run.run(steps) } catch { faults = ["\(error)"] }
        return (faults, run.log)
      }
    } catch {
      return (["\(error)"], [])
    }
  }

  private mutating func run(_ steps: [UInt64]) async throws -> [String] {
    if !isLossy { await hub.becomeReliable() }
    for seed in steps {
      var random = SeededRandom(seed: seed)
      let index = Int.random(in: 0..<holders.count, using: &random)
      await hub.restart(random.next())
      switch Int.random(in: 0..<24, using: &random) {
      case 0...10: for _ in 0...Int.random(in: 0..<4, using: &random) { try edit(index, &random) }
      case 11...16: try await synchronize(index)
      case 17...20:
        try await update(index, to: Int.random(in: holders[index].version..<chain.models.count, using: &random))
      case 21: try await copy(index, &random)
      case 22: try await backUpOrPutBack(index)
      default: try holders[index].device.reopen()
      }
    }
    await hub.becomeReliable()
    var random = SeededRandom(seed: UInt64(steps.count))
    var faults: [String] = []
    if Bool.random(using: &random) { try await synchronizeAll(&faults) }
    // Whoever can't be updated has to send something first.
    for _ in 0..<2 {
      for index in holders.indices { try await update(index, to: chain.models.count - 1) }
      try await synchronizeAll(&faults)
    }
    let wanted = record.contents(chain.versions[chain.models.count - 1])
    for (index, holder) in holders.enumerated() {
      let (found, all) = (Set(try contents(holder)), Set(wanted))
      if found != all {
        faults.append("\(index) lacks \(all.subtracting(found).sorted()), and has \(found.subtracting(all).sorted())")
      }
      if try holder.device.contents() != holders[0].device.contents() { faults.append("\(index) differs from 0.") }
      faults += try holder.device.outdatedRows()
    }
    return faults
  }

  // MARK: Steps

  /// - Returns: Whether something was sent or received.
  @discardableResult
  private mutating func synchronize(_ index: Int) async throws -> Bool {
    log.append("synchronize \(index)")
    do {
      let report = try await holders[index].device.replica.synchronize(with: hub)
      if let error = report.refused.first?.error ?? report.waiting.first { throw error }
      sent.formUnion(holders[index].unsent)
      holders[index].unsent = []
      return report.sent > 0 || report.received > 0
    } catch is ChaoticHub.Interruption { return true }
  }

  private mutating func synchronizeAll(_ faults: inout [String]) async throws {
    for _ in 0..<8 {
      var isAtRest = true
      for index in holders.indices where try await synchronize(index) { isAtRest = false }
      if isAtRest { return }
    }
    faults.append("The devices still exchange changes.")
  }

  private mutating func update(_ index: Int, to version: Int) async throws {
    guard holders[index].version != version else { return }
    // Changes of parts that the update removes have to be sent before.
    if lacksPart(of: holders[index].unsent, version) { try await synchronize(index) }
    guard !lacksPart(of: holders[index].unsent, version) else { return }
    log.append("update \(index) from \(holders[index].version) to \(version)")
    try holders[index].device.close()
    holders[index].device = try open(holders[index].device.url, version)
    holders[index].version = version
  }

  /// Whether a version lacks something that was changed.
  private func lacksPart(of unsent: Set<Int>, _ version: Int) -> Bool {
    unsent.contains { number in
      let edit = record.edits[number]
      let entity = record.entity(of: edit.object)
      guard chain.versions[version].entities[entity] != nil else { return true }
      return edit.part.map { chain.versions[version].parts[entity]?[$0] == nil } ?? false
    }
  }

  private mutating func copy(_ index: Int, _ random: inout SeededRandom) async throws {
    guard holders.count < 5 else { return }
    log.append("copy \(index) to \(holders.count)")
    let holder = holders[index]
    try holder.device.close()
    try holder.device.copyFiles(to: folder.appendingPathComponent("\(holders.count).sqlite"))
    try holder.device.reopen()
    try add(version: holder.version, unsent: holder.unsent)
    let version = Int.random(in: holder.version..<chain.models.count, using: &random)
    try await update(holders.count - 1, to: version)
  }

  /// Makes a backup, or returns to it: everything is lost that was done since and wasn't sent.
  private mutating func backUpOrPutBack(_ index: Int) async throws {
    let holder = holders[index]
    // Nobody knows whether an interrupted synchronization has sent something.
    guard !isLossy, holder.backup.map({ !lacksPart(of: $0.unsent, holder.version) }) ?? true else { return }
    try holder.device.close()
    if let backup = holder.backup {
      log.append("put back \(index)")
      let saved = try open(backup.url, backup.version)
      try saved.close()
      try saved.copyFiles(to: holder.device.url)
      let others = holders.indices.filter { $0 != index }.map { holders[$0].unsent }
      record.lose(holder.unsent.subtracting(others.reduce(backup.unsent.union(sent)) { $0.union($1) }))
      (holders[index].unsent, holders[index].backup) = (backup.unsent, nil)
    } else {
      log.append("back up \(index)")
      let url = folder.appendingPathComponent("backup\(index).sqlite")
      try holder.device.copyFiles(to: url)
      holders[index].backup = Backup(url: url, version: holder.version, unsent: holder.unsent)
    }
    try holder.device.reopen()
  }

  // MARK: Edits

  private mutating func add(_ index: Int, _ object: Int, _ change: EditRecord.Change) {
    let number = record.add(object, change)
    holders[index].unsent.insert(number)
    log.append("\(number): device \(index) of version \(holders[index].version): \(object) \(change)")
  }

  private static func id(_ object: ManagedObject?) -> Int? { object?["id"] as? Int }

  private func objects(_ entity: String, _ index: Int, _ context: ManagedObjectContext) throws -> [ManagedObject] {
    guard let name = chain.versions[holders[index].version].entities[entity] else { return [] }
    return try context.fetch(FetchRequest<ManagedObject>(name)).sorted { Self.id($0) ?? 0 < Self.id($1) ?? 0 }
  }

  private mutating func edit(_ index: Int, _ random: inout SeededRandom) throws {
    let context = ManagedObjectContext(holders[index].device.coordinator)
    let version = chain.versions[holders[index].version]
    let entity = EditChain.names[Int.random(in: 0..<3, using: &random)]
    guard let name = version.entities[entity] else { return }
    let all = try objects(entity, index, context)
    let kind = Int.random(in: 0..<10, using: &random)
    if all.isEmpty || kind == 0 {
      created += 1
      try context.create(name)["id"] = created
      add(index, created, .create(entity: entity))
    } else {
      let object = all[Int.random(in: 0..<all.count, using: &random)]
      guard let id = Self.id(object) else { return }
      if kind == 1 {
        try delete(object, id, entity, index, context)
      } else {
        let parts = (version.parts[entity] ?? [:]).values.sorted { $0.first < $1.first }
        guard !parts.isEmpty else { return }
        try set(parts[Int.random(in: 0..<parts.count, using: &random)], object, id, index, context, &random)
      }
    }
    try context.save()
  }

  private mutating func delete(
    _ object: ManagedObject, _ id: Int, _ entity: String, _ index: Int, _ context: ManagedObjectContext
  ) throws {
    // The rule of the inverse sets references to nil.
    for (owner, parts) in chain.versions[holders[index].version].parts {
      for part in parts.values {
        guard case .reference(entity, _, _) = part.kind else { continue }
        for other in try objects(owner, index, context) where other[part.name] as? ManagedObject === object {
          if let other = Self.id(other) { add(index, other, .refer(part: part.first, to: nil)) }
        }
      }
    }
    context.delete(object)
    add(index, id, .delete)
  }

  private mutating func set(
    _ part: EditChain.Part, _ object: ManagedObject, _ id: Int, _ index: Int, _ context: ManagedObjectContext,
    _ random: inout SeededRandom
  ) throws {
    switch part.kind {
    case .text, .number, .flag:
      let former = Self.text(object[part.name])
      let value = Self.value(part.kind, &random)
      let text = Self.text(value)
      if text == former { return }
      try object.setValue(value, forKey: part.name)
      add(index, id, .set(part: part.first, value: text))
    case .reference(let name, _, _), .link(let name):
      let others = try objects(name, index, context)
      let place = Int.random(in: 0...others.count, using: &random)
      let other = place == others.count ? nil : others[place]
      if (object[part.name] as? ManagedObject) === other { return }
      try object.setValue(other, forKey: part.name)
      add(index, id, .refer(part: part.first, to: Self.id(other)))
    case .members(let name, _):
      let others = try objects(name, index, context)
      guard !others.isEmpty else { return }
      let other = others[Int.random(in: 0..<others.count, using: &random)]
      guard let otherID = Self.id(other) else { return }
      let members = try object.many(part.name)
      let isPresent = !members.contains(other)
      if isPresent { members.insert(other) } else { members.remove(other) }
      add(index, id, .member(part: part.first, of: otherID, isPresent: isPresent))
    }
  }

  private static func value(_ kind: EditChain.Kind, _ random: inout SeededRandom) -> (any Sendable)? {
    if Int.random(in: 0..<8, using: &random) == 0 { return nil }
    let number = Int.random(in: 0..<30_000, using: &random)
    return switch kind {
    case .text: number % 4 == 0 ? "few\(number % 3)" : "t\(number)"
    case .number: number
    default: number % 2 == 0
    }
  }

  private static func text(_ value: Any?) -> String? {
    switch value {
    case let flag as Bool: flag ? "true" : "false"
    case let value?: "\(value)"
    case nil: nil
    }
  }

  // MARK: Contents

  /// The objects as in ``EditRecord/contents(_:)``.
  private func contents(_ holder: Holder) throws -> [String] {
    let version = chain.versions[holder.version]
    let context = ManagedObjectContext(holder.device.coordinator)
    return try version.entities.flatMap { entity, name in
      try context.fetch(FetchRequest<ManagedObject>(name)).map { object in
        let parts = try (version.parts[entity] ?? [:]).sorted { $0.key < $1.key }.map { first, part in
          switch part.kind {
          case .text, .number, .flag: "\(first)=\(Self.text(object[part.name]) ?? "nil")"
          case .reference, .link:
            "\(first)=\(Self.id(object[part.name] as? ManagedObject).map { "\($0)" } ?? "nil")"
          case .members: "\(first)=\(try object.many(part.name).compactMap { Self.id($0) }.sorted())"
          }
        }
        return "\(entity) \(Self.id(object) ?? 0) \(parts.joined(separator: " "))"
      }
    }.sorted()
  }
}
