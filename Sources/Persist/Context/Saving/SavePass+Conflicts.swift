/// The conflicts of a rejected write, for the context's merge policy.
enum SaveConflict: Error {
  case rows([MergeConflict])
  case constraints([ConstraintConflict])
}

extension SavePass {
  /// The maximum number of attempts after new conflicts, each caused by another save that came first.
  private static var conflictRounds: Int { 100 }

  /// Performs a save, and repeats it each time the merge policy has resolved what a store rejected.
  ///
  /// If the conflicts can't be resolved, or the result can't be saved, all objects return to their prior state, except
  /// those that a store has accepted.
  func retryingAfterConflicts(_ work: () throws -> Void) throws {
    do {
      try work()
    } catch let conflict as SaveConflict {
      try resolve(conflict, andRepeat: work)
    }
  }

  private func resolve(_ first: SaveConflict, andRepeat work: () throws -> Void) throws {
    let policy = context.mergePolicy
    let before = UnsavedState(of: context)
    let formerEndCount = formerEnds.count
    var conflict = first
    do {
      for _ in 0..<Self.conflictRounds {
        switch conflict {
        case .rows(let conflicts):
          try policy.resolve(conflicts, in: context)
          let objects = conflicts.compactMap { context.registeredObject(for: $0.sourceObjectID) }
          for object in objects { object.awakeFromSnapshotEvents(.mergePolicy) }
          context.announce { $0.refreshed.formUnion(objects) }
        case .constraints(let conflicts):
          try policy.resolve(conflicts, in: context)
          context.processTrackedChanges()
        }
        collectRemaining()
        let absorbed = before.absorbed
        do {
          try work()
          for (object, holder) in absorbed {
            object.objectID.lead(to: holder.objectID)
            object.identify(as: holder.objectID)
          }
          return
        } catch let next as SaveConflict {
          conflict = next
        }
      }
      throw conflict.error
    } catch {
      // Unchanged objects that were to be read again still have what they had read, as the others do.
      before.restore(except: allAccepted, and: formerEnds.dropFirst(formerEndCount).map(\.state))
      throw error
    }
  }

  /// Returns the conflict of rows that others changed or deleted.
  func rowConflict(_ rows: [(object: ManagedObject, row: RowSnapshot?)]) -> SaveConflict {
    .rows(rows.map { MergeConflict($0.object, row: $0.row) })
  }

  /// Reads the current rows for the objects that a store refused to write.
  func rowConflict(_ conflicts: RowConflicts, of store: any RowSource) throws -> SaveConflict {
    let objects = conflicts.conflicts.compactMap { context.registeredObject(for: $0.id) }
    let rows = try context.storedRows(of: objects, in: store)
    return rowConflict(objects.map { ($0, rows[$0.objectID]) })
  }

  /// Finds the objects to insert again under their former identifiers that others have inserted first.
  func reinsertionConflict(_ writes: StoreWrites) throws -> SaveConflict? {
    let returning = writes.objects.inserted.filter { !$0.objectID.isTemporaryID }
    guard !returning.isEmpty else { return nil }
    let rows = try context.storedRows(of: returning, in: writes.tables.store)
    let found = returning.compactMap { object in rows[object.objectID].map { (object: object, row: Optional($0)) } }
    return found.isEmpty ? nil : rowConflict(found)
  }

  /// Finds the objects and rows that violate a uniqueness constraint.
  ///
  /// - Returns: Nil if there are none: the store has constraints that the model doesn't know, or others have just
  ///   changed the conflicting row.
  func constraintConflict(_ writes: StoreWrites) throws -> SaveConflict? {
    let search = ConstraintSearch(in: context, of: writes.tables)
    let conflicts = try search.conflicts(inserted: writes.objects.inserted, updated: writes.objects.updated)
    return conflicts.isEmpty ? nil : .constraints(conflicts)
  }
}

extension SaveConflict {
  var error: PersistenceError {
    switch self {
    case .rows(let conflicts): PersistenceError(conflicts)
    case .constraints(let conflicts): PersistenceError(conflicts)
    }
  }
}
