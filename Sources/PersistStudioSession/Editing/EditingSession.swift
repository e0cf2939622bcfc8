import Foundation
import Persist
import PersistInspection

/// The unsaved changes of a studio, which all its pages share: one context, one undo stack, one save.
final class EditingSession: Sendable {
  private let editor: LockProtected<Editor>
  private let changeCount = LockProtected(0)

  init(_ store: StudioStore) throws {
    editor = LockProtected(Editor(try store.context(), storeIdentifier: store.metadata.identifier))
  }

  /// A number that differs after every change that a page has made.
  ///
  /// Reading it doesn't wait for a change that is being made, such as a long save.
  var revision: Int { changeCount.withLock { $0 } }

  /// The unsaved changes.
  func state() throws -> StudioAnswer {
    let (changes, revision) = try editor.withLock { (try $0.changes(), self.revision) }
    return StudioAnswer.json { $0.fields(of: changes, revision) }
  }

  /// Makes a change, and returns all unsaved ones.
  func apply(_ request: StudioRequest) throws -> StudioAnswer {
    let form = try request.decoded(EditForm.self)
    let (changes, revision, object) = try editor.withLock { editor in
      // A change that fails may have been made in part.
      if form.action != .check { changeCount.withLock { $0 += 1 } }
      let object = try editor.apply(form)
      return (try editor.changes(), self.revision, object)
    }
    return StudioAnswer.json { json in
      json.fields(of: changes, revision)
      json.key("object")
      if let object { json.value(object) } else { json.null() }
    }
  }

  /// The objects that the delete rules take along, and those that lose a relationship.
  func deletion(_ request: StudioRequest) throws -> StudioAnswer {
    let form = try request.decoded(EditForm.self)
    let deletion = try editor.withLock { try $0.deletion(of: form.object) }
    return StudioAnswer.json { json in
      for (title, affected) in [("deleted", deletion.deleted), ("updated", deletion.updated)] {
        json.key(title)
        json.object { json in
          json.field("total", affected.total)
          json.field("objects", of: affected.first) { $0.value($1) }
        }
      }
    }
  }
}

extension JSONText {
  fileprivate mutating func fields(of changes: Editor.Changes, _ revision: Int) {
    field("revision", revision)
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
    array(of: members) { $0.value($1) }
  }

  fileprivate mutating func value(_ member: Editor.Changes.Member) {
    object { json in
      json.fields(of: member.reference)
      json.field("name", member.name)
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
