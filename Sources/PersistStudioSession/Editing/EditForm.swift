/// A change that the user requests.
struct EditForm: Decodable {
  enum Action: String, Decodable {
    /// Checks a value without setting it.
    case check
    case set, relate, insert, duplicate, delete, undo, redo, save, discard
  }

  /// The values that a save keeps where another program has changed the same object.
  enum Resolution: String, Decodable {
    case mine, theirs
  }

  /// An object: saved, by its key, or new, by the number that the studio gave it.
  struct Reference: Decodable, Hashable {
    let entity: String
    var key: ObjectKey?
    var temporary: UInt64?
  }

  let action: Action
  var object: Reference?
  var entity: String?
  var property: String?
  /// The typed text; nil for null.
  var text: String?
  /// The members of a relationship; nil if some are added and removed.
  var targets: [Reference]?
  /// The new members of a to-many relationship, beside those that it has.
  var added: [Reference]?
  /// The members that a to-many relationship loses.
  var removed: [Reference]?
  var resolution: Resolution?
}
