import Foundation
import Persist

@testable import PersistSync

/// The objects that follow from the rules of synchronization and the set of all changes, computed without rows, orders
/// of arrival and any of the code that projects facts.
struct SyncOracle {
  private let model: ManagedObjectModel
  /// In the terms of the model; several of one key if versions have different names for it.
  private var facts: [(key: FactKey, value: Data)] = []
  private var lives: [Identity: Life] = [:]
  private var roots: [Identity: Identity] = [:]
  /// The objects of each row by the first one.
  private var groups: [Identity: [Identity]] = [:]
  private var winners: [Identity: Identity] = [:]
  /// The facts of present lives by object and property.
  private var values: [Identity: [String: [Register]]] = [:]
  private let parts: [SyncEntry: Data]
  /// The changed members of JSON values by object and property.
  private var members: [Identity: [String: [(path: [String], register: Register)]]] = [:]
  private var owners: [Identity: [String: [Register]]] = [:]
  private var places: [[Identity]: [String: [Register]]] = [:]

  /// - Parameters:
  ///   - chain: The versions of the model; the oracle has the last one.
  ///   - sets: All change sets.
  ///   - parts: The parts of large values.
  init(_ chain: SyncModelChain, _ sets: [Data], parts: [SyncEntry: Data] = [:]) throws {
    self.parts = parts
    model = chain.versions[chain.versions.count - 1]
    var all: [FactKey: Data] = [:]
    for fact in try sets.flatMap({ try ChangeSet($0).facts }) where fact.key.isOrdinary {
      if all[fact.key].map({ $0.precedes(fact.value) }) ?? true { all[fact.key] = fact.value }
    }
    facts = try chain.translated(all)
    for (key, value) in facts { if case .life(let identity) = key { lives[identity] = try Life(value) } }
    for (key, value) in facts where key.isRegister {
      let register = try Register(value)
      guard let identity = key.object, let name = key.property?.name, isPresent(identity, register.life) else {
        continue
      }
      switch key {
      case .value: values[identity, default: [:]][name, default: []].append(register)
      case .part(_, _, let path):
        let names = try path.names.map { String(decoding: $0, as: UTF8.self) }
        members[identity, default: [:]][name, default: []].append((names, register))
      case .owner(_, let property):
        owners[identity, default: [:]][declared(name, in: property.entity), default: []].append(register)
      case .place(_, _, let member) where isPresent(member, register.otherLife):
        places[[identity, member], default: [:]][name, default: []].append(register)
      default: break
      }
    }
    let identities = Set(facts.flatMap { [$0.key.object, $0.key.other].compactMap { $0 } })
    for identity in identities { roots[identity] = identity }
    for case .union(let one, let other) in facts.map(\.key) { join(one, other) }
    try joinEqualValues()
    for identity in identities.sorted() where entity(of: identity) != nil {
      groups[root(identity), default: []].append(identity)
    }
    for (root, members) in groups { winners[root] = try winner(of: members) }
  }

  // MARK: Groups

  private func root(_ identity: Identity) -> Identity {
    var identity = identity
    while let next = roots[identity], next != identity { identity = next }
    return identity
  }

  private mutating func join(_ one: Identity, _ other: Identity) {
    let (first, second) = (root(one), root(other))
    roots[max(first, second)] = min(first, second)
  }

  private func entity(of identity: Identity) -> Entity? {
    guard let life = lives[identity], life.exists else { return nil }
    return model.entitiesByName[life.entity]
  }

  /// The name of a relationship with that of the entity that declares it.
  private func declared(_ name: String, in entity: String) -> String {
    "\(model.entitiesByName[entity]?.property(named: name)?.declaringEntity ?? entity).\(name)"
  }

  /// The names in uniqueness constraints.
  private func unique(_ entity: Entity) -> [[String]] {
    sequence(first: entity, next: \.superentity).flatMap(\.description.uniquenessConstraints)
  }

  /// The present value facts of one object.
  private func registers(_ identity: Identity, _ name: String) -> [Register] {
    values[identity]?[name] ?? []
  }

  private static func latest(_ registers: [Register]) -> Register? {
    registers.max { $0.stamp == $1.stamp ? $0.content.precedes($1.content) : $0.stamp < $1.stamp }
  }

  private func winner(of members: [Identity]) throws -> Identity? {
    var best: (Identity, Register?)?
    for member in members.sorted() {
      guard let entity = entity(of: member) else { continue }
      let last = Self.latest(unique(entity).joined().flatMap { registers(member, $0) })
      guard let (_, known) = best else {
        best = (member, last)
        continue
      }
      if let last, known.map({ Self.latest([$0, last]) == last && $0 != last }) ?? true { best = (member, last) }
    }
    return best?.0
  }

  private mutating func joinEqualValues() throws {
    var holders: [[StoredValue]: Identity] = [:]
    for members in Dictionary(grouping: roots.keys, by: root).values.sorted(by: { $0[0] < $1[0] }) {
      guard let winner = try winner(of: members), let entity = entity(of: winner) else { continue }
      for names in unique(entity) {
        let values = try names.map { try value($0, [winner], entity) }
        guard !values.contains(.null) else { continue }
        let key = names.map { StoredValue.string($0) } + values
        if let other = holders[key] { join(other, winner) } else { holders[key] = winner }
      }
    }
  }

  // MARK: Values

  private func value(_ name: String, _ members: [Identity], _ entity: Entity) throws -> StoredValue {
    let wholes = try members.flatMap { member in
      try registers(member, name) + [merged(member, name)].compactMap { $0 }
    }
    guard let register = Self.latest(wholes),
      case .value(let value) = try PortableValue.content(whole(register.content))
    else { return entity.property(named: name)?.attribute?.defaultValue ?? .null }
    return value
  }

  /// The JSON value of an object with the members that were changed later, one after another; nil for others.
  private func merged(_ identity: Identity, _ name: String) throws -> Register? {
    guard var register = Self.latest(registers(identity, name)),
      case .value(.string(let text)) = try PortableValue.content(whole(register.content)),
      var value = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    else { return nil }
    var last: [[String]: Register] = [:]
    for (path, change) in members[identity]?[name] ?? [] where register.stamp < change.stamp {
      last[path] = Self.latest([last[path], change].compactMap { $0 })
    }
    let ordered = last.sorted { $0.value.stamp < $1.value.stamp }
    guard let stamp = ordered.last?.value.stamp else { return nil }
    for (path, change) in ordered { Self.set(change.content, at: path[...], in: &value) }
    register.stamp = stamp
    register.content = PortableValue.bytes(.string(try SyncEdit.text(value)))
    return register
  }

  private static func set(_ text: Data, at path: ArraySlice<String>, in members: inout [String: Any]) {
    guard let name = path.first else { return }
    if path.count > 1 {
      guard var inner = members[name] as? [String: Any] else { return }
      set(text, at: path.dropFirst(), in: &inner)
      members[name] = inner
    } else {
      members[name] =
        text.isEmpty ? nil : try? JSONSerialization.jsonObject(with: text, options: .fragmentsAllowed)
    }
  }

  private func whole(_ content: Data) -> Data {
    guard let large = PortableValue.large(content) else { return content }
    return large.entries.reduce(into: Data()) { $0 += parts[$1] ?? Data() }
  }

  private func isPresent(_ identity: Identity, _ life: UInt32) -> Bool {
    lives[identity]?.count == life && entity(of: identity) != nil
  }

  /// The row to which the last of several statements leads.
  private func destination(_ name: String, _ members: [Identity]) throws -> Identity? {
    guard let (identity, life) = Self.latest(members.flatMap { registers($0, name) })?.reference,
      isPresent(identity, life)
    else { return nil }
    return root(identity)
  }

  private func owner(_ name: String, _ members: [Identity]) throws -> Identity? {
    guard let (identity, life) = Self.latest(members.flatMap { owners[$0]?[name] ?? [] })?.reference,
      isPresent(identity, life)
    else { return nil }
    return root(identity)
  }

  /// The pairs of rows of a many-to-many relationship, from either end, whichever has the facts.
  private func pairs(_ name: String, _ inverse: String) throws -> Set<[Identity]> {
    let isOwnInverse = name == inverse
    var last: [[Identity]: Register] = [:]
    for (key, value) in facts {
      guard case .member(var one, let property, var other) = key else { continue }
      let end = declared(property.name, in: property.entity)
      guard end == name || end == inverse else { continue }
      let register = try Register(value)
      guard isPresent(one, register.life), isPresent(other, register.otherLife) else { continue }
      if isOwnInverse ? other < one : end == inverse { swap(&one, &other) }
      let pair = [one, other]
      last[pair] = Self.latest([last[pair], register].compactMap { $0 })
    }
    let present = last.filter { $0.value.isPresent }.keys.map { [root($0[0]), root($0[1])] }
    return Set(isOwnInverse ? present + present.map { $0.reversed() } : present)
  }

  private func ordered(_ rows: Set<Identity>, _ name: String, by owners: [Identity]) -> [Identity] {
    let keyed = rows.map { row -> (Identity, Data?, Identity) in
      let members = groups[row] ?? []
      let places = owners.flatMap { owner in members.flatMap { self.places[[owner, $0]]?[name] ?? [] } }
      return (row, Self.latest(places)?.content, members.min() ?? row)
    }
    return keyed.sorted { left, right in
      if let first = left.1, let second = right.1, first != second { return first.precedes(second) }
      if (left.1 == nil) != (right.1 == nil) { return left.1 != nil }
      return left.2 < right.2
    }.map(\.0)
  }

  // MARK: Objects

  /// Creates all objects in a context.
  func create(in context: ManagedObjectContext) throws {
    var objects: [Identity: ManagedObject] = [:]
    for (root, winner) in winners {
      guard let entity = entity(of: winner) else { continue }
      objects[root] = try context.create(entity.name)
    }
    for (root, object) in objects { try setValues(of: object, groups[root] ?? [], winners[root]) }
    for (root, object) in objects {
      for relationship in object.entity.relationships where !relationship.isToMany {
        guard let row = try destination(relationship.name, groups[root] ?? []), let other = objects[row],
          other.entity.isKind(of: model.destination(of: relationship))
        else { continue }
        if let inverse = model.inverse(of: relationship), !inverse.isToMany {
          guard try destination(inverse.name, groups[row] ?? []) == root else { continue }
        }
        object[relationship.name] = other
      }
    }
    for entity in model.entities {
      for relationship in entity.relationships where relationship.isToMany {
        try setMembers(relationship, entity, objects)
      }
    }
  }

  private func setValues(of object: ManagedObject, _ members: [Identity], _ winner: Identity?) throws {
    let entity = object.entity
    let constrained = Set(unique(entity).joined())
    for property in entity.properties {
      guard let attribute = property.attribute, !attribute.isDerived else { continue }
      let sources = constrained.contains(property.name) ? [winner].compactMap { $0 } : members
      guard attribute.type == .composite else {
        var value = Self.any(try value(property.name, sources, entity))
        if let flag = value as? Bool, attribute.type != .boolean { value = flag ? 1 : 0 }
        try object.setValue(value, forKey: property.name)
        continue
      }
      var parts: [String: Any] = [:]
      for element in property.elements {
        guard let part = Self.any(try value(element.path.joined(separator: "."), sources, entity)) else { continue }
        Self.insert(part, at: element.path.dropFirst(), in: &parts)
      }
      if !parts.isEmpty { try object.setValue(parts, forKey: property.name) }
    }
  }

  private static func insert(_ value: Any, at path: ArraySlice<String>, in parts: inout [String: Any]) {
    guard let name = path.first else { return }
    guard path.count > 1 else { return parts[name] = value }
    var inner = parts[name] as? [String: Any] ?? [:]
    insert(value, at: path.dropFirst(), in: &inner)
    parts[name] = inner
  }

  private static func any(_ value: StoredValue) -> Any? {
    switch value {
    case .null, .objectID: nil
    case .boolean(let value): value
    case .integer(let value): value
    case .double(let value): value
    case .decimal(let value): value
    case .string(let value), .uri(let value): value
    case .date(let value): value
    case .data(let value): value
    case .uuid(let value): value
    case .composite(let parts): parts.compactMapValues(any)
    }
  }

  private func setMembers(
    _ relationship: RelationshipDescription, _ entity: Entity, _ objects: [Identity: ManagedObject]
  ) throws {
    let name = relationship.name
    let inverse = model.inverse(of: relationship)
    let end = declared(name, in: entity.name)
    var pairs: Set<[Identity]> = []
    if let inverse, inverse.isToMany {
      pairs = try self.pairs(end, declared(inverse.name, in: relationship.destination))
    }
    for (root, object) in objects where object.entity == entity {
      var rows: Set<Identity> = []
      if inverse?.isToMany == true {
        rows = Set(pairs.filter { $0[0] == root }.map { $0[1] })
        if rows.isEmpty { continue }
      } else {
        for (row, members) in groups {
          let owner =
            try inverse.map { try destination($0.name, members) }
            ?? self.owner(end, members)
          if owner == root { rows.insert(row) }
        }
      }
      let kind = model.destination(of: relationship)
      let present = rows.filter { objects[$0]?.entity.isKind(of: kind) == true }
      let members = try object.related(name) as RelationshipSet<ManagedObject>
      let sorted = relationship.isOrdered ? ordered(present, name, by: groups[root] ?? []) : present.sorted()
      if relationship.isOrdered { for member in Array(members) { members.remove(member) } }
      for row in sorted { if let member = objects[row], !members.contains(member) { members.insert(member) } }
    }
  }
}

extension SyncModelChain {
  /// The name that the last version has for an entity. For one that it doesn't have, that of the root entity, if the
  /// property was known to be the root entity's while both were there.
  private func lastEntity(with property: String, of entity: String) -> String? {
    let last = names[names.count - 1]
    if let name = last.entities[entity] { return name }
    let root = Self.root(of: entity)
    let isInherited = names.contains { $0.entities[entity] != nil && $0.owners[root]?[property] == root }
    return isInherited ? last.entities[root] : nil
  }

  /// Facts in the terms of the last version. Those without a place in it are omitted.
  fileprivate func translated(_ facts: [FactKey: Data]) throws -> [(key: FactKey, value: Data)] {
    let tags = versions.map { ModelTag(digest: $0.description.digest) }
    let last = names[names.count - 1]
    func entity(_ name: String, in model: ModelTag) -> String? {
      tags.firstIndex(of: model).flatMap { names[$0].entity(named: name) }
    }
    func property(_ property: PropertyName) -> PropertyName? {
      guard let version = tags.firstIndex(of: property.model),
        let first = names[version].entity(named: property.entity)
      else { return nil }
      let path = property.name.split(separator: ".", maxSplits: 1)
      guard let name = names[version].property(named: String(path[0]), of: first),
        let own = last.property(name, of: first), let entity = lastEntity(with: name, of: first)
      else { return nil }
      return PropertyName(
        model: tags[tags.count - 1], entity: entity,
        name: ([own] + path.dropFirst().map(String.init)).joined(separator: "."))
    }
    return try facts.compactMap { key, value in
      switch key {
      case .life:
        var life = try Life(value)
        // An entity without a place is that of no object.
        life.entity = entity(life.entity, in: life.model).flatMap { last.entities[$0] } ?? ""
        return (key, life.bytes)
      case .value(let identity, let name): return property(name).map { (.value(identity, $0), value) }
      case .owner(let identity, let name): return property(name).map { (.owner(identity, $0), value) }
      case .part(let identity, let name, let path): return property(name).map { (.part(identity, $0, path), value) }
      case .member(let one, let name, let other): return property(name).map { (.member(one, $0, other), value) }
      case .place(let one, let name, let other): return property(name).map { (.place(one, $0, other), value) }
      case .union, .model, .cover, .pass: return (key, value)
      }
    }
  }
}
