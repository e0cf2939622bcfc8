import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// A mapping model of a model onto itself, from which parts are removed at random: every difference between the store
/// and its copy was announced.
@Suite("Laws of losses by mapping models")
struct MappingLossLawTests {
  @Test("Everything that a mapping model drops was counted before", .law("mapping-losses", short: 40, long: 2000))
  func losses() {
    var done = 0
    let count = forEachSeed { seed in
      let model = try RandomModels(seed: seed).model()
      var numbers = SeededRandom(seed: seed &+ 77)
      guard let whole = try? MappingModel.inferred(from: model, to: model) else { return }
      let mapping = Self.reduced(whole, of: model, &numbers)
      try withTemporaryFolder { folder in
        let (source, target) = (folder.appendingPathComponent("a.sqlite"), folder.appendingPathComponent("b.sqlite"))
        try MadeStore.make(model, at: source)
        try MadeStore.fill(model, at: source, rows: 8, seed: seed)
        let losses = try Self.losses(of: mapping, model, source)
        do {
          try MigrationManager(sourceModel: model, destinationModel: model)
            .migrateStore(from: source, to: target, mappingModel: mapping)
        } catch let error as PersistenceError
          where [.validationMissingRequired, .validationMultiple, .migrationFailed].contains(error.code) {
          // Required values that aren't mapped.
          return
        }
        done += 1
        let before = try StoreDump(of: model, at: source).withoutDerived(model).withoutVersions
        let after = try StoreDump(of: model, at: target).withoutDerived(model).withoutVersions
        let comparison = StoreComparison(model: model, before: before, after: after, mapping: mapping)
        comparison.expect(losses, seed)
      }
    }
    #expect(done > count / 4 || count < 20)
  }

  private static func losses(
    of mapping: MappingModel, _ model: ManagedObjectModel, _ url: URL
  ) throws -> [MigrationLoss] {
    let connection = try SQLiteConnection(url, mode: .readOnly)
    defer { connection.close() }
    var planner = CopyPlanner(
      mapping, from: try StoreCatalog(connection).tableMap(of: model), to: .forNewStore(model), storeIdentifier: "")
    return try MappingLosses(planner.make()).counted(connection)
  }

  private static func reduced(
    _ whole: MappingModel, of model: ManagedObjectModel, _ numbers: inout SeededRandom
  ) -> MappingModel {
    func isOne(of count: Int, _ numbers: inout SeededRandom) -> Bool { Int.random(in: 0..<count, using: &numbers) == 0 }
    var mapping = whole
    mapping.entityMappings.removeAll { _ in isOne(of: 8, &numbers) }
    for index in mapping.entityMappings.indices {
      let number = model.entitiesByName[mapping.entityMappings[index].sourceEntityName ?? ""]?.attributes
        .first { [.int32, .int64, .double].contains($0.type) && !$0.isTransient && !$0.isDerived }
      if let number, isOne(of: 4, &numbers) {
        mapping.entityMappings[index].sourceExpression = .sourceObjects(
          of: mapping.entityMappings[index].sourceEntityName ?? "", where: "\(number.name) > 15000")
      }
      mapping.entityMappings[index].attributeMappings.removeAll { _ in isOne(of: 8, &numbers) }
      for position in mapping.entityMappings[index].attributeMappings.indices where isOne(of: 10, &numbers) {
        mapping.entityMappings[index].attributeMappings[position].valueExpression = nil
      }
      mapping.entityMappings[index].relationshipMappings.removeAll { _ in isOne(of: 4, &numbers) }
    }
    return mapping
  }
}

/// An independent determination of what a copy lacks.
private struct StoreComparison {
  let model: ManagedObjectModel
  let before: StoreDump
  let after: StoreDump
  let mapping: MappingModel

  func expect(_ losses: [MigrationLoss], _ seed: UInt64) {
    for entity in model.entities where !entity.isAbstract {
      let (old, new) = (before.objects[entity.name] ?? [:], after.objects[entity.name] ?? [:])
      let announced = losses.filter { $0.entity == entity.name && $0.property == nil }.reduce(0) { $0 + ($1.rows ?? 0) }
      #expect(old.count - new.count == announced, "seed \(seed): objects of \(entity.name)")
      for property in entity.properties where !property.isTransient {
        if property.attribute?.isDerived == false {
          let lost = new.contains { key, values in lostValues(property, old[key] ?? [:], values) }
          #expect(!lost || announces(property, losses), "seed \(seed): \(entity.name).\(property.name)")
        }
      }
    }
    for entity in model.entities {
      for property in entity.properties where property.declaringEntity == entity.name && property.relationship != nil {
        expectPairs(of: property, entity, losses, seed)
      }
    }
  }

  private func lostValues(_ property: Property, _ old: [String: String], _ new: [String: String]) -> Bool {
    let names = property.elements.isEmpty ? [property.name] : property.elements.map { $0.path.joined(separator: ".") }
    return names.contains { old[$0] != nil && old[$0] != new[$0] }
  }

  private func announces(_ property: Property, _ losses: [MigrationLoss]) -> Bool {
    losses.contains { $0.entity == property.declaringEntity && $0.property == property.name && ($0.rows ?? 0) > 0 }
  }

  /// The pairs that the copy lacks although an entity mapping copies objects like both: exactly these are announced.
  private func expectPairs(of property: Property, _ entity: Entity, _ losses: [MigrationLoss], _ seed: UInt64) {
    guard let relationship = property.relationship, !relationship.isTransient else { return }
    let inverse = relationship.inverse.flatMap { model.destination(of: relationship).property(named: $0) }
    let mapped = Set(mapping.entityMappings.compactMap(\.sourceEntityName))
    func pairs(_ dump: StoreDump) -> Set<[String]> {
      var pairs: Set<[String]> = []
      for owner in model.hierarchy(of: entity) where mapped.contains(owner.name) {
        for (key, values) in dump.objects[owner.name] ?? [:] {
          for member in (values[property.name] ?? "").split(separator: " ") { pairs.insert(["\(key)", String(member)]) }
        }
      }
      return pairs
    }
    let members = Set(
      model.hierarchy(of: model.destination(of: relationship)).filter { mapped.contains($0.name) }
        .flatMap { (before.objects[$0.name] ?? [:]).keys.map { "\($0)" } })
    let lost = pairs(before).subtracting(pairs(after)).filter { members.contains($0[1]) }.count
    let announced = losses.filter { loss in
      (loss.entity, loss.property) == (entity.name, property.name)
        || inverse.map { (loss.entity, loss.property) == ($0.declaringEntity, $0.name) } ?? false
    }.reduce(0) { $0 + ($1.rows ?? 0) }
    #expect(lost == announced, "seed \(seed): pairs of \(entity.name).\(property.name)")
  }
}
