import Persist

/// A model of a graph of objects: values in dictionaries, with rules of its own for both sides of relationships and
/// for deletions. It shares no code with the framework, and copies of it are all that undo and rollback take.
struct PlainGraph {
  struct Object {
    let entity: String
    var value = 0
    var note: String?
    var blob: Int?
    var one: [String: Int] = [:]
    var many: [String: [Int]] = [:]
    /// Whether a row of the object was written.
    var isSaved = false
    /// Whether only parents of a child context have the object, without a row.
    var isDraft = false
    /// Deleted and not saved since: it may still be related by rules that leave the other end alone.
    var isDeleted = false
  }

  var objects: [Int: Object] = [:]

  var alive: [Int] { objects.keys.filter { objects[$0]?.isDeleted == false }.sorted() }
  func isAlive(_ id: Int) -> Bool { objects[id]?.isDeleted == false }
  func entity(_ id: Int) -> String { objects[id]?.entity ?? "" }
  func one(_ id: Int, _ name: String) -> Int? { objects[id]?.one[name] }
  func many(_ id: Int, _ name: String) -> [Int] { objects[id]?.many[name] ?? [] }

  func side(_ id: Int, _ name: String) -> PlainRelationship? { PlainSchema.relationship(entity(id), name) }

  /// The other ends of a relationship.
  func ends(_ id: Int, _ side: PlainRelationship) -> [Int] {
    side.isToMany ? many(id, side.name) : one(id, side.name).map { [$0] } ?? []
  }

  /// Whether another object refers back to the one that refers to it.
  func leads(_ other: Int, back side: PlainRelationship, to id: Int) -> Bool {
    guard let inverse = PlainSchema.inverse(of: side) else { return true }
    return ends(other, inverse).contains(id)
  }

  // MARK: One side

  /// Takes an object out of one side of a relationship.
  private mutating func drop(_ other: Int, from id: Int, _ name: String) {
    if side(id, name)?.isToMany == true {
      objects[id]?.many[name]?.removeAll { $0 == other }
    } else if one(id, name) == other {
      objects[id]?.one[name] = nil
    }
  }

  private mutating func add(_ other: Int, to id: Int, _ name: String, at index: Int? = nil) {
    var members = many(id, name)
    guard !members.contains(other) else { return }
    members.insert(other, at: min(index ?? members.count, members.count))
    objects[id]?.many[name] = members
  }

  /// The owner of a member of a to-many relationship without an inverse.
  private func owner(of other: Int, _ side: PlainRelationship) -> Int? {
    objects.keys.first { isAlive($0) && many($0, side.name).contains(other) }
  }

  /// Takes an object that is deleted out of its owners.
  mutating func leaveOneWayOwners(_ id: Int) {
    for side in PlainSchema.oneWays(to: entity(id)) where side.isToMany {
      if let owner = self.owner(of: id, side) { drop(id, from: owner, side.name) }
    }
  }

  // MARK: Edits

  mutating func set(_ id: Int, _ name: String, _ other: Int?) {
    guard let side = side(id, name), one(id, name) != other else { return }
    if let old = one(id, name), let inverse = side.inverse { drop(id, from: old, inverse) }
    objects[id]?.one[name] = other
    guard let other, let inverse = side.inverse, let back = self.side(other, inverse) else { return }
    if back.isToMany {
      add(id, to: other, inverse)
    } else {
      if let previous = one(other, inverse), previous != id { drop(other, from: previous, name) }
      objects[other]?.one[inverse] = id
    }
  }

  mutating func insert(_ id: Int, _ name: String, _ other: Int, at index: Int? = nil) {
    guard let side = side(id, name) else { return }
    if many(id, name).contains(other) {
      guard let index else { return }
      drop(other, from: id, name)
      return add(other, to: id, name, at: index)
    }
    // A member without an inverse has one owner.
    if side.inverse == nil, let owner = self.owner(of: other, side) { drop(other, from: owner, name) }
    add(other, to: id, name, at: index)
    guard let inverse = side.inverse, let back = self.side(other, inverse) else { return }
    if back.isToMany {
      add(id, to: other, inverse)
    } else {
      if let owner = one(other, inverse) { drop(other, from: owner, name) }
      objects[other]?.one[inverse] = id
    }
  }

  mutating func remove(_ id: Int, _ name: String, _ other: Int) {
    guard let side = side(id, name), many(id, name).contains(other) else { return }
    drop(other, from: id, name)
    if let inverse = side.inverse { drop(id, from: other, inverse) }
  }

  mutating func replace(_ id: Int, _ name: String, _ members: [Int]) {
    for other in many(id, name) where !members.contains(other) { remove(id, name, other) }
    for other in members { insert(id, name, other) }
    objects[id]?.many[name] = members
  }

  // MARK: Deletion

  /// Deletes an object and what its rules reach. What was never saved is forgotten at once.
  mutating func delete(_ id: Int) { delete([id]) }

  /// Deletes objects, none of which changes for another's sake.
  mutating func delete(_ ids: [Int]) {
    for id in ids {
      leaveOneWayOwners(id)
      objects[id]?.isDeleted = true
    }
    var waiting = ids
    var seen: Set<Int> = []
    while let next = waiting.popLast() {
      guard let object = objects[next], !object.isDeleted || ids.contains(next), seen.insert(next).inserted else {
        continue
      }
      if !object.isDeleted {
        leaveOneWayOwners(next)
        objects[next]?.isDeleted = true
      }
      for side in PlainSchema.relationships(of: object.entity) {
        let others = ends(next, side)
        let isNew = !object.isSaved || (side.rule == .noAction && object.isDraft)
        if side.rule == .cascade { waiting += others }
        if isNew || side.rule == .nullify { release(next, others, side, isNew: isNew) }
      }
      if !object.isSaved { forget(next) }
    }
  }

  /// Takes an object out of its other ends: also of deleted ones if it is new, which leaves no trace.
  mutating func release(_ id: Int, _ others: [Int], _ side: PlainRelationship, isNew: Bool) {
    guard let inverse = side.inverse else { return }
    for other in others where other != id && (isNew || isAlive(other)) { drop(id, from: other, inverse) }
  }

  /// Marks an object as deleted; one that was never saved is forgotten.
  mutating func markDeleted(_ id: Int) {
    leaveOneWayOwners(id)
    objects[id]?.isDeleted = true
    if objects[id]?.isSaved == false { forget(id) }
  }

  /// Whether a to-one relationship may lead to an object: to one that is gone only where its rule leaves the other end
  /// alone.
  func mayLead(_ id: Int, _ name: String, to other: Int) -> Bool {
    guard !isAlive(other), let side = side(id, name), let inverse = side.inverse else { return true }
    let rule = PlainSchema.relationship(side.destination, inverse)?.rule
    return rule == .noAction || rule == .deny
  }

  private mutating func forget(_ id: Int) {
    objects[id] = nil
    for holder in objects.keys where one(holder, "favourite") == id { objects[holder]?.one["favourite"] = nil }
  }

  /// Whether a save has to refuse because a rule denies a deletion.
  var isDenied: Bool {
    objects.contains { id, object in
      object.isDeleted
        && PlainSchema.relationships(of: object.entity).contains { side in
          side.rule == .deny
            && ends(id, side).contains { isAlive($0) && (!side.isToMany || leads($0, back: side, to: id)) }
        }
    }
  }

  /// Applies a save to the graph.
  mutating func save() {
    let gone = Set(objects.keys.filter { objects[$0]?.isDeleted == true })
    for id in gone { objects[id] = nil }
    // A member goes with its row, whatever the rule; a to-one relationship may refer to a missing row.
    for id in objects.keys {
      for (name, members) in objects[id]?.many ?? [:] where members.contains(where: gone.contains) {
        objects[id]?.many[name] = members.filter { !gone.contains($0) }
      }
    }
    for id in objects.keys { objects[id]?.isSaved = true }
  }

  // MARK: What others see

  /// The properties of everything alive. What is gone isn't shown.
  var state: PlainState {
    PlainState(
      objects: alive.reduce(into: [:]) { all, id in
        guard let object = objects[id] else { return }
        var properties = ["entity": object.entity, "value": "\(object.value)", "note": object.note ?? "none"]
        properties["blob"] = object.blob.map(String.init) ?? "none"
        for side in PlainSchema.relationships(of: object.entity) {
          if side.isToMany {
            let members = many(id, side.name).filter(isAlive)
            let shown = side.isOrdered ? members : members.sorted()
            properties[side.name] = shown.map(String.init).joined(separator: ",")
          } else {
            properties[side.name] = one(id, side.name).flatMap { isAlive($0) ? "\($0)" : nil } ?? "none"
          }
        }
        all[id] = properties
      })
  }
}

/// Every property of every object, by the objects' names.
struct PlainState: Equatable {
  var objects: [Int: [String: String]] = [:]

  var withoutBlobs: PlainState {
    PlainState(objects: objects.mapValues { properties in properties.filter { $0.key != "blob" } })
  }

  /// The differences in words; empty for none.
  func differences(from wanted: PlainState) -> [String] {
    Set(objects.keys).union(wanted.objects.keys).sorted().flatMap { id -> [String] in
      guard let mine = objects[id] else { return ["\(id) \(wanted.objects[id]?["entity"] ?? "") is missing"] }
      guard let other = wanted.objects[id] else { return ["\(id) \(mine["entity"] ?? "") should not be there"] }
      return mine.keys.sorted().filter { mine[$0] != other[$0] }
        .map { "\(id) \(mine["entity"] ?? "").\($0) is \(mine[$0] ?? "") and should be \(other[$0] ?? "")" }
    }
  }
}

extension PlainGraph {
  /// The graph of an earlier moment, over what the store has by now: what is undone may have been saved meanwhile.
  func restored(over stored: PlainGraph) -> PlainGraph {
    var graph = self
    for (id, object) in objects {
      let isSaved = stored.objects[id] != nil
      graph.objects[id]?.isSaved = isSaved
      graph.objects[id]?.isDraft = stored.objects[id]?.isDraft ?? false
      if object.isDeleted, !isSaved { graph.objects[id] = nil }
    }
    return graph
  }

  /// Discards the changes of one object, on both sides of its relationships.
  mutating func refresh(_ id: Int, from stored: PlainGraph) {
    guard let old = stored.objects[id] else { return }
    objects[id]?.value = old.value
    objects[id]?.note = old.note
    objects[id]?.blob = old.blob
    for side in PlainSchema.relationships(of: old.entity) {
      func canReturn(_ other: Int) -> Bool {
        // A row may lead to one that is gone, and to the same one when it is back.
        guard objects[other] != nil else { return stored.objects[other] == nil }
        let rule = side.inverse.flatMap { self.side(other, $0)?.rule } ?? (side.isToMany ? .nullify : .noAction)
        return isAlive(other) || rule == .noAction || rule == .deny
      }
      guard side.isToMany else {
        let former = old.one[side.name]
        set(id, side.name, former.flatMap { canReturn($0) ? $0 : nil })
        continue
      }
      let former = (old.many[side.name] ?? []).filter(canReturn)
      for other in many(id, side.name) where !former.contains(other) { remove(id, side.name, other) }
      for other in former { insert(id, side.name, other) }
      objects[id]?.many[side.name] = former
    }
  }
}
