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
    graph.restoreToOnes(of: restored, step) { id, name in
      // The row of an object that comes back tells what it was related to, but for unsaved changes.
      let isRows = returned.contains(id) && isRow(id) && before.one(id, name) == step.seen.one(id, name)
      return isRows ? stored.one(id, name) : before.one(id, name)
    }
    graph.restorePairs(of: restored, step)
    for id in after.alive where !before.isAlive(id) && graph.isAlive(id) {
      graph.retire(id, wasDeleted: before.objects[id] != nil)
    }
    graph.restoreOrders(of: restored, step)
    return graph
  }

  private mutating func takeValues(of row: Object, _ id: Int) {
    objects[id]?.value = row.value
    objects[id]?.note = row.note
    objects[id]?.blob = row.blob
  }

  /// Gives an object that comes back the members whose own side never left it: rules that leave the other ends alone
  /// leave them leading to the row that was gone.
  private mutating func adoptMembers(_ id: Int) {
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

  private func leads(_ other: Int, back side: PlainRelationship, to id: Int) -> Bool {
    guard let inverse = side.inverse else { return true }
    return self.side(other, inverse)?.isToMany == true ? many(other, inverse).contains(id) : one(other, inverse) == id
  }

  private mutating func restoreToOnes(
    of ids: [Int], _ step: PlainStep, _ former: (_ id: Int, _ name: String) -> Int?
  ) {
    for isFilled in [false, true] {
      for id in ids {
        for side in PlainSchema.relationships(of: entity(id)) where !side.isToMany {
          let (old, new) = (step.before.one(id, side.name), step.after.one(id, side.name))
          guard old != new || !step.after.isAlive(id) else { continue }
          let wanted = former(id, side.name).flatMap { isAlive($0) ? $0 : nil }
          if isFilled == (wanted != nil) { set(id, side.name, wanted) }
        }
      }
    }
  }

  private mutating func restorePairs(of ids: [Int], _ step: PlainStep) {
    for id in ids {
      for side in PlainSchema.relationships(of: entity(id)) where side.isToMany {
        let isPair = side.inverse.flatMap { PlainSchema.relationship(side.destination, $0)?.isToMany } ?? true
        guard isPair else { continue }
        let new = step.after.isAlive(id) ? step.after.many(id, side.name) : []
        let old = step.before.many(id, side.name)
        for other in new where !old.contains(other) { remove(id, side.name, other) }
        for other in old where !new.contains(other) && isAlive(other) { insert(id, side.name, other) }
      }
    }
  }

  private mutating func restoreOrders(of ids: [Int], _ step: PlainStep) {
    for id in ids {
      for side in PlainSchema.relationships(of: entity(id)) where side.isOrdered {
        let (old, new) = (step.before.many(id, side.name), step.after.many(id, side.name))
        guard old != new || !step.after.isAlive(id) else { continue }
        let present = many(id, side.name)
        objects[id]?.many[side.name] = old.filter(present.contains) + present.filter { !old.contains($0) }
      }
    }
  }

  /// Takes an object out. What it was related to isn't deleted with it.
  private mutating func retire(_ id: Int, wasDeleted: Bool) {
    for side in PlainSchema.relationships(of: entity(id)) where side.inverse != nil {
      if wasDeleted, side.rule == .deny || side.rule == .noAction { continue }
      if side.isToMany { replace(id, side.name, []) } else { set(id, side.name, nil) }
    }
    markDeleted(id)
  }
}
