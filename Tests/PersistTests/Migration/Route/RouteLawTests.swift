import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

/// Versions of one entity whose attributes are renamed, removed and restored at random; each keeps its identity.
private struct RandomSeries {
  struct Item: Hashable {
    let identity: Int
    var name: String
    var identifier: String?
  }

  /// The attributes of each version, in their true order.
  private(set) var versions: [[Item]] = []
  /// The names of the versions, which sort in order or don't.
  private(set) var names: [String] = []

  init(seed: UInt64) {
    var numbers = SeededRandom(seed: seed)
    var items = (1...4).map { Item(identity: $0, name: "a\($0)") }
    // Removed items, as they were then.
    var away: [Item] = []
    var count = 4
    let length = Int.random(in: 3...5, using: &numbers)
    for number in 1...length {
      versions.append(items)
      for index in items.indices.reversed() {
        switch Int.random(in: 0...5, using: &numbers) {
        case 0, 1:
          // Either the previous name or the very first one, as in Core Data's guide.
          let isCanonical = Bool.random(using: &numbers)
          items[index].identifier = isCanonical ? items[index].identifier ?? items[index].name : items[index].name
          items[index].name = "v\(number)i\(items[index].identity)"
        case 2 where items.count > 2: away.append(items.remove(at: index))
        default: break
        }
      }
      if Bool.random(using: &numbers), let back = away.popLast() { items.append(back) }
      count += 1
      items.append(Item(identity: count, name: "a\(count)"))
    }
    let plain = (1...length).map { "M \($0)" }
    switch Int.random(in: 0...2, using: &numbers) {
    case 0: names = plain
    case 1: names = plain.shuffled(using: &numbers)
    default: names = ["Zebra", "Apple", "Mango", "Quince", "Banana"].prefix(length).shuffled(using: &numbers)
    }
  }

  func registry() throws -> ModelRegistry {
    let versions = try zip(names, versions).map { name, items in
      let attributes = items.map { AttributeDescription($0.name, .string, renamingIdentifier: $0.identifier) }
      return ModelVersion(
        name: name,
        model: try ManagedObjectModel(ModelDescription(entities: [EntityDescription("E", attributes: attributes)])))
    }
    return ModelRegistry(families: [ModelFamily("Model", versions: versions)])
  }
}

@Suite("Laws of routes")
struct RouteLawTests {
  @Test(
    "Every attribute in both end versions keeps its values, forward and back, whatever the versions between",
    .law("renamed-series", short: 300, long: 20_000))
  func series() throws {
    forEachSeed { seed in
      let series = RandomSeries(seed: seed)
      let registry = try series.registry()
      for (start, old) in series.versions.enumerated() {
        for (end, new) in series.versions.enumerated() where start != end {
          let (source, destination) = (
            try registry.version(named: series.names[start]), try registry.version(named: series.names[end])
          )
          let hop = try MigrationHop(from: source, to: destination, registry: registry)
          for item in new {
            let expected = old.first { $0.identity == item.identity }?.name
            let found = hop.comparison.correspondence.origin(of: item.name, in: "E")?.source
            #expect(
              found == expected,
              "seed \(seed), \(series.names[start]) → \(series.names[end]), \(item.name): \(series.names)")
          }
        }
      }
    }
  }

  @Test(
    "A store migrates to the last version and back, whichever name sorts first",
    .law("series-stores", short: 10, long: 200))
  func stores() throws {
    forEachSeed { seed in
      let series = RandomSeries(seed: seed)
      let registry = try series.registry()
      let (first, last) = (series.names[0], series.names[series.names.count - 1])
      try withTemporaryStore { url in
        let source = try registry.version(named: first)
        try MadeStore.make(source.model, at: url)
        let columns = series.versions[0].map { "Z\($0.name.uppercased())" }.joined(separator: ", ")
        let texts = series.versions[0].map { "'\($0.identity)'" }.joined(separator: ", ")
        try MadeStore.run("INSERT INTO ZE (Z_PK, Z_ENT, Z_OPT, \(columns)) VALUES (1, 1, 1, \(texts))", at: url)
        for (name, items) in [(last, series.versions[series.versions.count - 1]), (first, series.versions[0])] {
          let version = try registry.version(named: name)
          try AutomaticMigrator(downgrade: .withLoss).migrate(storeAt: url, to: version, registry: registry)
          let kept = Set(series.versions[0]).filter { item in
            series.versions[series.versions.count - 1].contains { $0.identity == item.identity }
          }
          let values = try StoreDump(of: version.model, at: url).objects["E"]?[1] ?? [:]
          for item in items {
            // Values without a place in the last version return with the first one.
            let isThere = name == first || kept.contains { $0.identity == item.identity }
            let expected = isThere ? "\(item.identity)" : nil
            #expect(values[item.name] == expected, "seed \(seed), \(name).\(item.name)")
          }
        }
      }
    }
  }
}
