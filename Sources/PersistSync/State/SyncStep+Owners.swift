import Foundation
import Persist

/// A to-many relationship without an inverse.
struct OneWayName: Hashable {
  /// The entity that declares it.
  var entity: String
  var name: String
}

/// The owners of objects in to-many relationships without an inverse.
extension SyncStep {
  /// All objects that are named as owners of an object, whatever the model of those who said so.
  func allOwners(of identity: Identity) throws -> Set<Identity> {
    guard schema.hasOneWay else { return [] }
    return Set(try tables.facts(of: identity).owners.values.compactMap(\.reference?.identity))
  }

  /// The last owners of an object, by relationship.
  func owners(of object: ObjectFacts) throws -> [OneWayName: Register] {
    var found: [OneWayName: Register] = [:]
    for (property, register) in object.owners where register.life == object.count {
      for relationship in try relationships(property) where relationship.isOneWay {
        let name = OneWayName(relationship)
        if let other = found[name], Register.isLater(other, than: register) { continue }
        found[name] = register
      }
    }
    return found
  }

  /// Adds the owners as values of to-one relationships: of inverses that other versions of the model don't have.
  func addInverses(of object: ObjectFacts, in entity: Entity, to found: inout [String: [Register]]) throws {
    for (property, register) in object.owners where register.life == object.count {
      for relationship in try relationships(property) {
        guard let inverse = relationship.inverse, inverse.relationship?.isToMany == false,
          schema[entity].relationship(inverse.name) != nil
        else { continue }
        found[inverse.name, default: []].append(register)
      }
    }
    for (name, registers) in found where registers.count > 1 {
      found[name] = registers.sorted { Register.isLater($0, than: $1) }
    }
  }

  /// The own relationships that are a property of the owner's entity: several if it was moved to subentities, of which
  /// the owner has one.
  private func relationships(_ property: PropertyName) throws -> [SyncSchema.Relationship] {
    try map.declarations(of: property).compactMap { declaration in
      model.entitiesByName[declaration.entity].flatMap { schema[$0].relationship(declaration.name) }
    }
  }
}

extension OneWayName {
  init(_ relationship: SyncSchema.Relationship) {
    self.init(entity: relationship.property.declaringEntity, name: relationship.name)
  }
}

extension Register {
  /// The object to which a register refers; nil for none.
  var reference: (identity: Identity, life: UInt32)? { PortableValue.reference(content) }
}
