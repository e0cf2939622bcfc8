import Foundation
import Persist
import PersistSync

/// The objects that are synchronized: items with a random identifier, in groups of 20.
enum SyncSample {
  static let itemsPerGroup = 20

  /// What objects are known by.
  enum Identification: String {
    /// Their random identifiers.
    case value
    /// Their creation, as it is without further ado.
    case creation

    var attributes: [String: String] { self == .value ? ["Item": "id", "Group": "id"] : [:] }
  }

  static func newModel() throws -> ManagedObjectModel {
    try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription(
          "Item",
          attributes: [
            AttributeDescription("id", .uuid), AttributeDescription("name", .string),
            AttributeDescription("note", .string), AttributeDescription("price", .double),
            AttributeDescription("quantity", .int64),
          ],
          relationships: [RelationshipDescription("group", to: "Group", inverse: "items")]),
        EntityDescription(
          "Group", attributes: [AttributeDescription("id", .uuid), AttributeDescription("title", .string)],
          relationships: [RelationshipDescription("items", toMany: "Item", inverse: "group")]),
      ]))
  }

  /// The distribution of changed items.
  enum Spread: String {
    /// Neighbors, as one program has created them.
    case together
    /// As far from each other as possible.
    case apart

    func place(_ index: Int, _ count: Int, of total: Int) -> Int {
      switch self {
      case .together: total / 2 - count / 2 + index
      case .apart: index * (total / count)
      }
    }
  }

  /// A UUID without an order, the same for each number.
  static func identifier(_ number: Int, of kind: UInt64) -> UUID {
    func mixed(_ word: UInt64) -> UInt64 {
      var word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
      word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
      return word ^ word >> 31
    }
    let first = mixed(UInt64(number) &+ 1 &+ kind << 40)
    var words = (first.bigEndian, mixed(first).bigEndian)
    return withUnsafeBytes(of: &words) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  static func name(_ number: Int) -> String { "Item \(number)" }
  static func note(_ number: Int) -> String { "A note about item \(number) that is a little longer" }
  static func price(_ number: Int) -> Double { Double(number % 1000) + 0.25 }
}

/// A store with its replica.
struct SyncDevice {
  let coordinator: PersistentStoreCoordinator
  let replica: Replica

  init(_ file: URL, _ identification: SyncSample.Identification) throws {
    coordinator = PersistentStoreCoordinator(model: try SyncSample.newModel())
    try coordinator.addStore(at: file, options: StoreOptions(tracksHistory: true))
    replica = try Replica(coordinator, identifiedBy: identification.attributes)
  }

  func close() throws {
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  /// Adds items in transactions of a moderate size.
  func addItems(_ count: Int) throws {
    let perSave = 10_000
    for first in stride(from: 0, to: count, by: perSave) {
      let context = ManagedObjectContext(coordinator)
      var group: ManagedObject?
      for number in first..<min(first + perSave, count) {
        if number % SyncSample.itemsPerGroup == 0 {
          let new = try context.create("Group")
          new["id"] = SyncSample.identifier(number, of: 1)
          new["title"] = "Group \(number / SyncSample.itemsPerGroup)"
          group = new
        }
        let item = try context.create("Item")
        item["id"] = SyncSample.identifier(number, of: 0)
        item["name"] = SyncSample.name(number)
        item["note"] = SyncSample.note(number)
        item["price"] = SyncSample.price(number)
        item["quantity"] = number
        item["group"] = group
      }
      try context.save()
    }
  }

  /// Sets a value of some items, without saving.
  ///
  /// - Parameters:
  ///   - spread: How the changed items are distributed.
  ///   - round: A number that makes the values new.
  /// - Returns: The context to save.
  func change(_ count: Int, of total: Int, _ spread: SyncSample.Spread, round: Int) throws -> ManagedObjectContext {
    let context = ManagedObjectContext(coordinator)
    let numbers = (0..<count).map { spread.place($0, count, of: total) }
    var found = 0
    for start in stride(from: 0, to: count, by: 500) {
      let part = Array(numbers[start..<min(start + 500, count)])
      for item in try context.fetch(FetchRequest<ManagedObject>("Item", where: "quantity IN %@", part)) {
        item["name"] = "Changed \(round) \(item["quantity"] as? Int64 ?? 0)"
        found += 1
      }
    }
    guard found == count else { throw SyncBenchmarkError("\(found) items were found instead of \(count).") }
    return context
  }

  /// A number made of all values of the items, the same for stores with equal items.
  func checksum(of total: Int) throws -> Int {
    let context = ManagedObjectContext(coordinator)
    var sum = 0
    for first in stride(from: 0, to: total, by: 100_000) {
      let request = try FetchRequest<ManagedObject>(
        "Item", where: "quantity >= %@ AND quantity < %@", first, first + 100_000)
      for item in try context.fetch(request) {
        var hash = 0
        for name in ["id", "name", "note", "price", "quantity"] {
          for byte in "\(item[name] ?? "")".utf8 { hash = hash &* 31 &+ Int(byte) }
        }
        let group = (item["group"] as? ManagedObject)?["title"] as? String ?? ""
        for byte in group.utf8 { hash = hash &* 31 &+ Int(byte) }
        sum = sum &+ hash
      }
      context.reset()
    }
    return sum
  }
}

struct SyncBenchmarkError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
