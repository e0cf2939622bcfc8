import Foundation

/// Everything that a replica knows about one object.
final class ObjectFacts {
  let identity: Identity
  var life: Life?
  var values: [PropertyName: Register] = [:]
  var members: [PropertyName: [Identity: Register]] = [:]
  var places: [PropertyName: [Identity: Register]] = [:]
  /// The owners in to-many relationships without an inverse, which are those of the owners' entities.
  var owners: [PropertyName: Register] = [:]
  /// The objects that became one with this one.
  var unions: Set<Identity> = []

  init(_ identity: Identity) { self.identity = identity }

  var exists: Bool { life?.exists == true }
  var count: UInt32 { life?.count ?? 0 }

  /// Adds a fact unless a later one is known.
  ///
  /// - Returns: Whether something has changed.
  func join(_ key: FactKey, _ value: Data) throws -> Bool {
    func join(_ register: inout Register?) throws -> Bool {
      let new = try Register(value)
      // The object was deleted since, and nothing of that life comes back.
      guard new.life >= count else { return false }
      if let old = register, !old.bytes.precedes(value) { return false }
      register = new
      return true
    }
    switch key {
    case .life:
      let new = try Life(value)
      if let old = life, !old.bytes.precedes(value) { return false }
      life = new
      return true
    case .value(_, let property): return try join(&values[property])
    case .owner(_, let property): return try join(&owners[property])
    case .member(_, let property, let member):
      var register = members[property]?[member]
      guard try join(&register) else { return false }
      members[property, default: [:]][member] = register
      return true
    case .place(_, let property, let member):
      var register = places[property]?[member]
      guard try join(&register) else { return false }
      places[property, default: [:]][member] = register
      return true
    case .union(_, let other): return unions.insert(other).inserted
    case .model, .cover, .pass: return false
    }
  }

  /// Removes the facts of earlier lives.
  ///
  /// - Returns: Their keys.
  func removeFormerLives() -> [FactKey] {
    var keys: [FactKey] = []
    for (property, register) in values where register.life < count {
      keys.append(.value(identity, property))
      values[property] = nil
    }
    for (property, register) in owners where register.life < count {
      keys.append(.owner(identity, property))
      owners[property] = nil
    }
    for (property, others) in members {
      for (member, register) in others where register.life < count {
        keys.append(.member(identity, property, member))
        members[property]?[member] = nil
      }
    }
    for (property, others) in places {
      for (member, register) in others where register.life < count {
        keys.append(.place(identity, property, member))
        places[property]?[member] = nil
      }
    }
    return keys
  }
}
