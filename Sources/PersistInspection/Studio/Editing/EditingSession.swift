import Foundation
import Persist

/// The unsaved changes of a studio, which all its pages share: one context, one undo stack, one save.
final class EditingSession: Sendable {
  private let editor: LockProtected<Editor>
  private let store: StudioStore

  init(_ store: StudioStore) throws {
    self.store = store
    editor = LockProtected(Editor(try store.context(), storeIdentifier: store.metadata.identifier))
  }

  /// The unsaved changes.
  func state() throws -> StudioAnswer {
    let changes = try editor.withLock { try $0.changes() }
    return StudioAnswer.json { $0.fields(of: changes) }
  }

  /// Makes a change, and returns all unsaved ones.
  func apply(_ request: StudioRequest) throws -> StudioAnswer {
    let form = try request.decoded(EditForm.self)
    let (changes, object) = try editor.withLock { editor in
      let object = try editor.apply(form)
      return (try editor.changes(), object)
    }
    return StudioAnswer.json { json in
      json.fields(of: changes)
      json.key("object")
      if let object { json.value(object) } else { json.null() }
    }
  }

  /// The objects that the delete rules take along, and those that lose a relationship, found in a context of its own.
  func deletion(_ request: StudioRequest) throws -> StudioAnswer {
    let form = try request.decoded(EditForm.self)
    guard let key = form.object?.key?.value, let entity = form.object?.entity else {
      throw PersistenceError(.invalidRequest, "The request names no object.")
    }
    let context = try store.context()
    let object = try context.existingObject(with: store.identifier(entity, key))
    context.delete(object)
    context.processPendingChanges()
    let (deleted, updated) = (context.deletedObjects.map(\.objectID), context.updatedObjects.map(\.objectID))
    let shown = 100
    let names = try ObjectNames(chosen: [:], store: store, context: store.context()).names(
      of: deleted.prefix(shown) + updated.prefix(shown))
    return StudioAnswer.json { json in
      for (title, ids) in [("deleted", deleted), ("updated", updated)] {
        json.key(title)
        json.object { json in
          json.field("total", ids.count)
          json.field("objects", of: ids.prefix(shown)) { $0.link($1, names) }
        }
      }
    }
  }
}

extension JSONText {
  fileprivate mutating func fields(of changes: Editor.Changes) {
    field("canUndo", changes.canUndo)
    field("canRedo", changes.canRedo)
    field("objects", of: changes.objects) { json, object in
      json.object { json in
        json.key("object")
        json.value(object.reference)
        json.field("status", object.status.rawValue)
        json.field("name", object.name)
        json.field("values", of: object.values) { json, value in
          json.object {
            $0.field("property", value.property)
            $0.field("was", value.was)
            $0.field("text", value.text)
            $0.field("isCut", value.isCut)
            $0.members(value.members)
          }
        }
      }
    }
  }

  private mutating func members(_ members: [Editor.Changes.Member]?) {
    key("members")
    guard let members else { return null() }
    array(of: members) { json, member in
      json.object { json in
        json.fields(of: member.reference)
        json.field("name", member.name)
      }
    }
  }

  fileprivate mutating func value(_ reference: EditForm.Reference) {
    object { $0.fields(of: reference) }
  }

  private mutating func fields(of reference: EditForm.Reference) {
    field("entity", reference.entity)
    field("key", reference.key.map { String($0.value) })
    field("temporary", reference.temporary)
  }
}
