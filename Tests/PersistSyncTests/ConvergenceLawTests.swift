import Foundation
import Persist
import PersistTestSupport
import Testing

@testable import PersistSync

@Suite("Synchronization: convergence")
struct ConvergenceLawTests {
  @Test(
    "Replicas that have received everything are equal, whatever was changed, copied, put back and interrupted",
    .law("sync-convergence", short: 8, long: 2000))
  func convergence() async throws {
    await forEachSeed { seed in
      do {
        try await withTemporaryFolder { folder in
          var run = try ConvergenceRun(seed, folder)
          try await run.run()
        }
      } catch {
        Issue.record(error)
      }
    }
  }
}

/// One run of the law.
private struct ConvergenceRun {
  private let folder: URL
  private let model: ManagedObjectModel
  private var random: SeededRandom
  private var devices: [Device] = []
  private let hub: ChaoticHub
  private var created = 0
  private let sources: SeededSources

  init(_ seed: UInt64, _ folder: URL) throws {
    self.folder = folder
    random = SeededRandom(seed: seed)
    model = try ManagedObjectModel(SyncModel.description)
    hub = ChaoticHub(seed)
    sources = SeededSources(seed)
    for number in 0..<number(3) + 2 { try addDevice(number) }
  }

  private mutating func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  private mutating func addDevice(_ number: Int) throws {
    // Some clocks are wrong by years.
    let years = [0, 0, 0, -10, 10][self.number(5)]
    let url = folder.appendingPathComponent("\(number).sqlite")
    devices.append(
      try Device(
        url, model, identifiedBy: SyncModel.identifiers, sources: sources.sources(years: years)))
  }

  mutating func run() async throws {
    for _ in 0..<50 {
      let index = number(devices.count)
      sources.advance()
      defer { check(index) }
      switch number(20) {
      case 0...10: try edit(devices[index])
      case 11...17: try await synchronize(devices[index])
      case 18: if number(2) == 0 { try copy(index) } else { try await compact(devices[index]) }
      default: try await putBack(index)
      }
    }
    await hub.becomeReliable()
    for _ in 0..<3 { for device in devices { try await synchronize(device) } }
    try expectEqual(await wanted(), "the rules")
    // Whoever knows all changes decides, whatever its clock shows.
    let last = number(devices.count)
    for _ in 0..<4 { try edit(devices[last]) }
    // References without an inverse to objects that were deleted become nil.
    _ = try devices[last].replica.work.capture()
    let wanted = try devices[last].contents()
    for device in [devices[last]] + devices + devices { try await synchronize(device) }
    try expectEqual(wanted, "the last one")
    try expectEqual(await self.wanted(), "the rules")
    for device in devices { try device.close() }
  }

  /// The objects that follow from the rules and all changes.
  private func wanted() async throws -> [String] {
    let oracle = try SyncOracle(model, await hub.everything)
    let device = try Device(
      folder.appendingPathComponent("oracle \(UUID()).sqlite"), model, identifiedBy: SyncModel.identifiers)
    defer { try? device.close() }
    let context = ManagedObjectContext(device.coordinator)
    try oracle.create(in: context)
    try context.save()
    return try device.contents()
  }

  private func expectEqual(_ wanted: [String], _ name: String) throws {
    for (index, device) in devices.enumerated() {
      let contents = try device.contents()
      guard contents != wanted else { continue }
      let (first, second) = (Set(wanted), Set(contents))
      Issue.record(
        """
        Device \(index) differs from \(name), which has: \(first.subtracting(second).sorted().prefix(3)) \
        It has: \(second.subtracting(first).sorted().prefix(3)) \(wanted.count) \(contents.count)
        """)
    }
  }

  private func synchronize(_ device: Device) async throws {
    do {
      let report = try await device.replica.synchronize(with: hub)
      #expect(report.refused.isEmpty)
    } catch is ChaoticHub.Interruption {}
  }

  private func check(_ index: Int) {
    do {
      let outdated = try devices[index].outdatedRows()
      if !outdated.isEmpty { Issue.record("Device \(index): \(outdated.prefix(3))") }
    } catch {
      Issue.record(error)
    }
  }

  private func compact(_ device: Device) async throws {
    do {
      // Any replica may be forgotten, and begins with the snapshot.
      _ = try await device.replica.compact(hub, forgetting: .seconds(-86_400 * 36_500))
    } catch is ChaoticHub.Interruption {}
  }

  private mutating func copy(_ index: Int) throws {
    guard devices.count < 6 else { return }
    try devices[index].close()
    let url = folder.appendingPathComponent("\(devices.count).sqlite")
    try devices[index].copyFiles(to: url)
    try devices[index].reopen()
    try addDevice(devices.count)
  }

  /// Puts a store back to an earlier state; it has sent everything, so that nothing is lost.
  private mutating func putBack(_ index: Int) async throws {
    let device = devices[index]
    try device.close()
    let backup = folder.appendingPathComponent("backup.sqlite")
    try device.copyFiles(to: backup)
    try device.reopen()
    for _ in 0..<number(3) { try edit(device) }
    try await synchronize(device)
    try device.close()
    let saved = try Device(backup, model, identifiedBy: [:], sources: sources.sources(years: 0))
    try saved.close()
    try saved.copyFiles(to: device.url)
    try device.reopen()
  }

  // MARK: Changes

  private mutating func any(_ entity: String, _ context: ManagedObjectContext) throws -> ManagedObject? {
    let objects = try context.fetch(FetchRequest<ManagedObject>(entity)).sorted {
      ($0.objectID.primaryKey ?? 0) < ($1.objectID.primaryKey ?? 0)
    }
    return objects.isEmpty ? nil : objects[number(objects.count)]
  }

  private mutating func edit(_ device: Device) throws {
    let context = ManagedObjectContext(device.coordinator)
    for _ in 0...number(4) { try change(context) }
    do {
      try context.save()
    } catch let error as PersistenceError where error.code == .constraintConflict {
      // Two tags of one store can't have the same label.
      context.rollback()
    }
  }

  private mutating func change(_ context: ManagedObjectContext) throws {
    func set(_ name: String, _ value: Any?, of object: ManagedObject?) throws {
      try object?.setValue(value, forKey: name)
    }
    switch number(24) {
    case 0:
      created += 1
      let box = try context.create("Box")
      box["label"] = "\(created) \(number(1_000_000))"
    case 1, 2:
      let item = try context.create(number(3) == 0 ? "Part" : "Item")
      // Sometimes two devices create the same object, or one creates it again.
      let id = number(3) == 0 ? number(5) : 10 + number(1_000_000_000)
      item["id"] = UUID(uuidString: "00000000-0000-0000-0000-\(100_000_000_000 + id)")
      item["name"] = "n\(number(100))"
      try set("box", any("Box", context), of: item)
    case 3:
      let tag = try context.create("Tag")
      (tag["label"], tag["color"]) = ("t\(number(4))", "c\(number(100))")
    case 4: try set("name", number(8) == 0 ? nil : "n\(number(100))", of: any("Item", context))
    case 5:
      try set("price", Decimal(number(40)) / 8, of: any("Item", context))
      try set("photo", number(2) == 0 ? nil : Data(count: number(3) * 100_000), of: any("Item", context))
    case 6: try set("box", number(4) == 0 ? nil : any("Box", context), of: any("Item", context))
    case 7, 8:
      guard let item = try any("Item", context), let tag = try any("Tag", context) else { return }
      let tags = try item.many("tags")
      if tags.contains(tag) { tags.remove(tag) } else { tags.insert(tag) }
    case 9:
      guard let box = try any("Box", context) else { return }
      let items = try box.many("items")
      guard items.count > 1 else { return }
      items.insert(items[number(items.count)], at: number(items.count - 1))
    case 10:
      guard let item = try any("Item", context) else { return }
      let tags = try item.many("tags")
      guard tags.count > 1 else { return }
      tags.insert(tags[number(tags.count)], at: number(tags.count - 1))
    case 11:
      guard let item = try any("Item", context), let other = try any("Item", context) else { return }
      let friends = try item.many("friends")
      if friends.contains(other) { friends.remove(other) } else { friends.insert(other) }
    case 12: try set("partner", number(4) == 0 ? nil : any("Item", context), of: any("Item", context))
    case 13:
      let lid = try any("Lid", context) ?? context.create("Lid")
      lid["color"] = "l\(number(1_000_000))"
      try set("box", any("Box", context), of: lid)
    case 14: try set("label", "t\(number(4))", of: any("Tag", context))
    case 15: try set("rank", number(100), of: any("Tag", context))
    case 16...18: try changeOneWay(context)
    case 19:
      guard let box = try any("Box", context) else { return }
      var size = box["size"] as? [String: Any] ?? [:]
      switch number(4) {
      case 0: size["width"] = number(100)
      case 1: size["unit"] = "u\(number(100))"
      case 2: size["margin"] = ["left": Double(number(9)), "right": Double(number(9))]
      default: box["size"] = nil
      }
      if !size.isEmpty { try set("size", size, of: box) }
    case 20:
      guard let box = try any("Box", context), let whole = try any("Box", context) else { return }
      var above: ManagedObject? = whole
      while let next = above, next !== box { above = next["whole"] as? ManagedObject }
      if above == nil { try set("whole", whole, of: box) }
    case 21: try set("first", number(4) == 0 ? nil : any("Item", context), of: any("Box", context))
    default:
      let entity = ["Box", "Item", "Item", "Tag", "Lid", "Sticker"][number(6)]
      guard number(2) == 0, let object = try any(entity, context) else { return }
      context.delete(object)
    }
  }

  /// Changes members of to-many relationships without an inverse.
  private mutating func changeOneWay(_ context: ManagedObjectContext) throws {
    if number(4) == 0 {
      guard let box = try any("Box", context), let tag = try any("Tag", context) else { return }
      let badges = try box.many("badges")
      if badges.contains(tag) { badges.remove(tag) } else { badges.insert(tag) }
      return
    }
    guard let owner = try any(["Box", "Item"][number(2)], context) else { return }
    let stickers = try owner.many("stickers")
    switch number(5) {
    case 0, 1:
      created += 1
      let sticker = try context.create(number(3) == 0 ? "Star" : "Sticker")
      (sticker["text"], sticker["shape"]) = ("\(created) \(number(1_000_000))", "round")
      stickers.insert(sticker)
    case 2:
      guard owner.entity.name == "Box", stickers.count > 1 else { return }
      stickers.insert(stickers[number(stickers.count)], at: number(stickers.count - 1))
    default:
      guard let sticker = try any("Sticker", context) else { return }
      if stickers.contains(sticker) { stickers.remove(sticker) } else { stickers.insert(sticker) }
    }
  }
}
