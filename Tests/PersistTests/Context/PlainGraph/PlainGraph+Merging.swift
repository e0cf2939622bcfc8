import Persist

/// The effect of merging on unsaved changes: they stay, by property and by member, on top of what others
/// have saved.
extension PlainGraph {
  /// The unsaved changes of this graph on top of what the store has now.
  ///
  /// - Parameter seen: what the store had when the graph was last in step with it.
  func rebased(from seen: PlainGraph, onto stored: PlainGraph) -> PlainGraph {
    var graph = stored
    for id in alive where objects[id]?.isSaved == false { graph.objects[id] = Object(entity: entity(id)) }
    let mine = alive.filter { graph.objects[$0] != nil }
    for id in mine where stored.objects[id] == nil { graph.adoptMembers(id) }
    for id in mine {
      if objects[id]?.value != seen.objects[id]?.value { graph.objects[id]?.value = objects[id]?.value ?? 0 }
      if objects[id]?.note != seen.objects[id]?.note { graph.objects[id]?.note = objects[id]?.note }
      if objects[id]?.blob != seen.objects[id]?.blob { graph.objects[id]?.blob = objects[id]?.blob }
    }
    // Rules of a deletion reach what the object was related to at last.
    let gone = objects.keys.filter { objects[$0]?.isDeleted == true && graph.isAlive($0) }.sorted()
    mergeToOnes(of: gone + mine, seen, &graph)
    mergePairs(of: gone + mine, seen, &graph)
    mergeOrders(of: mine, seen, stored, &graph)
    graph.delete(gone)
    return graph
  }

  private func mergeToOnes(of mine: [Int], _ seen: PlainGraph, _ graph: inout PlainGraph) {
    // Ends that were emptied first, so that they don't empty what is filled.
    for isFilled in [false, true] {
      for id in mine {
        for side in PlainSchema.relationships(of: entity(id)) where !side.isToMany {
          // References to an object that others have deleted become nil.
          let other = one(id, side.name).flatMap { graph.objects[$0] == nil ? nil : $0 }
          let old = seen.one(id, side.name)
          guard one(id, side.name) != old, other != old, isFilled == (other != nil) else { continue }
          // Objects that a deleted object's rule has released may belong to another by now.
          if let other, !isAlive(id), !leads(other, back: side, to: id) { continue }
          graph.set(id, side.name, other)
        }
      }
    }
  }

  private func mergePairs(of mine: [Int], _ seen: PlainGraph, _ graph: inout PlainGraph) {
    for id in mine {
      for side in PlainSchema.relationships(of: entity(id)) where side.isToMany {
        guard PlainSchema.inverse(of: side)?.isToMany != false else { continue }
        let (old, new) = (seen.many(id, side.name), many(id, side.name))
        for other in old where !new.contains(other) { graph.remove(id, side.name, other) }
        // An object that is deleted here takes no member from the owner that others gave it.
        let mayTake = side.inverse != nil || isAlive(id)
        for other in new where mayTake && !old.contains(other) && graph.objects[other] != nil {
          graph.insert(id, side.name, other)
        }
      }
    }
  }

  /// Members that were put in order keep it; otherwise new ones are behind those of the store. What both sides added is
  /// where the store has it. What others have deleted is out of the order first.
  private func mergeOrders(of mine: [Int], _ seen: PlainGraph, _ stored: PlainGraph, _ graph: inout PlainGraph) {
    for id in mine {
      for side in PlainSchema.relationships(of: entity(id)) where side.isOrdered {
        let (old, now) = (seen.many(id, side.name), stored.many(id, side.name))
        let new = many(id, side.name).filter { graph.objects[$0] != nil }
        let added = new.filter { !old.contains($0) }
        let isOrdered = new != old.filter(new.contains) + added
        let wanted =
          isOrdered
          ? new.filter { !old.contains($0) || now.contains($0) } + now.filter { !old.contains($0) && !new.contains($0) }
          : now + added.filter { !now.contains($0) }
        let members = graph.many(id, side.name)
        graph.objects[id]?.many[side.name] =
          wanted.filter(members.contains) + members.filter { !wanted.contains($0) }
      }
    }
  }

  /// The attributes and to-one relationships that differ from those of an earlier graph, of objects that both have.
  func changedRowProperties(since seen: PlainGraph) -> Set<String> {
    var names: Set<String> = []
    for id in alive {
      guard let (old, new) = seen.objects[id].flatMap({ old in objects[id].map { (old, $0) } }) else { continue }
      if old.value != new.value { names.insert("\(id).value") }
      if old.note != new.note { names.insert("\(id).note") }
      if old.blob != new.blob { names.insert("\(id).blob") }
      for side in PlainSchema.relationships(of: new.entity) where old.one[side.name] != new.one[side.name] {
        names.insert("\(id).\(side.name)")
      }
    }
    return names
  }
}
