extension SavePass {
  /// Applies a store's receipt to the context, its parent and its children.
  func accept(_ writes: StoreWrites, _ receipt: CommitReceipt) throws {
    let saved = writes.objects
    guard receipt.insertedKeys.count == saved.inserted.count else {
      throw PersistenceError(
        .saveFailed, at: .store(writes.tables.store.url),
        "The store inserted \(receipt.insertedKeys.count) of \(saved.inserted.count) rows.")
    }
    let (graph, unsaved) = (context.graph, context.unsavedTable)
    let new = context.children.isEmpty ? [] : saved.inserted.filter { $0.table === unsaved }
    let numbers = graph.accept(saved, receipt, in: writes.tables, unsaved: unsaved, of: context)
    graph.forgetAssignedStores(numbers)
    context.recordReferences(to: saved.deleted)
    context.removeFromMembersLeftAlone(saved.deleted)
    context.removeFromEndsInParent(saved.deleted)
    graph.departSaved(saved.deleted)
    if !context.children.isEmpty {
      if context.parent != nil {
        WrittenRows.notifyDescendants(ofSaveToParent: writes, context.children)
      } else {
        WrittenRows(zip(numbers, new), writes, formerly: graph.formerlyChanged)
          .apply(to: context.children, hasSavedAll: graph.inserted.isEmpty)
      }
    }
    if context.parent == nil, graph.inserted.isEmpty { graph.forgetFormerlyChanged() }
    refresh(receipt.overtakenTouches.map { saved.touched[$0] }, in: writes.tables)
  }

  /// Reads the rows that others changed while only their members changed here, so that later changes aren't based on
  /// old values.
  private func refresh(_ objects: [ManagedObject], in tables: StoreTables) {
    guard !objects.isEmpty else { return }
    do {
      let rows = try context.storedRows(of: objects, in: tables.store)
      for object in objects {
        guard let row = rows[object.objectID] else { continue }
        object.rebase(onto: row)
        object.awakeFromSnapshotEvents(.refresh)
      }
    } catch {
      context.deferError(error)
    }
  }
}
