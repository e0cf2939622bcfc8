import Foundation

/// Everything that a replica knows about one object.
final class ObjectFacts {
  let identity: Identity
  var life: Life?
  var values: [PropertyName: Register] = [:]
  var members: [PropertyName: [Identity: Register]] = [:]
  var places: [PropertyName: [Identity: Register]] = [:]
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
    case .member(_, let property, let member): return try join(&members[property, default: [:]][member])
    case .place(_, let property, let member): return try join(&places[property, default: [:]][member])
    case .union(_, let other): return unions.insert(other).inserted
    case .model, .cover, .pass: return false
    }
  }
}
