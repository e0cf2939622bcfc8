import Persist

extension Editor {
  /// The effects of a deletion, before it is made.
  struct Deletion: Sendable {
    /// Objects by their number, with the first of them.
    struct Affected: Sendable {
      let total: Int
      let first: [Changes.Member]
    }

    let deleted: Affected
    /// Those that lose a relationship.
    let updated: Affected
  }

  private static let shownObjects = 100

  /// The objects that would be deleted with an object, and those that would be updated.
  ///
  /// They are found in a child context, which has the unsaved changes, and which nothing saves.
  func deletion(of reference: EditForm.Reference?) throws -> Deletion {
    let id = try object(reference).objectID
    let child = ManagedObjectContext(parent: context)
    child.delete(try child.existingObject(with: id))
    child.processPendingChanges()
    // Objects without a context may have lost their identifiers.
    return withExtendedLifetime(child) {
      Deletion(deleted: affected(child.deletedObjects), updated: affected(child.updatedObjects))
    }
  }

  private func affected(_ objects: Set<ManagedObject>) -> Deletion.Affected {
    let ids = objects.map(\.objectID).sorted { left, right in
      (left.entityName, left.primaryKey ?? .max) < (right.entityName, right.primaryKey ?? .max)
    }
    let first = ids.prefix(Self.shownObjects).map { member(context.object(with: $0)) }
    return Deletion.Affected(total: ids.count, first: first)
  }
}
