import Persist

/// One step that can be taken back: the graph before and after it, and what the store had then.
struct PlainStep {
  let before: PlainGraph
  let after: PlainGraph
  let seen: PlainGraph
}

/// Undo as the inverse of a step, on top of whatever happened since.
extension PlainGraph {
  /// This graph with a step taken back: what the step changed is as before it, everything else stays.
  ///
  /// - Parameters:
  ///   - stored: what the store has.
  ///   - lost: objects whose rows others have deleted. They don't come back.
  func taking(back step: PlainStep, over stored: PlainGraph, lost: Set<Int>) -> PlainGraph {
    var graph = self
    let (before, after) = (step.before, step.after)
    let isRow = { (id: Int) in self.objects[id]?.isSaved == true }
    var returned: Set<Int> = []
    for id in before.alive where !after.isAlive(id) && !graph.isAlive(id) && !lost.contains(id) {
      returned.insert(id)
      if graph.objects[id] == nil {
        graph.objects[id] = Object(entity: before.entity(id))
        graph.adoptMembers(id)
      }
      graph.revive(id)
    }
    let restored = before.alive.filter { graph.isAlive($0) && (after.isAlive($0) || returned.contains($0)) }
    for id in restored {
      // An object whose row is still there comes back with what the store has by now, but for unsaved changes.
      let isBack = returned.contains(id)
      let base = !isBack ? after.objects[id] : isRow(id) ? step.seen.objects[id] : nil
      let mine = before.objects[id]
      if isBack, isRow(id), let row = stored.objects[id] { graph.takeValues(of: row, id) }
      if mine?.value != base?.value { graph.objects[id]?.value = mine?.value ?? 0 }
      if mine?.note != base?.note { graph.objects[id]?.note = mine?.note }
      if mine?.blob != base?.blob || (isBack && !isRow(id)) { graph.objects[id]?.blob = mine?.blob }
    }
    // Rows of objects that come back tell what they were related to, but for unsaved changes.
    let rows = returned.filter(isRow)
    // An object that stays deleted is still held by rules that leave the other end alone.
    let hidden = before.objects.keys.sorted().filter { id in
      graph.objects[id]?.isDeleted == true && before.objects[id]?.isDeleted == true
        && after.objects[id]?.isDeleted == true
    }
    graph.restoreToOnes(of: restored, step, stored, rows)
    graph.restoreToOnes(ofHidden: hidden, step)
    graph.restorePairs(of: restored, step, stored, rows)
    graph.restoreOneWayOwners(of: rows, step, stored)
    for id in after.alive where !before.isAlive(id) && graph.isAlive(id) {
      graph.retire(id, wasDeleted: before.objects[id] != nil)
    }
    graph.restoreOrders(of: restored, step, stored, rows)
    return graph
  }

  private mutating func takeValues(of row: Object, _ id: Int) {
    objects[id]?.value = row.value
    objects[id]?.note = row.note
    objects[id]?.blob = row.blob
  }

  /// Gives an object that comes back the members whose own side never left it: rules that leave the other ends alone
  /// leave them leading to the row that was gone.
  mutating func adoptMembers(_ id: Int) {
    for side in PlainSchema.relationships(of: entity(id)) where side.isToMany {
      guard let inverse = side.inverse, PlainSchema.relationship(side.destination, inverse)?.isToMany == false else {
        continue
      }
      let members = alive.filter { one($0, inverse) == id }
      objects[id]?.many[side.name] = members
    }
  }

  /// Takes back that an object is deleted. What the other ends have given up has to be restored from the step.
  private mutating func revive(_ id: Int) {
    objects[id]?.isDeleted = false
    for side in PlainSchema.relationships(of: entity(id)) where side.inverse != nil {
      if side.isToMany {
        let members = many(id, side.name).filter { leads($0, back: side, to: id) }
        objects[id]?.many[side.name] = members
      } else if let other = one(id, side.name), !leads(other, back: side, to: id) {
        objects[id]?.one[side.name] = nil
      }
    }
  }

  private mutating func restoreToOnes(of ids: [Int], _ step: PlainStep, _ stored: PlainGraph, _ rows: Set<Int>) {
    // Emptying comes before filling, and an object's unsaved values outlast those of its row.
    enum Phase: CaseIterable { case empty, row, unsaved }
    for phase in Phase.allCases {
      for id in ids {
        for side in PlainSchema.relationships(of: entity(id)) where !side.isToMany {
          let (old, new) = (step.before.one(id, side.name), step.after.one(id, side.name))
          guard old != new || !step.after.isAlive(id) else { continue }
          let former = rows.contains(id) && old == step.seen.one(id, side.name) ? stored.one(id, side.name) : old
          let wanted = former.flatMap { mayLead(id, side.name, to: $0) ? $0 : nil }
          if phase == (wanted == nil ? .empty : rows.contains(id) ? .row : .unsaved) { set(id, side.name, wanted) }
        }
      }
    }
  }

  /// Returns to objects that stay deleted what a step took from them, so that a rule that denies their deletion applies
  /// again.
  private mutating func restoreToOnes(ofHidden ids: [Int], _ step: PlainStep) {
    for id in ids {
      for side in PlainSchema.relationships(of: entity(id)) where !side.isToMany {
        let (old, new) = (step.before.one(id, side.name), step.after.one(id, side.name))
        guard old != new, one(id, side.name) == new else { continue }
        let isThere = old.map { objects[$0] != nil && mayLead(id, side.name, to: $0) } ?? true
        if isThere { set(id, side.name, old) }
      }
    }
  }

  private mutating func restorePairs(of ids: [Int], _ step: PlainStep, _ stored: PlainGraph, _ rows: Set<Int>) {
    // Members that are free again may return to another owner.
    for isBack in [false, true] {
      for id in ids {
        for side in PlainSchema.relationships(of: entity(id)) where side.isToMany {
          guard PlainSchema.inverse(of: side)?.isToMany ?? true else { continue }
          // A deleted object only hides the pairs that it got in the same step, and it needs all others again.
          let new = step.after.many(id, side.name)
          let present = step.after.isAlive(id) ? new : []
          let old = wanted(id, side, step, stored, rows)
          // A pair comes back with the row of its end that does.
          let isOther = { (other: Int) in side.inverse == nil || rows.contains(id) || !rows.contains(other) }
          // Objects that go with the step leave their ends when they do.
          let goes = { (other: Int) in step.after.isAlive(other) && !step.before.isAlive(other) }
          for other in new where !isBack && !old.contains(other) && isOther(other) && !goes(other) {
            remove(id, side.name, other)
          }
          for other in old where isBack && !present.contains(other) && mayHave(id, side, other) && isOther(other) {
            if rows.contains(id), isTaken(other, from: id, side, step, stored) { continue }
            insert(id, side.name, other)
          }
        }
      }
    }
  }

  /// Whether a member that only the row of an object has, without an inverse, was given to another owner since.
  private func isTaken(
    _ other: Int, from id: Int, _ side: PlainRelationship, _ step: PlainStep, _ stored: PlainGraph
  ) -> Bool {
    let isUnsaved = step.before.many(id, side.name).contains(other) && !step.seen.many(id, side.name).contains(other)
    return side.inverse == nil && !isUnsaved
      && alive.contains { owner in
        // An owner that the step made goes with it.
        owner != id && (step.before.isAlive(owner) || !step.after.isAlive(owner))
          && many(owner, side.name).contains(other) && !stored.many(owner, side.name).contains(other)
      }
  }

  /// Whether an object may become a member: a deleted one only where its rule leaves the other end alone.
  private func mayHave(_ id: Int, _ side: PlainRelationship, _ other: Int) -> Bool {
    isAlive(other) || (side.inverse != nil && objects[other] != nil && mayLead(id, side.name, to: other))
  }

  /// Objects whose rows are there still are members of those that the store has for them.
  private mutating func restoreOneWayOwners(of rows: Set<Int>, _ step: PlainStep, _ stored: PlainGraph) {
    for id in rows.sorted() {
      for side in PlainSchema.oneWays(to: entity(id)) where side.isToMany {
        let owners = stored.alive.filter { owner in
          let isLeft =
            step.seen.many(owner, side.name).contains(id) && !step.before.many(owner, side.name).contains(id)
          return isAlive(owner) && stored.many(owner, side.name).contains(id) && !isLeft
        }
        guard let owner = owners.first, !alive.contains(where: { many($0, side.name).contains(id) }) else { continue }
        insert(owner, side.name, id)
      }
    }
  }

  /// The former members; of an object whose row is there still, those of the store with what was unsaved.
  private func wanted(
    _ id: Int, _ side: PlainRelationship, _ step: PlainStep, _ stored: PlainGraph, _ rows: Set<Int>
  ) -> [Int] {
    let old = step.before.many(id, side.name)
    guard rows.contains(id) else { return old }
    let (seen, now) = (step.seen.many(id, side.name), stored.many(id, side.name))
    // A deletion leaves an object its own side: the step removed what that lacks before, and taking the step back adds
    // it again, whatever others have removed.
    let left = step.after.many(id, side.name)
    let own = old.filter { !seen.contains($0) || !left.contains($0) }
    if side.isOrdered, old != seen.filter(old.contains) + old.filter({ !seen.contains($0) }) {
      return old.filter { own.contains($0) || now.contains($0) }
        + now.filter { !seen.contains($0) && !old.contains($0) }
    }
    return now.filter { old.contains($0) || !seen.contains($0) } + own.filter { !now.contains($0) }
  }

  private mutating func restoreOrders(of ids: [Int], _ step: PlainStep, _ stored: PlainGraph, _ rows: Set<Int>) {
    for id in ids {
      for side in PlainSchema.relationships(of: entity(id)) where side.isOrdered {
        let (old, new) = (step.before.many(id, side.name), step.after.many(id, side.name))
        guard old != new || !step.after.isAlive(id) else { continue }
        let order = wanted(id, side, step, stored, rows)
        let present = many(id, side.name)
        objects[id]?.many[side.name] = order.filter(present.contains) + present.filter { !order.contains($0) }
      }
    }
  }

  /// Takes an object out. What it was related to isn't deleted with it.
  ///
  /// - Parameter wasDeleted: Whether the object is deleted again. As in a first deletion, its row then keeps its own side
  ///   of pairs.
  private mutating func retire(_ id: Int, wasDeleted: Bool) {
    let isRow = wasDeleted && objects[id]?.isSaved == true
    for side in PlainSchema.relationships(of: entity(id)) where side.inverse != nil {
      if isRow, side.rule == .deny || side.rule == .noAction { continue }
      if isRow, side.isToMany, PlainSchema.inverse(of: side)?.isToMany == true {
        release(id, many(id, side.name), side, isNew: false)
      } else if side.isToMany {
        replace(id, side.name, [])
      } else {
        set(id, side.name, nil)
      }
    }
    markDeleted(id)
  }
}
