import Foundation
import PersistTestSupport
import Testing

@testable import Persist

/// The law, over random offline edits of three stores, exchanged in random order with duplicates and delays: when
/// everything has arrived, the stores are equal.
@Suite("History: exchange between stores")
struct ExchangeLawTests {
  @Test("Stores that have exchanged everything are equal, in whatever order the changes arrived",
    .law("history-exchange", short: 8, long: 1000))
  func exchange() throws {
    forEachSeed { seed in
      do {
        try withTemporaryFolder { folder in
          var run = try ExchangeRun(seed, folder)
          try run.run()
        }
      } catch {
        Issue.record(error)
      }
    }
  }

  @Test("Two stores and a folder between them: what one saves, the other has, and applied changes don't come back")
  func folder() throws {
    try withTemporaryFolder { folder in
      let run = try ExchangeRun(1, folder)
      let (one, two) = (run.peers[0], run.peers[1])
      let context = ManagedObjectContext(one.coordinator)
      let box = try context.make("Box", ["label": "b"])
      let item = try context.make("Item", ["id": UUID(), "name": "Tea", "box": box])
      let tag = try context.make("Tag", ["id": UUID(), "label": "t"])
      try item.many("tags").insert(tag)
      try context.save()
      let sent = try one.exchange.changeSets(after: nil)
      #expect(sent.count == 1)
      let current = try one.coordinator.currentPersistentHistoryToken()
      #expect(sent[0].token.transactionNumbers == current?.transactionNumbers)
      let received = try JSONDecoder().decode([HistoryChangeSet].self, from: JSONEncoder().encode(sent))
      #expect(received == sent)
      for _ in 0..<2 { #expect(try two.exchange.apply(received[0])) }
      try #expect(two.contents() == one.contents())
      try #expect(two.coordinator.transactions().map(\.author) == [HistoryExchange.author])
      try #expect(two.exchange.changeSets(after: nil).isEmpty)
      let other = ManagedObjectContext(two.coordinator)
      let tea = try #require(other.fetch(FetchRequest("Item")).first)
      tea["name"] = "Green tea"
      try other.save()
      item["name"] = "Black tea"
      try context.save()
      // The value that was set last wins on both sides.
      for set in try two.exchange.changeSets(after: nil) { try one.exchange.apply(set) }
      for set in try one.exchange.changeSets(after: sent[0].token) { try two.exchange.apply(set) }
      try #expect(two.contents() == one.contents())
      try #expect(one.contents().contains { $0.contains("Black tea") })
      context.reset()
      context.delete(try #require(context.fetch(FetchRequest("Box")).first))
      try context.save()
      for set in try one.exchange.changeSets(after: sent[0].token) { try two.exchange.apply(set) }
      try #expect(two.contents() == one.contents())
      try #expect(other.count(for: FetchRequest("Box")) == 0)
    }
  }

  @Test("Changes of an object that hasn't arrived wait for it; models that can't be exchanged are refused")
  func waiting() throws {
    try withTemporaryFolder { folder in
      let run = try ExchangeRun(1, folder)
      let (one, two) = (run.peers[0], run.peers[1])
      let context = ManagedObjectContext(one.coordinator)
      let item = try context.make("Item", ["id": UUID(), "name": "Tea"])
      try context.save()
      item["name"] = "Coffee"
      try context.save()
      let sets = try one.exchange.changeSets(after: nil)
      #expect(try !two.exchange.apply(sets[1]))
      try #expect(two.contents().isEmpty)
      #expect(try two.exchange.apply(sets[0]))
      #expect(try two.exchange.apply(sets[1]))
      try #expect(two.contents() == one.contents())
    }
    try withHistory { coordinator, _ in
      let error = #expect(throws: PersistenceError.self) { try HistoryExchange(coordinator) }
      #expect(error?.code == .invalidRequest)
    }
  }
}

/// A store that takes part in an exchange.
private struct ExchangePeer {
  let coordinator: PersistentStoreCoordinator
  let exchange: HistoryExchange
  var sent: HistoryToken?
  /// What has arrived, and isn't applied yet.
  var inbox: [Data] = []

  static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription(
          "Box", attributes: [.init("label", .string)],
          relationships: [.init("items", toMany: "Item", inverse: "box", deleteRule: .nullify)]),
        EntityDescription(
          "Item",
          attributes: [
            .init("id", .uuid, preservesValueOnDeletion: true), .init("name", .string), .init("price", .decimal),
            .init("photo", .binary, allowsExternalStorage: true),
          ],
          relationships: [
            .init("box", to: "Box", inverse: "items"), .init("tags", toMany: "Tag", inverse: "items"),
          ]),
        EntityDescription("Part", parent: "Item", attributes: [.init("weight", .double)]),
        EntityDescription(
          "Tag", attributes: [.init("id", .uuid, preservesValueOnDeletion: true), .init("label", .string)],
          relationships: [.init("items", toMany: "Item", inverse: "tags")]),
      ]))
  }

  init(_ url: URL) throws {
    coordinator = PersistentStoreCoordinator(model: try Self.model())
    try coordinator.addStore(at: url, options: StoreOptions(tracksHistory: true))
    exchange = try HistoryExchange(coordinator, identifiedBy: ["Item": "id", "Tag": "id"])
  }

  /// Everything in the store, without identifiers of rows.
  func contents() throws -> [String] {
    let context = ManagedObjectContext(coordinator)
    func text(_ object: ManagedObject) throws -> String {
      switch object.entity.name {
      case "Box": return "Box \(object["label"] ?? "")"
      case "Tag": return "Tag \(object["id"] ?? "") \(object["label"] ?? "")"
      default:
        let photo = (object["photo"] as? Data)?.count ?? -1
        let tags = try object.many("tags").map(text).sorted().joined(separator: ", ")
        return """
          \(object.entity.name) \(object["id"] ?? "") \(object["name"] ?? "") \(object["price"] ?? "") \(photo) \
          in \(try object.one("box").map(text) ?? "") with \(tags)
          """
      }
    }
    return try ["Box", "Item", "Tag"].flatMap { try context.fetch(FetchRequest($0)) }.map(text).sorted()
  }
}

/// One run of the law.
private struct ExchangeRun {
  private var random: SeededRandom
  private(set) var peers: [ExchangePeer]
  private var created = 0

  init(_ seed: UInt64, _ folder: URL) throws {
    random = SeededRandom(seed: seed)
    peers = try (0..<3).map { try ExchangePeer(folder.appendingPathComponent("\($0).sqlite")) }
  }

  private mutating func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  mutating func run() throws {
    for _ in 0..<60 {
      let index = number(3)
      switch number(10) {
      case 0...5: try edit(index)
      case 6...7: try send(index)
      default: try receive(index, all: false)
      }
    }
    for _ in 0..<3 {
      for index in peers.indices { try send(index) }
      for index in peers.indices { try receive(index, all: true) }
    }
    for index in peers.indices { #expect(peers[index].inbox.isEmpty) }
    let contents = try peers.map { try $0.contents() }
    for other in contents[1...] where other != contents[0] {
      let difference = Set(contents[0]).symmetricDifference(other).sorted()
      Issue.record("The stores differ in \(difference)")
    }
    for peer in peers {
      for store in peer.coordinator.persistentStores { try peer.coordinator.remove(store) }
    }
  }

  private mutating func edit(_ index: Int) throws {
    let context = ManagedObjectContext(peers[index].coordinator)
    for _ in 0...number(3) {
      switch number(9) {
      case 0:
        created += 1
        try context.make("Box", ["label": "\(index) \(created)"])
      case 1...2:
        let item = try context.make(number(3) == 0 ? "Part" : "Item", ["id": UUID(), "name": "n\(number(3))"])
        item["box"] = try any("Box", context)
      case 3: try context.make("Tag", ["id": UUID(), "label": "l\(number(3))"])
      case 4: try any("Item", context)?.setValue("n\(number(3))", forKey: "name")
      case 5:
        let item = try any("Item", context)
        try item?.setValue(Decimal(number(4)) / 8, forKey: "price")
        try item?.setValue(number(2) == 0 ? nil : Data(count: number(2) * 200_000), forKey: "photo")
      case 6: try any("Item", context)?.setValue(number(4) == 0 ? nil : any("Box", context), forKey: "box")
      case 7:
        guard let item = try any("Item", context), let tag = try any("Tag", context) else { continue }
        let tags = try item.many("tags")
        if tags.contains(tag) { tags.remove(tag) } else { tags.insert(tag) }
      default:
        guard number(3) == 0, let object = try any(["Box", "Item", "Tag"][number(3)], context) else { continue }
        context.delete(object)
      }
    }
    try context.save()
  }

  private mutating func any(_ entity: String, _ context: ManagedObjectContext) throws -> ManagedObject? {
    let objects = try context.fetch(FetchRequest(entity)).sorted { $0.objectID.description < $1.objectID.description }
    return objects.isEmpty ? nil : objects[number(objects.count)]
  }

  private mutating func send(_ index: Int) throws {
    // Sometimes everything is sent again.
    let sets = try peers[index].exchange.changeSets(after: number(6) == 0 ? nil : peers[index].sent)
    if let last = sets.last { peers[index].sent = last.token }
    for other in peers.indices where other != index {
      for set in sets {
        let data = try JSONEncoder().encode(set)
        for _ in 0...(number(5) == 0 ? 1 : 0) { peers[other].inbox.append(data) }
      }
    }
  }

  private mutating func receive(_ index: Int, all: Bool) throws {
    var isProgressing = true
    while isProgressing {
      isProgressing = false
      peers[index].inbox.shuffle(using: &random)
      var rest: [Data] = []
      for data in peers[index].inbox {
        if !all, number(3) == 0 {
          rest.append(data)
        } else if try peers[index].exchange.apply(JSONDecoder().decode(HistoryChangeSet.self, from: data)) {
          isProgressing = all
        } else {
          rest.append(data)
        }
      }
      peers[index].inbox = rest
    }
  }
}
