@testable import Persist
@testable import PersistModel

extension RandomPredicate {
  /// Creates objects of ``PredicateAgreementTests/model`` with random values and relationships.
  mutating func fill(_ context: ManagedObjectContext, count: Int = 150) throws {
    let names = ["Item", "Item", "Special", "Person", "Tag"]
    var made: [String: [ManagedObject]] = [:]
    for _ in 0..<count {
      let entity = try context.entity(named: pick(names))
      let object = try context.make(entity.name)
      for property in entity.properties {
        guard let attribute = property.attribute else { continue }
        if attribute.type == .composite {
          let elements: [String: StoredValue] = [
            "x": value(of: .double), "name": value(of: .string),
          ]
          object.setAttributeValue(.composite(elements.filter { !$0.value.isNull }), at: property.slot)
        } else {
          object.setAttributeValue(value(of: attribute.type), at: property.slot)
        }
      }
      made[entity.root.name, default: []].append(object)
    }
    for object in made.values.flatMap({ $0 }) {
      for relationship in object.entity.relationships {
        let others = made[model.destination(of: relationship).root.name] ?? []
        guard !others.isEmpty, chance(70) else { continue }
        if relationship.isToMany {
          guard chance(40) else { continue }
          object[relationship.name] = Set((0..<3).map { _ in pick(others) })
        } else {
          object[relationship.name] = pick(others)
        }
      }
    }
  }
}
