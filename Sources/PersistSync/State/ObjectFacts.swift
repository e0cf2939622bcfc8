import Foundation

/// Everything that a replica knows about one object.
final class ObjectFacts {
  let identity: Identity
  var life: Life?
  var values: [PropertyName: Register] = [:]
  var members: [PropertyName: [Identity: Register]] = [:]
  var places: [PropertyName: [Identity: Register]] = [:]
  /// The changed members of JSON values.
  var parts: [PropertyName: [JSONPath: Register]] = [:]
  /// The owners in to-many relationships without an inverse, which are those of the owners' entities.
  var owners: [PropertyName: Register] = [:]
  /// The objects that became one with this one.
  var unions: Set<Identity> = []
  /// The facts among the life, values and owners that are entries of their own: see ``PackedFacts``.
  private(set) var separate: Set<FactHead> = []
  /// Whether there are or were such entries.
  var hasOthers = false

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
      if let old = register, !old.isOverruled(by: new) { return false }
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
    case .part(_, let property, let path):
      var register = parts[property]?[path]
      guard try join(&register) else { return false }
      parts[property, default: [:]][path] = register
      return true
    case .union(_, let other): return unions.insert(other).inserted
    case .model, .cover, .pass: return false
    }
  }

  /// Whether a fact that has been added is an entry of its own.
  ///
  /// - Returns: False if it is packed with others.
  func isSeparate(_ key: FactKey, _ heads: FactHeads) throws -> Bool {
    guard key.isPackable, let head = FactHead(key) else {
      hasOthers = true
      return true
    }
    if separate.contains(head) { return true }
    let (size, count, numbered): (Int, Int, FactHead?) =
      switch key {
      case .value(_, let property): (values[property]?.content.count ?? 0, values.count, head)
      case .owner(_, let property): (owners[property]?.content.count ?? 0, owners.count, head)
      default: (0, 0, life?.head)
      }
    if size <= PackedFacts.maximum.size, count <= PackedFacts.maximum.count, let numbered,
      try heads.number(of: numbered) != nil
    {
      return false
    }
    separate.insert(head)
    hasOthers = true
    return true
  }

  /// Adds a fact that is an entry of its own.
  func addSeparate(_ key: FactKey, _ value: Data) throws {
    _ = try join(key, value)
    if let head = FactHead(key), !head.hasRest { separate.insert(head) }
  }

  /// The life, the values and the owners.
  var packable: [ChangeSet.Fact] {
    var facts: [ChangeSet.Fact] = []
    if let life { facts.append(ChangeSet.Fact(key: .life(identity), value: life.bytes)) }
    for (property, register) in values {
      facts.append(ChangeSet.Fact(key: .value(identity, property), value: register.bytes))
    }
    for (property, register) in owners {
      facts.append(ChangeSet.Fact(key: .owner(identity, property), value: register.bytes))
    }
    return facts
  }

  /// The content of a value or an owner; nil if there is none.
  func content(of key: FactKey) -> Data? {
    switch key {
    case .value(_, let property): values[property]?.content
    case .owner(_, let property): owners[property]?.content
    default: nil
    }
  }

  /// Removes the facts of earlier lives.
  ///
  /// - Returns: Their keys, with their contents.
  func removeFormerLives() -> [(key: FactKey, content: Data)] {
    var keys: [(FactKey, Data)] = []
    for (property, register) in values where register.life < count {
      keys.append((.value(identity, property), register.content))
      values[property] = nil
    }
    for (property, register) in owners where register.life < count {
      keys.append((.owner(identity, property), register.content))
      owners[property] = nil
    }
    for (property, others) in members {
      for (member, register) in others where register.life < count {
        keys.append((.member(identity, property, member), register.content))
        members[property]?[member] = nil
      }
    }
    for (property, others) in places {
      for (member, register) in others where register.life < count {
        keys.append((.place(identity, property, member), register.content))
        places[property]?[member] = nil
      }
    }
    for (property, members) in parts {
      for (path, register) in members where register.life < count {
        keys.append((.part(identity, property, path), register.content))
        parts[property]?[path] = nil
      }
    }
    return keys
  }
}
