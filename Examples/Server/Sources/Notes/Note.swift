public import Foundation
public import Persist
import PersistMacrosless

/// A note as the store has it. It stays within the closure that fetched it; ``SavedNote`` goes out.
public final class Note: ManagedObject {
  /// The name by which clients know the note. Primary keys stay inside: they tell how many notes there are, and a
  /// restored or merged store gives them anew.
  @Attribute(unique: true) var id = UUID()
  @Attribute(length: 1...200) var title = ""
  @Attribute var text = ""
  @Attribute(indexed: true) var created = Date()
}

/// What clients send.
public struct NoteContent: Codable, Sendable {
  public var title: String
  public var text: String

  public init(title: String, text: String) {
    self.title = title
    self.text = text
  }
}

/// What clients get.
public struct SavedNote: Codable, Sendable {
  public let id: UUID
  public let title: String
  public let text: String
  public let created: Date
  /// The version of the note's row, from which its entity tag is made.
  public let version: Int64

  /// - Parameter note: without unsaved changes.
  init(_ note: Note) {
    (id, title, text, created) = (note.id, note.title, note.text, note.created)
    version = note.version ?? 0
  }

  private enum CodingKeys: String, CodingKey { case id, title, text, created, version }
}
